/* SPDX-License-Identifier: GPL-3.0-or-later */
/* virtual_table.h - a table of whole numbers whose rows C makes while a statement reads it. None is kept. */
#ifndef NB_VIRTUAL_TABLE_H
#define NB_VIRTUAL_TABLE_H

#include "rows/relation.h"

typedef struct {
    const char *name, *definition; /* "numbered", "CREATE TABLE numbered (id, head_id)" */
    int columns;
    /* row (columns) <- the next one; *there: false behind the last. */
    nb_status (*next)(void *self, sqlite3_int64 *row, bool *there);
    void *self;
} nb_virtual_table;

/* Adds the table to the relation's connection; it ends with the context's memory. It can be read once, from the first
 * row to the last: in a join it stands before a CROSS JOIN. */
nb_status nb_virtual_table_add(const nb_relation *relation, const nb_virtual_table *table, nb_ctx *ctx);

#endif
