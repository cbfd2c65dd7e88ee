/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.c - stores a run's rows in SQLite, by SQL made from the study's table of columns.
 *
 * The view `run` has the rows of rows.csv, for people. In the table `results`, `position` is the row's place in the
 * present plan, NULL for rows outside of it; `wanted` the metrics that were measured; `inputs` the digests of the files
 * it was measured on; `manifest` its signature, NULL while it is planned. */
#include "run/store_private.h"

#include "base/clock.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/version.h"
#include "components/registry.h"
#include "run/sql_files.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct nb_store_wait { /* for another program that holds the store */
    const char *path;
    bool writes;
    double since_s, notice_s;
    void (*notice)(void *self, const char *text);
    void *self;
};

/* True if a killed run's journal cannot be rolled back here. The next program that opens the store does that, even to
 * read, but needs the right to write there. */
static bool journal_stays(const char *path)
{
    char journal[PATH_MAX], folder[PATH_MAX];
    struct stat info;
    const char *slash = strrchr(path, '/');
    if (snprintf(journal, sizeof journal, "%s-journal", path) >= (int)sizeof journal) return false;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return stat(journal, &info) == 0 && info.st_size > 0 && (access(folder, W_OK) != 0 || access(path, W_OK) != 0);
}

nb_status nb_store_fail(nb_store *store, const char *doing, nb_ctx *ctx)
{
    NB_REQUIRE(
        ctx, !journal_stays(store->path), NB_EIO,
        "%s: a killed run has left a journal beside it, which must be rolled back first, and you may not write there: "
        "ask somebody who may to export or continue the run, or copy its folder",
        store->path);
    int code = sqlite3_errcode(store->db) & 0xff; /* of these two SQLite does not always keep the system's error */
    nb_status status =
        code == SQLITE_FULL || code == SQLITE_IOERR ? NB_EHOST : nb_file_status(sqlite3_system_errno(store->db));
    NB_FAIL(ctx, status, "%s: %s: %s", store->path, doing, sqlite3_errmsg(store->db));
}

/* *sql <- a statement by its name. */
static nb_status find_statement(const char *statement, const nb_column *columns, const char **sql, nb_ctx *ctx)
{
    const char *text = nb_sql_text(statement);
    NB_REQUIRE(ctx, text, NB_EBUG, "no file of SQL has '%s'", statement);
    NB_NEED(*sql, nb_sql_expand(columns, text, ctx));
    return NB_OK;
}

nb_status nb_store_execute_with(nb_store *store, const char *statement, const nb_column *columns, const char *doing,
                                nb_ctx *ctx)
{
    const char *sql;
    NB_TRY(ctx, find_statement(statement, columns, &sql, ctx));
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? NB_OK : nb_store_fail(store, doing, ctx);
}

static const nb_column *columns_of(const nb_store *store)
{
    return store->study ? store->study->columns : NULL;
}

nb_status nb_store_execute(nb_store *store, const char *statement, const char *doing, nb_ctx *ctx)
{
    return nb_store_execute_with(store, statement, columns_of(store), doing, ctx);
}

static void finalize(void *statement)
{
    sqlite3_finalize(statement);
}

nb_status nb_store_prepare(nb_store *store, const char *statement, sqlite3_stmt **prepared, nb_ctx *ctx)
{
    const char *sql;
    NB_TRY(ctx, find_statement(statement, columns_of(store), &sql, ctx));
    if (sqlite3_prepare_v2(store->db, sql, -1, prepared, NULL) != SQLITE_OK)
        return nb_store_fail(store, "preparing a statement", ctx);
    return nb_defer(ctx, finalize, *prepared);
}

int nb_store_parameter(sqlite3_stmt *prepared, const char *name)
{
    return sqlite3_bind_parameter_index(prepared, name);
}

static void close_store(void *db)
{
    sqlite3_close_v2(db);
}

nb_status nb_store_ask(nb_store *store, const char *statement, const char *const *texts, const char *doing,
                       const char **answer, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    *answer = NULL;
    NB_TRY(ctx, nb_store_prepare(store, statement, &s, ctx));
    for (int i = 0; texts && texts[i]; i++) sqlite3_bind_text(s, i + 1, texts[i], -1, SQLITE_TRANSIENT);
    int code = sqlite3_step(s);
    const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    if (text) NB_NEED(*answer, nb_strdup(ctx, text));
    sqlite3_reset(s); /* else the store stays locked to whoever writes it */
    return code == SQLITE_ROW || code == SQLITE_DONE ? NB_OK : nb_store_fail(store, doing, ctx);
}

