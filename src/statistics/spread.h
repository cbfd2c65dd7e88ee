/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spread.h - intervals and tests of a mean whose variance has two independent parts, that are right at any level, as
 * corrections for many tests need it. */
#ifndef NB_SPREAD_H
#define NB_SPREAD_H

#include "statistics/intervals.h"

typedef struct {
    double se, df;            /* of the mean, by Satterthwaite */
    double own, own_df;       /* one part of the mean's variance, with its degrees of freedom */
    double common, common_df; /* another, or more than that; 0: there is none */
} nb_spread;

/* Satterthwaite's t is simulated to be right at 5 % (tests/long/estimates.c). Further out it rejects too often. With
 * few degrees of freedom a part is underestimated by chance, and then df is too large. There Banerjee's bound stands in
 * its place (Sankhya 23, 1961): |mean| > sqrt(t_own^2 own + t_common^2 common) has at most the probability that its
 * level says, whatever the parts are, with the quantiles of Student's t for the degrees of freedom of each part. */
#define NB_SATTERTHWAITE_LEVEL 0.05

/* Returns half the width of the interval: the larger of both where 1 - confidence is below NB_SATTERTHWAITE_LEVEL, else
 * Satterthwaite's; NaN as nb_t_interval. */
double nb_spread_half(const nb_spread *spread, double confidence);

/* Returns the two-sided p of mean = 0 that fits these intervals: at most 1 - confidence where the interval excludes 0.
 */
double nb_spread_p(double mean, const nb_spread *spread);

#endif
