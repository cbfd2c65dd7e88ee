/* SPDX-License-Identifier: GPL-3.0-or-later */
/* agreement.c - see agreement.h */
#include "statistics/agreement.h"

#include "statistics/ranks.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static nb_status refuse_nan(int n, const double *x, const double *y, nb_ctx *ctx)
{
    for (int i = 0; i < n; i++)
        NB_REQUIRE(ctx, !isnan(x[i]) && !isnan(y[i]), NB_ENUMERIC, "pair %d has NaN: it has no rank", i);
    return NB_OK;
}

/* Sums of products of midranks about their mean are exact, so perfect agreement is 1 to the bit. */
static double correlate(int n, const double *x_ranks, const double *y_ranks)
{
    double xx = 0, yy = 0, xy = 0, mean = (n + 1) / 2.0;
    for (int i = 0; i < n; i++) {
        xx += (x_ranks[i] - mean) * (x_ranks[i] - mean);
        yy += (y_ranks[i] - mean) * (y_ranks[i] - mean);
        xy += (x_ranks[i] - mean) * (y_ranks[i] - mean);
    }
    return xx > 0 && yy > 0 ? fmax(-1, fmin(1, xy / sqrt(xx * yy))) : NAN;
}

nb_status nb_spearman(int n, const double *x, const double *y, nb_agreement *rho, nb_ctx *ctx)
{
    double *ranks;
    nb_mark mark = nb_ctx_mark(ctx);
    *rho = (nb_agreement){NAN, NAN};
    NB_TRY(ctx, refuse_nan(n, x, y, ctx));
    NB_NEED(ranks, nb_alloc_reals(ctx, (size_t)n, 2));
    NB_TRY(ctx, nb_midranks(n, x, ranks, ctx));
    NB_TRY(ctx, nb_midranks(n, y, ranks + n, ctx));
    rho->value = correlate(n, ranks, ranks + n);
    nb_ctx_release(ctx, mark);
    double left = (1 - rho->value) * (1 + rho->value);
    if (n > 2 && left >= 0) rho->p = left > 0 ? 2 * gsl_cdf_tdist_Q(fabs(rho->value) * sqrt((n - 2) / left), n - 2) : 0;
    return NB_OK;
}
