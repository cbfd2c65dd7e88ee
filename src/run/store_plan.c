/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_plan.c - the store's rows become those of a plan. */
#include "run/store_private.h"

#include "base/files.h"
#include "base/text.h"
#include "run/inputs.h"
#include "run/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The digests of a row's files, as parameter `index`; the text lives as long as the statement. */
static nb_status bind_inputs(nb_store *store, sqlite3_stmt *s, int index, const nb_plan *plan, int row, nb_ctx *ctx)
{
    const char *digests;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_inputs_of_row(plan, row, &digests, ctx));
    int code = sqlite3_bind_text(s, index, digests, -1, SQLITE_TRANSIENT);
    nb_ctx_release(ctx, mark);
    return code == SQLITE_OK ? NB_OK : nb_store_fail(store, "binding a row", ctx);
}

typedef struct {        /* how the store stands to a row of the plan */
    bool there;         /* it is at its place, measured on these data */
    bool settled;       /* and all of it is as planned: nothing is to be written */
    const char *status; /* of nb_row_statuses, if it is known; "planned" also where it lacks a metric that is wanted */
} place;

typedef struct {
    place *rows; /* by row of the plan */
    int stray_count, room;
    int *strays; /* places that hold another row, or that the plan does not have */
} survey;

static bool same_text(sqlite3_stmt *s, int index, const char *text)
{
    const char *there = (const char *)sqlite3_column_text(s, index);
    return there && text ? strcmp(there, text) == 0 : !there && !text;
}

static bool same_value(sqlite3_stmt *s, int index, const nb_column *c, const nb_row *row)
{
    const char *field = (const char *)row + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT: return same_text(s, index, *(const char *const *)field);
    case NB_COLUMN_INT: return sqlite3_column_int64(s, index) == *(const int *)field;
    case NB_COLUMN_SEED: return sqlite3_column_int64(s, index) == *(const long long *)field;
    case NB_COLUMN_REAL:
        return isnan(*(const double *)field) ? sqlite3_column_type(s, index) == SQLITE_NULL
                                             : sqlite3_column_double(s, index) == *(const double *)field;
    }
    return false;
}

/* Returns a text of nb_row_statuses; NULL: none of them. */
static const char *status_of(sqlite3_stmt *s, int index)
{
    const char *text = (const char *)sqlite3_column_text(s, index);
    return nb_row_status_of(text ? text : "");
}

/* Compares the statement's row, whose columns are position, wanted, inputs, status and those of the study that the
 * plan knows, with row i of the plan. */
static nb_status compare(const nb_plan *plan, sqlite3_stmt *s, int i, place *row, nb_ctx *ctx)
{
    enum { FIRST = 4 };
    nb_any_row planned;
    const char *inputs;
    nb_mark mark = nb_ctx_mark(ctx);
    nb_plan_row(plan, i, &planned);
    NB_TRY(ctx, nb_inputs_of_row(plan, i, &inputs, ctx));
    bool same = same_text(s, 2, inputs), told = true;
    nb_ctx_release(ctx, mark);
    int index = FIRST;
    for (const nb_column *c = plan->config->study->columns; c->name && same; c++) {
        if (nb_sql_leaves_out(NB_SQL_PLANNED, c) || strcmp(c->name, "status") == 0) continue;
        bool key = c->identity || strcmp(c->name, "n") == 0 || strcmp(c->name, "d") == 0;
        if (!same_value(s, index++, c, &planned.row)) *(key ? &same : &told) = false;
    }
    if (!same) return NB_OK;
    bool all = ((unsigned)sqlite3_column_int64(s, 1) & plan->config->wanted) == plan->config->wanted;
    *row = (place){true, told && all, all ? status_of(s, 3) : "planned"};
    return NB_OK;
}

