/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.c - nysbench run EXP.yaml: run what is missing, then report. */
#include "commands/command.h"

#include "base/clock.h"
#include "base/fields.h"
#include "base/gnuplot.h"
#include "base/guard.h"
#include "base/words.h"
#include "commands/program.h"
#include "commands/experiment.h"
#include "components/plugin.h"
#include "run/inputs.h"
#include "run/match.h"
#include "run/workers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted, computes; /* computes: rows are measured in this process */

/* Ends the process where rows are measured in it: a row may never end by itself. */
static void give_up(int number)
{
    static const char text[] = "\nnysbench: interrupted; the same command continues\n";
    (void)number;
    nb_guard_end(); /* NOLINT(bugprone-signal-handler): getpid() and an atomic flag of its own */
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(NB_EXIT_FAILED);
    _exit(NB_EXIT_INTERRUPTED);
}

/* A second signal, or some seconds without an end, make an end. */
static void interrupt(int number)
{
    enum { PATIENCE_S = 5 };
    if (interrupted && computes) give_up(number);
    interrupted = number;
    if (computes) alarm(PATIENCE_S);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt}, before;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGQUIT, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL); /* else nohup(1) */
}

typedef struct {
    const nb_experiment *experiment;
    nb_store store;
    nb_progress progress;
    bool writing;   /* a transaction is open */
    double start_s; /* of the command */
} sink;

static nb_status begin(void *self, nb_ctx *ctx)
{
    sink *s = self;
    if (!s->writing) NB_TRY(ctx, nb_store_begin(&s->store, ctx));
    s->writing = true;
    return NB_OK;
}

static nb_status put_row(void *self, int index, const nb_row *row, nb_ctx *ctx)
{
    sink *s = self;
    nb_progress_row(&s->progress, index, row->status);
    return nb_store_write(&s->store, index, s->experiment->config.wanted, row, ctx);
}

static nb_status commit_rows(void *self, nb_ctx *ctx)
{
    sink *s = self;
    s->writing = false;
    NB_TRY(ctx, nb_inputs_check(s->experiment->plan.inputs, ctx)); /* else the rows are not of what the manifest says */
    NB_TRY(ctx, nb_store_commit(&s->store, ctx));
    nb_progress_show(&s->progress);
    return NB_OK;
}

static bool stop(void *self)
{
    (void)self;
    return interrupted;
}

static void notice(void *self, const char *text)
{
    nb_progress_clear(&((sink *)self)->progress);
    fprintf(stderr, "nysbench: warning: %s\n", text);
}

static void watch(void *self)
{
    nb_progress_watch(&((sink *)self)->progress);
}

static nb_status prepare_store(void *self, nb_ctx *ctx)
{
    sink *s = self;
    return nb_prepare_store(s->experiment, &s->store, ctx);
}

static nb_status run_rows(const nb_plan *plan, const bool *pending, nb_workers workers, sink *s, nb_ctx *ctx)
{
    bool watched = s->progress.terminal && !s->progress.quiet;
    nb_sink functions = {.self = s,
                         .begin = begin,
                         .row = put_row,
                         .end = workers.jobs ? nb_sink_ignore : commit_rows,
                         .commit = workers.jobs ? commit_rows : NULL,
                         .stop = stop,
                         .notice = notice,
                         .meanwhile = prepare_store,
                         .watch = watched ? watch : NULL};
    nb_store_on_wait(&s->store, notice, s);
    int aside = workers.jobs ? -1 : nb_program_aside();
    if (!workers.jobs) signal(SIGALRM, give_up);
    computes = !workers.jobs;
    nb_status status = nb_run_plan(plan, pending, workers, &functions, ctx);
    computes = false;
    alarm(0);
    if (!workers.jobs) nb_program_output(aside);
    nb_progress_end(&s->progress);
    return status;
}

typedef struct { /* the command line's */
    char *only;  /* NULL: not given */
    nb_real_value max_hours;
    nb_start_choices start;
    nb_worker_choices workers;
    int quiet;
} choices;

/* Keeps the limits in the command that repeats a row, which could end differently without them. */
static nb_status keep_limits(const choices *chosen, const char **limits, nb_ctx *ctx)
{
    const struct {
        const char *option, *text;
    } given[] = {{"--timeout", chosen->workers.timeout.text},
                 {"--memory", chosen->workers.memory},
                 {"--blas-threads", chosen->workers.blas_threads.text}};
    nb_string all = NB_NO_TEXT;
    if (chosen->start.mixed) NB_TRY(ctx, nb_shell_add(ctx, &all, "--mixed", NULL));
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].text) NB_TRY(ctx, nb_shell_add(ctx, &all, given[i].option, given[i].text, NULL));
    *limits = all.text;
    return NB_OK;
}

