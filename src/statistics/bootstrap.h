/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bootstrap.h - intervals of a mean by drawing sources again, which assume no distribution. */
#ifndef NB_BOOTSTRAP_H
#define NB_BOOTSTRAP_H

#include "statistics/intervals.h"
#include "statistics/sources.h"

/* deviations (resamples) <- by how much the mean of strata's means of sources' means is moved where the k_g sources of
 * every stratum are drawn k_g times with replacement, with all their units (Davison & Hinkley, Bootstrap methods and
 * their application, 1997, section 3.8). The variance of such a mean is (k_g - 1)/k_g of what it should be; `widened`:
 * every stratum's deviation is multiplied by sqrt(k_g / (k_g - 1)), which makes up for it. Sources are finite. */
nb_status nb_bootstrap_mean(int count, const nb_source *sources, bool widened, gsl_rng *rng, int resamples,
                            double *deviations, nb_ctx *ctx);

/* a = sum d^3 / (6 (sum d^2)^1.5), d = (m_i - m) / (k_g - 1), m the mean of the stratum: in proportion to what leaving
 * out source i takes from the mean (Efron, J. Am. Stat. Assoc. 82, 1987; over strata: Davison & Hinkley, section 5.3).
 * 0 where no source takes anything. */
double nb_acceleration(int count, const nb_source *sources);

/* The share of deviations below 0, with half of those that are 0 but for rounding (1e-12 of the largest), as a normal
 * quantile: z0. It is finite: at least half a deviation counts on either side. */
double nb_bias_correction(int resamples, const double *deviations);

/* Of ascending deviations, the quantiles (type 7 of Hyndman & Fan, Am. Stat. 50, 1996) at (1 -+ confidence) / 2: the
 * percentile interval; and, bias corrected and accelerated (BCa), at the levels Phi(z0 + (z0 + z) / (1 - a (z0 + z))).
 * Both are to be added to the estimate. */
nb_interval nb_percentile(int resamples, const double *deviations, double confidence);
double nb_bca_level(double z0, double acceleration, double level);
nb_interval nb_bca(int resamples, const double *deviations, double acceleration, double confidence);

/* The BCa interval of the mean of strata's means, widened, with the stream of this seed; NaN for a stratum of fewer
 * than two sources, values that are not finite, or no resamples. */
nb_status nb_bootstrap_interval(int count, const nb_source *sources, double mean, double confidence, int resamples,
                                long long seed, nb_interval *interval, nb_ctx *ctx);

#endif
