/* SPDX-License-Identifier: GPL-3.0-or-later */
/* views.h - the views of a study, src/studies/STUDY/views/NAME.sql, which are made when a query needs them. */
#ifndef NB_VIEWS_H
#define NB_VIEWS_H

#include "rows/relation.h"

/* Makes the views that a text of SQL names in its comment "-- needs: NAME NAME ...", once. pairs:COLUMN are the pairs
 * of the values of a column, pairs:COLUMN,OTHER those that may differ in another one too, pairs:COLUMN,all those of
 * which a mean over all settings is made; with refused: for pairs: the view of values that are not compared is made
 * too. See rows/pairs.h. estimates:VIEW are those of a view of pairs, see rows/estimates.h; measured is a view of
 * rows/row_views.h. */
nb_status nb_relation_need(nb_relation *relation, const char *sql, nb_ctx *ctx);
nb_status nb_view_need(nb_relation *relation, const char *name, nb_ctx *ctx); /* one such, or of every study */

/* Makes the view `look` of a study that has one; and forgets which views have been made, but that one where
 * `but_looks`. */
nb_status nb_looks_make(nb_relation *relation, nb_ctx *ctx);
nb_status nb_views_forget(nb_relation *relation, bool but_looks);

/* The answer to what a user asks: one statement that reads. A study's views are there. NB_EINVAL where it is none.
 * `take`: as nb_relation_ask_alone. */
nb_status nb_relation_ask_freely(nb_relation *relation, const char *sql, nb_grid *answer, nb_row_taker *take,
                                 void *self, nb_ctx *ctx);

/* The views and their columns: view, columns, about. */
nb_status nb_relation_views(nb_relation *relation, nb_grid *answer, nb_ctx *ctx);

#endif
