/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crossed.h - estimates the error that all sources share because they are measured in the same trials. Where a trial
 * draws the same random numbers for every source, a lucky trial is lucky on all of them, which the spread of sources
 * about their mean does not show. Where each source has draws of its own, the spread shows their luck as well, and
 * there is no such error. */
#ifndef NB_CROSSED_H
#define NB_CROSSED_H

#include "base/ctx.h"

enum { NB_LEAST_TRIALS = 3 }; /* for a verdict on what is drawn: from fewer, its luck cannot be told */

/* A trial is far from the others if its mean lies further from the median of the trials' means than NB_FAR times their
 * median absolute deviation, which several such trials do not widen, as they would the standard deviation. Of normal
 * means, 2 % of sets of 6 and fewer of more trials have one that is so far. Of fewer trials, 4 to 13 % would: for these
 * it is not told. */
enum { NB_FAR = 12, NB_FAR_TRIALS = 6 };

typedef struct {
    int stratum, source, trial; /* several values of a source in a trial are averaged */
    double value;
} nb_crossed_value;

typedef struct {
    double variance;   /* of the mean over sources and trials; 0: none, unknown, or less than the rest */
    double square, df; /* the trials' own variance, from which it is estimated; 0 and NaN: fewer than two trials */
    /* number of trials in which all sources have a value; 0: each source has its own trials, as for drawn data */
    int trials;
    /* trials whose mean over sources lies far from the others', that which does so most, its mean, and the trials'
     * median */
    int far_count, far;
    double far_mean, median;
} nb_common_error;

/* Sets `errors`: one for each stratum, then one for the mean over strata with equal weights. For k sources in T trials,
 * with the trials' means y_t and the residuals e_ct of source + trial,
 *
 *     square    sum_t (y_t - y)^2 / (T - 1) / T,  of T - 1 degrees of freedom
 *     variance  max(0, square - s_e^2 / (k T)),   s_e^2 = sum e_ct^2 / ((k - 1) (T - 1))
 *
 * the variance component of a two-way layout (Searle, Casella & McCulloch, Variance Components, ch. 4). Over strata y_t
 * is the mean of theirs. `shares`: for each stratum, then for any, whether its sources share draws; where they do not,
 * the trials are only counted. NB_EINVAL: a stratum outside of 0 ... strata - 1. */
nb_status nb_crossed_errors(int count, const nb_crossed_value *values, int strata, const bool *shares,
                            nb_common_error *errors, nb_ctx *ctx);

/* Returns in how many trials the sources of each stratum have the draws that they share: the fewest; -1: they share
 * none. */
int nb_drawn_trials(int strata, const nb_common_error *common, const bool *shares);

#endif
