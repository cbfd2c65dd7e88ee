/* store.c - SQL made from the table of columns. `position` is the row's place in
 * the present plan, NULL for rows that it does not hold; `wanted` the metrics
 * that were measured. */
#include "experiment/store.h"

#include <math.h>
#include <string.h>

enum { VERSION = 3, BUSY_MS = 10000 };

static nb_status fail(nb_store *store, const char *doing, nb_ctx *ctx)
{
    NB_FAIL(ctx, NB_EIO, "%s: %s: %s", store->path, doing, sqlite3_errmsg(store->db));
}

static nb_status execute(nb_store *store, const char *sql, const char *doing, nb_ctx *ctx)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? NB_OK : fail(store, doing, ctx);
}

static void finalize(void *statement)
{
    sqlite3_finalize(statement);
}

static nb_status prepare(nb_store *store, const char *sql, sqlite3_stmt **statement, nb_ctx *ctx)
{
    if (sqlite3_prepare_v2(store->db, sql, -1, statement, NULL) != SQLITE_OK)
        return fail(store, "preparing a statement", ctx);
    return nb_defer(ctx, finalize, *statement);
}

static void close_store(void *db)
{
    sqlite3_close_v2(db);
}

typedef enum { DEFINITIONS, NAMES, IDENTITY, PARAMETERS, ASSIGNMENTS, KEPT } form;

/* Whether a row that is there already is what is planned now: measured on data of
 * the same size, with all metrics that are wanted. */
#define KEEP "(wanted & excluded.wanted) = excluded.wanted AND n = excluded.n AND d = excluded.d"

static bool hidden(form f, const nb_column *c)
{
    bool result = c->type == NB_COLUMN_REAL || strcmp(c->name, "reason") == 0;
    return (f == IDENTITY && !c->identity) || (f == KEPT && !result);
}

/* The columns in one of the forms that SQL wants them in, separated by commas. */
static const char *columns(form f, nb_ctx *ctx)
{
    static const char *const types[] = {
        [NB_COLUMN_TEXT] = "TEXT", [NB_COLUMN_INT] = "INTEGER", [NB_COLUMN_SEED] = "INTEGER", [NB_COLUMN_REAL] = "REAL"};
    const char *all = nb_strdup(ctx, "");
    for (const nb_column *c = nb_columns; c->name && all; c++) {
        if (hidden(f, c)) continue;
        const char *comma = *all ? ", " : "";
        if (f == DEFINITIONS)
            all = nb_format(ctx, "%s%s%s %s", all, comma, c->name, types[c->type]);
        else if (f == ASSIGNMENTS)
            all = nb_format(ctx, "%s%s%s = ?%d", all, comma, c->name, (int)(c - nb_columns) + 1);
        else if (f == KEPT)
            all = nb_format(ctx, "%s%s%s = CASE WHEN " KEEP " THEN %s END", all, comma, c->name, c->name);
        else if (f == PARAMETERS)
            all = nb_format(ctx, "%s%s?%d", all, comma, (int)(c - nb_columns) + 1);
        else
            all = nb_format(ctx, "%s%s%s", all, comma, c->name);
    }
    return all;
}

static int column_count(void)
{
    int count = 0;
    while (nb_columns[count].name) count++;
    return count;
}

static nb_status check_version(nb_store *store, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, prepare(store, "PRAGMA user_version", &s, ctx));
    if (sqlite3_step(s) != SQLITE_ROW) return fail(store, "is not a store of results", ctx);
    int version = sqlite3_column_int(s, 0);
    sqlite3_reset(s);
    NB_REQUIRE(ctx, version == VERSION, NB_EIO, "%s: is a store of version %d, this program reads version %d; run --fresh puts it aside",
               store->path, version, VERSION);
    return NB_OK;
}

static nb_status create(nb_store *store, nb_ctx *ctx)
{
    const char *definitions, *identity, *sql;
    NB_NEED(definitions, columns(DEFINITIONS, ctx));
    NB_NEED(identity, columns(IDENTITY, ctx));
    NB_NEED(sql, nb_format(ctx,
                           "BEGIN; CREATE TABLE results (position INTEGER, wanted INTEGER, %s, UNIQUE (%s));"
                           "CREATE INDEX positions ON results (position);"
                           "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); PRAGMA user_version = %d; COMMIT",
                           definitions, identity, VERSION));
    return execute(store, sql, "creating the tables", ctx);
}

