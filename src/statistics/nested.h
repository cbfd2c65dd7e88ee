/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nested.h - analysis of variance of units nested in sources, which shows how much units of a source are alike. */
#ifndef NB_NESTED_H
#define NB_NESTED_H

#include "statistics/sources.h"

/* For k sources of r_i units, N in all, in G strata whose means may differ (Snedecor & Cochran, Statistical methods,
 * 1989, section 13.7). NaN: undefined, as for one unit a source, one source a stratum, or values that are all equal or
 * not all finite. An icc below -1 / (r - 1), r the most units of a source, is impossible, and NaN too. */
typedef struct {
    double between; /* mean square of sources: sum r_i (m_i - m)^2 / (k - G), m the mean of the stratum's units */
    double within;  /* mean square of units in sources: sum (y - m_i)^2 / (N - k) */
    double size;    /* r0 = (N - sum_g sum_i r_i^2 / N_g) / (k - G): r if all sources have r units */
    /* (between - within) / (between + (size - 1) within); below 0 if units of a source differ more than sources */
    double icc;
    double design_effect; /* 1 + (size - 1) max(icc, 0) */
    double effective;     /* N / design_effect: the equivalent number of independent units */
} nb_nested;

nb_nested nb_nested_anova(int count, const nb_source *sources);

#endif
