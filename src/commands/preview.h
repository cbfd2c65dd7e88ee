/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preview.h - the preview that `plan` and `run` print before anything runs. */
#ifndef NB_PREVIEW_H
#define NB_PREVIEW_H

#include "commands/experiment.h"
#include "commands/format.h"
#include "commands/prepare.h"
#include "run/prediction.h"
#include "run/workers.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    nb_standing standing;
    nb_machine_speed machine;
    nb_predicted times;
    int to_run; /* rows */
    int others; /* rows of the last run measured by another build or with other arithmetic */
} nb_preview;

/* Returns how many of so many workers have a CPU each. */
int nb_preview_workers(int jobs);

typedef struct {
    const nb_start_choices *start;
    const bool *only; /* by row of the plan; NULL: the missing rows */
    bool measured;    /* measure this machine; false: take it for the reference machine */
} nb_plan_question;

/* Makes the preview of the rows asked for. Reduces *workers to as many as fit into memory; NB_EINVAL if not one does.
 * Reads the store of the experiment's folder, unless it will be put aside (--fresh), and writes nothing. */
nb_status nb_preview_make(const nb_experiment *e, const nb_plan_question *asked, nb_workers *workers,
                          nb_preview *preview, nb_ctx *ctx);

enum { NB_TIME_RANGE = 80 };
/* Returns "41 s to 1 min 10 s", or one time if both are the same, for that share of the whole. */
const char *nb_preview_time(const nb_predicted *times, double share, char text[NB_TIME_RANGE]);

/* Prints "3 scenes to run with 2 workers: about 41 s to 1 min 10 s, up to 120 MiB of memory". */
void nb_preview_print(FILE *out, const char *before, const nb_preview *preview);

#define NB_MAX_HOURS_VALUE NB_BRACED(.min = 1e-6, .max = 1e6, .value = INFINITY)
#define NB_MAX_HOURS_OPTION(hours) \
    NB_REAL_OPTION("max-hours", '\0', hours, "Run nothing if the prediction for an idle machine is longer", "H")
/* Returns NB_GO_ON, or the exit status if even the low end of the prediction is more. */
int nb_preview_check(const nb_command *command, const nb_preview *preview, double max_hours);

/* Prints on standard output what a run of these rows would do: scenes, rows, time and memory. Returns the exit status:
 * NB_EXIT_USAGE if the run would be refused, because no worker fits into workers->memory (0: any machine) or as
 * nb_preview_check says. */
int nb_plan_tell(const nb_command *command, const nb_experiment *experiment, const nb_plan_question *asked,
                 nb_workers *workers, double max_hours, nb_output_format format, nb_ctx *ctx);

#endif
