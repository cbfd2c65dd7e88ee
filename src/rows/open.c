/* SPDX-License-Identifier: GPL-3.0-or-later */
/* open.c - see open.h. The rows are read once, in the order of the plan; what groups them becomes numbers, so that SQL
 * sorts and joins by these and not by long texts.
 *
 * 1. Each text of the identity gets a number, each row its key (keys.c).
 * 2. Components get their labels (names.c), panels their titles (panels.c).
 * 3. The view `run` joins these with the stored rows (row_views.c). */
#include "rows/open.h"

#include "rows/columns.h"
#include "rows/functions.h"
#include "rows/keys.h"
#include "rows/panels.h"
#include "rows/row_views.h"
#include "rows/statement.h"
#include "rows/made_tables.h"
#include "rows/views.h"
#include "rows/where.h"
#include "run/schema.h"

#include <string.h>

static const nb_column run_column = {
    .name = "run", .type = NB_COLUMN_TEXT, .identity = true, .help = "the folder of the run"};

/* Drops what was made of other rows, or by another relation of the same store. */
static nb_status drop_all(nb_relation *r, bool some)
{
    nb_grid a;
    NB_TRY(r->ctx, nb_sql_ask(r, "open.drops", NB_GIVEN(NB_GIVE_INT("some", some)), &a, r->ctx));
    for (int i = 0; i < a.count; i++) NB_TRY(r->ctx, nb_relation_run_file(r, nb_grid_at(&a, i, 0)->text, r->ctx));
    return nb_views_forget(r, some);
}

/* All that follows from the rows; some: of those in `kept_rows`. */
static nb_status make(nb_relation *r, bool some)
{
    nb_names names = {.relation = r};
    for (int i = 0; i < r->kind_count; i++) nb_texts_init(&r->specs[i], r->ctx);
    nb_texts *const texts[] = {&r->strata, &r->sources, &r->panels};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) nb_texts_init(texts[i], r->ctx);
    for (int i = 0; i < NB_MOST_MADE; i++) r->made[i][1] = NULL;
    NB_TRY(r->ctx, drop_all(r, some));
    NB_TRY(r->ctx, nb_sql_run(r, "store.begin", NULL, r->ctx));
    NB_TRY(r->ctx, nb_keys_make(&names, some));
    NB_TRY(r->ctx, nb_names_make(&names));
    NB_TRY(r->ctx, nb_sources_make(r));
    NB_TRY(r->ctx, nb_panels_make(r));
    NB_TRY(r->ctx, nb_row_views_make(r));
    return nb_sql_run(r, "store.commit", NULL, r->ctx);
}

/* Rows of all stores in a table of the first one's connection, each run's behind those before. */
static nb_status gather_rows(const nb_relation *r, int count, nb_store *const *stores, const char *const *names)
{
    const char *columns, *sql;
    int fields = nb_column_count(r->study->columns), before = 0;
    sqlite3_stmt *insert, *select;
    nb_mark mark = nb_ctx_mark(r->ctx);
    NB_NEED(columns, nb_sql_columns(NB_SQL_NAMES, r->study->columns, r->ctx));
    NB_TRY(r->ctx,
           nb_table_make(r, "gathered", "open.gathered", NB_GIVEN(NB_GIVE_PIECE("columns", columns)), &insert, r->ctx));
    NB_TRY(r->ctx, nb_sql_fill("open.stored", NB_GIVEN(NB_GIVE_PIECE("columns", columns)), &sql, r->ctx));
    for (int i = 0; i < count; i++) {
        int code, last = before;
        NB_REQUIRE(r->ctx, sqlite3_prepare_v2(stores[i]->db, sql, -1, &select, NULL) == SQLITE_OK, NB_EIO, "%s: %s",
                   names[i], sqlite3_errmsg(stores[i]->db));
        NB_TRY(r->ctx, nb_statement_defer(select, r->ctx));
        sqlite3_bind_text(insert, 1, names[i], -1, SQLITE_STATIC);
        while ((code = sqlite3_step(select)) == SQLITE_ROW) {
            sqlite3_bind_int(insert, 2, before + sqlite3_column_int(select, 0));
            for (int c = 0; c < fields; c++) sqlite3_bind_value(insert, 3 + c, sqlite3_column_value(select, 1 + c));
            NB_TRY(r->ctx, nb_relation_add(r, insert, ""));
            last = before + sqlite3_column_int(select, 0) + 1;
        }
        NB_REQUIRE(r->ctx, code == SQLITE_DONE, NB_EIO, "%s: %s", names[i], sqlite3_errmsg(stores[i]->db));
        before = last;
    }
    nb_ctx_release(r->ctx, mark);
    return nb_sql_run(r, "open.gathered_index", NULL, r->ctx);
}

