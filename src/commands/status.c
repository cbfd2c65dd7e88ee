/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status.c - nysbench status RUN: how far its shards are, and its own rows. */
#include "cli/command.h"

#include "base/files.h"
#include "cli/experiment.h"
#include "cli/submission.h"
#include "run/run_folder.h"
#include "run/reload.h"

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

/* A task that was cancelled before it began has no log. */
static nb_status print_log(nb_shard shard, const nb_shard_state *s, nb_ctx *ctx)
{
    const char *log;
    NB_NEED(log, nb_format(ctx, "%s/shard-%d.log", s->sent->folder, shard.index));
    if (nb_is_file(log))
        printf("; its log: %s", log);
    else
        printf("; it did not begin");
    return NB_OK;
}

static nb_status print_shard(nb_shard shard, const nb_shard_state *s, state now, nb_ctx *ctx)
{
    char name[32];
    snprintf(name, sizeof name, "%d/%d", shard.index, shard.count);
    printf("%-10s %-10s %8d %8d %8d", name, state_names[now], s->planned, s->done, s->failed);
    if (s->sent) printf("  %s_%d", s->sent->array, shard.index);
    if (now == LOST) NB_TRY(ctx, print_log(shard, s, ctx));
    fputc('\n', stdout);
    return NB_OK;
}

static void print_sum(int count, const nb_shard_state *states, const int of_state[STATE_COUNT])
{
    int planned = 0, done = 0, failed = 0;
    const char *comma = "";
    for (int i = 1; i <= count; i++) planned += states[i].planned, done += states[i].done, failed += states[i].failed;
    printf("shards: %d", count);
    for (int s = 0; s < STATE_COUNT; s++)
        if (of_state[s]) printf("%s %d %s", *comma ? comma : ",", of_state[s], state_names[s]), comma = ",";
    printf("; rows: %d, of which %d are done, %d of them failed\n", planned, done, failed);
}

typedef struct {
    const char *run;
    int submission_count;
    nb_submission *submissions;
    int wrong; /* shards that are lost, rows that failed */
} look;

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
    int *of, of_state[STATE_COUNT] = {0};
    NB_TRY(ctx, load_plan(l, count, &config, &plan, ctx));
    NB_TRY(ctx, nb_shards_assign(&plan, count, &of, ctx));
    NB_TRY(ctx, nb_shard_states(l->run, &plan, of, count, &states, ctx));
    nb_status status = nb_shard_states_ask(l->submission_count, l->submissions, count, states, ctx);
    if (status == NB_ENOMEM) return status;
    if (status != NB_OK) fprintf(stderr, "nysbench: warning: the queue cannot be read: %s\n", nb_error_message(ctx));
    nb_error_clear(ctx);
    printf("%-10s %-10s %8s %8s %8s  %s\n", "shard", "state", "rows", "done", "failed", "job");
    for (int i = 1; i <= count; i++) {
        state now = state_of(&states[i], status == NB_OK);
        NB_TRY(ctx, print_shard((nb_shard){i, count}, &states[i], now, ctx));
        of_state[now]++;
        l->wrong += states[i].failed;
    }
    l->wrong += of_state[LOST];
    print_sum(count, states, of_state);
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

static void print_outcomes(const nb_row_list *rows)
{
    printf("rows: %d", rows->count);
    for (const char *const *status = nb_row_statuses; *status; status++) {
        int of = 0;
        for (int i = 0; i < rows->count; i++) of += strcmp(nb_row_at(rows, i)->status, *status) == 0;
        if (of > 0) printf(", %d %s", of, *status);
    }
    fputc('\n', stdout);
}

static nb_status show_run(look *l, bool sharded, nb_ctx *ctx)
{
    nb_store store;
    nb_row_list rows;
    int planned = 0;
    bool locked;
    NB_TRY(ctx, nb_folder_is_locked(l->run, &locked, ctx));
    NB_TRY(ctx, nb_run_load(l->run, &store, &rows, ctx));
    printf("%s: %s\n", l->run, locked ? "running: a process is writing into it" : "no process is writing into it");
    print_outcomes(&rows);
    for (int i = 0; i < rows.count; i++) {
        const nb_row *row = nb_row_at(&rows, i);
        bool to_come = strcmp(row->status, "planned") == 0;
        planned += to_come;
        l->wrong += !nb_row_is_well(row) && !to_come;
    }
    if (sharded && planned > 0 && !locked)
        printf("'nysbench merge' again takes in what the shards have measured since\n");
    return NB_OK;
}

static nb_status show(look *l, nb_ctx *ctx)
{
    bool any;
    NB_TRY(ctx, nb_submissions_load(l->run, &l->submission_count, &l->submissions, ctx));
    NB_TRY(ctx, show_all_shards(l, &any, ctx));
    bool run = nb_run_exists(l->run, ctx);
    NB_REQUIRE(ctx, any || run, NB_EINVAL,
               "%s: is not the folder of a run: it has neither " NB_STORE_FILE " nor " NB_SHARDS_FOLDER "/", l->run);
    return run ? show_run(l, any, ctx) : NB_OK;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    look l = {.run = NULL};
    struct poptOption options[] = {NB_HELP_OPTION, POPT_TABLEEND};
    const char **arguments;
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){1, 1, &arguments}, ctx);
    if (code != NB_GO_ON) return code;
    l.run = arguments[0];
    if (nb_is_file(l.run)) return nb_command_check_run(l.run, ctx);
    if (show(&l, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    return l.wrong ? NB_EXIT_FAILED : NB_EXIT_OK;
}

const nb_command nb_command_status = {
    "status", "RUN", "Show how far a run and its shards are: done, running, lost, failed", run, false, 30};