nb_status nb_store_number(nb_store *store, const char *statement, const char *doing, int *number, nb_ctx *ctx)
{
    const char *text;
    *number = 0;
    NB_TRY(ctx, nb_store_ask(store, statement, NULL, doing, &text, ctx));
    return text && nb_parse_int(text, INT_MIN, INT_MAX, number) ? NB_OK : nb_store_fail(store, doing, ctx);
}

static nb_status check_version(nb_store *store, nb_ctx *ctx)
{
    int version;
    NB_TRY(ctx, nb_store_number(store, "store.version", "is not a store of results", &version, ctx));
    NB_REQUIRE(ctx, version >= NB_STORE_OLDEST && version <= NB_STORE_FORMAT, NB_EIO,
               "%s: is a store of version %d, this program reads version %d; '%s %s' sets it aside", store->path,
               version, NB_STORE_FORMAT, nb_call(ctx, "run"), nb_field(ctx, "fresh", NB_IS_SET));
    return NB_OK;
}

/* SQLite's own check: pages, records and what a column may hold; there is no checksum of values. */
static nb_status check_whole(nb_store *store, nb_ctx *ctx)
{
    const char *told;
    NB_TRY(ctx, nb_store_ask(store, "store.check", NULL, "cannot be checked", &told, ctx));
    NB_REQUIRE(ctx, told && strcmp(told, "ok") == 0, NB_EIO, "%s: is damaged: %s; '%s %s' sets it aside", store->path,
               told ? told : "no answer", nb_call(ctx, "run"), nb_field(ctx, "fresh", NB_IS_SET));
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

static void print_notice(void *self, const char *text)
{
    (void)self;
    fprintf(stderr, "nysbench: warning: %s\n", text);
}

void nb_store_on_wait(nb_store *store, void (*notice)(void *self, const char *text), void *self)
{
    store->wait->notice = notice;
    store->wait->self = self;
}

/* A run of many small scenes leaves the store to readers for a millisecond between two
 * commits, which SQLite's own waits, ever longer, miss. A writer waits as long as it takes: measured rows are not
 * given up for a reader. */
static int wait_for_others(void *self, int tries)
{
    enum { NOTICE_S = 5, MOST_S = 60 };
    struct nb_store_wait *w = self;
    char text[PATH_MAX + 128];
    double now_s = nb_clock_s();
    if (tries == 0) w->notice_s = (w->since_s = now_s) + NOTICE_S;
    if (now_s >= w->notice_s) {
        snprintf(text, sizeof text, "%s: another program has held it for %.0f s; waiting for it", w->path,
                 now_s - w->since_s);
        w->notice(w->self, text);
        w->notice_s += 12 * NOTICE_S;
    }
    return !asked_to_end() && (w->writes || now_s - w->since_s < MOST_S);
}

/* Compares the study whose rows it holds with the expected one. */
static nb_status find_study(nb_store *store, const nb_study *wanted, nb_ctx *ctx)
{
    const char *name;
    NB_TRY(ctx, nb_store_get(store, "study", &name, ctx));
    const nb_component *found = name ? nb_registry_find(&nb_studies, name) : &nb_study_standard()->component;
    NB_REQUIRE(ctx, found, NB_EIO,
               "%s: holds rows of the study '%s', which this program does not know: a plug-in has it, which %s "
               "loads",
               store->path, name, nb_field(ctx, "plugins", "FILE"));
    store->study = (const nb_study *)found;
    NB_REQUIRE(ctx, !wanted || wanted == store->study, NB_EIO,
               "%s: holds rows of the study %s, the experiment is of the study %s; '%s %s' sets it aside", store->path,
               found->name, wanted->component.name, nb_call(ctx, "run"), nb_field(ctx, "fresh", NB_IS_SET));
    return NB_OK;
}

nb_status nb_store_check_path(const char *path, nb_ctx *ctx)
{
    static const char suffix[] = "-journal";
    char whole[2 * PATH_MAX];
    sqlite3_vfs *files = sqlite3_vfs_find(NULL);
    if (files->xFullPathname(files, path, sizeof whole, whole) != SQLITE_OK) return NB_OK; /* told when it is made */
    int length = (int)strlen(whole), most = files->mxPathname - (int)sizeof suffix + 1;
    NB_REQUIRE(ctx, length <= most, NB_EINVAL,
               "%s: its whole path has %d bytes, and SQLite opens none above %d: choose a folder with a shorter path",
               path, length, most);
    return NB_OK;
}

/* A store may be anybody's: its own triggers and unsafe functions are off, and its tables are no views, which may take
 * for ever. */
static nb_status trust_nothing(nb_store *store, nb_ctx *ctx)
{
    static const int settings[][2] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1}, {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}};
    int views;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (sqlite3_db_config(store->db, settings[i][0], settings[i][1], NULL) != SQLITE_OK)
            return nb_store_fail(store, "making SQLite careful", ctx);
    NB_TRY(ctx, nb_store_number(store, "store.count_views", "is not a store of results", &views, ctx));
    NB_REQUIRE(ctx, views == 0, NB_EIO,
               "%s: is not a store that nysbench has made: one of results, manifests and meta is no table",
               store->path);
    return NB_OK;
}