/* One pass over the rows that have a place. */
static nb_status survey_rows(nb_store *store, const nb_plan *plan, survey *found, nb_ctx *ctx)
{
    const char *sql = "SELECT position, wanted, inputs, status";
    sqlite3_stmt *s;
    int code;
    *found = (survey){.stray_count = 0};
    for (const nb_column *c = store->study->columns; c->name; c++)
        if (!nb_sql_leaves_out(NB_SQL_PLANNED, c) && strcmp(c->name, "status") != 0)
            NB_NEED(sql, nb_format(ctx, "%s, %s", sql, c->name));
    NB_NEED(sql, nb_format(ctx, "%s FROM results WHERE position IS NOT NULL", sql));
    NB_NEED(found->rows, nb_alloc(ctx, (size_t)plan->row_count, sizeof *found->rows));
    NB_TRY(ctx, nb_store_prepare(store, sql, &s, ctx));
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        int i = sqlite3_column_int(s, 0);
        bool planned = i >= 0 && i < plan->row_count;
        if (planned) NB_TRY(ctx, compare(plan, s, i, &found->rows[i], ctx));
        if (planned && found->rows[i].there) continue;
        NB_GROW(ctx, found->strays, found->stray_count, found->room);
        found->strays[found->stray_count++] = i;
    }
    return code == SQLITE_DONE ? NB_OK : nb_store_fail(store, "reading rows", ctx);
}

/* Takes the position from rows that have another row's, or one outside of the plan. */
static nb_status take_places(nb_store *store, const survey *found, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, nb_store_prepare(store, "UPDATE results SET position = NULL WHERE position = ?1", &s, ctx));
    for (int i = 0; i < found->stray_count; i++) {
        sqlite3_bind_int(s, 1, found->strays[i]);
        int code = sqlite3_step(s);
        sqlite3_reset(s);
        if (code != SQLITE_DONE) return nb_store_fail(store, "planning", ctx);
    }
    return NB_OK;
}

/* The rows of the plan that are not there as planned. */
static nb_status insert_planned(nb_store *store, const nb_plan *plan, const place *rows, nb_ctx *ctx)
{
    const char *names, *parameters, *identity, *kept, *told, *sql;
    int count = nb_column_count(store->study->columns);
    sqlite3_stmt *insert;
    NB_NEED(names, nb_sql_columns(NB_SQL_PLANNED, store->study->columns, ctx));
    NB_NEED(parameters, nb_sql_columns(NB_SQL_PARAMETERS, store->study->columns, ctx));
    NB_NEED(identity, nb_sql_columns(NB_SQL_IDENTITY, store->study->columns, ctx));
    NB_NEED(kept, nb_sql_columns(NB_SQL_KEPT, store->study->columns, ctx));
    NB_NEED(told, nb_sql_columns(NB_SQL_TOLD, store->study->columns, ctx));
    NB_NEED(sql, nb_format(ctx,
                           "INSERT INTO results (%s, position, wanted, inputs) VALUES (%s, ?%d, ?%d, ?%d) "
                           "ON CONFLICT (%s, " NB_SQL_DATA ") "
                           "DO UPDATE SET position = excluded.position, %s, "
                           "status = CASE WHEN " NB_SQL_KEEP " THEN status ELSE 'planned' END, %s",
                           names, parameters, count + 1, count + 2, count + 3, identity, told, kept));
    NB_TRY(ctx, nb_store_prepare(store, sql, &insert, ctx));
    for (int i = 0; i < plan->row_count; i++) {
        nb_any_row any;
        if (rows[i].settled) continue;
        nb_plan_row(plan, i, &any);
        NB_TRY(ctx, bind_inputs(store, insert, count + 3, plan, i, ctx));
        NB_TRY(ctx, nb_store_step(store, insert, NB_SQL_PARAMETERS, &any.row, i, plan->config->wanted, ctx));
    }
    return NB_OK;
}

