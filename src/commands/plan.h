/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.h - what `plan` and `run --dry-run` print. */
#ifndef NB_PLAN_COMMAND_H
#define NB_PLAN_COMMAND_H

#include "cli/format.h"
#include "cli/preview.h"

/* Prints on standard output what a run of these rows would do: scenes, rows, time and memory. Returns the exit status:
 * NB_EXIT_USAGE if the run would be refused, because no worker fits into workers->memory (0: any machine) or as
 * nb_preview_check says. */
int nb_plan_tell(const nb_command *command, const nb_experiment *experiment, const nb_question *asked,
                 nb_workers *workers, double max_hours, nb_output_format format, nb_ctx *ctx);

#endif
