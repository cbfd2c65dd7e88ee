/* SPDX-License-Identifier: GPL-3.0-or-later */
/* svd.c - the Moore-Penrose pseudo-inverse with a hard cut-off.
 *
 * A = U diag(s) V', X = V diag(1/s_i where s_i is kept, else 0) U'. Kept are those
 * above rcond s_1, and of these the first `rank`. O(m^3). */
#include "cores/core.h"

typedef struct {
    double rcond;
    int rank;
} svd_options;

static const nb_option options[] = {NB_RCOND(svd_options, "0.03", "singular values"),
                                    NB_INT_OR(svd_options, rank, "all", "all", 1, 1 << 20, "keep at most that many"),
                                    NB_OPTION_END};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const svd_options *o = opts;
    const nb_factors_spectrum *s;
    int m = nb_factors_m(factors), most = o->rank == NB_AUTO || o->rank > m ? m : o->rank;
    double *filter, rcond = nb_core_rcond(o->rcond, m);
    NB_TRY(ctx, nb_factors_svd(factors, &s, ctx));
    NB_NEED(filter, nb_alloc_reals(ctx, (size_t)m, 1));
    for (int j = 0; j < most && s->values[j] > rcond * s->values[0]; j++) filter[j] = 1 / s->values[j];
    nb_factors_note_cutoff(factors, nb_factors_kept_cutoff(s, m, most, rcond));
    return nb_factors_filter(factors, filter, x, ctx);
}

/* The SVD by Golub & Reinsch, 22 m^3 additions and multiplications, and V diag U'. */
static nb_core_cost cost(const void *opts, int n, int m)
{
    (void)opts;
    (void)n;
    return (nb_core_cost){.multiplications = 12.0 * m * m * m};
}

static const char *const references[] = {"Penrose, A generalized inverse for matrices, Proc. Camb. Phil. Soc. 51, 1955",
                                         "Golub & Van Loan, Matrix Computations, 4th ed. 2013, sec. 5.5.2", NULL};

const nb_core nb_core_svd = {
    .component = {"svd", "pseudo-inverse of A by its singular values, with a cut-off", references, options,
                  sizeof(svd_options)},
    .traits = NB_CORE_FILTER,
    .compute = compute,
    .cost = cost,
};
