/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status.c - nysbench status RUN: how far its shards are, and its own rows. */
#include "commands/command.h"

#include "base/files.h"
#include "commands/experiment.h"
#include "run/run_folder.h"

#include <string.h>

typedef enum { DONE, RUNNING, STOPPED, MISSING, STATE_COUNT } state;

static const char *const state_names[] = {"done", "running", "stopped", "not begun"};

static state state_of(bool locked, int planned, int done)
{
    return done == planned ? DONE : locked ? RUNNING : done > 0 ? STOPPED : MISSING;
}

typedef struct {
    const char *run;
    bool programs; /* those that the config names may be started */
    nb_output_format format;
    nb_page page; /* for people: a table of each number of shards, and sentences */
    nb_grid grid; /* for programs: all parts */
    int wrong;    /* rows that failed */
} look;

static nb_status add_part(nb_grid *g, const char *part, state now, int planned, int done, int failed)
{
    NB_TRY(g->ctx, nb_grid_text(g, part));
    NB_TRY(g->ctx, nb_grid_text(g, state_names[now]));
    NB_TRY(g->ctx, nb_grid_int(g, planned));
    NB_TRY(g->ctx, nb_grid_int(g, done));
    return nb_grid_int(g, failed);
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

/* The config of the run's `found` shards of that number, as one that has begun has it. */
static nb_status load_plan(const look *l, int found, const nb_shard *shards, int count, nb_config *config,
                           nb_plan *plan, nb_ctx *ctx)
{
    const char *folder;
    for (int i = 0; i < found; i++) {
        if (shards[i].count != count) continue;
        NB_TRY(ctx, nb_run_shard_folder(l->run, shards[i], &folder, ctx));
        if (nb_run_exists(folder, ctx)) return nb_experiment_of_run(folder, l->programs, config, plan, ctx);
    }
    NB_FAIL(ctx, NB_EIO, "%s: none of its %d shards has begun", l->run, count);
}

static nb_status show_shards(look *l, int found, const nb_shard *shards, int count, nb_ctx *ctx)
{
    static const char *const heads[] = {"shard", "state", "rows", "done", "failed", NULL};
    nb_config config;
    nb_plan plan;
    nb_shard_state *states;
    nb_grid grid, *to = nb_format_is_page(l->format) ? &grid : &l->grid;
    int *of, of_state[STATE_COUNT] = {0};
    NB_TRY(ctx, load_plan(l, found, shards, count, &config, &plan, ctx));
    NB_TRY(ctx, nb_shards_assign(&plan, count, &of, ctx));
    NB_TRY(ctx, nb_shard_states(l->run, &plan, of, count, &states, ctx));
    NB_TRY(ctx, nb_grid_make(&grid, heads, ctx));
    for (int i = 1; i <= count; i++) {
        const nb_shard_state *s = &states[i];
        state now = state_of(s->locked, s->planned, s->done);
        const char *name;
        NB_NEED(name, nb_format(ctx, "%d/%d", i, count));
        NB_TRY(ctx, add_part(to, name, now, s->planned, s->done, s->failed));
        of_state[now]++;
        l->wrong += s->failed;
    }
    if (to != &grid) return NB_OK;
    nb_grid_show(&grid, &l->page);
    add_sum(&l->page, count, states, of_state);
    return NB_OK;
}

/* Each number into which the run was split. */
static nb_status show_all_shards(look *l, bool *any, nb_ctx *ctx)
{
    nb_shard *shards;
    int found;
    NB_TRY(ctx, nb_run_shards(l->run, &found, &shards, ctx));
    for (int i = 0; i < found; i++)
        if (i == 0 || shards[i].count != shards[i - 1].count)
            NB_TRY(ctx, show_shards(l, found, shards, shards[i].count, ctx));
    *any = found > 0;
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
    int done = rows.count - planned; /* a run that was ended before it had planned its rows has none */
    state now = locked ? RUNNING : rows.count == 0 ? MISSING : state_of(locked, rows.count, done);
    if (!nb_format_is_page(l->format)) return add_part(&l->grid, "run", now, rows.count, done, wrong);
    nb_page_paragraph(&l->page, "%s: %s", l->run,
                      now == RUNNING ? "running: a process is writing into it"
                      : now == DONE  ? "done"
                      : sharded      ? "merged in part"
                                     : "stopped: the command that began it continues it");
    add_outcomes(&l->page, &rows);
    if (sharded && (now == STOPPED || now == MISSING))
        nb_page_paragraph(&l->page, "'nysbench merge' again takes in what the shards have measured since");
    return NB_OK;
}

static nb_status print_status(look *l, nb_ctx *ctx)
{
    static const char *const heads[] = {"part", "state", "rows", "done", "failed", NULL};
    bool any, run = nb_run_exists(l->run, ctx);
    nb_page_make(&l->page, ctx);
    NB_TRY(ctx, nb_grid_make(&l->grid, heads, ctx));
    NB_TRY(ctx, show_all_shards(l, &any, ctx));
    NB_REQUIRE(ctx, any || run, NB_EINVAL,
               "%s: is not the folder of a run: it has neither " NB_STORE_FILE " nor " NB_SHARDS_FOLDER "/%s", l->run,
               nb_run_hint(l->run, ctx));
    if (run) NB_TRY(ctx, show_run(l, any, ctx));
    return nb_format_is_page(l->format) ? nb_format_page(&l->page, l->format) : nb_format_grid(&l->grid, l->format);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    look l = {.run = NULL};
    const struct poptOption options[] = {NB_FORMAT_OPTION(line), NB_PLUGIN_OPTION(line), NB_PROGRAMS_OPTION(line),
                                         POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    l.format = (nb_output_format)line->format.value;
    l.run = line->arguments[0];
    l.programs = line->programs;
    if (nb_is_file(l.run)) NB_TRY(ctx, nb_check_run(l.run, ctx));
    NB_TRY(ctx, print_status(&l, ctx));
    line->exit = l.wrong ? NB_EXIT_FAILED : NB_EXIT_OK;
    return NB_OK;
}

NB_COMMAND(status, "RUN", "Show how far a run and its shards are", true, NB_LOOK_AT_RUN + 10);
