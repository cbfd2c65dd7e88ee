/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_columns.c - a store whose study has come to measure more since it was made. Its rows lack that, and stay as
 * they are; who reads sees it empty, and who plans adds the columns. */
#include "run/store_private.h"

#include "base/version.h"

/* Finds the columns that its rows do not have, apart from their identity. */
static nb_status find_missing(nb_store *store, const nb_column ***columns, int *count, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    int code = SQLITE_OK;
    *count = 0;
    NB_NEED(*columns, nb_alloc(ctx, (size_t)nb_column_count(store->study->columns), sizeof **columns));
    NB_TRY(ctx, nb_store_prepare(store, "SELECT 1 FROM pragma_table_info('results', 'main') WHERE name = ?1", &s, ctx));
    for (const nb_column *c = store->study->columns; c->name; c++) {
        if (c->identity) continue;
        sqlite3_bind_text(s, 1, c->name, -1, SQLITE_STATIC);
        code = sqlite3_step(s);
        sqlite3_reset(s);
        if (code != SQLITE_ROW && code != SQLITE_DONE) return nb_store_fail(store, "reading its columns", ctx);
        if (code == SQLITE_DONE) (*columns)[(*count)++] = c;
    }
    return NB_OK;
}

/* A view of the connection's own, in front of the table. */
nb_status nb_store_show_columns(nb_store *store, nb_ctx *ctx)
{
    const nb_column **missing;
    const char *sql = "CREATE TEMP VIEW results AS SELECT *";
    int count;
    NB_TRY(ctx, find_missing(store, &missing, &count, ctx));
    if (count == 0) return NB_OK;
    for (int i = 0; i < count; i++) NB_NEED(sql, nb_format(ctx, "%s, NULL AS %s", sql, missing[i]->name));
    NB_NEED(sql, nb_format(ctx, "%s FROM main.results", sql));
    return nb_store_execute(store, sql, "reading the rows of an older program", ctx);
}

nb_status nb_store_add_columns(nb_store *store, nb_ctx *ctx)
{
    const nb_column **missing;
    const char *sql = "";
    int count;
    NB_TRY(ctx, find_missing(store, &missing, &count, ctx));
    if (count == 0) return NB_OK;
    for (int i = 0; i < count; i++)
        NB_NEED(sql, nb_format(ctx, "%sALTER TABLE results ADD COLUMN %s %s; ", sql, missing[i]->name,
                               missing[i]->type == NB_COLUMN_TEXT ? "TEXT" : "REAL"));
    NB_NEED(sql, nb_format(ctx, "%sDROP VIEW run; " NB_SQL_VIEW "; PRAGMA user_version = %d", sql, NB_STORE_FORMAT));
    return nb_store_execute(store, sql, "adding columns", ctx);
}