/* Rows that are planned, or have one of the statuses to retry. */
static nb_status find_pending(nb_store *store, const nb_plan *plan, const char *const *retry, bool **pending,
                              nb_ctx *ctx)
{
    sqlite3_stmt *s;
    int code;
    NB_NEED(*pending, nb_alloc(ctx, (size_t)plan->row_count, sizeof **pending));
    NB_TRY(ctx, nb_store_prepare(store, "SELECT position, status FROM results WHERE position IS NOT NULL", &s, ctx));
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *status = (const char *)sqlite3_column_text(s, 1);
        (*pending)[sqlite3_column_int(s, 0)] = strcmp(status, "planned") == 0 || nb_text_among(status, retry);
    }
    return code == SQLITE_DONE ? NB_OK : nb_store_fail(store, "reading the plan", ctx);
}

/* The rows of the plan that ended so are planned again. */
static nb_status plan_again(nb_store *store, const char *status, nb_ctx *ctx)
{
    const char *cleared, *sql;
    sqlite3_stmt *s;
    NB_NEED(cleared, nb_sql_columns(NB_SQL_CLEARED, store->study->columns, ctx));
    NB_NEED(sql, nb_format(ctx, "UPDATE results SET status = 'planned', %s WHERE position IS NOT NULL AND status = ?1",
                           cleared));
    NB_TRY(ctx, nb_store_prepare(store, sql, &s, ctx));
    sqlite3_bind_text(s, 1, status, -1, SQLITE_TRANSIENT);
    return sqlite3_step(s) == SQLITE_DONE ? NB_OK : nb_store_fail(store, "planning", ctx);
}

/* Refuses to measure rows beside those of another build; warns where none is left to measure, since those that are
 * shown may be of older code. */
static nb_status tell_others(nb_store *store, const nb_program *program, bool refuse, int count,
                             const nb_measured_by *by, nb_ctx *ctx)
{
    for (int i = 0; i < count; i++) {
        const char *change;
        if (nb_program_same(&by[i].program, program)) continue;
        NB_TRY(ctx, nb_program_change(&by[i].program, program, &change, ctx));
        NB_REQUIRE(ctx, !refuse, NB_EINVAL,
                   "%s: %d rows were measured %s; --mixed measures the rest beside them, --fresh sets them aside",
                   store->path, by[i].rows, change);
        fprintf(
            stderr,
            "nysbench: warning: %s: nothing is measured anew, and %d rows were measured %s; --fresh sets them aside\n",
            store->path, by[i].rows, change);
    }
    return NB_OK;
}

void nb_terms_take_only(const nb_terms *terms, const nb_plan *plan, bool *pending)
{
    for (int i = 0; terms->only && i < plan->row_count; i++)
        pending[i] = terms->only[i] && (!terms->retry[0] || pending[i]);
}

/* Makes SQLite remove the journal of a killed run by writing something. If that run had not begun to write, there is
 * nothing to roll back, and SQLite would leave the journal if the plan changes nothing. */
static nb_status clear_journal(nb_store *store, nb_ctx *ctx)
{
    const char *journal;
    NB_NEED(journal, nb_format(ctx, "%s-journal", store->path));
    if (!nb_is_file(journal)) return NB_OK;
    return nb_store_execute(store, "REPLACE INTO meta SELECT * FROM meta", "removing the journal of a killed run", ctx);
}

/* Within a transaction. */
static nb_status replan(nb_store *store, const nb_plan *plan, const nb_terms *terms, bool **pending, int *pending_count,
                        nb_ctx *ctx)
{
    nb_measured_by *by;
    survey found;
    int count;
    bool lacks;
    NB_TRY(ctx, clear_journal(store, ctx));
    NB_TRY(ctx, nb_store_lacks_columns(store, &lacks, ctx));
    if (lacks) NB_TRY(ctx, nb_store_add_columns(store, ctx));
    if (!store->write) NB_TRY(ctx, nb_store_prepare_write(store, ctx));
    NB_TRY(ctx, survey_rows(store, plan, &found, ctx));
    NB_TRY(ctx, take_places(store, &found, ctx));
    NB_TRY(ctx, insert_planned(store, plan, found.rows, ctx));
    NB_TRY(ctx, nb_store_programs(store, &count, &by, ctx)); /* rows that are planned again still show theirs */
    NB_TRY(ctx, find_pending(store, plan, terms->retry, pending, ctx));
    nb_terms_take_only(terms, plan, *pending);
    *pending_count = 0;
    for (int i = 0; i < plan->row_count; i++) *pending_count += (*pending)[i];
    for (int i = 0; !terms->only && terms->retry[i]; i++)
        NB_TRY(ctx, plan_again(store, terms->retry[i], ctx)); /* else the others would lose theirs */
    if (!terms->mixed) NB_TRY(ctx, tell_others(store, terms->program, *pending_count > 0, count, by, ctx));
    NB_TRY(ctx, nb_store_execute(store,
                                 "UPDATE results SET manifest = NULL WHERE status = 'planned' AND manifest IS NOT NULL",
                                 "planning", ctx));
    return nb_store_commit(store, ctx);
}

