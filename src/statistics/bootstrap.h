/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bootstrap.h - confidence intervals of a mean by resampling sources, without assuming a distribution. */
#ifndef NB_BOOTSTRAP_H
#define NB_BOOTSTRAP_H

#include "statistics/intervals.h"
#include "statistics/sources.h"

/* deviations (resamples) <- how far the mean of the strata's means of sources' means moves if the k_g sources of every
 * stratum are drawn k_g times with replacement, with all their units (Davison & Hinkley, Bootstrap methods and their
 * application, 1997, section 3.8). The variance of such a mean is too small by the factor (k_g - 1)/k_g; `widened`
 * multiplies every stratum's deviation by sqrt(k_g / (k_g - 1)) to correct that. Sources are finite. */
nb_status nb_bootstrap_mean(int count, const nb_source *sources, bool widened, gsl_rng *rng, int resamples,
                            double *deviations, nb_ctx *ctx);

/* Returns a = sum d^3 / (6 (sum d^2)^1.5), d = (m_i - m) / (k_g - 1), m the mean of the stratum: d is proportional to
 * the change of the mean when source i is left out (Efron, J. Am. Stat. Assoc. 82, 1987; over strata: Davison &
 * Hinkley, section 5.3). 0 if no source changes it. */
double nb_acceleration(int count, const nb_source *sources);

/* Returns z0: the share of deviations below 0, plus half of those that are 0 to rounding (1e-12 of the largest), as a
 * normal quantile. It is finite, since at least half a deviation counts on either side. */
double nb_bias_correction(int resamples, const double *deviations);

/* Returns the bias corrected and accelerated interval (BCa), to be added to the estimate: quantiles of ascending
 * deviations (type 7 of Hyndman & Fan, Am. Stat. 50, 1996) at the levels Phi(z0 + (z0 + z) / (1 - a (z0 + z))), z the
 * normal quantiles of (1 -+ confidence) / 2. nb_bca_level returns such a level of that of z. */
double nb_bca_level(double z0, double acceleration, double level);
nb_interval nb_bca(int resamples, const double *deviations, double acceleration, double confidence);

/* Computes the BCa interval of the mean of strata's means, widened, with the stream of this seed; NaN for a stratum of
 * fewer than two sources, values that are not finite, or no resamples. */
nb_status nb_bootstrap_interval(int count, const nb_source *sources, double mean, double confidence, int resamples,
                                long long seed, nb_interval *interval, nb_ctx *ctx);

#endif
