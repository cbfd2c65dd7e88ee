/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame.h - the rows of a run as a table of columns, of any study. Whatever is made of
 * rows selects, groups and pairs them here: tables, statistics, figures. */
#ifndef NB_FRAME_H
#define NB_FRAME_H

#include "base/ctx.h"
#include "components/column.h"

typedef struct nb_frame_column nb_frame_column; /* private */

typedef struct nb_frame {
    const nb_column *columns; /* of the rows */
    const void *rows;         /* the caller's: count of them, `size` bytes each */
    size_t size;
    int count;

    /* Private. */
    nb_ctx *memory;
    nb_frame_column **made;
    const struct nb_frame *whole; /* of a view; NULL: this is no view */
} nb_frame;

nb_status nb_frame_make(nb_frame *frame, const nb_column *columns, const void *rows, size_t size, int count,
                        nb_ctx *ctx);

const void *nb_frame_row(const nb_frame *frame, int row);

/* A column's values, by row. NB_EBUG where there is none of that name and type. */
nb_status nb_frame_reals(const nb_frame *frame, const char *name, const double **values, nb_ctx *ctx);
nb_status nb_frame_ints(const nb_frame *frame, const char *name, const int **values, nb_ctx *ctx);
nb_status nb_frame_texts(const nb_frame *frame, const char *name, const char *const **values, nb_ctx *ctx);

typedef struct { /* the distinct values of a column, in order of appearance */
    int count;
    const int *of;    /* by row: which it has */
    const int *first; /* the first row that has it */
} nb_codes;
nb_status nb_frame_codes(const nb_frame *frame, const char *name, nb_codes *codes, nb_ctx *ctx);

/* The same rows, for columns of one's own; `frame` must outlive it. */
nb_status nb_frame_view(const nb_frame *frame, nb_frame *view, nb_ctx *ctx);
/* One more column, of integers that the caller has derived from the rows; they are copied. */
nb_status nb_frame_derive(nb_frame *frame, const char *name, const int *values, nb_ctx *ctx);

typedef struct { /* some rows of a frame, ascending */
    int count;
    const int *at;
} nb_rows;

nb_status nb_frame_all(const nb_frame *frame, nb_rows *rows, nb_ctx *ctx);
nb_status nb_frame_select(const nb_frame *frame, nb_rows from, bool (*keep)(const void *row, const void *what),
                          const void *what, nb_rows *rows, nb_ctx *ctx);
/* Those with a value in a column, of type TEXT or INT. */
nb_status nb_frame_where_text(const nb_frame *frame, nb_rows from, const char *name, const char *value, nb_rows *rows,
                              nb_ctx *ctx);
nb_status nb_frame_where_int(const nb_frame *frame, nb_rows from, const char *name, int value, nb_rows *rows,
                             nb_ctx *ctx);

typedef struct { /* rows that agree in some columns, in order of appearance */
    int count;
    const int *of;    /* by row: its group; -1: it is not among those that were grouped */
    const int *first; /* count + 1 */
    const int *rows;  /* of group g: first[g] to first[g + 1] - 1 */
} nb_groups;

/* `by`: names of columns, ends with NULL; without any, all rows are one group. */
nb_status nb_frame_group(const nb_frame *frame, nb_rows from, const char *const *by, nb_groups *groups, nb_ctx *ctx);
nb_rows nb_group_rows(const nb_groups *groups, int group);

/* Rows that belong together: they agree in some columns and in the repetition. A method
 * without randomness has repetition 0 alone, which stands for every repetition of the other. */
typedef struct {
    int a, b;
} nb_row_pair;
typedef struct {
    int count; /* of the last call */
    nb_row_pair *pairs;

    /* Private. */
    const int *of, *repetition;
    int room, sort_room;
    struct nb_row_entry *sorted;
    nb_ctx *ctx;
} nb_row_pairs;

nb_status nb_row_pairs_make(const nb_frame *frame, const char *const *by, const char *repetition, nb_row_pairs *found,
                            nb_ctx *ctx);
/* Into found->pairs, by the groups of `by` and the repetition, ascending. */
nb_status nb_row_pairs_find(nb_row_pairs *found, nb_rows a, nb_rows b);

/* Instances, that is a group of `by` in one repetition, against the values of a column: the
 * row of each, where repetition 0 stands for all if there is no other. The repetitions of a
 * group are all that any of its rows has. */
typedef struct {
    int count;             /* instances: by group, then by repetition */
    const int *group;      /* of each instance, in order of appearance */
    const int *repetition; /* likewise */
    const int *any;        /* a row of it */
    int width;             /* values of the column; see nb_frame_codes */
    const int *rows;       /* instance * width + value: a row; -1: there is none */
} nb_pivot;
nb_status nb_frame_pivot(const nb_frame *frame, nb_rows from, const char *const *by, const char *repetition,
                         const char *column, nb_pivot *pivot, nb_ctx *ctx);

/* How many repetitions each row stands for: as many as its group by `data` has, where its group by
 * `method` has repetition 0 alone; else one. */
nb_status nb_frame_weigh(const nb_frame *frame, const char *const *method, const char *const *data,
                         const char *repetition, const int **weights, nb_ctx *ctx);

#endif
