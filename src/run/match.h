/* SPDX-License-Identifier: GPL-3.0-or-later */
/* match.h - selects rows of a plan by a key, "column=value, column=value" (components/condition.h). */
#ifndef NB_MATCH_H
#define NB_MATCH_H

#include "components/condition.h"
#include "run/plan.h"

/* Flags the rows that a key means (row_count flags, owned by ctx): those that meet all its conditions, of several on
 * one column any. NB_EINVAL for what is no key, an unknown column or one that measuring sets, a text that is wrong, and
 * where a condition, or all of them together, match no row. */
nb_status nb_match_rows(const nb_plan *plan, const char *key, bool **flags, int *count, nb_ctx *ctx);

/* Makes keys of rows of one plan; each matches that row alone. */
typedef struct {
    const nb_plan *plan;
    bool *shown;               /* by column: the key contains it */
    nb_candidates *components; /* by column: of the config's list of components; none: it is no such column */
} nb_keys;

nb_status nb_keys_init(const nb_plan *plan, nb_keys *keys, nb_ctx *ctx);
nb_status nb_keys_text(const nb_keys *keys, int index, const char **text, nb_ctx *ctx);

#endif
