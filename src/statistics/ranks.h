/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.h - what can be said of values by their order alone; so they may be infinite, but not NaN (NB_ENUMERIC). */
#ifndef NB_RANKS_H
#define NB_RANKS_H

#include "base/ctx.h"
#include "statistics/intervals.h"

/* ranks (n) <- 1 for the least value; equal values share the mean of their ranks. */
nb_status nb_midranks(int n, const double *values, double *ranks, nb_ctx *ctx);

/* Values of 0 are ranked with the others and then left out (Pratt, J. Am. Stat. Assoc. 54, 1959), or left out at once
 * (Wilcoxon, Biometrics Bull. 1, 1945). */
typedef enum { NB_ZEROS_PRATT, NB_ZEROS_DROPPED } nb_zeros;

/* Wilcoxon's signed rank test: w <- the sum of the midranks of |value| over the values above 0; p <- P(|W - mean| >=
 * |w - mean|) where every sign is as likely as the other, 1 if all values are 0. It is exact, with ties too, up to
 * NB_EXACT_RANKS values; beyond, W is taken as normal with its variance, sum rank^2 / 4 (which corrects for ties). */
enum { NB_EXACT_RANKS = 400 };
nb_status nb_wilcoxon(int n, const double *values, nb_zeros zeros, double *w, double *p, nb_ctx *ctx);

/* Half of a + b; 0 where one is inf and the other -inf, which is what inf for a large number gives. */
double nb_midpoint(double a, double b);
/* Of ascending values; NaN for none. */
double nb_median_sorted(int n, const double *sorted);

/* The interval of order statistics that holds the median of a continuous distribution with 95 % probability or more, of
 * independent values in ascending order; NaN where there are fewer than 6. */
void nb_median_interval(int n, const double *sorted, double *low, double *high);

/* The k-th smallest of the n (n + 1) / 2 Walsh averages (x_i + x_j) / 2, i <= j, of ascending values; k from 1. By
 * bisection over the doubles: O(n) for each of 64 steps. */
double nb_walsh(int n, const double *sorted, long long k);

/* The index k of Hodges-Lehmann's interval, from the k-th smallest Walsh average to the k-th largest: k - 1 is the
 * largest w with P(W <= w) <= (1 - confidence) / 2, W the signed rank statistic of n values without ties; 0 if there is
 * none. By the normal distribution above NB_EXACT_RANKS values. */
nb_status nb_walsh_index(int n, double confidence, long long *k, nb_ctx *ctx);

/* The median of the Walsh averages and its interval (Hodges & Lehmann, Ann. Math. Stat. 34, 1963), which covers the
 * centre of a symmetric distribution at least at the confidence; NaN where no interval of so few values does. */
nb_status nb_hodges_lehmann(int n, const double *values, double confidence, double *shift, nb_interval *interval,
                            nb_ctx *ctx);

/* Two-sided p of as many values above 0 as below it, by the binomial distribution; 1 if there are none. */
double nb_sign_p(int below, int above);

#endif
