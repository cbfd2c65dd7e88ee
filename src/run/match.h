/* SPDX-License-Identifier: GPL-3.0-or-later */
/* match.h - selects rows of a plan by a key, "column=value, column=value", over the columns of a row's identity and n
 * and d. */
#ifndef NB_MATCH_H
#define NB_MATCH_H

#include "run/plan.h"

/* Flags the rows that a key means (row_count flags, owned by ctx). A number means itself, a range its numbers, a word
 * itself, a list "[a, b]" any of its items. A component's name means it with any options, a spec with options that
 * choice alone; so does a label, as tables and legends show it. NB_EINVAL, with what is allowed, for no condition, an
 * unknown column, a repeated column, or a malformed number; and, with the values that the plan has, if a condition, or
 * all of them together, match no row. */
nb_status nb_match_rows(const nb_plan *plan, const char *key, bool **flags, int *count, nb_ctx *ctx);

/* Makes keys of rows of one plan; each matches that row alone. */
typedef struct {
    const nb_plan *plan;
    bool *shown; /* by column: the key contains it */
} nb_keys;

nb_status nb_keys_init(const nb_plan *plan, nb_keys *keys, nb_ctx *ctx);
nb_status nb_keys_text(const nb_keys *keys, int index, const char **text, nb_ctx *ctx);

#endif
