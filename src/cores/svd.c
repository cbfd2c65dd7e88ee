/* svd.c - the Moore-Penrose pseudo-inverse with a hard cut-off.
 *
 * A = U diag(s) V', X = V diag(1/s_i where s_i > rcond s_1, else 0) U'. O(m^3). */
#include "cores/core.h"

#include "linalg/linalg.h"

typedef struct {
    double rcond;
} svd_options;

static const nb_option options[] = {
    NB_REAL(svd_options, rcond, "1e-15", 0, 1, "singular values up to this fraction of the largest count as 0"),
    NB_OPTION_END};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const svd_options *o = opts;
    const nb_factors_spectrum *s;
    int m = factors->m, rank = 0;
    double *scaled; /* U diag(1/s) */
    NB_TRY(ctx, nb_factors_svd(factors, &s, ctx));
    NB_NEED(scaled, nb_alloc_reals(ctx, (size_t)m, (size_t)m));
    while (rank < m && s->values[rank] > o->rcond * s->values[0]) rank++;
    for (int j = 0; j < rank; j++)
        for (int i = 0; i < m; i++) scaled[i + j * m] = s->u[i + j * m] / s->values[j];
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, m, m, rank, 1, s->vt, m, scaled, m, 0, x, m);
    return NB_OK;
}

static const char *const references[] = {"Penrose, A generalized inverse for matrices, Proc. Camb. Phil. Soc. 51, 1955",
                                         "Golub & Van Loan, Matrix Computations, 4th ed. 2013, sec. 5.5.2", NULL};

const nb_core nb_core_svd = {
    .component = {"svd", "pseudo-inverse of A by its singular values, with a cut-off", references, options,
                  sizeof(svd_options)},
    .compute = compute,
};
