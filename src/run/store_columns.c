/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_columns.c - a store whose study has come to measure more since it was made. Its rows lack that, and stay as
 * they are; who reads sees it empty, and who plans adds the columns. */
#include "run/store_private.h"

#include "base/builder.h"
#include "base/version.h"

/* Finds the columns that its rows do not have, apart from their identity. */
static nb_status find_missing(nb_store *store, const nb_column ***columns, int *count, nb_ctx *ctx)
{
    *count = 0;
    NB_NEED(*columns, nb_alloc(ctx, (size_t)nb_column_count(store->study->columns), sizeof **columns));
    for (const nb_column *c = store->study->columns; c->name; c++) {
        if (c->identity) continue;
        int code = sqlite3_table_column_metadata(store->db, "main", "results", c->name, NULL, NULL, NULL, NULL, NULL);
        if (code != SQLITE_OK && code != SQLITE_ERROR) return nb_store_fail(store, "reading its columns", ctx);
        if (code == SQLITE_ERROR) (*columns)[(*count)++] = c; /* there is none */
    }
    return NB_OK;
}

/* A view of the connection's own, in front of the table. */
nb_status nb_store_show_columns(nb_store *store, nb_ctx *ctx)
{
    const nb_column **missing;
    nb_string sql = NB_NO_TEXT;
    int count;
    NB_TRY(ctx, find_missing(store, &missing, &count, ctx));
    if (count == 0) return NB_OK;
    NB_TRY(ctx, nb_append(&sql, ctx, "CREATE TEMP VIEW results AS SELECT *"));
    for (int i = 0; i < count; i++) NB_TRY(ctx, nb_append(&sql, ctx, ", NULL AS %s", missing[i]->name));
    NB_TRY(ctx, nb_append(&sql, ctx, " FROM main.results"));
    return nb_store_execute(store, sql.text, "reading the rows of an older program", ctx);
}

nb_status nb_store_add_columns(nb_store *store, nb_ctx *ctx)
{
    const nb_column **missing;
    nb_string sql = NB_NO_TEXT;
    int count;
    NB_TRY(ctx, find_missing(store, &missing, &count, ctx));
    if (count == 0) return NB_OK;
    for (int i = 0; i < count; i++)
        NB_TRY(ctx, nb_append(&sql, ctx, "ALTER TABLE results ADD COLUMN %s %s; ", missing[i]->name,
                              missing[i]->type == NB_COLUMN_TEXT ? "TEXT" : "REAL"));
    NB_TRY(ctx, nb_append(&sql, ctx, "DROP VIEW run; " NB_SQL_VIEW "; PRAGMA user_version = %d", NB_STORE_FORMAT));
    return nb_store_execute(store, sql.text, "adding columns", ctx);
}
