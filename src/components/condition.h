/* SPDX-License-Identifier: GPL-3.0-or-later */
/* condition.h - conditions on rows, COLUMN=VALUE: which columns select rows, and which of the values that rows have a
 * text means. All ask here, so that a text means the same in all: --where, --baseline and claims, of measured rows
 * (rows/where.c); --only, of a plan's rows (run/match.c); and `exclude`, of a config's lists (config/conditions.c, by
 * whose rules run/exclusion.c leaves rows out).
 *
 * A text means:
 *   of numbers      itself, or the numbers of a range as 8..64 step 8;
 *   of texts        itself, or its label (a model's short name);
 *   of components   all that agree with a spec, which names any or no options; if none does, the one with that label;
 *   COLUMN_label    the component with that label alone;
 *   a list, [a, b]  what any of its items means.
 * Quotes around a text, and tables' mark of an oracle behind a label, are no part of it. */
#ifndef NB_CONDITION_H
#define NB_CONDITION_H

#include "components/study.h"

#define NB_ORACLE_MARK ", oracle" /* behind the label of a strategy that is one, where tables and figures show it */

/* Conditions as people write them: "COLUMN=VALUE", or several separated by commas. */

typedef struct {
    const char *column, *text;
} nb_condition_text;

/* Splits a text at the commas before COLUMN=; other commas belong to a value. The array ends with column == NULL.
 * NB_EINVAL if a part is no condition. */
nb_status nb_conditions_split(const char *text, int *count, nb_condition_text **parts, nb_ctx *ctx);

/* A column by which rows are selected: any but a measured number. */
typedef struct {
    const char *name;            /* the column's, or that of its labels: COLUMN_label */
    const nb_column *column;     /* the study's */
    const nb_axis *axis;         /* whose value the column has; NULL: of none */
    const nb_registry *registry; /* of the components that the column names; NULL: it names none */
} nb_selector;

/* NB_EINVAL, with the name that may be meant, for an unknown column and one that does not select. */
nb_status nb_selector_find(const nb_study *study, const char *name, nb_selector *found, nb_ctx *ctx);

/* True if measuring sets the column, so that planned rows do not have its value yet. */
bool nb_selector_is_measured(const nb_selector *selector);

/* The values of a column among which a text means some. */

typedef struct {
    const char *text;  /* of a text or a component: as rows have it; "" for none */
    const char *label; /* what tables call it */
    long long integer; /* of a column of integers */
    double real;       /* of a column of reals */
    nb_choice *choice; /* of a component; NULL: the program does not have it, or not with these options */
} nb_candidate;

typedef struct {
    nb_selector column;
    int count;
    nb_candidate *items;
    bool open; /* rows may have other values too, or lack these: a valid text that means none of them is no mistake */
} nb_candidates;

/* Sets means[i] for each candidate that the text means. A text that is wrong, or means none of the candidates, is a
 * mistake at `place`, beginning with `what`. */
nb_status nb_candidates_mark(const nb_candidates *candidates, const char *what, const char *text, nb_place place,
                             bool *means, nb_mistakes *mistakes);

/* The same for a command: its first mistake is an NB_EINVAL. */
nb_status nb_candidates_match(const nb_candidates *candidates, const char *text, bool *means, nb_ctx *ctx);

/* *index <- the one candidate that a text means, -1 if it is another value (`open`); of several the one whose label it
 * is, else NB_EINVAL with their labels. */
nb_status nb_candidates_pick(const nb_candidates *candidates, const char *text, int *index, nb_ctx *ctx);

/* Lists the labels of the candidates that are marked (NULL: of all), the first of them; 0, 1, 2 is 0..2. */
nb_status nb_candidates_list(const nb_candidates *candidates, const bool *marked, const char **list, nb_ctx *ctx);

#endif
