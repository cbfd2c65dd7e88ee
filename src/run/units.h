/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.h - units of work, ranges of the plan's rows: a scene with all its trials if they share its data, else a single
 * trial. */
#ifndef NB_UNITS_H
#define NB_UNITS_H

#include "run/plan.h"

struct nb_unit {
    int first, end; /* rows of the plan */
};

/* Lists the units that have pending rows, in the plan's order. */
nb_status nb_units_find(const nb_plan *plan, const bool *pending, nb_unit **units, int *count, nb_ctx *ctx);

#endif