/* The file may be read, the connection's own tables and views changed. SQLite asks to update sqlite_master where it
 * declares a table-valued function, which writes nothing; who tries to write there is refused anyway. */
static int only_reads_file(void *self, int action, const char *a, const char *b, const char *database,
                           const char *source)
{
    (void)self, (void)b, (void)source;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
    case SQLITE_PRAGMA:
    case SQLITE_TRANSACTION: return SQLITE_OK;
    case SQLITE_UPDATE:
        if (strcmp(a, "sqlite_master") == 0) return SQLITE_OK;
        /* fallthrough */
    default: return database && strcmp(database, "temp") == 0 ? SQLITE_OK : SQLITE_DENY;
    }
}

void nb_store_restrict(nb_store *store)
{
    bool writes = store->wait && store->wait->writes; /* no wait: a store of no file, as tests have */
    sqlite3_set_authorizer(store->db, writes ? NULL : only_reads_file, NULL);
}

nb_status nb_store_open(const char *path, bool writable, const nb_study *study, nb_store *store, nb_ctx *ctx)
{
    int tables;
    *store = (nb_store){.path = path, .study = study};
    NB_TRY(ctx, nb_store_check_path(path, ctx));
    int made = writable ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                        : -1; /* SQLite's own files are 0644 at most */
    if (made >= 0) close(made);
    int code = sqlite3_open_v2(path, &store->db,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (writable ? SQLITE_OPEN_CREATE : 0), NULL);
    NB_REQUIRE(ctx, store->db, NB_ENOMEM, "out of memory: the store");
    NB_TRY(ctx, nb_defer(ctx, close_store, store->db));
    if (code != SQLITE_OK) return nb_store_fail(store, "cannot be opened", ctx);
    NB_NEED(store->wait, nb_alloc(ctx, 1, sizeof *store->wait));
    *store->wait = (struct nb_store_wait){.path = path, .writes = writable, .notice = print_notice};
    sqlite3_busy_handler(store->db, wait_for_others, store->wait);
    NB_REQUIRE(ctx, !writable || sqlite3_db_readonly(store->db, "main") == 0, NB_EIO,
               "%s: cannot be written to: it is read-only", path);
    NB_TRY(ctx, nb_store_number(store, "store.count_tables", "is not a store of results", &tables, ctx));
    NB_TRY(ctx, trust_nothing(store, ctx));
    nb_store_restrict(store);
    store->fresh = tables == 0;
    NB_REQUIRE(ctx, !store->fresh || writable, NB_EIO, "%s: is unfinished and empty: run the experiment again", path);
    if (store->fresh) {
        NB_TRY(ctx, nb_store_execute(store, "store.create", "creating the tables", ctx));
        NB_TRY(ctx, nb_store_set(store, "study", study->component.name, ctx));
        NB_TRY(ctx, nb_store_commit(store, ctx));
    }
    NB_TRY(ctx, check_version(store, ctx));
    NB_TRY(ctx, nb_store_execute(store, writable ? "store.cache_to_write" : "store.cache_to_read", "opening it", ctx));
    NB_TRY(ctx, check_whole(store, ctx));
    NB_TRY(ctx, find_study(store, study, ctx));
    return writable ? NB_OK : nb_store_show_columns(store, ctx);
}

