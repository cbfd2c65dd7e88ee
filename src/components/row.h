/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row.h - a row, one result of a study: the fields of all studies' rows, and the study's table of columns. The SQL
 * schema, the CSV's header and the data dictionary are made from that table. */
#ifndef NB_ROW_H
#define NB_ROW_H

#include "components/component.h"

#include <stdbool.h>
#include <stddef.h>

/* A column of a row: the name, type and meaning of one field of its struct. */

typedef enum { NB_COLUMN_TEXT, NB_COLUMN_INT, NB_COLUMN_SEED, NB_COLUMN_REAL } nb_column_type;

typedef struct {
    const char *name; /* stands in SQL as it is: see nb_study_check_names */
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
    /* REAL, a measure of error: the condition under which a row of the view `run` is exact but for rounding, so that
     * its error says nothing, as "FILE.NAME" (run/sql_files.h) or, of a study outside the tree, as SQL; NULL: none. */
    const char *exact;
    /* REAL, a time: the condition under which other programs ran while a row was timed, likewise; NULL: other workers
     * of the run may have. */
    const char *disturbed;
    const char *trivial; /* REAL: the column with the same measure of a trivial answer that takes no method; or NULL */
    unsigned wanted;     /* the study's bits: measured if one is requested; 0: always measured */
    bool named;          /* `metrics: all` does not request it */
    bool told;           /* a TEXT that measuring sets, and not the plan */
    const char *help;    /* one sentence, with the unit */
} nb_column;

/* Searches a table of columns in the order of the CSV, which ends with name == NULL. */
const nb_column *nb_column_find(const nb_column *columns, const char *name); /* NULL if unknown */
int nb_column_count(const nb_column *columns);

/* True if measuring sets it: a number apart from the identity, the reason, or a text that is told. */
bool nb_column_is_measured(const nb_column *column);

/* True if two numbers are equal, or both are missing (NaN). */
bool nb_real_same(double a, double b);

/* True if two rows have the same value in a column; missing values are equal. */
bool nb_column_same(const nb_column *column, const void *a, const void *b);

/* Returns a row's value in a column, for people; ctx owns it, NULL when out of memory. */
const char *nb_column_text(const nb_column *column, const void *row, nb_ctx *ctx);

/* The labels that a config gives to components, by their canonical texts in rows. */

typedef struct {
    const nb_registry *registry;
    const char *canonical, *label;
} nb_given_label;

typedef struct {
    int count, capacity;
    nb_given_label *items;
} nb_given_labels;

/* Adds the given labels of the choices, each once. NB_EINVAL as nb_choices_label. */
nb_status nb_given_labels_add(nb_given_labels *labels, const nb_registry *registry, const nb_choices *choices,
                              nb_ctx *ctx);

/* Returns the label; NULL if none is given or `labels` is NULL. */
const char *nb_given_label_of(const nb_given_labels *labels, const nb_registry *registry, const char *canonical);

/* The fields of every row, in the order of its struct. */
#define NB_ROW_FIELDS \
    const char *experiment, *problem, *model, *layer, *source, *status, *reason; \
    long long seed; \
    int head, trial, n, d;

typedef struct {
    NB_ROW_FIELDS
} nb_row;

/* The first member of a study's row: its fields are also the row's own, and &r->row is an nb_row. */
#define NB_ROW_FIRST \
    union { \
        nb_row row; \
        struct { \
            NB_ROW_FIELDS \
        }; \
    };

enum { NB_MOST_ROW = 2048 }; /* bytes of a study's row */

/* Room for a row of any study. */
typedef union {
    nb_row row;
    char bytes[NB_MOST_ROW];
} nb_any_row;

/* Rows for these fields in a study's table of columns; `row_` is the study's struct. */
#define NB_COLUMN_OF(row_, field, type_, ...) \
    { \
        .name = #field, .type = type_, .offset = offsetof(row_, field), __VA_ARGS__ \
    }
