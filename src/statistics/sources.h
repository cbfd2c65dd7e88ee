/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sources.h - gathers units by their source. */
#ifndef NB_SOURCES_H
#define NB_SOURCES_H

#include "base/ctx.h"

typedef struct {
    int stratum, source; /* from 0; sources of different strata are different, even with the same number */
    double value;        /* on a scale where differences are meaningful: a log ratio, a difference; +-inf is allowed */
    double variance;     /* of its own measurement error; 0: none */
} nb_unit_value;

typedef struct {
    int stratum, source;
    int units, plus, minus; /* number of all units, of those that are +inf, and of those that are -inf */
    double mean;            /* of its units */
    double squares;         /* sum of (value - mean)^2 over its units; NaN if one is not finite */
    double error; /* sum of the units' variances / units^2, their part in the variance of the mean; NaN likewise */
} nb_source;

/* Gathers the sources in ascending order of stratum and number; they do not depend on the order of the units, to the
 * bit. Infinite units stand for +-M as M grows: if both signs are equally many, the mean is that of all units with
 * infinite ones counted as 0; else it is infinite.
 *
 * NB_EINVAL: a stratum outside of 0 ... strata - 1, a source below 0, or a variance of a finite value that is negative
 * or not finite. NB_ENUMERIC: a value is NaN. */
nb_status nb_sources_gather(int count, const nb_unit_value *units, int strata, int *source_count, nb_source **sources,
                            nb_ctx *ctx);

/* Returns the first source after `first` that is of another stratum; `count` if there is none. */
int nb_sources_end(int count, const nb_source *sources, int first);

/* Returns the number of different strata. */
int nb_sources_strata(int count, const nb_source *sources);

/* Returns the mean of the sources' means (all finite); exact if they are equal. */
double nb_sources_mean(int count, const nb_source *sources);

#endif