/* The command line, the experiment and its plan. */
static nb_status parse(nb_command_line *line, choices *chosen, nb_experiment *e, nb_workers *workers, nb_ctx *ctx)
{
    const struct poptOption options[] = {
        NB_EXPERIMENT_OPTIONS(*e, line),
        NB_SHARD_OPTION(*e),
        NB_WORKER_OPTIONS(chosen->workers),
        NB_START_OPTIONS(chosen->start),
        NB_TEXT_OPTION(
            "only", '\0', chosen->only,
            "Run only the rows with these values, again if they are done; with --retry, only those of them that are "
            "missing or ended so",
            "COLUMN=VALUE, ..."),
        NB_MAX_HOURS_OPTION(chosen->max_hours),
        NB_FLAG_OPTION("dry-run", '\0', e->only_plan, "Only print the plan, as nysbench plan does"),
        NB_WORD_OPTION("format", 'f', line->format, "With --dry-run: a table (default), csv or json", "table|csv|json"),
        NB_FLAG_OPTION("quiet", 'q', chosen->quiet, "No progress, no table"),
        POPT_TABLEEND};
    NB_TRY(ctx, nb_experiment_parse(line, options, e, ctx));
    NB_TRY(ctx, keep_limits(chosen, &e->limits, ctx));
    NB_REQUIRE(ctx, !chosen->only || !chosen->start.fresh, NB_EINVAL,
               "run: --only keeps the other rows, --fresh sets them aside: use one of them");
    NB_REQUIRE(ctx, e->only_plan || line->format.value == NB_FORMAT_TABLE, NB_EINVAL,
               "run: --format is for --dry-run; nysbench export prints the rows of a run");
    return nb_worker_read(line->command, &chosen->workers, workers, ctx);
}

