/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_units.h - what the rows say of a claim, head by head: units for statistics/estimate.h, one for each head and
 * source. Whatever else the rows differ in (several m, kernels, windows, trials) is averaged within the head, where
 * each setting counts the same. claim_compare.h and claim_measure.h make them. */
#ifndef NB_CLAIM_UNITS_H
#define NB_CLAIM_UNITS_H

#include "config/config.h"
#include "answers/contrast.h"
#include "rows/columns.h"
#include "rows/run_facts.h"

typedef struct {
    nb_grid strata; /* see nb_relation_strata */
    int count;
    nb_unit_value *units;    /* compare: log(A / B), or A - B; measure: the value, or its log for a geometric mean */
    nb_common_error *common; /* of each stratum, then of all: what trials draw alike for all sources */
    int drawn_trials;        /* see nb_drawn_trials */
    int infinite;            /* values that were not finite before they were averaged within the head */
    int found, missing;      /* pairs of rows, rows, or values of a query: that have a result, that lack one */
    int noise; /* left out: not above their rounding noise, where a ratio, a slope or an order would be noise */
    int exact, exact_baseline;     /* left out: pairs of which the one's, the other's result is exact */
    int skipped;                   /* of those missing: refused by what they need */
    int untimed, untimed_baseline; /* rows of the one, of the other, that are well and have no time */
    int disturbed;                 /* of those found: other work disturbed a time, see nb_disturbance */
    const char *why;               /* why there are none, or none that count; NULL: there are */
} nb_claim_units;

/* The tables of rows that are chosen for a claim (rows/where.h): all that it is about, those of the part of it that is
 * asked, and of these what one comparison or one metric is about. */
#define NB_CLAIM_ROWS "rows_of_claim"
#define NB_PART_ROWS "rows_of_part"

/* Makes the table `chosen`: the rows of the table `among` (NULL: all) that the conditions of a claim choose; *why: they
 * mean no row (NULL: they do). */
nb_status nb_claim_choose(const nb_relation *relation, const char *among, const nb_conditions *where,
                          const char *chosen, const char **why, nb_ctx *ctx);

/* Turns an error that says what cannot be asked of these rows into the reason why there is no answer. */
nb_status nb_claim_excuse(nb_status status, const char **why, nb_ctx *ctx);

typedef struct { /* of a head in one setting */
    nb_unit_value unit;
    int head;
} nb_head_value;

/* Sets the units to the means of each head and source; sorts the items, so that the order of the settings does not
 * matter. */
nb_status nb_claim_units_average(int count, nb_head_value *items, nb_claim_units *units, nb_ctx *ctx);

typedef struct { /* values by source and trial */
    int count, room;
    nb_crossed_value *items;
} nb_crossed;

nb_status nb_crossed_add_value(nb_crossed *crossed, nb_crossed_value value, nb_ctx *ctx);

/* Sets units->common and ->drawn_trials; `shares`: by stratum, then over all, whether sources share draws. */
nb_status nb_claim_units_find_common(nb_claim_units *units, const nb_crossed *crossed, const bool *shares, nb_ctx *ctx);

#endif
