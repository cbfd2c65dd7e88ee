/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row.h - one result, and the table of its columns. */
#ifndef NB_ROW_H
#define NB_ROW_H

#include "components/column.h"
#include "nystrom/measures.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *experiment, *problem, *kernel, *strategy, *pairing, *factors, *core, *rows, *engine, *precision,
        *status, *reason;
    long long seed;
    int head, trial, n, d, landmarks;
    nb_measures measures;
} nb_row;

/* What `status` may say; ends with NULL. */
extern const char *const nb_row_statuses[];

extern const nb_column nb_columns[]; /* in the order of the CSV; ends with name == NULL */

/* Whether they are results of one and the same row: all columns of the identity. */
bool nb_row_same(const nb_row *a, const nb_row *b);
/* ok or skipped: neither went wrong nor waits to be run. */
bool nb_row_is_well(const nb_row *row);

#endif
