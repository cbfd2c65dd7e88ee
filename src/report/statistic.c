/* SPDX-License-Identifier: GPL-3.0-or-later */
/* statistic.c - quantiles by linear interpolation, as GSL and NumPy have them. */
#include "report/statistic.h"

#include "statistics/ranks.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

double nb_quantile(int count, const double *sorted, double p)
{
    double place = p * (count - 1);
    if (count == 0) return NAN;
    if (place == floor(place)) return sorted[(int)place]; /* its neighbour may be infinite */
    return gsl_stats_quantile_from_sorted_data(sorted, 1, (size_t)count, p);
}

nb_statistic nb_statistic_of(int count, double *values)
{
    nb_statistic s = {.count = count, .planned = count, .median = NAN, .low = NAN, .high = NAN};
    s.median_low = s.median_high = NAN;
    if (count == 0) return s;
    gsl_sort(values, 1, (size_t)count);
    s.median = nb_quantile(count, values, 0.5);
    s.low = nb_quantile(count, values, 0.1);
    s.high = nb_quantile(count, values, 0.9);
    return s;
}

static int by_source(const void *a, const void *b)
{
    const nb_sourced *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Of sorted values; how many sources there are. */
static int source_medians(int count, const nb_sourced *values, double *medians)
{
    int sources = 0;
    for (int i = 0, end; i < count; i = end, sources++) {
        for (end = i; end < count && values[end].source == values[i].source;) end++;
        medians[sources] = nb_midpoint(values[(i + end - 1) / 2].value, values[(i + end) / 2].value);
    }
    return sources;
}

nb_statistic nb_statistic_over_sources(int count, nb_sourced *values, double *room)
{
    double low, high;
    qsort(values, (size_t)count, sizeof *values, by_source);
    int sources = source_medians(count, values, room);
    gsl_sort(room, 1, (size_t)sources);
    nb_median_interval(sources, room, &low, &high);
    for (int i = 0; i < count; i++) room[i] = values[i].value;
    nb_statistic s = nb_statistic_of(count, room);
    s.sources = sources;
    s.median_low = low;
    s.median_high = high;
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
