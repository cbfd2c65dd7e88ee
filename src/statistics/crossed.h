/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crossed.h - the error that all sources have in common because they are measured in the same trials. A trial draws
 * the same random numbers for every source: if it was lucky, it was lucky on all of them, and the spread of sources
 * about their mean does not show it. */
#ifndef NB_CROSSED_H
#define NB_CROSSED_H

#include "base/ctx.h"

typedef struct {
    int stratum, source, trial; /* several values of a source in a trial are averaged */
    double value;
} nb_crossed_value;

typedef struct {
    double variance;   /* of the mean over sources and trials; 0: it cannot be told, or is less than the rest */
    double square, df; /* what it is estimated from, the trials' own variance; 0 and NaN: of fewer than two trials */
    int trials;        /* in which all sources have a value; 0 where each has its own, as of drawn data */
} nb_common_error;

/* `errors`: of each stratum, then of the mean over strata with equal weights. Of k sources in T trials, with the
 * trials' means y_t and the residuals e_ct of source + trial,
 *
 *     square    sum_t (y_t - y)^2 / (T - 1) / T,  of T - 1 degrees of freedom
 *     variance  max(0, square - s_e^2 / (k T)),   s_e^2 = sum e_ct^2 / ((k - 1) (T - 1))
 *
 * the component of a two-way layout (Searle, Casella & McCulloch, Variance Components, ch. 4). Over strata y_t is the
 * mean of theirs. NB_EINVAL: a stratum outside of 0 ... strata - 1. */
nb_status nb_crossed_errors(int count, const nb_crossed_value *values, int strata, nb_common_error *errors,
                            nb_ctx *ctx);

#endif
