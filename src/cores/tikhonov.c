/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tikhonov.c - X = V diag(s / (s^2 + lambda s_1^2)) U': a soft cut-off at
 * s = sqrt(lambda) s_1, (A'A + lambda s_1^2 I)^-1 A'. */
#include "cores/core.h"

#include <math.h>

typedef struct {
    double lambda;
} tikhonov_options;

static const nb_option options[] = {
    NB_REAL(tikhonov_options, lambda, "0.001", 0, 1e6, "relative to the square of the largest singular value of A"),
    NB_OPTION_END};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const tikhonov_options *o = opts;
    const nb_factors_spectrum *s;
    int m = nb_factors_m(factors);
    double *filter;
    NB_TRY(ctx, nb_factors_svd(factors, &s, ctx));
    NB_NEED(filter, nb_alloc_reals(ctx, (size_t)m, 1));
    for (int j = 0; j < m && s->values[j] > 0; j++) {
        double of_first = s->values[j] / s->values[0]; /* in 0 ... 1, so that no square overflows */
        filter[j] = of_first / (of_first * of_first + o->lambda) / s->values[0];
    }
    nb_factors_note_cutoff(factors, sqrt(o->lambda));
    return nb_factors_filter(factors, filter, x, ctx);
}

/* The SVD by Golub & Reinsch, 22 m^3 additions and multiplications, and V diag U'. */
static nb_core_cost cost(const void *opts, int n, int m)
{
    (void)opts;
    (void)n;
    return (nb_core_cost){.multiplications = 12.0 * m * m * m};
}

static const char *const references[] = {"Tikhonov & Arsenin, Solutions of Ill-Posed Problems, 1977",
                                         "Hansen, Rank-Deficient and Discrete Ill-Posed Problems, SIAM 1998, sec. 5.1",
                                         NULL};

const nb_core nb_core_tikhonov = {
    .component = {"tikhonov", "regularised inverse of A: a soft cut-off", references, options,
                  sizeof(tikhonov_options)},
    .traits = NB_CORE_FILTER,
    .compute = compute,
    .cost = cost,
};
