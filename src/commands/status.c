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
} status_report;

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
static nb_status load_plan(const status_report *report, int found, const nb_shard *shards, int count, nb_config *config,
                           nb_plan *plan, nb_ctx *ctx)
{
    const char *folder;
    for (int i = 0; i < found; i++) {
        if (shards[i].count != count) continue;
        NB_TRY(ctx, nb_run_shard_folder(report->run, shards[i], &folder, ctx));
        if (nb_run_exists(folder, ctx)) return nb_experiment_of_run(folder, report->programs, config, plan, ctx);
    }
    NB_FAIL(ctx, NB_EIO, "%s: none of its %d shards has begun", report->run, count);
}

static nb_status show_shards(status_report *report, int found, const nb_shard *shards, int count, nb_ctx *ctx)
{
    static const char *const heads[] = {"shard", "state", "rows", "done", "failed", NULL};
    nb_config config;
    nb_plan plan;
    nb_shard_state *states;
    nb_grid grid, *to = nb_format_is_page(report->format) ? &grid : &report->grid;
    int *of, of_state[STATE_COUNT] = {0};
    NB_TRY(ctx, load_plan(report, found, shards, count, &config, &plan, ctx));
    NB_TRY(ctx, nb_shards_assign(&plan, count, &of, ctx));
    NB_TRY(ctx, nb_shard_states(report->run, &plan, of, count, &states, ctx));
    NB_TRY(ctx, nb_grid_make(&grid, heads, ctx));
    for (int i = 1; i <= count; i++) {
        const nb_shard_state *s = &states[i];
        state now = state_of(s->locked, s->planned, s->done);
        const char *name;
        NB_NEED(name, nb_format(ctx, "%d/%d", i, count));
        NB_TRY(ctx, add_part(to, name, now, s->planned, s->done, s->failed));
        of_state[now]++;
        report->wrong += s->failed;
    }
    if (to != &grid) return NB_OK;
    nb_grid_show(&grid, &report->page);
    add_sum(&report->page, count, states, of_state);
    return NB_OK;
}

/* Each number into which the run was split. */
static nb_status show_all_shards(status_report *report, bool *any, nb_ctx *ctx)
{
    nb_shard *shards;
    int found;
    NB_TRY(ctx, nb_run_shards(report->run, &found, &shards, ctx));
    for (int i = 0; i < found; i++)
        if (i == 0 || shards[i].count != shards[i - 1].count)
            NB_TRY(ctx, show_shards(report, found, shards, shards[i].count, ctx));
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

static nb_status show_run(status_report *report, bool sharded, nb_ctx *ctx)
{
    nb_store store;
    nb_row_list rows;
    int planned = 0, wrong = 0;
    bool locked;
    NB_TRY(ctx, nb_folder_is_locked(report->run, &locked, ctx));
    NB_TRY(ctx, nb_run_load(report->run, &store, &rows, ctx));
    for (int i = 0; i < rows.count; i++) {
        const nb_row *row = nb_row_at(&rows, i);
        bool to_come = strcmp(row->status, "planned") == 0;
        planned += to_come;
        wrong += !nb_row_is_well(row) && !to_come;
    }
    report->wrong += wrong;
    int done = rows.count - planned; /* a run that was ended before it had planned its rows has none */
    state now = locked ? RUNNING : rows.count == 0 ? MISSING : state_of(locked, rows.count, done);
    if (!nb_format_is_page(report->format)) return add_part(&report->grid, "run", now, rows.count, done, wrong);
    nb_page_paragraph(&report->page, "%s: %s", report->run,
                      now == RUNNING ? "running: a process is writing into it"
                      : now == DONE  ? "done"
                      : sharded      ? "merged in part"
                                     : "stopped: the command that began it continues it");
    add_outcomes(&report->page, &rows);
    if (sharded && (now == STOPPED || now == MISSING))
        nb_page_paragraph(&report->page, "'nysbench merge' again takes in what the shards have measured since");
    return NB_OK;
}

static nb_status print_status(status_report *report, nb_ctx *ctx)
{
    static const char *const heads[] = {"part", "state", "rows", "done", "failed", NULL};
    bool any, run = nb_run_exists(report->run, ctx);
    nb_page_make(&report->page, ctx);
    NB_TRY(ctx, nb_grid_make(&report->grid, heads, ctx));
    NB_TRY(ctx, show_all_shards(report, &any, ctx));
    NB_REQUIRE(ctx, any || run, NB_EINVAL,
               "%s: is not the folder of a run: it has neither " NB_STORE_FILE " nor " NB_SHARDS_FOLDER "/%s",
               report->run, nb_run_hint(report->run, ctx));
    if (run) NB_TRY(ctx, show_run(report, any, ctx));
    return nb_format_is_page(report->format) ? nb_format_page(&report->page, report->format)
                                             : nb_format_grid(&report->grid, report->format);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    status_report report = {.run = NULL};
    const struct poptOption options[] = {NB_FORMAT_OPTION(line), NB_PLUGIN_OPTION(line), NB_PROGRAMS_OPTION(line),
                                         POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    report.format = (nb_output_format)line->format.value;
    report.run = line->arguments[0];
    report.programs = line->programs;
    if (nb_is_file(report.run)) NB_TRY(ctx, nb_check_run(report.run, ctx));
    NB_TRY(ctx, print_status(&report, ctx));
    line->exit = report.wrong ? NB_EXIT_FAILED : NB_EXIT_OK;
    return NB_OK;
}

NB_COMMAND(status, "RUN", "Show how far a run and its shards are", true, NB_LOOK_AT_RUN + 10);
