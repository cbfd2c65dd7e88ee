/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.c - the signed rank statistic of ranks r_i is a sum of those whose sign is +, each with probability 1/2.
 * Doubled midranks are integers, so its distribution comes from the empty sum by one step P(s) <- (P(s) + P(s - 2 r_i))
 * / 2 for each rank, over all sums up to n (n + 1): n^3 additions (Streitberg & Roehmel, Comput. Stat. Q. 3, 1986). */
#include "statistics/ranks.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

nb_status nb_midranks(int n, const double *values, double *ranks, nb_ctx *ctx)
{
    size_t *order;
    nb_mark mark = nb_ctx_mark(ctx);
    for (int i = 0; i < n; i++) NB_REQUIRE(ctx, !isnan(values[i]), NB_ENUMERIC, "value %d is NaN: it has no rank", i);
    NB_NEED(order, nb_alloc(ctx, (size_t)n, sizeof *order));
    gsl_sort_index(order, values, 1, (size_t)n);
    for (int first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && values[order[end]] <= values[order[first]];) end++;
        for (int i = first; i < end; i++) ranks[order[i]] = 0.5 * (first + 1 + end);
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* *p: P(sum of those ranks whose sign is positive = s) for s = 0 ... *total. */
static nb_status sign_sums(int n, const int *ranks, double **p, int *total, nb_ctx *ctx)
{
    int most = 0;
    for (int i = 0; i < n; i++) most += ranks[i];
    NB_NEED(*p, nb_alloc_reals(ctx, (size_t)most + 1, 1));
    *total = most;
    (*p)[0] = 1;
    most = 0;
    for (int i = 0; i < n; i++) {
        most += ranks[i];
        for (int s = most; s >= ranks[i]; s--) (*p)[s] = 0.5 * ((*p)[s] + (*p)[s - ranks[i]]);
        for (int s = 0; s < ranks[i]; s++) (*p)[s] *= 0.5;
    }
    return NB_OK;
}

static nb_status exact_p(int n, const double *ranks, double w, double *p, nb_ctx *ctx)
{
    double *share;
    int *whole, total, scale = 1; /* 2 where ties have ranks such as 1.5 */
    for (int i = 0; i < n; i++)
        if (ranks[i] != floor(ranks[i])) scale = 2;
    int observed = (int)lround(scale * w);
    NB_NEED(whole, nb_alloc(ctx, (size_t)n, sizeof *whole));
    for (int i = 0; i < n; i++) whole[i] = (int)lround(scale * ranks[i]);
    NB_TRY(ctx, sign_sums(n, whole, &share, &total, ctx));
    *p = 0;
    for (int s = 0; s <= total; s++) *p += abs(2 * s - total) >= abs(2 * observed - total) ? share[s] : 0;
    return NB_OK;
}

static double normal_p(int n, const double *ranks, double w)
{
    double total = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        total += ranks[i];
        squares += ranks[i] * ranks[i];
    }
    return fmin(1, 2 * gsl_cdf_ugaussian_Q(fabs(2 * w - total) / sqrt(squares)));
}

/* sizes <- |value|, in the order of the values, without the zeros if these are dropped. */
static int sizes_of(int n, const double *values, nb_zeros zeros, double *sizes, bool *positive)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (values[i] == 0 && zeros == NB_ZEROS_DROPPED) continue;
        positive[count] = values[i] > 0;
        sizes[count++] = fabs(values[i]);
    }
    return count;
}

