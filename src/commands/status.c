/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status.c - nysbench status RUN: how far its shards are, and its own rows. */
#include "commands/format.h"

#include "base/files.h"
#include "commands/experiment.h"
#include "commands/submission.h"
#include "run/run_folder.h"

#include <stdio.h>
#include <string.h>

typedef enum { DONE, RUNNING, QUEUED, LOST, UNKNOWN, STOPPED, MISSING, STATE_COUNT } state;

static const char *const state_names[] = {
    [DONE] = "done",       [RUNNING] = "running", [QUEUED] = "queued",    [LOST] = "lost",
    [UNKNOWN] = "unknown", [STOPPED] = "stopped", [MISSING] = "not begun"};

static state state_of(const nb_shard_state *s, bool asked)
{
    if (s->done == s->planned) return DONE;
    if (s->locked) return RUNNING;
    if (s->queue) return strcmp(s->queue, "PENDING") == 0 ? QUEUED : RUNNING;
    if (s->sent) return asked ? LOST : UNKNOWN;
    return s->done > 0 ? STOPPED : MISSING;
}

typedef struct {
    const char *run;
    nb_output_format format;
    nb_page page;      /* for people: a table of each number of shards, and sentences */
    nb_grid *to, grid; /* where shards go: a table of the page, or all of them for programs */
    int submission_count;
    nb_submission *submissions;
    int wrong; /* shards that are lost, rows that failed */
} look;

/* A task that was cancelled before it began has no log. */
static nb_status find_log(nb_shard shard, const nb_shard_state *s, const char **log, nb_ctx *ctx)
{
    *log = NULL;
    if (!s->sent) return NB_OK;
    NB_NEED(*log, nb_format(ctx, "%s/shard-%d.log", s->sent->folder, shard.index));
    if (!nb_is_file(*log)) *log = NULL;
    return NB_OK;
}

static nb_status add_part(nb_grid *g, const char *part, const char *now, int planned, int done, int failed)
{
    NB_TRY(g->ctx, nb_grid_text(g, part));
    NB_TRY(g->ctx, nb_grid_text(g, now));
    NB_TRY(g->ctx, nb_grid_int(g, planned));
    NB_TRY(g->ctx, nb_grid_int(g, done));
    return nb_grid_int(g, failed);
}

static nb_status add_shard(nb_grid *g, bool people, nb_shard shard, const nb_shard_state *s, state now)
{
    const char *name, *job = NULL, *log = NULL;
    NB_NEED(name, nb_format(g->ctx, "%d/%d", shard.index, shard.count));
    if (s->sent) NB_NEED(job, nb_format(g->ctx, "%s_%d", s->sent->array, shard.index));
    if (now == LOST) NB_TRY(g->ctx, find_log(shard, s, &log, g->ctx));
    if (now == LOST && people)
        NB_NEED(job, nb_format(g->ctx, "%s; %s%s", job, log ? "its log: " : "it did not begin", log ? log : ""));
    NB_TRY(g->ctx, add_part(g, name, state_names[now], s->planned, s->done, s->failed));
    NB_TRY(g->ctx, nb_grid_text(g, job));
    return people ? NB_OK : nb_grid_text(g, log);
}

static void add_sum(nb_page *page, int count, const nb_shard_state *states, const int of_state[STATE_COUNT])
{
    char list[256] = "";
    int planned = 0, done = 0, failed = 0;
    for (int i = 1; i <= count; i++) planned += states[i].planned, done += states[i].done, failed += states[i].failed;
    for (int s = 0; s < STATE_COUNT; s++)
        if (of_state[s])
            snprintf(list + strlen(list), sizeof list - strlen(list), ", %d %s", of_state[s], state_names[s]);
    nb_page_paragraph(page, "shards: %d%s; rows: %d, of which %d are done, %d of them failed", count, list, planned,
                      done, failed);
    if (of_state[STOPPED]) nb_page_paragraph(page, "the command that began a shard continues it");
}

/* The config of the shards: as it was submitted last, or as one of them has it. */
static nb_status load_plan(const look *l, int count, nb_config *config, nb_plan *plan, nb_ctx *ctx)
{
    const char *folder, *path;
    nb_shard *shards;
    int found;
    for (int s = l->submission_count - 1; s >= 0; s--) {
        if (l->submissions[s].shards != count) continue;
        NB_TRY(ctx, nb_run_path(l->submissions[s].folder, NB_SUBMISSION_CONFIG, &path, ctx));
        return nb_experiment_of_file(path, config, plan, ctx);
    }
    NB_TRY(ctx, nb_run_shards(l->run, &found, &shards, ctx));
    for (int i = 0; i < found; i++) {
        if (shards[i].count != count) continue;
        NB_TRY(ctx, nb_run_shard_folder(l->run, shards[i], &folder, ctx));
        if (nb_run_exists(folder, ctx)) return nb_experiment_of_run(folder, config, plan, ctx);
    }
    NB_FAIL(ctx, NB_EIO, "%s: none of its %d shards has begun", l->run, count);
}

