/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.h - statistics that use only the order of values, which may be infinite, but not NaN (NB_ENUMERIC). */
#ifndef NB_RANKS_H
#define NB_RANKS_H

#include "base/ctx.h"
#include "statistics/intervals.h"

/* ranks (n) <- 1 for the least value; equal values share the mean of their ranks. */
nb_status nb_midranks(int n, const double *values, double *ranks, nb_ctx *ctx);

/* How to treat values of 0: rank them with the others and then leave them out (Pratt, J. Am. Stat. Assoc. 54, 1959), or
 * leave them out at once (Wilcoxon, Biometrics Bull. 1, 1945). */
typedef enum { NB_ZEROS_PRATT, NB_ZEROS_DROPPED } nb_zeros;

/* Runs Wilcoxon's signed rank test: w <- the sum of the midranks of |value| over the values above 0; p <- P(|W - mean|
 * >= |w - mean|) if both signs are equally likely, 1 if all values are 0. It is exact, with ties too, up to
 * NB_EXACT_RANKS values; beyond, W is taken as normal with its variance, sum rank^2 / 4 (which corrects for ties). */
enum { NB_EXACT_RANKS = 400 };
nb_status nb_wilcoxon(int n, const double *values, nb_zeros zeros, double *w, double *p, nb_ctx *ctx);

/* Returns half of a + b; 0 if one is inf and the other -inf, the limit for opposite large numbers. */
double nb_midpoint(double a, double b);
/* Returns the median of ascending values; NaN for none. */
double nb_median_sorted(int n, const double *sorted);

/* Finds the interval of order statistics that holds the median of a continuous distribution with at least the
 * confidence, for independent values in ascending order; NaN if there are too few values for that, at 95 % fewer than
 * 6. */
void nb_median_interval(int n, const double *sorted, double confidence, double *low, double *high);

/* Returns the k-th smallest, from 1, of the n (n + 1) / 2 Walsh averages (x_i + x_j) / 2, i <= j, of ascending values.
 * By bisection over the doubles: O(n) for each of 64 steps. */
double nb_walsh(int n, const double *sorted, long long k);

/* Finds the index k of the Hodges-Lehmann interval, from the k-th smallest Walsh average to the k-th largest: k - 1 is
 * the largest w with P(W <= w) <= (1 - confidence) / 2, W the signed rank statistic of n values without ties; 0 if
 * there is none. By the normal distribution above NB_EXACT_RANKS values. */
nb_status nb_walsh_index(int n, double confidence, long long *k, nb_ctx *ctx);

/* Computes the median of the Walsh averages and its interval (Hodges & Lehmann, Ann. Math. Stat. 34, 1963), which
 * covers the centre of a symmetric distribution with at least the confidence; NaN if there are too few values for
 * that. */
nb_status nb_hodges_lehmann(int n, const double *values, double confidence, double *shift, nb_interval *interval,
                            nb_ctx *ctx);

/* Returns the two-sided p, by the binomial distribution, of values being equally likely above and below 0; 1 if there
 * are none. */
double nb_sign_p(int below, int above);

#endif
