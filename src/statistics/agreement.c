/* SPDX-License-Identifier: GPL-3.0-or-later */
/* agreement.c - in a random order of n things the last one stands before j = 0 ... n - 1 of the others, each equally
 * likely, whatever their order is. So the number of pairs in opposite order, D, is a sum of independent uniform
 * numbers, one of 0 ... i - 1 for each i <= n. */
#include "statistics/agreement.h"

#include "statistics/ranks.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

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

typedef struct {
    double pairs, triples, spread; /* sums over groups of t equal ones: t (t-1) / 2, t (t-1) (t-2), t (t-1) (2t+5) */
} ties;

static nb_status count_ties(int n, const double *values, ties *count, nb_ctx *ctx)
{
    double *sorted;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(sorted, nb_alloc_raw(ctx, (size_t)n));
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    gsl_sort(sorted, 1, (size_t)n);
    *count = (ties){0};
    for (int first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && sorted[end] <= sorted[first];) end++;
        double t = end - first;
        count->pairs += t * (t - 1) / 2;
        count->triples += t * (t - 1) * (t - 2);
        count->spread += t * (t - 1) * (2 * t + 5);
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static int sign(double a, double b)
{
    return (a > b) - (a < b);
}

/* share (n (n - 1) / 2 + 1 zeros) <- P(D = d). Each step: the mean of the last i numbers, a running sum from the top.
 * */
static void opposite_pairs(int n, double *share, double *before)
{
    share[0] = 1;
    for (int i = 2, most = 0; i <= n; i++) {
        double sum = 0;
        memcpy(before, share, (size_t)(most + 1) * sizeof *before);
        int last = most;
        most += i - 1;
        for (int d = 0; d <= most; d++) {
            if (d <= last) sum += before[d];
            if (d >= i) sum -= before[d - i];
            share[d] = sum / i;
        }
    }
}

static nb_status exact_p(int n, long long difference, double *p, nb_ctx *ctx)
{
    double *share;
    int most = n * (n - 1) / 2;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(share, nb_alloc_reals(ctx, (size_t)most + 1, 2));
    opposite_pairs(n, share, share + most + 1);
    *p = 0;
    for (int d = 0; 2 * d <= most - llabs(difference); d++) *p += 2 * share[d];
    *p = fmin(1, *p);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static double normal_p(double n, const ties *x, const ties *y, double difference)
{
    double orders = n * (n - 1), variance = (orders * (2 * n + 5) - x->spread - y->spread) / 18;
    variance += 2 * x->pairs * y->pairs / orders;
    if (n > 2) variance += x->triples * y->triples / (9 * orders * (n - 2));
    return 2 * gsl_cdf_ugaussian_Q(fabs(difference) / sqrt(variance));
}

nb_status nb_kendall(int n, const double *x, const double *y, nb_agreement *tau, nb_ctx *ctx)
{
    ties in_x, in_y;
    double pairs = n * (n - 1.0) / 2;
    *tau = (nb_agreement){NAN, NAN};
    NB_TRY(ctx, refuse_nan(n, x, y, ctx));
    if (n < 2) return NB_OK;
    NB_TRY(ctx, count_ties(n, x, &in_x, ctx));
    NB_TRY(ctx, count_ties(n, y, &in_y, ctx));
    if (in_x.pairs >= pairs || in_y.pairs >= pairs) return NB_OK;
    long long difference = 0; /* pairs that are in the same order in x and y, less those in opposite orders */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) difference += sign(x[i], x[j]) * sign(y[i], y[j]);
    tau->value = (double)difference / sqrt((pairs - in_x.pairs) * (pairs - in_y.pairs));
    if (in_x.pairs + in_y.pairs <= 0 && n <= NB_EXACT_ORDERS) return exact_p(n, difference, &tau->p, ctx);
    tau->p = normal_p(n, &in_x, &in_y, (double)difference);
    return NB_OK;
}
