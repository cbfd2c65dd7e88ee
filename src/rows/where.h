/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.h - conditions on rows, as SQL. */
#ifndef NB_WHERE_H
#define NB_WHERE_H

#include "components/condition.h"
#include "rows/relation.h"

/* *sql: what holds for the rows of the view `run` for which `among` and all conditions hold, of several on one column
 * any; components/condition.h says what each means. `among`: SQL; NULL: all rows. `conditions` ends with column ==
 * NULL; NULL: none. NB_EINVAL for an unknown column, a text that is wrong, and one that means no row. */
nb_status nb_where(const nb_relation *relation, const char *among, const nb_condition_text *conditions,
                   const char **sql, nb_ctx *ctx);

typedef struct {
    int place;       /* among those of the rows, in order of appearance */
    const char *sql; /* what holds for the rows that have it */
} nb_value_found;

/* The one value of a column that each text means; of several the one whose label it is. NB_EINVAL, with the labels,
 * where a text means several. */
nb_status nb_where_values(const nb_relation *relation, const char *among, const char *column, int count,
                          const char *const *texts, nb_value_found *found, nb_ctx *ctx);

#endif
