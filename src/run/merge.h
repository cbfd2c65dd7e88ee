/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge.h - the results of several runs of one plan, united row by row. */
#ifndef NB_MERGE_H
#define NB_MERGE_H

#include "run/manifest.h"
#include "run/plan.h"

enum { NB_CONFLICTS_SHOWN = 10 };

typedef struct {
    const nb_plan *plan;
    int count;              /* runs so far */
    int *from;              /* row_count: 1 + the number of the run that gave the row; 0: none has it */
    const nb_row **rows;    /* row_count: the results, where from[] is not 0 */
    const nb_manifest **by; /* row_count: what signs them */
    int replaced, kept;     /* failures that were replaced: those of runs that yield */
    int conflict_count;
    const char *conflicts[NB_CONFLICTS_SHOWN]; /* the first: the row, both values, both runs */
    const char **names;                        /* of the runs, for what is said */
} nb_merge;

/* For at most run_count runs of the plan. */
nb_status nb_merge_init(const nb_plan *plan, int run_count, nb_merge *merge, nb_ctx *ctx);

/* The next run: rows of the plan, or of a part of it, in the plan's order. Those that are only planned are passed
 * over. Results of one row that differ, times aside, are a conflict; where the run yields, its failures give way to
 * what is there instead, and failures that are there to its results: somebody has repeated them there. `by` (by row;
 * NULL: not known) signs the rows. NB_EIO if the rows are not the plan's. name, rows and what `by` points to must
 * outlive the merge. */
nb_status nb_merge_add(nb_merge *merge, const char *name, bool yields, const nb_row_list *rows,
                       const nb_manifest *const *by, nb_ctx *ctx);

#endif
