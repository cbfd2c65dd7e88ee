/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sources.h - units gathered by the source that they are from. */
#ifndef NB_SOURCES_H
#define NB_SOURCES_H

#include "base/ctx.h"

typedef struct {
    int stratum, source; /* from 0; a source is of one stratum, even if another has its number */
    double value;        /* on a scale where differences mean something: a log ratio, a difference; +-inf is allowed */
    double variance;     /* of its own error of measurement; 0: none */
} nb_unit_value;

typedef struct {
    int stratum, source;
    int units, plus, minus; /* of all units, those that are +inf, and those that are -inf */
    double mean;            /* of its units */
    double squares;         /* sum of (value - mean)^2 over its units; NaN if one is not finite */
    double error;           /* sum of the units' variances / units^2: what they say of the mean; NaN likewise */
} nb_source;

/* The sources in ascending order of stratum and number; they depend on no order of the units, to the bit. Infinite
 * units stand for +-M as M grows: where those of both signs are equally many, the mean is that of the finite units,
 * each infinite one counted as 0; else it is infinite.
 *
 * NB_EINVAL: a stratum outside of 0 ... strata - 1, a source below 0, or the variance of a finite value that is
 * negative or not finite. NB_ENUMERIC: a value is NaN. */
nb_status nb_sources_gather(int count, const nb_unit_value *units, int strata, int *source_count, nb_source **sources,
                            nb_ctx *ctx);

/* The first source from `first` on that is of another stratum than it; `count` where there is none. */
int nb_sources_end(int count, const nb_source *sources, int first);

/* How many are from different strata. */
int nb_sources_strata(int count, const nb_source *sources);

/* Of the sources' means, each finite; exactly their value where all are equal. */
double nb_sources_mean(int count, const nb_source *sources);

#endif