static nb_status is_empty(nb_store *store, bool *empty, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, prepare(store, "SELECT count(*) FROM sqlite_schema", &s, ctx));
    if (sqlite3_step(s) != SQLITE_ROW) return fail(store, "is not a store of results", ctx);
    *empty = sqlite3_column_int(s, 0) == 0;
    sqlite3_reset(s);
    return NB_OK;
}

nb_status nb_store_open(const char *path, bool writable, nb_store *store, nb_ctx *ctx)
{
    bool empty = false;
    *store = (nb_store){.path = path};
    int code = sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | (writable ? SQLITE_OPEN_CREATE : 0), NULL);
    NB_REQUIRE(ctx, store->db, NB_ENOMEM, "out of memory: the store");
    NB_TRY(ctx, nb_defer(ctx, close_store, store->db));
    if (code != SQLITE_OK) return fail(store, "cannot be opened", ctx);
    sqlite3_busy_timeout(store->db, BUSY_MS);
    if (!writable) NB_TRY(ctx, execute(store, "PRAGMA query_only = 1", "opening it", ctx));
    NB_TRY(ctx, is_empty(store, &empty, ctx));
    if (empty && writable) NB_TRY(ctx, create(store, ctx));
    return check_version(store, ctx);
}

static int bind(sqlite3_stmt *s, int index, const nb_column *c, const nb_row *row)
{
    const char *field = (const char *)row + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT: {
        const char *text = *(const char *const *)field;
        return text ? sqlite3_bind_text(s, index, text, -1, SQLITE_TRANSIENT) : sqlite3_bind_null(s, index);
    }
    case NB_COLUMN_INT:
        return sqlite3_bind_int(s, index, *(const int *)field);
    case NB_COLUMN_SEED:
        return sqlite3_bind_int64(s, index, *(const long long *)field);
    case NB_COLUMN_REAL: {
        double value = *(const double *)field;
        return isnan(value) ? sqlite3_bind_null(s, index) : sqlite3_bind_double(s, index, value);
    }
    }
    return SQLITE_MISUSE;
}

static nb_status step_with_row(nb_store *store, sqlite3_stmt *s, const nb_row *row, int position, unsigned wanted,
                               nb_ctx *ctx)
{
    int code = SQLITE_OK, count = column_count();
    for (int i = 0; i < count && code == SQLITE_OK; i++) code = bind(s, i + 1, &nb_columns[i], row);
    if (code == SQLITE_OK) code = sqlite3_bind_int(s, count + 1, position);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(s, count + 2, wanted);
    if (code == SQLITE_OK) code = sqlite3_step(s);
    sqlite3_reset(s);
    return code == SQLITE_DONE ? NB_OK : fail(store, "writing a row", ctx);
}

nb_status nb_store_begin(nb_store *store, nb_ctx *ctx)
{
    return execute(store, "BEGIN IMMEDIATE", "beginning a transaction", ctx);
}

nb_status nb_store_commit(nb_store *store, nb_ctx *ctx)
{
    return execute(store, "COMMIT", "committing a transaction", ctx);
}

static nb_status insert_planned(nb_store *store, const nb_plan *plan, nb_ctx *ctx)
{
    const char *names, *parameters, *identity, *kept, *sql;
    int count = column_count();
    sqlite3_stmt *insert;
    NB_NEED(names, columns(NAMES, ctx));
    NB_NEED(parameters, columns(PARAMETERS, ctx));
    NB_NEED(identity, columns(IDENTITY, ctx));
    NB_NEED(kept, columns(KEPT, ctx));
    NB_NEED(sql, nb_format(ctx,
                           "INSERT INTO results (%s, position, wanted) VALUES (%s, ?%d, ?%d) ON CONFLICT (%s) DO UPDATE SET "
                           "position = excluded.position, experiment = excluded.experiment, n = excluded.n, d = excluded.d, "
                           "status = CASE WHEN " KEEP " THEN status ELSE 'planned' END, %s",
                           names, parameters, count + 1, count + 2, identity, kept));
    NB_TRY(ctx, prepare(store, sql, &insert, ctx));
    for (int i = 0; i < plan->row_count; i++) {
        nb_row row;
        nb_plan_row(plan, i, &row);
        NB_TRY(ctx, step_with_row(store, insert, &row, i, plan->config->wanted, ctx));
    }
    return NB_OK;
}

