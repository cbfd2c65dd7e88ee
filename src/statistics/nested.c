/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nested.c - see nested.h */
#include "statistics/nested.h"

#include <math.h>

typedef struct {
    int units, most;              /* in all, in a source */
    double between, within, size; /* sums of squares; of squared numbers of units / N_g */
} sums;

/* Adds the sums of one stratum. The running mean of equal values is exactly that value. */
static void add_stratum(int count, const nb_source *sources, sums *s)
{
    double mean = 0, squared = 0;
    int units = 0;
    for (int i = 0; i < count; i++) {
        units += sources[i].units;
        if (sources[i].units > s->most) s->most = sources[i].units;
        mean += (sources[i].mean - mean) * sources[i].units / units;
        squared += (double)sources[i].units * sources[i].units;
    }
    for (int i = 0; i < count; i++) {
        s->between += sources[i].units * (sources[i].mean - mean) * (sources[i].mean - mean);
        s->within += sources[i].squares;
    }
    s->units += units;
    s->size += squared / units;
}

static double ratio(double numerator, double denominator)
{
    return denominator > 0 ? numerator / denominator : NAN;
}

/* Rounding may leave it below the least that it can be; of sources of unequal numbers of units the estimate may lie far
 * below. */
static double within_bounds(double icc, int most)
{
    double least = -1.0 / (most - 1);
    return icc >= least * (1 + 1e-9) ? fmax(icc, least) : NAN;
}

nb_nested nb_nested_anova(int count, const nb_source *sources)
{
    sums s = {.units = 0};
    for (int i = 0, end; i < count; i = end) {
        end = nb_sources_end(count, sources, i);
        add_stratum(end - i, sources + i, &s);
    }
    double df = count - nb_sources_strata(count, sources);
    nb_nested n = {.between = ratio(s.between, df), .within = ratio(s.within, s.units - count)};
    n.size = ratio(s.units - s.size, df);
    n.icc = within_bounds(ratio(n.between - n.within, n.between + (n.size - 1) * n.within), s.most);
    n.design_effect = isnan(n.icc) ? NAN : 1 + (n.size - 1) * fmax(n.icc, 0);
    n.effective = s.units / n.design_effect;
    return n;
}
