/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_columns.c - a store whose study has come to measure more since it was made. Its rows lack that, and stay as
 * they are; who reads sees it empty, and who plans adds the columns. */
#include "run/store_private.h"

/* Finds the columns that its rows do not have, apart from their identity, as a table that ends with name == NULL. */
static nb_status find_missing(nb_store *store, nb_column **columns, int *count, nb_ctx *ctx)
{
    *count = 0;
    NB_NEED(*columns, nb_alloc(ctx, (size_t)nb_column_count(store->study->columns) + 1, sizeof **columns));
    for (const nb_column *c = store->study->columns; c->name; c++) {
        if (c->identity) continue;
        int code = sqlite3_table_column_metadata(store->db, "main", "results", c->name, NULL, NULL, NULL, NULL, NULL);
        if (code != SQLITE_OK && code != SQLITE_ERROR) return nb_store_fail(store, "reading its columns", ctx);
        if (code == SQLITE_ERROR) (*columns)[(*count)++] = *c; /* there is none */
    }
    return NB_OK;
}

/* A view of the connection's own, in front of the table. */
nb_status nb_store_show_columns(nb_store *store, nb_ctx *ctx)
{
    nb_column *missing;
    int count;
    NB_TRY(ctx, find_missing(store, &missing, &count, ctx));
    if (count == 0) return NB_OK;
    return nb_store_execute_with(store, "store.show_lacking", missing, "reading the rows of an older program", ctx);
}

nb_status nb_store_add_columns(nb_store *store, nb_ctx *ctx)
{
    nb_column *missing;
    int count;
    NB_TRY(ctx, find_missing(store, &missing, &count, ctx));
    for (int i = 0; i < count; i++) {
        const nb_column one[] = {missing[i], {.name = NULL}};
        NB_TRY(ctx, nb_store_execute_with(store, "store.add_lacking", one, "adding columns", ctx));
    }
    return count > 0 ? nb_store_execute(store, "store.show_added", "adding columns", ctx) : NB_OK;
}