static nb_status find_pending(nb_store *store, const nb_plan *plan, bool **pending, int *count, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    int code;
    *count = 0;
    NB_NEED(*pending, nb_alloc(ctx, (size_t)plan->row_count, sizeof **pending));
    NB_TRY(ctx, prepare(store, "SELECT position FROM results WHERE position IS NOT NULL AND status = 'planned'", &s, ctx));
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        (*pending)[sqlite3_column_int(s, 0)] = true;
        ++*count;
    }
    return code == SQLITE_DONE ? NB_OK : fail(store, "reading the plan", ctx);
}

nb_status nb_store_plan(nb_store *store, const nb_plan *plan, bool **pending, int *pending_count, nb_ctx *ctx)
{
    const char *assignments, *sql;
    int count = column_count();
    NB_TRY(ctx, nb_store_begin(store, ctx));
    NB_TRY(ctx, execute(store, "UPDATE results SET position = NULL", "planning", ctx));
    NB_TRY(ctx, insert_planned(store, plan, ctx));
    NB_TRY(ctx, nb_store_commit(store, ctx));
    NB_NEED(assignments, columns(ASSIGNMENTS, ctx));
    NB_NEED(sql, nb_format(ctx, "UPDATE results SET %s, wanted = ?%d WHERE position = ?%d", assignments, count + 2, count + 1));
    NB_TRY(ctx, prepare(store, sql, &store->write, ctx));
    return find_pending(store, plan, pending, pending_count, ctx);
}

/* "a = ?1 AND b = ?2 ..." over the columns that make a row's identity. */
static const char *same_identity(nb_ctx *ctx)
{
    const char *all = nb_strdup(ctx, "");
    for (const nb_column *c = nb_columns; c->name && all; c++)
        if (c->identity) all = nb_format(ctx, "%s%s%s = ?%d", all, *all ? " AND " : "", c->name, (int)(c - nb_columns) + 1);
    return all;
}

static void count_status(const char *status, nb_standing *s)
{
    s->done++;
    s->failed += strcmp(status, "failed") == 0;
    s->diverged += strcmp(status, "diverged") == 0;
    s->crashed += strcmp(status, "crashed") == 0;
    s->timed_out += strcmp(status, "timeout") == 0;
}

nb_status nb_store_standing(nb_store *store, const nb_plan *plan, bool *pending, nb_standing *standing, nb_ctx *ctx)
{
    const char *identity, *sql;
    sqlite3_stmt *s;
    *standing = (nb_standing){.done = 0};
    NB_NEED(identity, same_identity(ctx));
    NB_NEED(sql, nb_format(ctx, "SELECT status FROM results WHERE %s AND status <> 'planned' AND (wanted & %u) = %u", identity,
                           plan->config->wanted, plan->config->wanted));
    NB_TRY(ctx, prepare(store, sql, &s, ctx));
    for (int i = 0; i < plan->row_count; i++) {
        nb_row row;
        int code = SQLITE_OK;
        nb_plan_row(plan, i, &row);
        for (int c = 0; nb_columns[c].name && code == SQLITE_OK; c++)
            if (nb_columns[c].identity) code = bind(s, c + 1, &nb_columns[c], &row);
        if (code == SQLITE_OK) code = sqlite3_step(s);
        if (code == SQLITE_ROW) {
            pending[i] = false;
            count_status((const char *)sqlite3_column_text(s, 0), standing);
        }
        sqlite3_reset(s);
        if (code != SQLITE_ROW && code != SQLITE_DONE) return fail(store, "reading rows", ctx);
    }
    return NB_OK;
}

nb_status nb_store_write(nb_store *store, int index, unsigned wanted, const nb_row *row, nb_ctx *ctx)
{
    NB_TRY(ctx, step_with_row(store, store->write, row, index, wanted, ctx));
    NB_REQUIRE(ctx, sqlite3_changes(store->db) == 1, NB_EBUG, "%s: row %d of the plan is not in the store", store->path, index);
    return NB_OK;
}

nb_status nb_store_set(nb_store *store, const char *key, const char *value, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, prepare(store, "INSERT OR REPLACE INTO meta VALUES (?1, ?2)", &s, ctx));
    sqlite3_bind_text(s, 1, key, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(s, 2, value, -1, SQLITE_TRANSIENT);
    return sqlite3_step(s) == SQLITE_DONE ? NB_OK : fail(store, "writing the manifest", ctx);
}

