/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caveats.h - what a reader of a run should know before its numbers: caveats.sql, and what a query cannot tell. */
#ifndef NB_CAVEATS_H
#define NB_CAVEATS_H

#include "report/relation.h"

typedef struct {
    int count, room;
    const char **texts;
} nb_caveats;

/* Finds the caveats of all rows of the store, which `relation` has: those of caveats.sql, times that were predicted to
 * be less than half or more than twice as long, and rows of several builds. */
nb_status nb_caveats_find(nb_relation *relation, nb_store *store, nb_caveats *found, nb_ctx *ctx);

/* One more: a copy of the text, the ctx's; NB_ENOMEM if it is NULL. */
nb_status nb_caveats_add(nb_caveats *found, const char *text, nb_ctx *ctx);

#endif
