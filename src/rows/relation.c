/* SPDX-License-Identifier: GPL-3.0-or-later */
/* relation.c - see relation.h */
#include "rows/relation.h"

#include "rows/functions.h"

#include <math.h>
#include <string.h>

static nb_status fail(const nb_relation *r, const char *what)
{
    int code = sqlite3_errcode(r->store->db) & 0xff;
    nb_status status = code == SQLITE_ERROR || code == SQLITE_AUTH ? NB_EINVAL
                       : code == SQLITE_NOMEM                      ? NB_ENOMEM
                                                                   : NB_EIO;
    NB_FAIL(r->ctx, status, "%s: %s%s", what, code == SQLITE_AUTH ? "a query can only read: " : "",
            sqlite3_errmsg(r->store->db));
}

static void finalize(void *statement)
{
    sqlite3_finalize(statement);
}

nb_status nb_statement_defer(sqlite3_stmt *s, nb_ctx *ctx)
{
    return nb_defer(ctx, finalize, s);
}

/* Binds the parameters that the statement has. What is given comes before the relation's own. */
static void bind_parameters(const nb_relation *r, sqlite3_stmt *s)
{
    for (int i = 1; i <= sqlite3_bind_parameter_count(s); i++) {
        const char *name = sqlite3_bind_parameter_name(s, i);
        const nb_sql_given *g = r->given;
        if (!name) continue;
        while (g && g->word && (g->kind != NB_SQL_IS_VALUE || strcmp(g->word, name + 1) != 0)) g++;
        if (g && g->word)
            nb_cell_bind(s, i, &g->value);
        else if (strcmp(name, ":baseline") == 0)
            sqlite3_bind_text(s, i, r->baseline, -1, SQLITE_STATIC);
        else if (strcmp(name, ":m") == 0)
            sqlite3_bind_int(s, i, r->m);
        else if (strcmp(name, ":question") == 0)
            sqlite3_bind_text(s, i, r->question, -1, SQLITE_STATIC);
    }
}

nb_status nb_relation_prepare(const nb_relation *r, const char *sql, const char **rest, sqlite3_stmt **s, nb_ctx *ctx)
{
    if (sqlite3_prepare_v2(r->store->db, sql, -1, s, rest) != SQLITE_OK) return fail(r, "SQL");
    if (rest) *rest += strspn(*rest, " \t\r\n");
    if (!*s) return NB_OK;
    bind_parameters(r, *s);
    return nb_statement_defer(*s, ctx);
}

nb_status nb_relation_run_file(const nb_relation *r, const char *sql, nb_ctx *ctx)
{
    while (*sql) {
        sqlite3_stmt *s = NULL;
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, nb_relation_prepare(r, sql, &sql, &s, ctx));
        if (s && sqlite3_step(s) != SQLITE_DONE) return fail(r, "the views of the rows");
        nb_ctx_release(ctx, mark);
    }
    return NB_OK;
}

nb_status nb_relation_step(const nb_relation *r, sqlite3_stmt *s, bool *there)
{
    int code = sqlite3_step(s);
    *there = code == SQLITE_ROW;
    return *there || code == SQLITE_DONE ? NB_OK : fail(r, "SQL");
}

void nb_cell_bind(sqlite3_stmt *s, int parameter, const nb_cell *cell)
{
    if (cell->type == NB_CELL_INT)
        sqlite3_bind_int64(s, parameter, cell->integer);
    else if (cell->type == NB_CELL_REAL)
        sqlite3_bind_double(s, parameter, cell->real);
    else
        sqlite3_bind_text(s, parameter, cell->text, -1, SQLITE_STATIC);
}

const char *nb_text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text : "";
}

double nb_real_at(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

/* texts: those of other rows, most of which are the same. */
static nb_status read_cell(sqlite3_stmt *s, int column, nb_grid *a, nb_texts *texts)
{
    const char *text = NULL;
    nb_cell cell;
    int number;
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER: return nb_grid_int(a, sqlite3_column_int64(s, column));
    case SQLITE_FLOAT: return nb_grid_real(a, sqlite3_column_double(s, column));
    case SQLITE_TEXT:
        NB_TRY(a->ctx, nb_texts_number(texts, nb_text_at(s, column), &number));
        text = texts->items[number];
        break;
    default: break;
    }
    cell = nb_text_cell(text);
    if (sqlite3_column_type(s, column) == SQLITE_BLOB) cell.type = NB_CELL_BLOB;
    return nb_grid_add(a, cell);
}

/* Forgets the rows and their memory, but not the columns. */
static void empty(nb_grid *a, nb_texts *texts)
{
    nb_ctx_release(a->ctx, 0);
    nb_texts_init(texts, a->ctx);
    a->cells = NULL;
    a->count = a->filled = a->room = 0;
}

/* alone: nothing may follow the statement. `take` is given each row alone, and the grid is empty then; NULL: it keeps
 * all. */
static nb_status ask_next(const nb_relation *r, const char **sql, bool alone, nb_grid *a, nb_row_taker *take,
                          void *self, nb_ctx *ctx)
{
    sqlite3_stmt *s = NULL;
    const char **names;
    nb_texts texts;
    bool there = true;
    *a = (nb_grid){.ctx = ctx};
    NB_TRY(ctx, nb_relation_prepare(r, *sql, sql, &s, ctx));
    if (!s) return NB_OK;
    NB_REQUIRE(ctx, !alone || !**sql, NB_EINVAL, "SQL: one statement at a time: '%.40s' is one too many", *sql);
    NB_NEED(names, nb_alloc(ctx, (size_t)sqlite3_column_count(s) + 1, sizeof *names));
    for (int c = 0; c < sqlite3_column_count(s); c++) NB_NEED(names[c], nb_strdup(ctx, sqlite3_column_name(s, c)));
    NB_TRY(ctx, nb_grid_make(a, names, ctx));
    if (take) NB_NEED(a->ctx, nb_ctx_child(ctx));
    nb_texts_init(&texts, a->ctx);
    for (;;) {
        NB_TRY(ctx, nb_relation_step(r, s, &there));
        if (!there) break;
        for (int c = 0; c < a->columns; c++) NB_TRY(ctx, read_cell(s, c, a, &texts));
        if (take) NB_TRY(ctx, take(self, a));
        if (take) empty(a, &texts);
    }
    sqlite3_reset(s);
    return NB_OK;
}

nb_status nb_relation_ask_alone(const nb_relation *r, const char *sql, nb_grid *a, nb_row_taker *take, void *self,
                                nb_ctx *ctx)
{
    return ask_next(r, &sql, true, a, take, self, ctx);
}

nb_status nb_relation_ask_next(const nb_relation *r, const char **sql, nb_grid *a, nb_ctx *ctx)
{
    return ask_next(r, sql, false, a, NULL, NULL, ctx);
}

nb_status nb_relation_ask(const nb_relation *r, const char *sql, nb_grid *a, nb_ctx *ctx)
{
    return nb_relation_ask_next(r, &sql, a, ctx);
}

nb_status nb_relation_text(const nb_relation *r, const char *sql, const char **text, nb_ctx *ctx)
{
    nb_grid a;
    NB_TRY(ctx, nb_relation_ask(r, sql, &a, ctx));
    *text = a.count > 0 ? nb_grid_at(&a, 0, 0)->text : NULL;
    return NB_OK;
}
