/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.c - SQL made from the table of columns. The view `run` is what people read: the
 * rows of rows.csv. `position` is the row's place in
 * the present plan, NULL for rows that it does not hold; `wanted` the metrics
 * that were measured; `inputs` the digests of the files that it was measured on;
 * `manifest` what signs it, NULL while it is planned. */
#include "run/store.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/version.h"
#include "components/registry.h"
#include "run/inputs.h"
#include "run/schema.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct { /* for whoever holds the store */
    const char *path;
    bool writes;
    double since_s, notice_s;
} waiting;

/* What a killed run has left is rolled back by whoever comes next, even to read: who may not
 * write there cannot. */
static bool journal_stays(const char *path)
{
    char journal[PATH_MAX], folder[PATH_MAX];
    struct stat info;
    const char *slash = strrchr(path, '/');
    if (snprintf(journal, sizeof journal, "%s-journal", path) >= (int)sizeof journal) return false;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return stat(journal, &info) == 0 && info.st_size > 0 && (access(folder, W_OK) != 0 || access(path, W_OK) != 0);
}

static nb_status fail(nb_store *store, const char *doing, nb_ctx *ctx)
{
    NB_REQUIRE(
        ctx, !journal_stays(store->path), NB_EIO,
        "%s: a killed run has left a journal beside it, which must be rolled back first, and you may not write there: "
        "let somebody who may export or go on with the run, or copy its folder",
        store->path);
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

static nb_status check_version(nb_store *store, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, prepare(store, "PRAGMA user_version", &s, ctx));
    if (sqlite3_step(s) != SQLITE_ROW) return fail(store, "is not a store of results", ctx);
    int version = sqlite3_column_int(s, 0);
    sqlite3_reset(s);
    NB_REQUIRE(ctx, version >= NB_STORE_OLDEST && version <= NB_STORE_FORMAT, NB_EIO,
               "%s: is a store of version %d, this program reads version %d; run --fresh puts it aside", store->path,
               version, NB_STORE_FORMAT);
    return NB_OK;
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

/* SQLite's own: pages, records and what a column may hold; no checksum of values. */
static nb_status check_whole(nb_store *store, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, prepare(store, "PRAGMA quick_check(1)", &s, ctx));
    if (sqlite3_step(s) != SQLITE_ROW) return fail(store, "cannot be checked", ctx);
    const char *told = (const char *)sqlite3_column_text(s, 0);
    NB_REQUIRE(ctx, told && strcmp(told, "ok") == 0, NB_EIO, "%s: is damaged: %s; run --fresh puts it aside",
               store->path, told ? told : "no answer");
    sqlite3_reset(s);
    return NB_OK;
}

/* A signal that ends the run, whether it waits to be taken or has just been. */
static bool asked_to_end(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    enum { PAUSE_US = 1000 };
    sigset_t came;
    bool interrupted = usleep(PAUSE_US) != 0;
    sigpending(&came);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        interrupted = interrupted || sigismember(&came, numbers[i]) == 1;
    return interrupted;
}

/* A run of many small scenes leaves the store to readers for a millisecond between two
 * commits, which SQLite's own waits, ever longer, miss. Who writes waits as long as it takes:
 * what is measured is not given up for somebody who reads. */
static int wait_for_others(void *self, int tries)
{
    enum { NOTICE_S = 5, MOST_S = 60 };
    waiting *w = self;
    double now_s = nb_clock_s();
    if (tries == 0) w->notice_s = (w->since_s = now_s) + NOTICE_S;
    if (now_s >= w->notice_s) {
        fprintf(stderr, "nysbench: warning: %s: another program has held it for %.0f s; waiting for it\n", w->path,
                now_s - w->since_s);
        w->notice_s += 12 * NOTICE_S;
    }
    return !asked_to_end() && (w->writes || now_s - w->since_s < MOST_S);
}

static nb_status prepare_write(nb_store *store, nb_ctx *ctx)
{
    const char *assignments, *sql;
    int count = nb_column_count(store->study->columns);
    NB_NEED(assignments, nb_sql_columns(NB_SQL_ASSIGNMENTS, store->study->columns, ctx));
    NB_NEED(sql, nb_format(ctx, "UPDATE results SET %s, wanted = ?%d, manifest = ?%d WHERE position = ?%d", assignments,
                           count + 2, count + 3, count + 1));
    return prepare(store, sql, &store->write, ctx);
}