nb_status nb_store_plan(nb_store *store, const nb_plan *plan, const nb_terms *terms, bool **pending, int *pending_count,
                        nb_ctx *ctx)
{
    NB_TRY(ctx, nb_store_begin(store, ctx));
    nb_status status = replan(store, plan, terms, pending, pending_count, ctx);
    if (status != NB_OK) sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL); /* has nothing to do if SQLite did it */
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

/* Looks for a row by its key, which may have another place than in the plan, or none. */
static nb_status look_up(nb_store *store, sqlite3_stmt *s, const nb_plan *plan, int i, place *row, nb_ctx *ctx)
{
    const nb_column *columns = store->study->columns;
    int code = SQLITE_OK, count = nb_column_count(columns);
    nb_any_row any;
    nb_plan_row(plan, i, &any);
    for (int c = 0; c < count && code == SQLITE_OK; c++)
        if (columns[c].identity) code = nb_store_bind(s, c + 1, &columns[c], &any.row);
    if (code == SQLITE_OK) code = sqlite3_bind_int(s, count + 1, any.row.n);
    if (code == SQLITE_OK) code = sqlite3_bind_int(s, count + 2, any.row.d);
    NB_TRY(ctx, bind_inputs(store, s, count + 3, plan, i, ctx));
    if (code == SQLITE_OK) code = sqlite3_step(s);
    if (code == SQLITE_ROW) row->status = status_of(s, 0);
    sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? NB_OK : nb_store_fail(store, "reading rows", ctx);
}

/* Within a transaction, without which each row would lock the file. */
static nb_status find_standing(nb_store *store, const nb_plan *plan, const char *const *retry, bool *pending,
                               nb_standing *out, nb_ctx *ctx)
{
    const char *identity, *sql;
    sqlite3_stmt *s;
    survey found;
    int count = nb_column_count(store->study->columns);
    *out = (nb_standing){.done = 0};
    NB_NEED(identity, nb_sql_columns(NB_SQL_SAME, store->study->columns, ctx));
    NB_NEED(sql, nb_format(ctx,
                           "SELECT status FROM results WHERE %s AND n = ?%d AND d = ?%d AND inputs = ?%d AND "
                           "(wanted & %u) = %u",
                           identity, count + 1, count + 2, count + 3, plan->config->wanted, plan->config->wanted));
    NB_TRY(ctx, nb_store_prepare(store, sql, &s, ctx));
    NB_TRY(ctx, survey_rows(store, plan, &found, ctx));
    for (int i = 0; i < plan->row_count; i++) {
        place *row = &found.rows[i];
        if (!row->there) NB_TRY(ctx, look_up(store, s, plan, i, row, ctx));
        if (!row->status || strcmp(row->status, "planned") == 0) continue;
        if (pending) pending[i] = nb_text_among(row->status, retry);
        count_status(row->status, out);
    }
    return NB_OK;
}

nb_status nb_store_standing(nb_store *store, const nb_plan *plan, const char *const *retry, bool *pending,
                            nb_standing *standing, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_store_execute(store, "BEGIN", "beginning a transaction", ctx));
    nb_status status = find_standing(store, plan, retry, pending, standing, ctx);
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL); /* nothing was written */
    return status;
}
