/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sources.c - units are sorted by all that they hold, so equal sets of units give equal sums. Means are running ones,
 * m <- m + (x - m)/i, which of equal values are exactly that value. */
#include "statistics/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int order(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_units(const void *left, const void *right)
{
    const nb_unit_value *a = left, *b = right;
    if (a->stratum != b->stratum) return a->stratum < b->stratum ? -1 : 1;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return a->value != b->value ? order(a->value, b->value) : order(a->variance, b->variance);
}

static nb_status check(int count, const nb_unit_value *units, int strata, nb_ctx *ctx)
{
    for (int i = 0; i < count; i++) {
        const nb_unit_value *u = &units[i];
        NB_REQUIRE(ctx, u->stratum >= 0 && u->stratum < strata && u->source >= 0, NB_EINVAL,
                   "unit %d is of stratum %d, source %d; allowed: strata 0 ... %d, sources from 0", i, u->stratum,
                   u->source, strata - 1);
        NB_REQUIRE(ctx, !isnan(u->value), NB_ENUMERIC, "the value of unit %d is NaN", i);
        NB_REQUIRE(ctx, isinf(u->value) || (u->variance >= 0 && isfinite(u->variance)), NB_EINVAL,
                   "the variance of unit %d is %g; allowed: finite, at least 0", i, u->variance);
    }
    return NB_OK;
}

/* Over the finite units, an infinite one counted as 0. */
static double finite_mean(int count, const nb_unit_value *units)
{
    double mean = 0;
    for (int i = 0; i < count; i++) mean += ((isfinite(units[i].value) ? units[i].value : 0) - mean) / (i + 1);
    return mean;
}

static nb_source gather(int count, const nb_unit_value *units)
{
    nb_source s = {.stratum = units[0].stratum, .source = units[0].source, .units = count};
    for (int i = 0; i < count; i++) {
        s.plus += units[i].value > 0 && isinf(units[i].value);
        s.minus += units[i].value < 0 && isinf(units[i].value);
    }
    s.mean = s.plus == s.minus ? finite_mean(count, units) : s.plus > s.minus ? INFINITY : -INFINITY;
    if (s.plus + s.minus > 0) s.squares = s.error = NAN;
    for (int i = 0; i < count; i++) {
        s.squares += (units[i].value - s.mean) * (units[i].value - s.mean);
        s.error += units[i].variance / count / count;
    }
    return s;
}

static int same_source(int count, const nb_unit_value *units, int first)
{
    int i = first;
    while (i < count && units[i].stratum == units[first].stratum && units[i].source == units[first].source) i++;
    return i;
}

nb_status nb_sources_gather(int count, const nb_unit_value *units, int strata, int *source_count, nb_source **sources,
                            nb_ctx *ctx)
{
    nb_unit_value *sorted;
    NB_TRY(ctx, check(count, units, strata, ctx));
    NB_NEED(*sources, nb_alloc(ctx, (size_t)count, sizeof **sources));
    NB_NEED(sorted, nb_alloc(ctx, (size_t)count, sizeof *sorted));
    if (count > 0) memcpy(sorted, units, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_units);
    *source_count = 0;
    for (int first = 0, end; first < count; first = end) {
        end = same_source(count, sorted, first);
        (*sources)[(*source_count)++] = gather(end - first, sorted + first);
    }
    return NB_OK;
}

int nb_sources_end(int count, const nb_source *sources, int first)
{
    int i = first;
    while (i < count && sources[i].stratum == sources[first].stratum) i++;
    return i;
}

int nb_sources_strata(int count, const nb_source *sources)
{
    int strata = 0;
    for (int i = 0; i < count; i = nb_sources_end(count, sources, i)) strata++;
    return strata;
}

double nb_sources_mean(int count, const nb_source *sources)
{
    double mean = 0;
    for (int i = 0; i < count; i++) mean += (sources[i].mean - mean) / (i + 1);
    return mean;
}
