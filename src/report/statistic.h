/* SPDX-License-Identifier: GPL-3.0-or-later */
/* statistic.h - the median of some values, how far they spread, and how well it is known. */
#ifndef NB_STATISTIC_H
#define NB_STATISTIC_H

#include <stdbool.h>

typedef struct {              /* over the heads and trials whose status is ok */
    int count, planned;       /* planned = 0: a hole, where the experiment is no full product */
    int noise;                /* of the count: values that are rounding noise */
    double median, low, high; /* quantiles 0.5, 0.1, 0.9; NaN where count = 0 */

    int sources;                    /* of the values; 0: they are not told apart */
    double median_low, median_high; /* 95 % interval of the median over sources; NaN of fewer than 6 */
} nb_statistic;

typedef struct {
    double value;
    int source;
} nb_sourced;

/* Quantile of values in ascending order, of which the outer ones may be infinite, by linear interpolation; NaN where
 * there are none. */
double nb_quantile(int count, const double *sorted, double p);

/* Sorts the values, none of which is NaN; .planned is their number too. */
nb_statistic nb_statistic_of(int count, double *values);

/* The same of values from sources, with the interval of order statistics (nb_median_interval) of the sources' medians.
 * `room`: for `count` numbers. */
nb_statistic nb_statistic_over_sources(int count, nb_sourced *values, double *room);

bool nb_statistic_is_noise(const nb_statistic *s); /* half of the values or more are */

/* NaN values are left out, and the others counted; `values` is sorted. NaN where there are none. */
double nb_median_of(double *values, int *count);

#endif
