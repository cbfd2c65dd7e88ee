/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row.h - one result, and the table of its columns: it makes the SQL schema, the
 * CSV's header and the data dictionary. */
#ifndef NB_ROW_H
#define NB_ROW_H

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

typedef enum { NB_COLUMN_TEXT, NB_COLUMN_INT, NB_COLUMN_SEED, NB_COLUMN_REAL } nb_column_type;

typedef struct {
    const char *name;
    nb_column_type type;
    size_t offset;    /* in nb_row: const char *, int, long long, double */
    bool identity;    /* part of what makes a row the row it is */
    bool measure;     /* may be named by `metrics` */
    bool integer;     /* a REAL whose numbers are integers */
    bool time;        /* differs from run to run */
    bool whole;       /* measured on all rows of S alone */
    unsigned wanted;  /* NB_WANT_*: measured on request; 0: comes with every row */
    const char *help; /* with the unit */
} nb_column;

extern const nb_column nb_columns[]; /* in the order of the CSV; ends with name == NULL */

const nb_column *nb_column_find(const char *name);

/* Whether two rows have the same in a column; what was not measured equals itself. */
bool nb_column_same(const nb_column *column, const nb_row *a, const nb_row *b);
/* Whether they are results of one and the same row: all columns of the identity. */
bool nb_row_same(const nb_row *a, const nb_row *b);
/* ok or skipped: neither went wrong nor waits to be run. */
bool nb_row_is_well(const nb_row *row);

#endif
