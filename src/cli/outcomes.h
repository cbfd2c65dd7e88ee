/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outcomes.h - reports the outcomes of a run's rows: counts, reasons, and how to repeat what went wrong. */
#ifndef NB_OUTCOMES_H
#define NB_OUTCOMES_H

#include "cli/experiment.h"

/* Counts the rows that are neither ok nor skipped, including "planned": those for which `only` (by row of the plan;
 * NULL: all) is set. `rows` are some or all of the plan's, in its order. */
nb_status nb_outcomes_failures(const nb_experiment *e, const bool *only, const nb_row_list *rows, int *failures,
                               nb_ctx *ctx);

/* Prints counts by status, why rows were skipped, and for each reason of failures the first row with the command that
 * repeats it alone. The whole list goes to NB_FAILURES_FILE in the run's folder; without failures there is no such
 * file. */
nb_status nb_outcomes_print(const nb_experiment *e, const bool *only, const nb_row_list *rows, nb_ctx *ctx);

#endif