/* Whose rows it holds, against whose it should. */
static nb_status find_study(nb_store *store, const nb_study *wanted, nb_ctx *ctx)
{
    const char *name;
    NB_TRY(ctx, nb_store_get(store, "study", &name, ctx));
    const nb_component *found = name ? nb_registry_find(&nb_studies, name) : &nb_study_standard()->component;
    NB_REQUIRE(ctx, found, NB_EIO,
               "%s: holds rows of the study '%s', which this program does not know; load its plug-in with --plugin",
               store->path, name);
    store->study = (const nb_study *)found;
    NB_REQUIRE(ctx, !wanted || wanted == store->study, NB_EIO,
               "%s: holds rows of the study %s, the experiment is of the study %s; run --fresh puts it aside",
               store->path, found->name, wanted->component.name);
    return NB_OK;
}

nb_status nb_store_open(const char *path, bool writable, const nb_study *study, nb_store *store, nb_ctx *ctx)
{
    bool empty = false;
    waiting *w;
    const char *sql;
    *store = (nb_store){.path = path, .study = study};
    int made = writable ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                        : -1; /* SQLite's own files are 0644 at most */
    if (made >= 0) close(made);
    int code = sqlite3_open_v2(path, &store->db,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (writable ? SQLITE_OPEN_CREATE : 0), NULL);
    NB_REQUIRE(ctx, store->db, NB_ENOMEM, "out of memory: the store");
    NB_TRY(ctx, nb_defer(ctx, close_store, store->db));
    if (code != SQLITE_OK) return fail(store, "cannot be opened", ctx);
    NB_NEED(w, nb_alloc(ctx, 1, sizeof *w));
    *w = (waiting){.path = path, .writes = writable};
    sqlite3_busy_handler(store->db, wait_for_others, w);
    NB_REQUIRE(ctx, !writable || sqlite3_db_readonly(store->db, "main") == 0, NB_EIO,
               "%s: cannot be written to: it is read-only", path);
    if (!writable) NB_TRY(ctx, execute(store, "PRAGMA query_only = 1", "opening it", ctx));
    NB_TRY(ctx, is_empty(store, &empty, ctx));
    store->fresh = empty;
    NB_REQUIRE(ctx, !empty || writable, NB_EIO,
               "%s: was not finished being made, and holds nothing: run the experiment again", path);
    if (empty) {
        NB_TRY(ctx, nb_sql_tables(study, &sql, ctx));
        NB_TRY(ctx, execute(store, sql, "creating the tables", ctx));
    }
    NB_TRY(ctx, check_version(store, ctx));
    NB_TRY(ctx, execute(store, "PRAGMA cache_size = -65536", "opening it",
                        ctx)); /* KiB: the pages of a plan of 80,000 rows */
    NB_TRY(ctx, check_whole(store, ctx));
    NB_TRY(ctx, find_study(store, study, ctx));
    return writable ? prepare_write(store, ctx) : NB_OK;
}

static int bind(sqlite3_stmt *s, int index, const nb_column *c, const nb_row *row)
{
    const char *field = (const char *)row + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT: {
        const char *text = *(const char *const *)field;
        return text ? sqlite3_bind_text(s, index, text, -1, SQLITE_STATIC) : sqlite3_bind_null(s, index);
    }
    case NB_COLUMN_INT: return sqlite3_bind_int(s, index, *(const int *)field);
    case NB_COLUMN_SEED: return sqlite3_bind_int64(s, index, *(const long long *)field);
    case NB_COLUMN_REAL: {
        double value = *(const double *)field;
        return isnan(value) ? sqlite3_bind_null(s, index) : sqlite3_bind_double(s, index, value);
    }
    }
    return SQLITE_MISUSE;
}

/* A statement with the row's columns in that form. Texts are the row's own: each step binds anew. */
static nb_status step_with_row(nb_store *store, sqlite3_stmt *s, nb_sql_form f, const nb_row *row, int position,
                               unsigned wanted, nb_ctx *ctx)
{
    const nb_column *columns = store->study->columns;
    int code = SQLITE_OK, count = nb_column_count(columns);
    for (int i = 0; i < count && code == SQLITE_OK; i++)
        if (!nb_sql_leaves_out(f, &columns[i])) code = bind(s, i + 1, &columns[i], row);
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

/* The digests of a row's files, as parameter `index`; the text lives as long as the statement. */
static nb_status bind_inputs(nb_store *store, sqlite3_stmt *s, int index, const nb_plan *plan, int row, nb_ctx *ctx)
{
    const char *digests;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_inputs_of_row(plan, row, &digests, ctx));
    int code = sqlite3_bind_text(s, index, digests, -1, SQLITE_TRANSIENT);
    nb_ctx_release(ctx, mark);
    return code == SQLITE_OK ? NB_OK : fail(store, "binding a row", ctx);
}

