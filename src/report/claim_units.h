/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_units.h - what the rows say of a claim, head by head: units for statistics/estimate.h, one for each head and
 * source. Whatever else the rows differ in (several m, kernels, windows, trials) is averaged within the head, where
 * each setting counts the same. */
#ifndef NB_CLAIM_UNITS_H
#define NB_CLAIM_UNITS_H

#include "config/config.h"
#include "report/contrast.h"

typedef struct {
    nb_grid strata; /* see nb_relation_strata */
    int count;
    /* compare, order: log(A / B), or A - B; slope; correlation; the metric, or its log for a geometric mean. */
    nb_unit_value *units;
    nb_common_error *common; /* of each stratum, then of all: what trials draw alike for all sources */
    int drawn_trials;        /* see nb_drawn_trials */
    int infinite;            /* values that were not finite before they were averaged within the head */
    int found, missing; /* pairs of rows, rows, or lines through a head's rows: that have a result, that lack one */
    int noise; /* left out: not above their rounding noise, where a ratio, a slope or an order would be noise */
    int exact, exact_baseline; /* left out: pairs of which the one's, the other's result is exact */
    int disturbed;             /* of those found: other work disturbed a time, see nb_disturbance */
    const char *why;           /* why there are none, or none that count; NULL: there are */
} nb_claim_units;

/* *sql: `among`, SQL for the view `run` as all conditions here, and the claim's conditions; *why: these mean no row
 * (NULL: they do). */
nb_status nb_claim_rows(const nb_relation *relation, const char *among, const nb_conditions *where, const char **sql,
                        const char **why, nb_ctx *ctx);

/* Makes the units of the rows that are meant; compare, order: values[pair] is held against values[pair + 1]. */
nb_status nb_claim_units_make(nb_relation *relation, const char *among, const nb_claim *claim, int pair,
                              nb_claim_units *units, nb_ctx *ctx);

#endif
