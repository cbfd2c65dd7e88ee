/* SPDX-License-Identifier: GPL-3.0-or-later */
/* made_tables.c - see made_tables.h */
#include "rows/made_tables.h"

#include "rows/statement.h"

#include <stdarg.h>
#include <string.h>

/* Prepares what adds a row to the table. */
static nb_status prepare_insert(const nb_relation *r, const char *table, sqlite3_stmt **insert, nb_ctx *ctx)
{
    const nb_sql_given name = NB_GIVE_NAME("table", table);
    const char **others;
    sqlite3_stmt *columns;
    NB_TRY(ctx, nb_sql_prepare(r, "made_tables.columns", NB_GIVEN(name), &columns, ctx));
    NB_NEED(others, nb_alloc(ctx, (size_t)sqlite3_column_count(columns), sizeof *others));
    for (int i = 1; i < sqlite3_column_count(columns); i++) others[i - 1] = sqlite3_column_name(columns, i);
    return nb_sql_prepare(r, "made_tables.insert", NB_GIVEN(name, NB_GIVE_NAMES("others", others)), insert, ctx);
}

nb_status nb_table_make(const nb_relation *r, const char *table, const char *statement, const nb_sql_given *given,
                        sqlite3_stmt **insert, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_sql_run(r, "made_tables.drop", NB_GIVEN(NB_GIVE_NAME("table", table)), ctx));
    NB_TRY(ctx, nb_sql_run(r, statement, given, ctx));
    return prepare_insert(r, table, insert, ctx);
}

nb_status nb_relation_add(const nb_relation *r, sqlite3_stmt *insert, const char *types, ...)
{
    bool there;
    va_list values;
    va_start(values, types);
    for (int i = 1; *types; types++, i++)
        if (*types == 'i')
            sqlite3_bind_int(insert, i, va_arg(values, int));
        else if (*types == 'r')
            sqlite3_bind_double(insert, i, va_arg(values, double));
        else
            sqlite3_bind_text(insert, i, va_arg(values, const char *), -1, SQLITE_STATIC);
    va_end(values);
    nb_status status = nb_relation_step(r, insert, &there);
    sqlite3_reset(insert);
    return status;
}

/* Returns the place of what has this name, or a free one. */
static int find_made(const nb_relation *r, const char *name)
{
    int i = 0;
    while (i < NB_MOST_MADE && r->made[i][0] && strcmp(r->made[i][0], name) != 0) i++;
    return i;
}

bool nb_relation_has(const nb_relation *r, const char *name, const char *of)
{
    int i = find_made(r, name);
    return i < NB_MOST_MADE && r->made[i][1] && strcmp(r->made[i][1], of) == 0;
}

nb_status nb_relation_note(nb_relation *r, const char *name, const char *of, nb_ctx *ctx)
{
    int i = find_made(r, name);
    NB_REQUIRE(ctx, i < NB_MOST_MADE, NB_EBUG, "more than %d things made of rows", NB_MOST_MADE);
    NB_NEED(r->made[i][0], nb_strdup(r->memory, name));
    r->made[i][1] = NULL;
    if (of) NB_NEED(r->made[i][1], nb_strdup(r->memory, of));
    return NB_OK;
}

nb_status nb_relation_make(nb_relation *r, const char *table, const char *statement, const nb_sql_given *given,
                           nb_ctx *ctx)
{
    const char *sql;
    NB_TRY(ctx, nb_sql_fill(statement, given, &sql, ctx));
    if (nb_relation_has(r, table, sql)) return NB_OK;
    NB_TRY(ctx, nb_relation_note(r, table, NULL, ctx));
    NB_TRY(ctx, nb_sql_run(r, "made_tables.drop", NB_GIVEN(NB_GIVE_NAME("table", table)), ctx));
    NB_TRY(ctx, nb_relation_run_file(r, sql, ctx));
    return nb_relation_note(r, table, sql, ctx);
}
