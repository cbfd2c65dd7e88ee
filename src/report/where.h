/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.h - conditions on rows, as SQL. */
#ifndef NB_WHERE_H
#define NB_WHERE_H

#include "report/relation.h"

/* *sql: what holds for the rows of the view `run` for which `among` and all conditions "column=value" hold, of several
 * on one column any. A number means itself, a range as 8..64 step 8 its numbers, a text itself, a list "[a, b]" what
 * its items mean; where the column is one of components, a name means it with any options, a spec those that agree
 * with it, and what means none so may be a label, as tables and legends show it; COLUMN_label=TEXT means the label
 * alone. A model's label means it too.
 * `among`: SQL; NULL: all rows. `conditions` ends with NULL; NULL: none. NB_EINVAL for what is no condition, an unknown
 * column, what is no number, and what means no row. */
nb_status nb_where(const nb_relation *relation, const char *among, const char *const *conditions, const char **sql,
                   nb_ctx *ctx);

typedef struct {
    int place;       /* among those of the rows, in order of appearance */
    const char *sql; /* what holds for the rows that have it */
} nb_value_found;

/* The one value of a column that each text means; of several the one whose label it is. NB_EINVAL, with the labels,
 * where a text means several. */
nb_status nb_where_values(const nb_relation *relation, const char *among, const char *column, int count,
                          const char *const *texts, nb_value_found *found, nb_ctx *ctx);

#endif
