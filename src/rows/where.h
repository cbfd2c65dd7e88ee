/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.h - which rows conditions choose. Rows that are chosen are a temporary table with their id; so are those to
 * choose from, `among` (NULL: all rows of the view `run`). */
#ifndef NB_WHERE_H
#define NB_WHERE_H

#include "components/condition.h"
#include "rows/relation.h"

/* Makes the table `chosen`, id and last_trial, in the place of one of that name: the rows for which all conditions
 * hold, of several on one column any; components/condition.h says what each means. `conditions` ends with column ==
 * NULL; NULL: none. NB_EINVAL for an unknown column, a text that is wrong, and one that means no row. */
nb_status nb_where(const nb_relation *relation, const char *among, const nb_condition_text *conditions,
                   const char *chosen, nb_ctx *ctx);

/* places[i] <- which value of a column texts[i] means, among those of the rows in order of appearance; of several the
 * one whose label it is. NB_EINVAL, with the labels, where a text means several. `chosen`: as above, the rows that have
 * one of these values; NULL: none is made. */
nb_status nb_where_values(const nb_relation *relation, const char *among, const char *column, int count,
                          const char *const *texts, int *places, const char *chosen, nb_ctx *ctx);

#endif