static nb_status add_kinds(nb_relation *r)
{
    if (r->several) r->kinds[r->kind_count++] = &run_column;
    for (const nb_column *c = r->study->columns; c->name; c++) {
        if (!c->identity || c->type != NB_COLUMN_TEXT) continue;
        NB_REQUIRE(r->ctx, r->kind_count < NB_MOST_TEXTS, NB_EBUG, "rows have more than %d texts in their identity",
                   NB_MOST_TEXTS);
        if (strcmp(c->name, "problem") == 0) r->problem = r->kind_count;
        r->kinds[r->kind_count++] = c;
    }
    return NB_OK;
}

static nb_status find_shared(nb_relation *r, int count, nb_store *const *stores, const char *const *names)
{
    int shared = 0, draws;
    NB_NEED(r->shared, nb_alloc(r->ctx, (size_t)count + 1, sizeof *r->shared));
    for (int i = 0; i < count; i++) {
        NB_TRY(r->ctx, nb_store_draws(stores[i], &draws, r->ctx));
        if (draws == NB_DRAWS_SHARED) r->shared[shared++] = names[i];
    }
    return NB_OK;
}

nb_status nb_relation_take_baseline(nb_relation *r, const char *wanted, nb_ctx *ctx)
{
    nb_grid found;
    const nb_study *study = r->study;
    if (study->baseline < 0) return NB_OK;
    const nb_sql_given *given =
        NB_GIVEN(NB_GIVE_VALUE("kind", study->axes[study->baseline].column), NB_GIVE_VALUE("wanted", wanted));
    NB_TRY(ctx, nb_sql_ask(r, "open.baseline", given, &found, ctx));
    r->baseline = NULL;
    if (found.count > 0) NB_NEED(r->baseline, nb_strdup(r->memory, nb_grid_at(&found, 0, 0)->text));
    return NB_OK;
}

nb_status nb_relation_gather(nb_relation **out, int count, nb_store *const *stores, const char *const *names,
                             const nb_given_labels *labels, nb_ctx *ctx)
{
    nb_relation *r;
    NB_NEED(r, nb_alloc(ctx, 1, sizeof *r));
    *r = (nb_relation){.store = stores[0],
                       .rows = count > 1 ? "temp.gathered" : "main.results",
                       .several = count > 1,
                       .study = stores[0]->study,
                       .labels = labels};
    NB_NEED(r->ctx, nb_ctx_child(ctx)); /* views come to be while callers release what they made */
    for (int i = 1; i < count; i++)
        NB_REQUIRE(ctx, stores[i]->study == r->study, NB_EINVAL,
                   "%s is a run of the study %s, %s of %s: only runs of one "
                   "study can be asked together",
                   names[0], r->study->component.name, names[i], stores[i]->study->component.name);
    NB_TRY(ctx, find_shared(r, count, stores, names));
    NB_TRY(ctx, add_kinds(r));
    NB_NEED(r->memory, nb_ctx_child(ctx));
    NB_TRY(ctx, nb_functions_add(r->store->db, ctx));
    if (r->study->add_functions) NB_TRY(ctx, r->study->add_functions(r->store->db, ctx));
    NB_TRY(ctx, nb_sql_run(r, "open.cache", NULL, ctx));
    if (r->several) NB_TRY(ctx, gather_rows(r, count, stores, names));
    NB_TRY(ctx, make(r, false));
    *out = r;
    return nb_relation_take_baseline(r, NULL, ctx);
}

nb_status nb_relation_open(nb_relation **out, nb_store *store, const nb_given_labels *labels, nb_ctx *ctx)
{
    const char *unnamed = "";
    return nb_relation_gather(out, 1, &store, &unnamed, labels, ctx);
}

nb_status nb_relation_keep(nb_relation *r, const nb_condition_text *conditions, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_looks_make(r, ctx));
    NB_TRY(ctx, nb_where(r, NULL, conditions, "kept_rows", ctx));
    NB_TRY(ctx, make(r, true));
    return nb_relation_take_baseline(r, r->baseline, ctx);
}
