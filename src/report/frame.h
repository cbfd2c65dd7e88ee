/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame.h - the rows of a run as a table of columns, of any study. Whatever is made of
 * rows selects and groups them here, and pairs them by pairs.h: tables, statistics, figures. */
#ifndef NB_FRAME_H
#define NB_FRAME_H

#include "base/ctx.h"
#include "components/row.h"

typedef struct nb_frame_made nb_frame_made; /* private */

typedef struct nb_frame {
    const nb_column *columns; /* of the rows */
    const void *rows;         /* the caller's: count of them, `size` bytes each */
    size_t size;
    int count;
    const nb_given_labels *labels; /* of the components that rows name; NULL: none */
    struct nb_relation *relation;  /* that has the rows, see relation.h; NULL: none */

    /* Private. */
    nb_ctx *memory;
    nb_frame_made *made;
    const struct nb_frame *whole; /* of a view; NULL: this is no view */
} nb_frame;

nb_status nb_frame_make(nb_frame *frame, const nb_column *columns, const void *rows, size_t size, int count,
                        nb_ctx *ctx);

nb_status nb_frame_of(nb_frame *frame, const nb_row_list *rows, nb_ctx *ctx); /* which must outlive it */

const void *nb_frame_row(const nb_frame *frame, int row);

bool nb_frame_has(const nb_frame *frame, const char *name); /* a column of the rows, or a derived one */

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

/* What is made of the whole frame: `size` bytes, and what they point to. */
typedef nb_status nb_frame_maker(const nb_frame *frame, void *out, nb_ctx *ctx);
/* Once, for all that ask; it lives as long as the frame. */
nb_status nb_frame_once(const nb_frame *frame, nb_frame_maker *make, size_t size, void *out);

typedef struct { /* some rows of a frame, ascending */
    int count;
    const int *at;
} nb_selection;

nb_status nb_frame_all(const nb_frame *frame, nb_selection *rows, nb_ctx *ctx);
nb_status nb_frame_select(const nb_frame *frame, nb_selection from, bool (*keep)(const void *row, const void *what),
                          const void *what, nb_selection *rows, nb_ctx *ctx);
/* Those whose value in a column is wanted: a flag for each, see nb_frame_codes. */
nb_status nb_frame_where(const nb_frame *frame, nb_selection from, const char *name, const bool *wanted,
                         nb_selection *rows, nb_ctx *ctx);
nb_status nb_frame_where_text(const nb_frame *frame, nb_selection from, const char *name, const char *value,
                              nb_selection *rows, nb_ctx *ctx);

/* A frame of these rows alone, which are copied with the derived columns; their texts are not. */
nb_status nb_frame_take(const nb_frame *frame, nb_selection rows, nb_frame *taken, nb_ctx *ctx);

/* Of the rows that the relation has. */
nb_status nb_frame_of_relation(struct nb_relation *relation, nb_frame *frame, nb_ctx *ctx);

typedef struct { /* rows that agree in some columns, in order of appearance */
    int count;
    const int *of;    /* by row: its group; -1: it is not among those that were grouped */
    const int *first; /* count + 1 */
    const int *rows;  /* of group g: first[g] to first[g + 1] - 1 */
} nb_groups;

/* `by`: names of columns, ends with NULL; without any, all rows are one group. */
nb_status nb_frame_group(const nb_frame *frame, nb_selection from, const char *const *by, nb_groups *groups,
                         nb_ctx *ctx);
nb_selection nb_group_rows(const nb_groups *groups, int group);

#endif
