/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row.h - a row, one result of a study: the fields of all studies' rows, and the study's table of columns. The SQL
 * schema, the CSV's header and the data dictionary are made from that table. */
#ifndef NB_ROW_H
#define NB_ROW_H

#include "components/column.h"
#include "components/given_labels.h"

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
#define NB_COLUMN_TEXT_OF(row_, field, ...) \
    { \
        .name = #field, .type = NB_COLUMN_TEXT, .offset = offsetof(row_, field), __VA_ARGS__ \
    }
#define NB_COLUMN_INT_OF(row_, field, ...) \
    { \
        .name = #field, .type = NB_COLUMN_INT, .offset = offsetof(row_, field), __VA_ARGS__ \
    }
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
#define NB_COLUMN_STATUS(row_) \
    NB_COLUMN_TEXT_OF(row_, status, \
                      .help = "ok, skipped, diverged (not finite, or an iteration driven out of its region of " \
                              "convergence by rounding), failed, timeout, crashed, or planned (not run yet)")
#define NB_COLUMN_REASON(row_) \
    NB_COLUMN_TEXT_OF(row_, reason, .help = "why it was skipped or went wrong; for ok, a warning")
#define NB_COLUMN_SEED_OF(row_) \
    { \
        .name = "seed", .type = NB_COLUMN_SEED, .offset = offsetof(row_, seed), .identity = true, \
        .help = \
            "the experiment's seed; a row's random streams follow from seed, trial, role, component and, where not " \
            "nested, m" \
    }

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