static nb_status insert_planned(nb_store *store, const nb_plan *plan, nb_ctx *ctx)
{
    const char *names, *parameters, *identity, *kept, *sql;
    int count = nb_column_count(store->study->columns);
    sqlite3_stmt *insert;
    NB_NEED(names, nb_sql_columns(NB_SQL_PLANNED, store->study->columns, ctx));
    NB_NEED(parameters, nb_sql_columns(NB_SQL_PARAMETERS, store->study->columns, ctx));
    NB_NEED(identity, nb_sql_columns(NB_SQL_IDENTITY, store->study->columns, ctx));
    NB_NEED(kept, nb_sql_columns(NB_SQL_KEPT, store->study->columns, ctx));
    NB_NEED(
        sql,
        nb_format(
            ctx,
            "INSERT INTO results (%s, position, wanted, inputs) VALUES (%s, ?%d, ?%d, ?%d) ON CONFLICT (%s, " NB_SQL_DATA
            ") "
            "DO UPDATE SET position = excluded.position, experiment = excluded.experiment, "
            "status = CASE WHEN " NB_SQL_KEEP " THEN status ELSE 'planned' END, %s",
            names, parameters, count + 1, count + 2, count + 3, identity, kept));
    NB_TRY(ctx, prepare(store, sql, &insert, ctx));
    for (int i = 0; i < plan->row_count; i++) {
        nb_any_row any;
        nb_plan_row(plan, i, &any);
        NB_TRY(ctx, bind_inputs(store, insert, count + 3, plan, i, ctx));
        NB_TRY(ctx, step_with_row(store, insert, NB_SQL_PARAMETERS, &any.row, i, plan->config->wanted, ctx));
    }
    return NB_OK;
}

static bool among(const char *status, const char *const *statuses)
{
    while (*statuses && strcmp(*statuses, status) != 0) statuses++;
    return *statuses;
}

/* Rows that are planned, or have one of the statuses to retry. */
static nb_status find_pending(nb_store *store, const nb_plan *plan, const char *const *retry, bool **pending,
                              nb_ctx *ctx)
{
    sqlite3_stmt *s;
    int code;
    NB_NEED(*pending, nb_alloc(ctx, (size_t)plan->row_count, sizeof **pending));
    NB_TRY(ctx, prepare(store, "SELECT position, status FROM results WHERE position IS NOT NULL", &s, ctx));
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *status = (const char *)sqlite3_column_text(s, 1);
        (*pending)[sqlite3_column_int(s, 0)] = strcmp(status, "planned") == 0 || among(status, retry);
    }
    return code == SQLITE_DONE ? NB_OK : fail(store, "reading the plan", ctx);
}

/* The rows of the plan that ended so are planned again. */
static nb_status plan_again(nb_store *store, const char *status, nb_ctx *ctx)
{
    const char *cleared, *sql;
    sqlite3_stmt *s;
    NB_NEED(cleared, nb_sql_columns(NB_SQL_CLEARED, store->study->columns, ctx));
    NB_NEED(sql, nb_format(ctx, "UPDATE results SET status = 'planned', %s WHERE position IS NOT NULL AND status = ?1",
                           cleared));
    NB_TRY(ctx, prepare(store, sql, &s, ctx));
    sqlite3_bind_text(s, 1, status, -1, SQLITE_TRANSIENT);
    return sqlite3_step(s) == SQLITE_DONE ? NB_OK : fail(store, "planning", ctx);
}

static nb_status refuse_others(nb_store *store, const nb_program *program, int count, const nb_measured_by *by,
                               nb_ctx *ctx)
{
    for (int i = 0; i < count; i++) {
        const char *then, *now;
        if (nb_program_same(&by[i].program, program)) continue;
        NB_TRY(ctx, nb_program_text(&by[i].program, &then, ctx));
        NB_TRY(ctx, nb_program_text(program, &now, ctx));
        NB_FAIL(
            ctx, NB_EINVAL,
            "%s: %d rows were measured %s, %s; this is %s; --mixed measures the rest beside them, --fresh puts them aside",
            store->path, by[i].rows, nb_program_difference(&by[i].program, program), then, now);
    }
    return NB_OK;
}

