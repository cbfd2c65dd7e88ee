/* SPDX-License-Identifier: GPL-3.0-or-later */
/* intervals.c - see intervals.h; the distributions are GSL's. */
#include "statistics/intervals.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

nb_interval nb_t_interval(double mean, double se, double df, double confidence)
{
    if (!(df > 0) || !isfinite(se)) return (nb_interval){NAN, NAN};
    double half = gsl_cdf_tdist_Qinv((1 - confidence) / 2, df) * se;
    return (nb_interval){mean - half, mean + half};
}

double nb_t_p(double mean, double se, double df)
{
    if (!(df > 0) || !isfinite(mean) || !isfinite(se)) return NAN;
    if (se <= 0) return mean == 0 ? 1 : 0;
    return 2 * gsl_cdf_tdist_Q(fabs(mean) / se, df);
}

nb_interval nb_clopper_pearson(int hits, int n, double confidence)
{
    double tail = (1 - confidence) / 2;
    if (n < 1) return (nb_interval){NAN, NAN};
    return (nb_interval){hits > 0 ? gsl_cdf_beta_Pinv(tail, hits, n - hits + 1) : 0,
                         hits < n ? gsl_cdf_beta_Qinv(tail, hits + 1, n - hits) : 1};
}

nb_interval nb_wilson(int hits, int n, double confidence)
{
    if (n < 1) return (nb_interval){NAN, NAN};
    double share = (double)hits / n, z = gsl_cdf_ugaussian_Qinv((1 - confidence) / 2), square = z * z / n;
    double centre = share + square / 2, half = sqrt(square * (share * (1 - share) + square / 4));
    return (nb_interval){hits > 0 ? (centre - half) / (1 + square) : 0, hits < n ? (centre + half) / (1 + square) : 1};
}

/* Over all signs of the values from `first` on: how many sums are at least `least` in absolute value. */
static long count_flips(int n, const double *values, int first, double sum, double least)
{
    if (first == n) return fabs(sum) >= least;
    return count_flips(n, values, first + 1, sum + values[first], least) +
           count_flips(n, values, first + 1, sum - values[first], least);
}

double nb_sign_flip_p(int n, const double *values)
{
    double sum = 0, size = 0;
    if (n < 1 || n > NB_SIGN_FLIPS) return NAN;
    for (int i = 0; i < n; i++) {
        sum += values[i];
        size += fabs(values[i]);
    }
    if (!isfinite(size)) return NAN;
    return ldexp((double)count_flips(n, values, 0, 0, fabs(sum) - 4 * n * DBL_EPSILON * size), -n);
}

double nb_units_for_power(double sd, double distance, double alpha, double power)
{
    double z = gsl_cdf_ugaussian_Qinv(alpha / 2) + gsl_cdf_ugaussian_Pinv(power);
    return z * sd / distance * (z * sd / distance);
}
