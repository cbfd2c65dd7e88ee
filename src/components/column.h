/* SPDX-License-Identifier: GPL-3.0-or-later */
/* column.h - a column of a row: a field of its struct, with a name and a meaning. */
#ifndef NB_COLUMN_H
#define NB_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum { NB_COLUMN_TEXT, NB_COLUMN_INT, NB_COLUMN_SEED, NB_COLUMN_REAL } nb_column_type;

typedef struct {
    const char *name;
    nb_column_type type;
    size_t offset; /* in the row: const char *, int, long long, double */
    bool identity; /* part of the row's identity */
    bool measure;  /* may be named by `metrics` */
    bool integer;  /* a REAL whose numbers are integers */
    bool time;     /* differs from run to run */
    bool memory;   /* a REAL: bytes that were resident, as the system tells it */
    bool whole;    /* measured on all rows of S alone */
    bool more;     /* a REAL of which more is better; of the others less is */
    /* REAL: the columns with its rounding error, its standard error where it is an estimate, and the same measure on
     * what the method has not looked at; NULL: there is none. */
    const char *noise, *se, *unseen;
    const char *trivial; /* REAL: the column with the same measure of an answer that takes no method; or NULL */
    bool infinite;       /* a REAL that may be: JSON then has the text "inf" or "-inf" */
    unsigned wanted;     /* bits of the study's: measured on request; 0: comes with every row */
    const char *help;    /* with the unit */
} nb_column;

/* Of a table in the order of the CSV, which ends with name == NULL. */
const nb_column *nb_column_find(const nb_column *columns, const char *name); /* NULL if unknown */
int nb_column_count(const nb_column *columns);

/* Whether two rows have the same value in a column; a value not measured equals another not measured. */
bool nb_column_same(const nb_column *column, const void *a, const void *b);

#endif