void nb_terms_take_only(const nb_terms *terms, const nb_plan *plan, bool *pending)
{
    for (int i = 0; terms->only && i < plan->row_count; i++)
        pending[i] = terms->only[i] && (!terms->retry[0] || pending[i]);
}

/* Within a transaction. */
static nb_status replan(nb_store *store, const nb_plan *plan, const nb_terms *terms, bool **pending, int *pending_count,
                        nb_ctx *ctx)
{
    nb_measured_by *by;
    int count;
    NB_TRY(ctx, execute(store, "UPDATE results SET position = NULL", "planning", ctx));
    NB_TRY(ctx, insert_planned(store, plan, ctx));
    NB_TRY(ctx, nb_store_programs(store, &count, &by, ctx)); /* rows that are planned again still tell theirs */
    NB_TRY(ctx, find_pending(store, plan, terms->retry, pending, ctx));
    nb_terms_take_only(terms, plan, *pending);
    *pending_count = 0;
    for (int i = 0; i < plan->row_count; i++) *pending_count += (*pending)[i];
    for (int i = 0; !terms->only && terms->retry[i]; i++)
        NB_TRY(ctx, plan_again(store, terms->retry[i], ctx)); /* else the others would lose theirs */
    if (*pending_count > 0 && !terms->mixed) NB_TRY(ctx, refuse_others(store, terms->program, count, by, ctx));
    NB_TRY(ctx, execute(store, "UPDATE results SET manifest = NULL WHERE status = 'planned' AND manifest IS NOT NULL",
                        "planning", ctx));
    return nb_store_commit(store, ctx);
}

nb_status nb_store_plan(nb_store *store, const nb_plan *plan, const nb_terms *terms, bool **pending, int *pending_count,
                        nb_ctx *ctx)
{
    NB_TRY(ctx, nb_store_begin(store, ctx));
    nb_status status = replan(store, plan, terms, pending, pending_count, ctx);
    if (status != NB_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL); /* has nothing to do where SQLite did it */
    store->fresh = store->fresh && status != NB_OK;
    return status;
}

static void count_status(const char *status, nb_standing *s)
{
    s->done++;
    s->failed += strcmp(status, "failed") == 0;
    s->diverged += strcmp(status, "diverged") == 0;
    s->crashed += strcmp(status, "crashed") == 0;
    s->timed_out += strcmp(status, "timeout") == 0;
}

nb_status nb_store_standing(nb_store *store, const nb_plan *plan, const char *const *retry, bool *pending,
                            nb_standing *standing, nb_ctx *ctx)
{
    const char *identity, *sql;
    sqlite3_stmt *s;
    const nb_column *columns = store->study->columns;
    int count = nb_column_count(columns);
    *standing = (nb_standing){.done = 0};
    NB_NEED(identity, nb_sql_columns(NB_SQL_SAME, store->study->columns, ctx));
    NB_NEED(
        sql,
        nb_format(
            ctx,
            "SELECT status FROM results WHERE %s AND n = ?%d AND d = ?%d AND inputs = ?%d AND status <> 'planned' AND (wanted & %u) = %u",
            identity, count + 1, count + 2, count + 3, plan->config->wanted, plan->config->wanted));
    NB_TRY(ctx, prepare(store, sql, &s, ctx));
    for (int i = 0; i < plan->row_count; i++) {
        nb_any_row any;
        int code = SQLITE_OK;
        nb_plan_row(plan, i, &any);
        for (int c = 0; columns[c].name && code == SQLITE_OK; c++)
            if (columns[c].identity) code = bind(s, c + 1, &columns[c], &any.row);
        if (code == SQLITE_OK) code = sqlite3_bind_int(s, count + 1, any.row.n);
        if (code == SQLITE_OK) code = sqlite3_bind_int(s, count + 2, any.row.d);
        NB_TRY(ctx, bind_inputs(store, s, count + 3, plan, i, ctx));
        if (code == SQLITE_OK) code = sqlite3_step(s);
        if (code == SQLITE_ROW) {
            const char *status = (const char *)sqlite3_column_text(s, 0);
            if (pending) pending[i] = among(status, retry);
            count_status(status, standing);
        }
        sqlite3_reset(s);
        if (code != SQLITE_ROW && code != SQLITE_DONE) return fail(store, "reading rows", ctx);
    }
    return NB_OK;
}

