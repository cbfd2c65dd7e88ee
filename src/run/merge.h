/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge.h - merges the results of several runs of one plan, row by row. */
#ifndef NB_MERGE_H
#define NB_MERGE_H

#include "run/store.h"

enum { NB_CONFLICTS_SHOWN = 10 };

typedef struct {
    const nb_plan *plan;
    int count;              /* runs so far */
    int *from;              /* row_count: 1 + the number of the run that gave the row; 0: none has it */
    const nb_row **rows;    /* row_count: results; set if from[] is not 0 */
    const nb_manifest **by; /* row_count: their signatures */
    int replaced, kept;     /* failures replaced by results; failures that runs yielded */
    int conflict_count;
    const char *conflicts[NB_CONFLICTS_SHOWN]; /* the first ones: row, both values, both runs */
    const char **names;                        /* names of the runs, for messages */
} nb_merge;

/* Prepares to merge at most run_count runs of the plan. */
nb_status nb_merge_init(const nb_plan *plan, int run_count, nb_merge *merge, nb_ctx *ctx);

/* Adds the next run: rows of the plan, or of a part of it, in the plan's order. Rows that are only planned are skipped.
 * Different results of one row, times aside, are a conflict; but if the run yields, its failures give way to what is
 * there, and failures that are there to its results, since somebody has repeated them. `by` (by row; NULL: unknown)
 * signs the rows. NB_EIO if the rows are not the plan's. name, rows and what `by` points to must outlive the merge. */
nb_status nb_merge_add(nb_merge *merge, const char *name, bool yields, const nb_row_list *rows,
                       const nb_manifest *const *by, nb_ctx *ctx);

#endif