/* Binds a row's value in a column as parameter `index`; returns SQLite's code. The row keeps its texts. */
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
nb_status nb_store_step(nb_store *store, sqlite3_stmt *s, nb_sql_form f, const nb_row *row, int position,
                        unsigned wanted, nb_ctx *ctx)
{
    const nb_column *columns = store->study->columns;
    int code = SQLITE_OK, count = nb_column_count(columns);
    for (int i = 0; i < count && code == SQLITE_OK; i++)
        if (!nb_sql_leaves_out(f, &columns[i])) code = bind(s, i + 1, &columns[i], row);
    if (code == SQLITE_OK) code = sqlite3_bind_int(s, nb_store_parameter(s, ":position"), position);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(s, nb_store_parameter(s, ":wanted"), wanted);
    if (code == SQLITE_OK) code = sqlite3_step(s);
    sqlite3_reset(s);
    return code == SQLITE_DONE ? NB_OK : nb_store_fail(store, "writing a row", ctx);
}

nb_status nb_store_begin(nb_store *store, nb_ctx *ctx)
{
    return nb_store_execute(store, "store.begin_writing", "beginning a transaction", ctx);
}

nb_status nb_store_commit(nb_store *store, nb_ctx *ctx)
{
    return nb_store_execute(store, "store.commit", "committing a transaction", ctx);
}

nb_status nb_store_set(nb_store *store, const char *key, const char *value, nb_ctx *ctx)
{
    const char *none, *const pair[] = {key, value, NULL};
    return nb_store_ask(store, "store.set", pair, "writing the description of the run", &none, ctx);
}

void nb_store_sign(nb_store *store, const nb_manifest *manifest)
{
    store->signature = manifest;
    store->manifest = 0;
}

static nb_status add_manifest(nb_store *store, nb_ctx *ctx)
{
    const nb_manifest *m = store->signature;
    const char *id;
    NB_REQUIRE(ctx, m, NB_EBUG, "%s: rows without a manifest", store->path);
    const char *const texts[] = {m->text, m->program.build, m->program.executable, NULL};
    NB_TRY(ctx, nb_store_ask(store, "store.find_manifest", (const char *const[]){m->text, NULL}, "reading manifests",
                             &id, ctx));
    if (id && nb_parse_integer(id, 1, LLONG_MAX, &store->manifest)) return NB_OK;
    NB_TRY(ctx, nb_store_ask(store, "store.add_manifest", texts, "writing the manifest", &id, ctx));
    store->manifest = sqlite3_last_insert_rowid(store->db);
    return NB_OK;
}

nb_status nb_store_write(nb_store *store, int index, unsigned wanted, const nb_row *row, nb_ctx *ctx)
{
    if (store->manifest == 0) NB_TRY(ctx, add_manifest(store, ctx));
    sqlite3_bind_int64(store->write, nb_store_parameter(store->write, ":manifest"), store->manifest);
    NB_TRY(ctx, nb_store_step(store, store->write, NB_SQL_ASSIGNMENTS, row, index, wanted, ctx));
    NB_REQUIRE(ctx, sqlite3_changes(store->db) == 1, NB_EBUG, "%s: row %d of the plan is not in the store", store->path,
               index);
    return NB_OK;
}

nb_status nb_store_get(nb_store *store, const char *key, const char **value, nb_ctx *ctx)
{
    return nb_store_ask(store, "store.get", (const char *const[]){key, NULL}, "reading the description of the run",
                        value, ctx);
}

nb_status nb_store_draws(nb_store *store, int *draws, nb_ctx *ctx)
{
    const char *word;
    NB_TRY(ctx, nb_store_get(store, "draws", &word, ctx));
    *draws = word ? nb_text_index(word, nb_draws_words) : NB_DRAWS_SHARED;
    NB_REQUIRE(ctx, *draws >= 0, NB_EIO, "%s: has rows with 'draws: %s', which this program does not know", store->path,
               word);
    return NB_OK;
}