nb_status nb_wilcoxon(int n, const double *values, nb_zeros zeros, double *w, double *p, nb_ctx *ctx)
{
    double *sizes, *ranks;
    bool *positive;
    int left = 0;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(sizes, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(ranks, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(positive, nb_alloc(ctx, (size_t)n, sizeof *positive));
    int count = sizes_of(n, values, zeros, sizes, positive);
    NB_TRY(ctx, nb_midranks(count, sizes, ranks, ctx));
    *w = 0;
    for (int i = 0; i < count; i++) {
        if (sizes[i] <= 0) continue;
        *w += positive[i] ? ranks[i] : 0;
        ranks[left++] = ranks[i];
    }
    if (left > 0 && count > NB_EXACT_RANKS)
        *p = normal_p(left, ranks, *w);
    else
        NB_TRY(ctx, exact_p(left, ranks, *w, p, ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

double nb_midpoint(double a, double b)
{
    return isinf(a) && isinf(b) && (a > 0) != (b > 0) ? 0 : (a + b) / 2;
}

double nb_median_sorted(int n, const double *sorted)
{
    return n < 1 ? NAN : nb_midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
}

void nb_median_interval(int n, const double *sorted, double confidence, double *low, double *high)
{
    int k = 0, most = n / 2; /* values that may be left out on each side */
    while (k < most) {
        int middle = k + (most - k) / 2;
        if (2 * gsl_cdf_binomial_P((unsigned)middle, 0.5, (unsigned)n) <= 1 - confidence)
            k = middle + 1;
        else
            most = middle;
    }
    *low = k > 0 ? sorted[k - 1] : NAN;
    *high = k > 0 ? sorted[n - k] : NAN;
}

/* Doubles as integers in the same order, from -inf to inf; 0 and -0 are 0. */
static int64_t ordinal(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >= 0 ? bits : INT64_MIN - bits;
}

static double at_ordinal(int64_t bits)
{
    double value;
    if (bits < 0) bits = INT64_MIN - bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Averages grow along rows and columns, so those that are too large in row i are too in later rows. */
static long long walsh_at_most(int n, const double *sorted, double limit)
{
    long long count = 0;
    for (int i = 0, end = n; i < n && end > i; i++) {
        while (end > i && nb_midpoint(sorted[i], sorted[end - 1]) > limit) end--;
        count += end - i;
    }
    return count;
}

double nb_walsh(int n, const double *sorted, long long k)
{
    int64_t low = ordinal(sorted[0]), high = ordinal(sorted[n - 1]);
    while (low < high) {
        int64_t middle = (low & high) + ((low ^ high) >> 1); /* rounded down, without overflow */
        if (walsh_at_most(n, sorted, at_ordinal(middle)) >= k)
            high = middle;
        else
            low = middle + 1;
    }
    return at_ordinal(low);
}

static nb_status exact_index(int n, double tail, long long *k, nb_ctx *ctx)
{
    double *p, below = 0;
    int *ranks, total;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(ranks, nb_alloc(ctx, (size_t)n, sizeof *ranks));
    for (int i = 0; i < n; i++) ranks[i] = i + 1;
    NB_TRY(ctx, sign_sums(n, ranks, &p, &total, ctx));
    for (*k = 0; *k < total && (below += p[*k]) <= tail;) (*k)++;
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_walsh_index(int n, double confidence, long long *k, nb_ctx *ctx)
{
    double count = n, mean = count * (count + 1) / 4, sd = sqrt(count * (count + 1) * (2 * count + 1) / 24);
    *k = 0;
    if (n < 1) return NB_OK;
    if (n <= NB_EXACT_RANKS) return exact_index(n, (1 - confidence) / 2, k, ctx);
    *k = (long long)fmax(0, floor(mean + 0.5 - sd * gsl_cdf_ugaussian_Qinv((1 - confidence) / 2)));
    return NB_OK;
}

nb_status nb_hodges_lehmann(int n, const double *values, double confidence, double *shift, nb_interval *interval,
                            nb_ctx *ctx)
{
    double *sorted;
    long long k, averages = (long long)n * (n + 1) / 2;
    nb_mark mark = nb_ctx_mark(ctx);
    *shift = interval->low = interval->high = NAN;
    if (n < 1) return NB_OK;
    for (int i = 0; i < n; i++) NB_REQUIRE(ctx, !isnan(values[i]), NB_ENUMERIC, "value %d is NaN: it has no rank", i);
    NB_NEED(sorted, nb_alloc_raw(ctx, (size_t)n));
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    gsl_sort(sorted, 1, (size_t)n);
    NB_TRY(ctx, nb_walsh_index(n, confidence, &k, ctx));
    *shift = nb_midpoint(nb_walsh(n, sorted, (averages + 1) / 2), nb_walsh(n, sorted, averages / 2 + 1));
    if (k > 0) {
        interval->low = nb_walsh(n, sorted, k);
        interval->high = nb_walsh(n, sorted, averages + 1 - k);
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

double nb_sign_p(int below, int above)
{
    unsigned fewer = (unsigned)(below < above ? below : above), n = (unsigned)(below + above);
    return n == 0 ? 1 : fmin(1, 2 * gsl_cdf_binomial_P(fewer, 0.5, n));
}
