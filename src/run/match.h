/* SPDX-License-Identifier: GPL-3.0-or-later */
/* match.h - selects rows of a plan by a key, "column=value, column=value", over the columns of a row's identity and n
 * and d. */
#ifndef NB_MATCH_H
#define NB_MATCH_H

#include "base/range.h"
#include "run/plan.h"

typedef struct {
    const nb_column *column;
    int axis;              /* axis of the components in the column; -1: none */
    const char *text;      /* the value as written */
    const char *canonical; /* of a component's spec with options: its canonical text; else NULL */
    nb_range range;        /* for a column of integers */
    double real;           /* for a column of reals */
    bool or_before;        /* item of a list: a row may meet the previous condition instead */
} nb_condition;

typedef struct {
    int count;
    nb_condition *conditions; /* a row must meet all, but only one of a list */
} nb_match;

/* Parses a key. A number means itself, a range its numbers, a word itself, a list "[a, b]" any of its items. A
 * component's name means it with any options, a spec with options that choice alone; so does a label, as tables and
 * legends show it. NB_EINVAL, with what is allowed, for no condition, an unknown column, a repeated column, or a
 * malformed number. */
nb_status nb_match_parse(const nb_study *study, const char *text, nb_match *match, nb_ctx *ctx);

/* True if row `index` of the plan matches; no other row need be filled in. */
bool nb_match_row(const nb_match *match, const nb_plan *plan, int index);

/* Flags the matching rows (row_count flags, owned by ctx). NB_EINVAL, with the values that the plan has, if a
 * condition, or all of them together, match no row. */
nb_status nb_match_rows(const nb_match *match, const nb_plan *plan, bool **flags, int *count, nb_ctx *ctx);

/* Makes keys of rows of one plan; each matches that row alone. */
typedef struct {
    const nb_plan *plan;
    bool *shown;              /* by column: the key contains it */
    bool *used[NB_MOST_AXES]; /* by axis of components and value: the plan has it */
} nb_keys;

nb_status nb_keys_init(const nb_plan *plan, nb_keys *keys, nb_ctx *ctx);
nb_status nb_keys_text(const nb_keys *keys, int index, const char **text, nb_ctx *ctx);

#endif
