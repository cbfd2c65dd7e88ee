/* SPDX-License-Identifier: GPL-3.0-or-later */
/* friedman.c - see friedman.h */
#include "statistics/friedman.h"

#include "statistics/ranks.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

/* ranks: N x K. */
static nb_friedman test_ranks(int blocks, int methods, const double *ranks, const double *mean_ranks)
{
    const size_t cells = (size_t)blocks * (size_t)methods;
    double n = blocks, k = methods, between = 0, total = 0;
    for (int j = 0; j < methods; j++) between += (mean_ranks[j] - (k + 1) / 2) * (mean_ranks[j] - (k + 1) / 2);
    for (size_t i = 0; i < cells; i++) total += (ranks[i] - (k + 1) / 2) * (ranks[i] - (k + 1) / 2);
    nb_friedman t = {.w = total > 0 ? fmin(1, n * between / total) : 0};
    t.chi2 = t.w * n * (k - 1);
    t.p = gsl_cdf_chisq_Q(t.chi2, k - 1);
    t.f = t.w < 1 ? (n - 1) * t.w / (1 - t.w) : INFINITY;
    t.f_p = t.w < 1 ? gsl_cdf_fdist_Q(t.f, k - 1, (k - 1) * (n - 1)) : 0;
    return t;
}

nb_status nb_friedman_test(int blocks, int methods, const double *table, double *mean_ranks, nb_friedman *test,
                           nb_ctx *ctx)
{
    double *ranks;
    nb_mark mark = nb_ctx_mark(ctx);
    *test = (nb_friedman){NAN, NAN, NAN, NAN, NAN};
    NB_NEED(ranks, nb_alloc_reals(ctx, (size_t)blocks, (size_t)methods));
    for (int i = 0; i < blocks; i++)
        NB_TRY(ctx,
               nb_midranks(methods, table + (size_t)i * (size_t)methods, ranks + (size_t)i * (size_t)methods, ctx));
    for (int j = 0; j < methods; j++) {
        mean_ranks[j] = 0;
        for (int i = 0; i < blocks; i++) mean_ranks[j] += ranks[(size_t)i * (size_t)methods + (size_t)j];
        mean_ranks[j] /= blocks;
    }
    if (blocks > 1 && methods > 1) *test = test_ranks(blocks, methods, ranks, mean_ranks);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* The trapezoidal rule, which for so smooth a function that falls like exp(-z^2/2) is exact to rounding. */
double nb_range_p(int count, double range)
{
    const double step = 0.0625, end = 9;
    double sum = 0;
    if (count < 2 || isnan(range)) return NAN;
    if (range <= 0) return 1;
    for (double z = -end; z <= end; z += step)
        sum += gsl_ran_ugaussian_pdf(z) * pow(gsl_cdf_ugaussian_P(z + range) - gsl_cdf_ugaussian_P(z), count - 1);
    return fmin(fmax(1 - count * step * sum, 0), 1);
}

/* Returns the factor from a difference of mean ranks to a range of normal numbers. */
static double scale(double blocks, double methods)
{
    return blocks >= 1 && methods >= 2 ? sqrt(12 * blocks / (methods * (methods + 1))) : NAN;
}

double nb_nemenyi_difference(int blocks, int methods, double alpha)
{
    double low = 0, high = 40;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(nb_range_p(methods, middle) > alpha ? &low : &high) = middle;
    }
    return high / scale(blocks, methods);
}
