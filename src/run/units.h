/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.h - what a worker does at a time: a scene with all its trials where they
 * share its data, a single trial where they do not. Either is a range of the
 * plan's rows. */
#ifndef NB_UNITS_H
#define NB_UNITS_H

#include "run/plan.h"

struct nb_unit {
    int first, end; /* rows of the plan */
};

/* The units that have pending rows, in the plan's order. */
nb_status nb_units_find(const nb_plan *plan, const bool *pending, nb_unit **units, int *count, nb_ctx *ctx);

#endif
