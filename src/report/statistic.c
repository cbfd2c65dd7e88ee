/* SPDX-License-Identifier: GPL-3.0-or-later */
/* statistic.c - quantiles by linear interpolation, as GSL and NumPy have them. */
#include "report/statistic.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

nb_statistic nb_statistic_of(int count, double *values)
{
    nb_statistic s = {.count = count, .planned = count, .median = NAN, .low = NAN, .high = NAN};
    if (count == 0) return s;
    gsl_sort(values, 1, (size_t)count);
    s.median = gsl_stats_quantile_from_sorted_data(values, 1, (size_t)count, 0.5);
    s.low = gsl_stats_quantile_from_sorted_data(values, 1, (size_t)count, 0.1);
    s.high = gsl_stats_quantile_from_sorted_data(values, 1, (size_t)count, 0.9);
    return s;
}

bool nb_statistic_is_noise(const nb_statistic *s)
{
    return s->count > 0 && 2 * s->noise >= s->count;
}

double nb_median_of(double *values, int *count)
{
    int kept = 0;
    for (int i = 0; i < *count; i++)
        if (!isnan(values[i])) values[kept++] = values[i];
    *count = kept;
    gsl_sort(values, 1, (size_t)kept);
    return kept ? gsl_stats_median_from_sorted_data(values, 1, (size_t)kept) : NAN;
}