nb_status nb_store_set(nb_store *store, const char *key, const char *value, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, prepare(store, "INSERT OR REPLACE INTO meta VALUES (?1, ?2)", &s, ctx));
    sqlite3_bind_text(s, 1, key, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(s, 2, value, -1, SQLITE_TRANSIENT);
    return sqlite3_step(s) == SQLITE_DONE ? NB_OK : fail(store, "writing what the run is", ctx);
}

void nb_store_sign(nb_store *store, const nb_manifest *manifest)
{
    store->signature = manifest;
    store->manifest = 0;
}

static nb_status find_manifest(nb_store *store, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, prepare(store, "SELECT id FROM manifests WHERE text = ?1", &s, ctx));
    sqlite3_bind_text(s, 1, store->signature->text, -1, SQLITE_TRANSIENT);
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW) store->manifest = sqlite3_column_int64(s, 0);
    sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? NB_OK : fail(store, "reading manifests", ctx);
}

static nb_status add_manifest(nb_store *store, nb_ctx *ctx)
{
    const nb_manifest *m = store->signature;
    sqlite3_stmt *s;
    NB_REQUIRE(ctx, m, NB_EBUG, "%s: rows without a manifest", store->path);
    NB_TRY(ctx, find_manifest(store, ctx));
    if (store->manifest) return NB_OK;
    NB_TRY(ctx, prepare(store, "INSERT INTO manifests (build, executable, text) VALUES (?1, ?2, ?3)", &s, ctx));
    sqlite3_bind_text(s, 1, m->program.build, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(s, 2, m->program.executable, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(s, 3, m->text, -1, SQLITE_TRANSIENT);
    if (sqlite3_step(s) != SQLITE_DONE) return fail(store, "writing the manifest", ctx);
    store->manifest = sqlite3_last_insert_rowid(store->db);
    return NB_OK;
}

nb_status nb_store_write(nb_store *store, int index, unsigned wanted, const nb_row *row, nb_ctx *ctx)
{
    if (store->manifest == 0) NB_TRY(ctx, add_manifest(store, ctx));
    sqlite3_bind_int64(store->write, nb_column_count(store->study->columns) + 3, store->manifest);
    NB_TRY(ctx, step_with_row(store, store->write, NB_SQL_ASSIGNMENTS, row, index, wanted, ctx));
    NB_REQUIRE(ctx, sqlite3_changes(store->db) == 1, NB_EBUG, "%s: row %d of the plan is not in the store", store->path,
               index);
    return NB_OK;
}

static nb_status read_text(sqlite3_stmt *s, int index, const char **text, nb_ctx *ctx)
{
    NB_NEED(*text, nb_strdup(ctx, (const char *)sqlite3_column_text(s, index)));
    return NB_OK;
}

/* Of a manifest m; no store that this program writes lacks it. */
#define ARITHMETIC "coalesce(json_extract(m.text, '$.arithmetic'), 'arithmetic unknown')"

/* A statement whose rows are: a manifest's number, its rows in the plan, its hidden rows, its text, build, executable and arithmetic. */
static nb_status read_manifests(nb_store *store, const char *sql, int *count, nb_signed **manifests, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    int code, most = 0;
    NB_TRY(ctx, prepare(store, "SELECT count(*) FROM manifests", &s, ctx));
    if (sqlite3_step(s) != SQLITE_ROW) return fail(store, "counting manifests", ctx);
    most = sqlite3_column_int(s, 0);
    sqlite3_reset(s);
    NB_NEED(*manifests, nb_alloc(ctx, (size_t)most, sizeof **manifests));
    NB_TRY(ctx, prepare(store, sql, &s, ctx));
    for (*count = 0; (code = sqlite3_step(s)) == SQLITE_ROW && *count < most; ++*count) {
        nb_signed *m = &(*manifests)[*count];
        *m = (nb_signed){
            .id = sqlite3_column_int64(s, 0), .rows = sqlite3_column_int(s, 1), .hidden = sqlite3_column_int(s, 2)};
        NB_TRY(ctx, read_text(s, 3, &m->manifest.text, ctx));
        NB_TRY(ctx, read_text(s, 4, &m->manifest.program.build, ctx));
        NB_TRY(ctx, read_text(s, 5, &m->manifest.program.executable, ctx));
        NB_TRY(ctx, read_text(s, 6, &m->manifest.program.arithmetic, ctx));
    }
    return code == SQLITE_DONE ? NB_OK : fail(store, "reading manifests", ctx);
}

nb_status nb_store_manifests(nb_store *store, int *count, nb_signed **manifests, nb_ctx *ctx)
{
    return read_manifests(
        store,
        "SELECT m.id, count(r.position), count(r.inputs) - count(r.position), m.text, m.build, m.executable, " ARITHMETIC
        " "
        "FROM manifests m LEFT JOIN results r ON r.manifest = m.id GROUP BY m.id ORDER BY m.id",
        count, manifests, ctx);
}

nb_status nb_store_find_replaced(nb_store *store, int *count, nb_signed **manifests, nb_ctx *ctx)
{
    const char *paired, *sql;
    NB_NEED(paired, nb_sql_columns(NB_SQL_PAIRED, store->study->columns, ctx));
    NB_NEED(
        sql,
        nb_format(
            ctx,
            "SELECT m.id, 0, count(*), m.text, m.build, m.executable, " ARITHMETIC " "
            "FROM results old CROSS JOIN results new ON %s CROSS JOIN manifests m ON m.id = old.manifest "
            "WHERE new.position IS NOT NULL AND new.status = 'planned' AND old.position IS NULL AND old.status <> 'planned' "
            "GROUP BY m.id ORDER BY m.id",
            paired));
    return read_manifests(store, sql, count, manifests, ctx);
}

nb_status nb_store_programs(nb_store *store, int *count, nb_measured_by **programs, nb_ctx *ctx)
{
    static const char *const sql =
        "SELECT m.executable, m.build, sum(r.rows), " ARITHMETIC " AS arithmetic "
        "FROM (SELECT manifest, count(*) AS rows FROM results WHERE position IS NOT NULL GROUP BY manifest) r "
        "JOIN manifests m ON m.id = r.manifest GROUP BY m.executable, arithmetic ORDER BY min(m.id)";
    sqlite3_stmt *s;
    int code, most = 0;
    NB_TRY(ctx, prepare(store, sql, &s, ctx));
    while ((code = sqlite3_step(s)) == SQLITE_ROW) most++;
    sqlite3_reset(s);
    NB_NEED(*programs, nb_alloc(ctx, (size_t)most, sizeof **programs));
    for (*count = 0; code == SQLITE_DONE && *count < most && sqlite3_step(s) == SQLITE_ROW; ++*count) {
        nb_measured_by *by = &(*programs)[*count];
        by->rows = sqlite3_column_int(s, 2);
        NB_TRY(ctx, read_text(s, 0, &by->program.executable, ctx));
        NB_TRY(ctx, read_text(s, 1, &by->program.build, ctx));
        NB_TRY(ctx, read_text(s, 3, &by->program.arithmetic, ctx));
    }
    if (*count < most || code != SQLITE_DONE) return fail(store, "reading manifests", ctx);
    sqlite3_reset(s);
    return NB_OK;
}

/* A text that the row before has too, as most have, is its; `before` is NULL for the first row. */
static nb_status read_shared_text(sqlite3_stmt *s, int index, const char *before, const char **text, nb_ctx *ctx)
{
    const char *here = (const char *)sqlite3_column_text(s, index);
    if (!before || !here || strcmp(here, before) != 0) return read_text(s, index, text, ctx);
    *text = before;
    return NB_OK;
}

static nb_status read_column(sqlite3_stmt *s, int index, const nb_column *c, nb_row *row, const nb_row *before,
                             nb_ctx *ctx)
{
    char *field = (char *)row + c->offset;
    const char *above = before ? (const char *)before + c->offset : NULL;
    bool null = sqlite3_column_type(s, index) == SQLITE_NULL;
    switch (c->type) {
    case NB_COLUMN_TEXT:
        *(const char **)field = NULL;
        if (!null)
            NB_TRY(ctx,
                   read_shared_text(s, index, above ? *(const char *const *)above : NULL, (const char **)field, ctx));
        break;
    case NB_COLUMN_INT: *(int *)field = sqlite3_column_int(s, index); break;
    case NB_COLUMN_SEED: *(long long *)field = sqlite3_column_int64(s, index); break;
    case NB_COLUMN_REAL: *(double *)field = null ? NAN : sqlite3_column_double(s, index); break;
    }
    return NB_OK;
}

static nb_status count_rows(nb_store *store, int *count, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, prepare(store, "SELECT count(*) FROM results WHERE position IS NOT NULL", &s, ctx));
    if (sqlite3_step(s) != SQLITE_ROW) return fail(store, "counting rows", ctx);
    *count = sqlite3_column_int(s, 0);
    sqlite3_reset(s); /* else the store stays locked to whoever writes it */
    return NB_OK;
}

nb_status nb_store_signatures(nb_store *store, int *count, long long **manifests, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    int total = 0, code;
    NB_TRY(ctx, count_rows(store, &total, ctx));
    NB_NEED(*manifests, nb_alloc(ctx, (size_t)total, sizeof **manifests));
    NB_TRY(ctx, prepare(store, "SELECT coalesce(manifest, 0) FROM results WHERE position IS NOT NULL ORDER BY position",
                        &s, ctx));
    for (*count = 0; (code = sqlite3_step(s)) == SQLITE_ROW && *count < total; ++*count)
        (*manifests)[*count] = sqlite3_column_int64(s, 0);
    return code == SQLITE_DONE ? NB_OK : fail(store, "reading rows", ctx);
}

nb_status nb_store_rows(nb_store *store, nb_row_list *rows, nb_ctx *ctx)
{
    const char *names, *sql;
    const nb_column *columns = store->study->columns;
    sqlite3_stmt *s;
    int total = 0, code;
    *rows = (nb_row_list){.columns = columns, .row_size = store->study->row_size};
    NB_TRY(ctx, count_rows(store, &total, ctx));
    NB_NEED(names, nb_sql_columns(NB_SQL_NAMES, columns, ctx));
    NB_NEED(sql, nb_format(ctx, "SELECT %s FROM results WHERE position IS NOT NULL ORDER BY position", names));
    NB_NEED(rows->bytes, nb_alloc(ctx, (size_t)total, rows->row_size));
    NB_TRY(ctx, prepare(store, sql, &s, ctx));
    for (; (code = sqlite3_step(s)) == SQLITE_ROW && rows->count < total; rows->count++) {
        nb_row *row = nb_row_at(rows, rows->count), *before = rows->count ? nb_row_at(rows, rows->count - 1) : NULL;
        for (int i = 0; columns[i].name; i++) NB_TRY(ctx, read_column(s, i, &columns[i], row, before, ctx));
        if (row->reason) NB_NEED(row->reason, nb_clean(ctx, row->reason, "")); /* an older program's may not be */
    }
    return code == SQLITE_DONE ? NB_OK : fail(store, "reading rows", ctx);
}

nb_status nb_store_get(nb_store *store, const char *key, const char **value, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    *value = NULL;
    NB_TRY(ctx, prepare(store, "SELECT value FROM meta WHERE key = ?1", &s, ctx));
    sqlite3_bind_text(s, 1, key, -1, SQLITE_TRANSIENT);
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL)
        NB_NEED(*value, nb_strdup(ctx, (const char *)sqlite3_column_text(s, 0)));
    sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? NB_OK : fail(store, "reading what it is about", ctx);
}

nb_status nb_store_means(nb_store *store, const char *column, const char *components, const char *numbers, int *count,
                         nb_store_mean **means, nb_ctx *ctx)
{
    const char *sql;
    sqlite3_stmt *s;
    int code;
    *count = 0;
    *means = NULL;
    NB_NEED(sql, nb_format(ctx,
                           "SELECT %s, n, %s, avg(%s), count(*) OVER () FROM results "
                           "WHERE status = 'ok' AND %s IS NOT NULL GROUP BY %s, n, %s",
                           components, numbers, column, column, components, numbers));
    NB_TRY(ctx, prepare(store, sql, &s, ctx));
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        if (*count == 0) NB_NEED(*means, nb_alloc(ctx, (size_t)sqlite3_column_int(s, 4), sizeof **means));
        nb_store_mean *m = &(*means)[(*count)++];
        NB_TRY(ctx, read_text(s, 0, &m->component, ctx));
        m->n = sqlite3_column_int(s, 1);
        m->number = sqlite3_column_int(s, 2);
        m->mean = sqlite3_column_double(s, 3);
    }
    return code == SQLITE_DONE ? NB_OK : fail(store, "reading means", ctx);
}