/* Finds the rows that --only means; NULL: it was not given. */
static nb_status find_only(const char *key, const nb_experiment *e, bool **only, nb_ctx *ctx)
{
    const char *message;
    int count;
    *only = NULL;
    if (!key) return NB_OK;
    nb_status status = nb_match_rows(&e->plan, key, only, &count, ctx);
    if (status != NB_EINVAL) return status;
    NB_NEED(message, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    NB_FAIL(ctx, NB_EINVAL, "run: --only '%s'%s%s: %s", key, e->shard_text ? " of shard " : "",
            e->shard_text ? e->shard_text : "", message);
}

/* Before anything is written: what it will take, and whether that is too much. */
static nb_status predict(nb_start *start, const choices *chosen, nb_machine_speed *machine, nb_ctx *ctx)
{
    bool alone = nb_workers_alone(&start->e->plan, &start->workers);
    int asked = start->workers.jobs;
    nb_preview preview;
    NB_TRY(ctx, nb_preview_make(start, !chosen->quiet || chosen->max_hours.text, &preview, ctx));
    *machine = preview.machine;
    if (start->workers.jobs < asked)
        nb_print_warning("only %d of %d workers start: more would not fit into %.1f MiB of memory", start->workers.jobs,
                         asked, start->workers.memory / 0x1p20);
    if (alone && chosen->workers.jobs.text)
        nb_print_warning("%s: the %s study measures times, which others disturb: one worker starts",
                         nb_spell_option(ctx, "jobs", chosen->workers.jobs.text),
                         start->e->config.study->component.name);
    NB_TRY(ctx, nb_preview_check(start->line->command, &preview, chosen->max_hours.value, ctx));
    if (!chosen->quiet && preview.times.unit_count > 0) nb_preview_print(stderr, "nysbench: ", &preview);
    return NB_OK;
}

/* Compares the prediction with the time taken. Only rows were predicted, not planning, tables and figures. */
static nb_status look_back(const nb_predicted *times, sink *s, nb_ctx *ctx)
{
    const nb_progress_state *p = &s->progress.state;
    char predicted[NB_TIME_RANGE], rows[NB_QUANTITY], all[NB_QUANTITY];
    if (p->rows_done == 0) return NB_OK;
    if (!s->progress.quiet)
        printf("time: %s; the rows took %s, predicted %s%s\n", nb_duration_text(nb_clock_s() - s->start_s, all),
               nb_duration_text(p->elapsed_s, rows), nb_preview_time(times, p->share, predicted),
               p->rows_done < p->rows ? " for what was done" : "");
    return nb_prediction_keep(times, p->share, p->elapsed_s, &s->store, ctx);
}

static nb_status run_and_report(const nb_start *start, const choices *chosen, nb_machine_speed machine,
                                const bool *pending, bool gnuplot, sink *s, nb_ctx *ctx)
{
    const nb_experiment *e = start->e;
    nb_predicted times;
    int failures = 0, workers = nb_preview_workers(start->workers.jobs);
    NB_TRY(ctx, nb_predict(&e->plan, pending, machine, workers, &times, ctx));
    NB_TRY(ctx, nb_progress_init(&s->progress, &times, &e->plan, pending, ctx));
    if (s->progress.state.rows > 0) nb_progress_show(&s->progress);
    catch_signals();
    NB_TRY(ctx, run_rows(&e->plan, pending, start->workers, s, ctx));
    int jobs = start->workers.jobs > 0 ? start->workers.jobs : 1;
    const nb_telling how = {chosen->quiet, gnuplot ? jobs : 0, &interrupted};
    nb_status status = nb_tell_results(e, &s->store, start->only, &how, &failures, ctx);
    if (status == NB_OK) status = look_back(&times, s, ctx);
    start->line->exit = interrupted ? NB_EXIT_INTERRUPTED : failures ? NB_EXIT_FAILED : NB_EXIT_OK;
    if (!interrupted) return status;
    if (status != NB_OK) nb_print_failure(ctx);
    fprintf(stderr, "nysbench: interrupted; the same command continues\n");
    return NB_OK;
}

/* Warnings before the rows are measured. */
static void warn(const nb_start *start, bool gnuplot, nb_ctx *ctx)
{
    if (!gnuplot) nb_warn_without_gnuplot(start->e->folder);
    if (start->workers.blas_threads > 1)
        nb_print_warning("with %d BLAS threads, results may differ in their last bits from those with one",
                         start->workers.blas_threads);
    if (start->workers.jobs == 0 && *nb_plugins_loaded())
        nb_print_warning("with %s plug-ins run in this process: one that crashes or hangs ends the run, and what it "
                         "changes may change other rows",
                         nb_spell_option(ctx, "jobs", "0"));
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    nb_experiment e = {.out = NULL};
    choices chosen = {.max_hours = NB_MAX_HOURS_VALUE, .workers = NB_WORKER_DEFAULTS};
    nb_machine_speed machine = {.rate = NB_USUAL_RATE};
    sink s = {.experiment = &e, .start_s = nb_clock_s(), .progress = {.terminal = nb_is_screen(STDERR_FILENO)}};
    nb_start start = {.e = &e, .choices = &chosen.start, .line = line};
    bool *only, *pending, gnuplot = true;
    const char *version;
    int todo;
    NB_TRY(ctx, parse(line, &chosen, &e, &start.workers, ctx));
    NB_TRY(ctx, find_only(chosen.only, &e, &only, ctx));
    start.only = only;
    NB_REQUIRE(ctx, start.workers.jobs == 0 || start.workers.blas_threads == 1 || !*nb_plugins_loaded(), NB_EINVAL,
               "run: --blas-threads %d: a plug-in runs in a copy of its worker, which can be made of one thread only: "
               "leave out --blas-threads, or %s",
               start.workers.blas_threads, *nb_plugins_loaded());
    if (e.only_plan) { /* memory limits the workers only if --memory says so: plan too is for any machine */
        if (!chosen.workers.memory) start.workers.memory = 0;
        return nb_plan_tell(&start, chosen.max_hours.value, (nb_output_format)line->format.value, ctx);
    }
    if (e.config.plot_count && !e.shard.count) gnuplot = nb_gnuplot_version(&version, ctx);
    warn(&start, gnuplot, ctx);
    NB_TRY(ctx, predict(&start, &chosen, &machine, ctx));
    if (e.apart && !chosen.quiet)
        fprintf(stderr, "nysbench: --set changes the rows: results in %s (--out names another folder)\n", e.folder);
    s.progress.quiet = chosen.quiet;
    NB_TRY(ctx, nb_prepare(&start, &s.store, &pending, &todo, ctx));
    line->stage = NB_WORKS;
    return run_and_report(&start, &chosen, machine, pending, gnuplot, &s, ctx);
}

NB_COMMAND(run, "EXPERIMENT.yaml", "Run what is missing, draw figures, print tables", true, NB_BEGIN_HERE + 40);
