/* SPDX-License-Identifier: GPL-3.0-or-later */
/* intervals.c - see intervals.h; the distributions are GSL's. */
#include "statistics/intervals.h"

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

double nb_units_for_power(double sd, double distance, double alpha, double power)
{
    double z = gsl_cdf_ugaussian_Qinv(alpha / 2) + gsl_cdf_ugaussian_Pinv(power);
    return z * sd / distance * (z * sd / distance);
}