static nb_status show_shards(look *l, int count, nb_ctx *ctx)
{
    nb_config config;
    nb_plan plan;
    nb_shard_state *states;
    static const char *const heads[] = {"shard", "state", "rows", "done", "failed", "job", NULL};
    nb_grid grid, *to = l->to;
    int *of, of_state[STATE_COUNT] = {0};
    NB_TRY(ctx, load_plan(l, count, &config, &plan, ctx));
    NB_TRY(ctx, nb_shards_assign(&plan, count, &of, ctx));
    NB_TRY(ctx, nb_shard_states(l->run, &plan, of, count, &states, ctx));
    nb_status status = nb_shard_states_ask(l->submission_count, l->submissions, count, states, ctx);
    if (status == NB_ENOMEM) return status;
    if (status != NB_OK) fprintf(stderr, "nysbench: warning: the queue cannot be read: %s\n", nb_error_message(ctx));
    nb_error_clear(ctx);
    if (nb_format_is_page(l->format)) NB_TRY(ctx, nb_grid_make(to = &grid, heads, ctx));
    for (int i = 1; i <= count; i++) {
        state now = state_of(&states[i], status == NB_OK);
        NB_TRY(ctx, add_shard(to, to == &grid, (nb_shard){i, count}, &states[i], now));
        of_state[now]++;
        l->wrong += states[i].failed;
    }
    l->wrong += of_state[LOST];
    if (to != &grid) return NB_OK;
    nb_grid_show(&grid, &l->page);
    add_sum(&l->page, count, states, of_state);
    return NB_OK;
}

/* Each number into which the run was split: by what is there, and what was submitted. */
static nb_status show_all_shards(look *l, bool *any, nb_ctx *ctx)
{
    nb_shard *shards;
    int found, last = 0;
    NB_TRY(ctx, nb_run_shards(l->run, &found, &shards, ctx));
    int submitted = l->submission_count ? l->submissions[l->submission_count - 1].shards : 0;
    for (int i = 0; i < found; i++) {
        if (shards[i].count == last) continue;
        last = shards[i].count;
        if (last == submitted) submitted = 0;
        NB_TRY(ctx, show_shards(l, last, ctx));
    }
    if (submitted) NB_TRY(ctx, show_shards(l, submitted, ctx));
    *any = last || submitted;
    return NB_OK;
}

static void add_outcomes(nb_page *page, const nb_row_list *rows)
{
    char list[256] = "";
    for (const char *const *status = nb_row_statuses; *status; status++) {
        int of = 0;
        for (int i = 0; i < rows->count; i++) of += strcmp(nb_row_at(rows, i)->status, *status) == 0;
        if (of > 0) snprintf(list + strlen(list), sizeof list - strlen(list), ", %d %s", of, *status);
    }
    nb_page_paragraph(page, "rows: %d%s", rows->count, list);
}

static nb_status show_run(look *l, bool sharded, nb_ctx *ctx)
{
    nb_store store;
    nb_row_list rows;
    int planned = 0, wrong = 0;
    bool locked;
    NB_TRY(ctx, nb_folder_is_locked(l->run, &locked, ctx));
    NB_TRY(ctx, nb_run_load(l->run, &store, &rows, ctx));
    for (int i = 0; i < rows.count; i++) {
        const nb_row *row = nb_row_at(&rows, i);
        bool to_come = strcmp(row->status, "planned") == 0;
        planned += to_come;
        wrong += !nb_row_is_well(row) && !to_come;
    }
    l->wrong += wrong;
    if (!nb_format_is_page(l->format)) {
        state now = locked ? RUNNING : planned == 0 ? DONE : planned < rows.count ? STOPPED : MISSING;
        NB_TRY(ctx, add_part(&l->grid, "run", state_names[now], rows.count, rows.count - planned, wrong));
        NB_TRY(ctx, nb_grid_text(&l->grid, NULL));
        return nb_grid_text(&l->grid, NULL);
    }
    nb_page_paragraph(&l->page, "%s: %s", l->run,
                      locked         ? "running: a process is writing into it"
                      : planned == 0 ? "done"
                                     : "stopped: the command that began it continues it");
    add_outcomes(&l->page, &rows);
    if (sharded && planned > 0 && !locked)
        nb_page_paragraph(&l->page, "'nysbench merge' again takes in what the shards have measured since");
    return NB_OK;
}

static nb_status show(look *l, nb_ctx *ctx)
{
    bool any;
    NB_TRY(ctx, nb_submissions_load(l->run, &l->submission_count, &l->submissions, ctx));
    NB_TRY(ctx, show_all_shards(l, &any, ctx));
    bool run = nb_run_exists(l->run, ctx);
    NB_REQUIRE(ctx, any || run, NB_EINVAL,
               "%s: is not the folder of a run: it has neither " NB_STORE_FILE " nor " NB_SHARDS_FOLDER "/%s", l->run,
               nb_run_hint(l->run, ctx));
    return run ? show_run(l, any, ctx) : NB_OK;
}

static nb_status print(look *l, nb_ctx *ctx)
{
    static const char *const heads[] = {"part", "state", "rows", "done", "failed", "job", "log", NULL};
    nb_page_make(&l->page, ctx);
    NB_TRY(ctx, nb_grid_make(l->to = &l->grid, heads, ctx));
    NB_TRY(ctx, show(l, ctx));
    return nb_format_is_page(l->format) ? nb_format_page(&l->page, l->format) : nb_format_grid(&l->grid, l->format);
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    look l = {.run = NULL};
    nb_word_value format = NB_FORMAT_VALUE;
    const struct poptOption options[] = {NB_FORMAT_OPTION(format), POPT_TABLEEND};
    const char **arguments;
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){1, 1, &arguments, 0}, ctx);
    if (code != NB_GO_ON) return code;
    l.format = (nb_output_format)format.value;
    l.run = arguments[0];
    if (nb_is_file(l.run)) return nb_command_check_run(l.run, ctx);
    if (print(&l, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    return l.wrong ? NB_EXIT_FAILED : NB_EXIT_OK;
}

NB_COMMAND(status, "RUN", "Show how far a run and its shards are", false, NB_LOOK_AT_RUN + 10);
