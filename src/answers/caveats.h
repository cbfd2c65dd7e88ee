/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caveats.h - what a reader of a run should know before its numbers: caveats.sql, and what a query cannot tell. */
#ifndef NB_CAVEATS_H
#define NB_CAVEATS_H

#include "rows/relation.h"

#include <stdio.h>

/* Finds the caveats of all rows of the store, which `relation` has: those of caveats.sql, times that were predicted to
 * be less than half or more than twice as long, and rows of several builds. */
nb_status nb_caveats_find(nb_relation *relation, nb_store *store, nb_texts *found, nb_ctx *ctx);

/* *text <- which components of a column are, by an error, no better than equal weights for all tokens in most of their
 * rows of some head of a model: a sentence that begins with `mostly`, that word; NULL: none are. */
nb_status nb_caveats_find_trivial(nb_relation *relation, const char *by, const nb_column *error, const char *mostly,
                                  const char **text, nb_ctx *ctx);

/* One more; NB_ENOMEM if the text is NULL. */
nb_status nb_caveats_add(nb_texts *found, const char *text);

/* One line, between `prefix` and `after`, where the rows of the plan come from more than one build; nothing where they
 * do not. */
nb_status nb_builds_print(FILE *out, const char *prefix, const char *after, nb_store *store, nb_ctx *ctx);

#endif
