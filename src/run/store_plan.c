/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_plan.c - the store's rows become those of a plan. */
#include "run/store_private.h"

#include "base/fields.h"
#include "base/files.h"
#include "base/text.h"
#include "run/inputs.h"
#include "run/sql_files.h"

#include <stdio.h>
#include <string.h>

/* The digests of a row's files, as :inputs; the text lives as long as the statement. */
static nb_status bind_inputs(nb_store *store, sqlite3_stmt *s, const nb_plan *plan, int row, nb_ctx *ctx)
{
    const char *digests;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_inputs_of_row(plan, row, &digests, ctx));
    int code = sqlite3_bind_text(s, nb_store_parameter(s, ":inputs"), digests, -1, SQLITE_TRANSIENT);
    nb_ctx_release(ctx, mark);
    return code == SQLITE_OK ? NB_OK : nb_store_fail(store, "binding a row", ctx);
}

/* Makes the temporary table `planned`: by rowid, the plan's rows with the metrics that are wanted and their inputs. */
static nb_status make_planned(nb_store *store, const nb_plan *plan, nb_ctx *ctx)
{
    sqlite3_stmt *insert;
    NB_TRY(ctx, nb_store_execute(store, "store.make_planned", "planning", ctx));
    NB_TRY(ctx, nb_store_prepare(store, "store.add_planned", &insert, ctx));
    for (int i = 0; i < plan->row_count; i++) {
        nb_any_row any;
        nb_plan_row(plan, i, &any);
        NB_TRY(ctx, bind_inputs(store, insert, plan, i, ctx));
        NB_TRY(ctx, nb_store_step(store, insert, NB_SQL_PARAMETERS, &any.row, i, plan->config->wanted, ctx));
    }
    return NB_OK;
}

/* Reads rows of the plan, by their index and status: pending[] becomes whether they are planned, or to be retried. */
static nb_status read_statuses(nb_store *store, const char *statement, const char *const *retry, bool *pending,
                               nb_standing *standing, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    int code;
    *standing = (nb_standing){.done = 0};
    NB_TRY(ctx, nb_store_prepare(store, statement, &s, ctx));
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *status;
        NB_TRY(ctx, nb_store_status(store, s, 1, &status, ctx));
        bool planned = strcmp(status, "planned") == 0;
        if (pending) pending[sqlite3_column_int(s, 0)] = planned || nb_text_among(status, retry);
        standing->done += !planned;
        standing->failed += strcmp(status, "failed") == 0;
        standing->diverged += strcmp(status, "diverged") == 0;
        standing->crashed += strcmp(status, "crashed") == 0;
        standing->timed_out += strcmp(status, "timeout") == 0;
    }
    return code == SQLITE_DONE ? NB_OK : nb_store_fail(store, "reading rows", ctx);
}

/* The rows of the plan that ended so are planned again. */
static nb_status plan_again(nb_store *store, const char *status, nb_ctx *ctx)
{
    const char *none;
    return nb_store_ask(store, "store.plan_again", (const char *const[]){status, NULL}, "planning", &none, ctx);
}

/* Refuses to measure rows beside those of another build; warns where none is left to measure, since those that are
 * shown may be of older code. */
static nb_status report_other_builds(nb_store *store, const nb_program *program, bool refuse, int count,
                                     const nb_signed *by, nb_ctx *ctx)
{
    for (int i = 0; i < count; i++) {
        const char *change;
        if (nb_program_same(&by[i].manifest.program, program)) continue;
        NB_TRY(ctx, nb_program_change(&by[i].manifest.program, program, &change, ctx));
        NB_REQUIRE(ctx, !refuse, NB_EINVAL,
                   "%s: %d rows were measured %s; %s measures the rest beside them, %s sets them aside", store->path,
                   by[i].rows, change, nb_field(ctx, "mixed", NB_IS_SET), nb_field(ctx, "fresh", NB_IS_SET));
        fprintf(stderr,
                "nysbench: warning: %s: nothing is measured anew, and %d rows were measured %s; %s sets them aside\n",
                store->path, by[i].rows, change, nb_field(ctx, "fresh", NB_IS_SET));
    }
    return NB_OK;
}

int nb_terms_take_only(const nb_terms *terms, const nb_plan *plan, bool *pending)
{
    int count = 0;
    for (int i = 0; i < plan->row_count; i++) {
        if (terms->only) pending[i] = terms->only[i] && (!terms->retry[0] || pending[i]);
        count += pending[i];
    }
    return count;
}

/* Makes SQLite remove the journal of a killed run by writing something. If that run had not begun to write, there is
 * nothing to roll back, and SQLite would leave the journal if the plan changes nothing. */
