/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.h - rows of a frame that belong together, by the columns that they agree in and by repetition. A method without
 * randomness has repetition 0 alone, which stands for every repetition of the others. */
#ifndef NB_PAIRS_H
#define NB_PAIRS_H

#include "report/frame.h"

typedef struct {
    int a, b;
} nb_row_pair;
typedef struct {
    int count; /* of the last call */
    nb_row_pair *pairs;

    /* Private. */
    const int *of, *repetition;
    int room;
    struct nb_row_entry *sorted;
    nb_ctx *ctx;
} nb_row_pairs;

nb_status nb_row_pairs_make(const nb_frame *frame, const char *const *by, const char *repetition, nb_row_pairs *found,
                            nb_ctx *ctx);
/* Into found->pairs, by the groups of `by` and the repetition, ascending. */
nb_status nb_row_pairs_find(nb_row_pairs *found, nb_selection a, nb_selection b);

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
nb_status nb_frame_pivot(const nb_frame *frame, nb_selection from, const char *const *by, const char *repetition,
                         const char *column, nb_pivot *pivot, nb_ctx *ctx);

#endif
