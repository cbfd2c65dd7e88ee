/* SPDX-License-Identifier: GPL-3.0-or-later */
/* column.h - a column of a row: the name, type and meaning of one field of its struct. */
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
    bool memory;   /* a REAL: resident bytes, as the system reports them */
    bool whole;    /* only measured on all rows of S, not on a sample */
    bool more;     /* a REAL where larger is better; for the others smaller is */
    /* REAL: the columns with its rounding error, with its standard error if it is an estimate, and with the same
     * measure on the rows of S that the method has not read; NULL: none. */
    const char *noise, *se, *unseen;
    const char *trivial; /* REAL: the column with the same measure of a trivial answer that takes no method; or NULL */
    bool infinite;       /* a REAL that may be infinite: JSON then has the text "inf" or "-inf" */
    unsigned wanted;     /* the study's bits: measured if one is requested; 0: always measured */
    bool named;          /* `metrics: all` does not request it */
    const char *help;    /* one sentence, with the unit */
} nb_column;

/* Searches a table of columns in the order of the CSV, which ends with name == NULL. */
const nb_column *nb_column_find(const nb_column *columns, const char *name); /* NULL if unknown */
int nb_column_count(const nb_column *columns);

/* True if two rows have the same value in a column; missing values are equal. */
bool nb_column_same(const nb_column *column, const void *a, const void *b);

#endif