static nb_status read_column(sqlite3_stmt *s, int index, nb_row *row, nb_ctx *ctx)
{
    const nb_column *c = &nb_columns[index];
    char *field = (char *)row + c->offset;
    bool null = sqlite3_column_type(s, index) == SQLITE_NULL;
    switch (c->type) {
    case NB_COLUMN_TEXT:
        *(const char **)field = NULL;
        if (!null) NB_NEED(*(const char **)field, nb_strdup(ctx, (const char *)sqlite3_column_text(s, index)));
        break;
    case NB_COLUMN_INT:
        *(int *)field = sqlite3_column_int(s, index);
        break;
    case NB_COLUMN_SEED:
        *(long long *)field = sqlite3_column_int64(s, index);
        break;
    case NB_COLUMN_REAL:
        *(double *)field = null ? NAN : sqlite3_column_double(s, index);
        break;
    }
    return NB_OK;
}

static nb_status count_rows(nb_store *store, int *count, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, prepare(store, "SELECT count(*) FROM results WHERE position IS NOT NULL", &s, ctx));
    if (sqlite3_step(s) != SQLITE_ROW) return fail(store, "counting rows", ctx);
    *count = sqlite3_column_int(s, 0);
    return NB_OK;
}

nb_status nb_store_rows(nb_store *store, int *count, nb_row **rows, nb_ctx *ctx)
{
    const char *names, *sql;
    sqlite3_stmt *s;
    int total = 0, code;
    NB_TRY(ctx, count_rows(store, &total, ctx));
    NB_NEED(names, columns(NAMES, ctx));
    NB_NEED(sql, nb_format(ctx, "SELECT %s FROM results WHERE position IS NOT NULL ORDER BY position", names));
    NB_NEED(*rows, nb_alloc(ctx, (size_t)total, sizeof **rows));
    NB_TRY(ctx, prepare(store, sql, &s, ctx));
    for (*count = 0; (code = sqlite3_step(s)) == SQLITE_ROW && *count < total; ++*count)
        for (int i = 0; nb_columns[i].name; i++) NB_TRY(ctx, read_column(s, i, &(*rows)[*count], ctx));
    return code == SQLITE_DONE ? NB_OK : fail(store, "reading rows", ctx);
}

nb_status nb_store_get(nb_store *store, const char *key, const char **value, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    *value = NULL;
    NB_TRY(ctx, prepare(store, "SELECT value FROM meta WHERE key = ?1", &s, ctx));
    sqlite3_bind_text(s, 1, key, -1, SQLITE_TRANSIENT);
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL) NB_NEED(*value, nb_strdup(ctx, (const char *)sqlite3_column_text(s, 0)));
    sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? NB_OK : fail(store, "reading what it is about", ctx);
}

nb_status nb_store_picks(nb_store *store, int *count, nb_store_pick **picks, nb_ctx *ctx)
{
    static const char groups[] = "FROM results WHERE status = 'ok' AND select_s IS NOT NULL GROUP BY strategy, n, landmarks";
    sqlite3_stmt *s;
    const char *number, *sql;
    int code, total;
    *count = 0;
    NB_NEED(number, nb_format(ctx, "SELECT count(*) FROM (SELECT 1 %s)", groups));
    NB_TRY(ctx, prepare(store, number, &s, ctx));
    if (sqlite3_step(s) != SQLITE_ROW) return fail(store, "counting the times of strategies", ctx);
    total = sqlite3_column_int(s, 0);
    sqlite3_reset(s);
    NB_NEED(*picks, nb_alloc(ctx, (size_t)total + 1, sizeof **picks));
    NB_NEED(sql, nb_format(ctx, "SELECT strategy, n, landmarks, avg(select_s) %s", groups));
    NB_TRY(ctx, prepare(store, sql, &s, ctx));
    while ((code = sqlite3_step(s)) == SQLITE_ROW && *count < total) {
        nb_store_pick *p = &(*picks)[(*count)++];
        NB_NEED(p->strategy, nb_strdup(ctx, (const char *)sqlite3_column_text(s, 0)));
        *p = (nb_store_pick){p->strategy, sqlite3_column_int(s, 1), sqlite3_column_int(s, 2), sqlite3_column_double(s, 3)};
    }
    sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? NB_OK : fail(store, "reading the times of strategies", ctx);
}
