/* SPDX-License-Identifier: GPL-3.0-or-later */
/* match.h - which rows of a plan a key means: "column=value, column=value", over
 * the columns that make a row's identity and n and d. */
#ifndef NB_MATCH_H
#define NB_MATCH_H

#include "base/range.h"
#include "run/plan.h"

typedef struct {
    const nb_column *column;
    int axis;              /* of the component that the column names; -1: it names none */
    const char *text;      /* the value as written */
    const char *canonical; /* if it is a component's spec with options: their canonical text; else NULL */
    nb_range range;        /* where the column holds integers */
    double real;           /* where it holds other numbers */
    bool or_before;        /* an item of a list: a row may meet the condition before it instead */
} nb_condition;

typedef struct {
    int count;
    nb_condition *conditions; /* a row must meet them all, of a list one */
} nb_match;

/* A number means itself, a range its numbers, a word itself, a list "[a, b]" what its items mean. A component's name
 * means it with any options, a spec with options just that choice; a label, as tables and legends show it, does too.
 * NB_EINVAL, with what is allowed, for no condition, an
 * unknown column, a column twice, or what is no number. */
nb_status nb_match_parse(const nb_study *study, const char *text, nb_match *match, nb_ctx *ctx);

/* Row `index` of the plan; no other row need be there yet. */
bool nb_match_row(const nb_match *match, const nb_plan *plan, int index);

/* Flags of all rows (row_count, ctx's). NB_EINVAL if a condition, or all of them together, mean no row: with the
 * values that the plan has. */
nb_status nb_match_rows(const nb_match *match, const nb_plan *plan, bool **flags, int *count, nb_ctx *ctx);

/* Makes keys of rows of one plan, each of which means that row alone. */
typedef struct {
    const nb_plan *plan;
    bool *shown;              /* by column: it stands in the key */
    bool *used[NB_MOST_AXES]; /* by axis of components, and value: the plan has it */
} nb_keys;

nb_status nb_keys_init(const nb_plan *plan, nb_keys *keys, nb_ctx *ctx);
nb_status nb_keys_text(const nb_keys *keys, int index, const char **text, nb_ctx *ctx);

#endif
