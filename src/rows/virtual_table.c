/* SPDX-License-Identifier: GPL-3.0-or-later */
/* virtual_table.c - see virtual_table.h */
#include "rows/virtual_table.h"

#include <stdlib.h>

typedef struct {
    nb_virtual_table table;
    sqlite3 *db;
    sqlite3_int64 *row; /* the one at hand */
    bool there;
} source;

typedef struct {
    sqlite3_vtab base;
    source *source;
} handle;

static source *source_of(const sqlite3_vtab_cursor *c)
{
    return ((handle *)c->pVtab)->source;
}

static int connect_to(sqlite3 *db, void *s, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    (void)argc, (void)argv, (void)message;
    int code = sqlite3_declare_vtab(db, ((source *)s)->table.definition);
    handle *h = code == SQLITE_OK ? sqlite3_malloc(sizeof *h) : NULL;
    if (!h) return code == SQLITE_OK ? SQLITE_NOMEM : code;
    *h = (handle){.source = s};
    *out = &h->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *h)
{
    sqlite3_free(h);
    return SQLITE_OK;
}

static int plan_to_read_all(sqlite3_vtab *h, sqlite3_index_info *plan)
{
    (void)h, (void)plan;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *h, sqlite3_vtab_cursor **out)
{
    (void)h;
    *out = calloc(1, sizeof **out);
    return *out ? SQLITE_OK : SQLITE_NOMEM;
}

static int close_cursor(sqlite3_vtab_cursor *c)
{
    free(c);
    return SQLITE_OK;
}

/* The context's error says why there is no next row. */
static int go_to_next(sqlite3_vtab_cursor *c)
{
    source *s = source_of(c);
    nb_status status = s->table.next(s->table.self, s->row, &s->there);
    return status == NB_OK ? SQLITE_OK : status == NB_ENOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

static int go_to_first(sqlite3_vtab_cursor *c, int plan, const char *name, int argc, sqlite3_value **argv)
{
    (void)plan, (void)name, (void)argc, (void)argv;
    return go_to_next(c);
}

static int is_at_end(sqlite3_vtab_cursor *c)
{
    return !source_of(c)->there;
}

static int read_column(sqlite3_vtab_cursor *c, sqlite3_context *out, int column)
{
    sqlite3_result_int64(out, source_of(c)->row[column]);
    return SQLITE_OK;
}

static int read_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *id)
{
    *id = source_of(c)->row[0];
    return SQLITE_OK;
}

static const sqlite3_module module = {.xConnect = connect_to,
                                      .xDisconnect = disconnect,
                                      .xBestIndex = plan_to_read_all,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = go_to_first,
                                      .xNext = go_to_next,
                                      .xEof = is_at_end,
                                      .xColumn = read_column,
                                      .xRowid = read_rowid};

static void drop(void *self)
{
    const source *s = self;
    sqlite3_create_module(s->db, s->table.name, NULL, NULL);
}

nb_status nb_virtual_table_add(const nb_relation *r, const nb_virtual_table *table, nb_ctx *ctx)
{
    source *s;
    NB_NEED(s, nb_alloc(ctx, 1, sizeof *s));
    *s = (source){.table = *table, .db = r->store->db};
    NB_NEED(s->row, nb_alloc(ctx, (size_t)table->columns, sizeof *s->row));
    NB_REQUIRE(ctx, sqlite3_create_module(s->db, table->name, &module, s) == SQLITE_OK, NB_ENOMEM, "the table %s: %s",
               table->name, sqlite3_errmsg(s->db));
    return nb_defer(ctx, drop, s);
}
