/* SPDX-License-Identifier: GPL-3.0-or-later */
/* intervals.h - intervals and tests of a mean and of a share. Confidence is between 0 and 1, such as 0.95. Results are
 * NaN if an argument is, for fewer than one degree of freedom, and for a share of none. */
#ifndef NB_INTERVALS_H
#define NB_INTERVALS_H

typedef struct {
    double low, high;
} nb_interval;

/* Returns mean -+ t se, with t Student's quantile for df degrees of freedom. */
nb_interval nb_t_interval(double mean, double se, double df, double confidence);

/* Returns the two-sided p of mean = 0; if se is 0: 1 for a mean of 0, else 0. */
double nb_t_p(double mean, double se, double df);

/* Returns the interval of a share, `hits` among n, that covers it with at least the confidence (Clopper & Pearson,
 * Biometrika 26, 1934). */
nb_interval nb_clopper_pearson(int hits, int n, double confidence);

/* Returns how many sources with a standard deviation of sd show a mean that is `distance` off, by a two-sided test at
 * `alpha` with this power: ((z_{1-alpha/2} + z_power) sd/distance)^2, not rounded. Small numbers are about two too low,
 * since normal quantiles replace Student's. */
double nb_units_for_power(double sd, double distance, double alpha, double power);

#endif
