/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_units_private.h - what contrasts and lines share. */
#ifndef NB_CLAIM_UNITS_PRIVATE_H
#define NB_CLAIM_UNITS_PRIVATE_H

#include "report/claim_units.h"

typedef struct { /* values by source and trial */
    int count, room;
    nb_crossed_value *items; /* trial < 0: of trial 0 alone, which stands in each that others have */
    int trials, trial_room;  /* trials: the largest number of one, and one more */
    bool *drawn;             /* by trial: whether there is something of it */
} nb_crossed;

nb_status nb_crossed_add(nb_crossed *c, nb_crossed_value value, nb_ctx *ctx);
nb_status nb_crossed_draw(nb_crossed *c, int trial, nb_ctx *ctx); /* there is something of the trial */

/* Sets units->common and ->drawn_trials; `shares`: by stratum, then over all, whether sources share draws. */
nb_status nb_claim_find_common(nb_claim_units *units, const nb_crossed *c, const bool *shares, nb_ctx *ctx);

typedef struct { /* of a head in one setting */
    nb_unit_value unit;
    int head;
} nb_head_value;

/* Sets the units to the means of each head and source; the items are sorted. */
nb_status nb_claim_unite(int count, nb_head_value *items, nb_claim_units *units, nb_ctx *ctx);

/* The units of a claim that measures, or looks for a slope or a correlation. */
nb_status nb_claim_lines(nb_relation *relation, const char *among, const nb_claim *claim, nb_claim_units *units,
                         nb_ctx *ctx);

#endif
