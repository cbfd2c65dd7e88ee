/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outcomes.h - what became of the rows of a run: counts, reasons, and how to
 * repeat what went wrong. */
#ifndef NB_OUTCOMES_H
#define NB_OUTCOMES_H

#include "cli/experiment.h"

/* Rows that are neither ok nor skipped, "planned" among them: of those for which
 * `only` (by row of the plan; NULL: all) is set. `rows` are some or all of the
 * plan's, in its order. */
nb_status nb_outcomes_failures(const nb_experiment *e, const bool *only, const nb_row_list *rows, int *failures,
                               nb_ctx *ctx);

/* Prints their counts by status, why rows were skipped, and of each reason for
 * which rows went wrong the first, with the command that repeats it alone; the
 * whole list goes to NB_FAILURES_FILE in the run's folder, which is not there
 * where nothing went wrong. */
nb_status nb_outcomes_print(const nb_experiment *e, const bool *only, const nb_row_list *rows, nb_ctx *ctx);

#endif