/* A measure: a double within the member `part`. */
#define NB_COLUMN_MEASURE_OF(row_, part, field, ...) \
    { \
        .name = #field, .type = NB_COLUMN_REAL, .offset = offsetof(row_, part.field), .measure = true, __VA_ARGS__ \
    }
#define NB_COLUMN_TEXT_OF(row_, field, ...) NB_COLUMN_OF(row_, field, NB_COLUMN_TEXT, __VA_ARGS__)
#define NB_COLUMN_INT_OF(row_, field, ...) NB_COLUMN_OF(row_, field, NB_COLUMN_INT, __VA_ARGS__)
#define NB_COLUMN_EXPERIMENT(row_) NB_COLUMN_TEXT_OF(row_, experiment, .help = "name of the experiment")
#define NB_COLUMN_PROBLEM(row_) \
    NB_COLUMN_TEXT_OF(row_, problem, .identity = true, .help = "where the head comes from, with all options")
#define NB_COLUMN_HEAD(row_) NB_COLUMN_INT_OF(row_, head, .identity = true, .help = "which head of the problem, from 0")
#define NB_COLUMN_TRIAL(row_) \
    NB_COLUMN_INT_OF(row_, trial, .identity = true, \
                     .help = "repetition, from 0; a method without randomness on data that do not change has only " \
                             "trial 0, which stands for all")
#define NB_COLUMN_MODEL(row_) \
    NB_COLUMN_TEXT_OF(row_, model, .help = "the model that the head comes from, as its file says; empty: it does not")
#define NB_COLUMN_LAYER(row_) \
    NB_COLUMN_TEXT_OF(row_, layer, \
                      .help = "the model's layer that the head is of, as its file says; empty: it does not")
#define NB_COLUMN_SOURCE(row_) \
    NB_COLUMN_TEXT_OF(row_, source, \
                      .help = \
                          "the text, image or recording that the head comes from, as its file says, or the file; " \
                          "heads of one source are not independent; empty for generated data, where each trial is " \
                          "a source")
#define NB_COLUMN_N(row_) NB_COLUMN_INT_OF(row_, n, .help = "tokens")
#define NB_COLUMN_D(row_) NB_COLUMN_INT_OF(row_, d, .help = "dimension of a head")
/* Five columns say what a head is. */
#define NB_COLUMNS_OF_HEAD(row_) \
    NB_COLUMN_N(row_), NB_COLUMN_D(row_), NB_COLUMN_MODEL(row_), NB_COLUMN_LAYER(row_), NB_COLUMN_SOURCE(row_)
#define NB_COLUMN_STATUS(row_) \
    NB_COLUMN_TEXT_OF(row_, status, \
                      .help = "ok, skipped, diverged (not finite, or an iteration driven out of its region of " \
                              "convergence by rounding), failed, timeout, crashed, or planned (not run yet)")
#define NB_COLUMN_REASON(row_) \
    NB_COLUMN_TEXT_OF(row_, reason, .help = "why it was skipped or went wrong; for ok, a warning")
#define NB_COLUMN_SEED_OF(row_) \
    NB_COLUMN_OF(row_, seed, NB_COLUMN_SEED, .identity = true, \
                 .help = \
                     "the experiment's seed; a row's random streams follow from seed, trial, role, component and, " \
                     "where not nested, m")

/* The values of `status`; ends with NULL. */
extern const char *const nb_row_statuses[];

/* Returns the status of that name; NULL: there is none. */
const char *nb_row_status_of(const char *text);

/* True for ok and skipped: the row has not gone wrong and is not waiting to run. */
bool nb_row_is_well(const nb_row *row);

/* True if both are results of the same planned row: they agree in all columns of the identity. */
bool nb_row_same(const nb_column *columns, const void *a, const void *b);

/* Rows of one study in one array. */
typedef struct {
    int count;
    const nb_column *columns;
    size_t row_size; /* bytes */
    char *bytes;
    const nb_given_labels *labels; /* labels of their components; NULL: the rows are not of a run */
} nb_row_list;

nb_row *nb_row_at(const nb_row_list *rows, int index); /* a row in the study's struct */

#endif