static nb_status clear_journal(nb_store *store, nb_ctx *ctx)
{
    const char *journal;
    NB_NEED(journal, nb_format(ctx, "%s-journal", store->path));
    if (!nb_is_file(journal)) return NB_OK;
    return nb_store_execute(store, "store.touch", "removing the journal of a killed run", ctx);
}

/* Rows that have been measured must have the plan's draws: which they are is no part of their identity. */
static nb_status check_draws(nb_store *store, const nb_plan *plan, nb_ctx *ctx)
{
    int measured, then, now = plan->config->draws;
    NB_TRY(ctx, nb_store_number(store, "store.count_measured", "reading its rows", &measured, ctx));
    NB_TRY(ctx, nb_store_draws(store, &then, ctx));
    NB_REQUIRE(ctx, !measured || then == now, NB_EINVAL,
               "%s: its rows were measured with 'draws: %s', and the experiment has 'draws: %s': 'draws: %s' in the "
               "file goes on with them, '%s %s' sets them aside",
               store->path, nb_draws_words[then], nb_draws_words[now], nb_draws_words[then], nb_call(ctx, "run"),
               nb_field(ctx, "fresh", NB_IS_SET));
    return NB_OK;
}

/* Within a transaction. */
static nb_status replan(nb_store *store, const nb_plan *plan, const nb_terms *terms, bool **pending, int *pending_count,
                        nb_ctx *ctx)
{
    nb_signed *by;
    nb_standing unused;
    int count, draws;
    NB_TRY(ctx, clear_journal(store, ctx));
    NB_TRY(ctx, nb_store_add_columns(store, ctx));
    NB_TRY(ctx, check_draws(store, plan, ctx));
    NB_TRY(ctx, nb_store_draws(store, &draws, ctx));
    if (draws != (int)plan->config->draws) /* a store that is as planned stays as it is, byte for byte */
        NB_TRY(ctx, nb_store_set(store, "draws", nb_draws_words[plan->config->draws], ctx));
    if (!store->write) NB_TRY(ctx, nb_store_prepare(store, "store.write", &store->write, ctx));
    NB_TRY(ctx, make_planned(store, plan, ctx));
    NB_TRY(ctx, nb_store_execute(store, "store.place", "planning", ctx));
    NB_TRY(ctx, nb_store_keep_labels(store, plan->config, ctx));
    NB_TRY(ctx, nb_store_programs(store, &count, &by, ctx)); /* rows that are planned again still show theirs */
    NB_NEED(*pending, nb_alloc(ctx, (size_t)plan->row_count, sizeof **pending));
    NB_TRY(ctx, read_statuses(store, "store.statuses", terms->retry, *pending, &unused, ctx));
    *pending_count = nb_terms_take_only(terms, plan, *pending);
    for (int i = 0; !terms->only && terms->retry[i]; i++)
        NB_TRY(ctx, plan_again(store, terms->retry[i], ctx)); /* else the others would lose theirs */
    if (!terms->mixed) NB_TRY(ctx, report_other_builds(store, terms->program, *pending_count > 0, count, by, ctx));
    NB_TRY(ctx, nb_store_execute(store, "store.end_planning", "planning", ctx));
    return nb_store_commit(store, ctx);
}

nb_status nb_store_plan(nb_store *store, const nb_plan *plan, const nb_terms *terms, bool **pending, int *pending_count,
                        nb_ctx *ctx)
{
    NB_TRY(ctx, nb_store_begin(store, ctx));
    nb_status status = replan(store, plan, terms, pending, pending_count, ctx);
    if (status != NB_OK) /* has nothing to do if SQLite did it */
        sqlite3_exec(store->db, nb_sql_text("store.rollback"), NULL, NULL, NULL);
    store->fresh = store->fresh && status != NB_OK;
    return status;
}

/* The transaction ends with the temporary table. */
static nb_status find_standing(nb_store *store, const nb_plan *plan, const char *const *retry, bool *pending,
                               nb_standing *standing, nb_ctx *ctx)
{
    NB_TRY(ctx, check_draws(store, plan, ctx));
    NB_TRY(ctx, make_planned(store, plan, ctx));
    return read_statuses(store, "store.standing", retry, pending, standing, ctx);
}

nb_status nb_store_standing(nb_store *store, const nb_plan *plan, const char *const *retry, bool *pending,
                            nb_standing *standing, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_store_execute(store, "store.begin", "beginning a transaction", ctx));
    nb_status status = find_standing(store, plan, retry, pending, standing, ctx);
    sqlite3_exec(store->db, nb_sql_text("store.rollback"), NULL, NULL, NULL); /* nothing was written */
    return status;
}
