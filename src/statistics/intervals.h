/* SPDX-License-Identifier: GPL-3.0-or-later */
/* intervals.h - intervals and tests of a mean and of a share. Confidence is between 0 and 1, as 0.95. NaN in gives NaN
 * out, and so do fewer than one degree of freedom and a share of nothing. */
#ifndef NB_INTERVALS_H
#define NB_INTERVALS_H

typedef struct {
    double low, high;
} nb_interval;

/* mean -+ t se, with t Student's quantile for df degrees of freedom. */
nb_interval nb_t_interval(double mean, double se, double df, double confidence);

/* Two-sided p of mean = 0; where se is 0: 1 for a mean of 0, else 0. */
double nb_t_p(double mean, double se, double df);

/* Two one-sided t tests (Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987): the larger p, of mean <= -margin and of
 * mean >= margin; at most alpha where nb_t_interval at 1 - 2 alpha lies within -margin ... margin. Where se is 0: 0 for
 * |mean| < margin, else 1. NaN unless margin > 0. */
double nb_same_p(double mean, double se, double df, double margin);

/* Of a share, `hits` among n: Clopper & Pearson (Biometrika 26, 1934), which covers at least at its confidence, and
 * Wilson (J. Am. Stat. Assoc. 22, 1927), which does so on average. */
nb_interval nb_clopper_pearson(int hits, int n, double confidence);
nb_interval nb_wilson(int hits, int n, double confidence);

/* Two-sided p of the mean by Fisher's randomisation: the share of the 2^n choices of signs with |sum| at least the one
 * observed; sums within 4 n eps sum|x| are equal. NaN for n above NB_SIGN_FLIPS or values that are not finite. */
enum { NB_SIGN_FLIPS = 20 };
double nb_sign_flip_p(int n, const double *values);

/* How many sources with a standard deviation of sd show a mean that is `distance` off, by a two-sided test at `alpha`
 * with this power: ((z_{1-alpha/2} + z_power) sd/distance)^2, not rounded; for few it is some two too low, since the
 * normal quantiles stand for Student's. */
double nb_units_for_power(double sd, double distance, double alpha, double power);

#endif
