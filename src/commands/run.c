/* run.c - nysbench run EXP.yaml: run what is missing, then report. */
#include "commands/command.h"

#include "base/clock.h"
#include "commands/prepare.h"
#include "commands/run.h"
#include "commands/spectrum_plot.h"
#include "experiment/provenance.h"
#include "experiment/workers.h"
#include "linalg/blas.h"
#include "report/builds.h"
#include "report/plots.h"
#include "report/run_folder.h"
#include "report/table.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

typedef struct {
    nb_store store;
    unsigned wanted;
    nb_inputs *inputs; /* that the rows are made from */
    int todo, done, shown; /* rows: to run, run, run when progress was last shown */
    double start_s;
    bool quiet, terminal;
} sink;

static nb_status begin(void *self, nb_ctx *ctx)
{
    return nb_store_begin(&((sink *)self)->store, ctx);
}

static nb_status put_row(void *self, int index, const nb_row *row, nb_ctx *ctx)
{
    sink *s = self;
    s->done++;
    return nb_store_write(&s->store, index, s->wanted, row, ctx);
}

static void show_progress(sink *s)
{
    double elapsed_s = nb_clock_s() - s->start_s;
    if (s->quiet) return;
    if (s->terminal)
        fprintf(stderr, "\r%d of %d rows, %.0f s ", s->done, s->todo, elapsed_s);
    else if (10LL * s->done / s->todo != 10LL * s->shown / s->todo)
        fprintf(stderr, "nysbench: %d of %d rows, %.0f s\n", s->done, s->todo, elapsed_s);
    if (s->terminal && s->done == s->todo) fputc('\n', stderr);
    s->shown = s->done;
}

static nb_status end(void *self, nb_ctx *ctx)
{
    sink *s = self;
    NB_TRY(ctx, nb_inputs_check(s->inputs, ctx)); /* else the rows are not of what the manifest says */
    NB_TRY(ctx, nb_store_commit(&s->store, ctx));
    show_progress(s);
    return NB_OK;
}

static bool stop(void *self)
{
    (void)self;
    return interrupted;
}

static nb_status run_rows(const nb_plan *plan, const bool *pending, nb_workers workers, sink *s, nb_ctx *ctx)
{
    nb_sink functions = {s, begin, put_row, end, stop};
    s->start_s = nb_clock_s();
    nb_status status = nb_run_plan(plan, pending, workers, &functions, ctx);
    if (!s->quiet && s->terminal && s->done > 0 && s->done < s->todo) fputc('\n', stderr);
    return status;
}

static nb_status draw(const nb_experiment *e, const nb_summary *summary, bool gnuplot, nb_ctx *ctx)
{
    const char *folder;
    int figures;
    NB_TRY(ctx, nb_run_path(e->folder, NB_PLOTS_FOLDER, &folder, ctx));
    for (int i = 0; i < e->config.plot_count && !e->shard.count; i++) { /* a part has no figures of its own */
        if (strcmp(e->config.plots[i], nb_spectrum_kind) == 0)
            NB_TRY(ctx, nb_plot_spectrum(&e->plan, folder, gnuplot, &figures, ctx));
        else
            NB_TRY(ctx, nb_plot(folder, e->config.plots[i], e->config.name, summary, gnuplot, &figures, ctx));
        if (figures == 0) fprintf(stderr, "nysbench: warning: plot %s: the run has no rows that it draws\n", e->config.plots[i]);
    }
    return NB_OK;
}

static int count_failures(int count, const nb_row *rows)
{
    int failures = 0;
    for (int i = 0; i < count; i++) failures += strcmp(rows[i].status, "ok") && strcmp(rows[i].status, "skipped");
    return failures;
}

/* Why rows were skipped, each reason once with its count. */
static void print_skipped(int count, const nb_row *rows)
{
    for (int i = 0; i < count; i++) {
        int of = 0, before = 0;
        if (strcmp(rows[i].status, "skipped") != 0) continue;
        for (int j = 0; j < count; j++) {
            if (strcmp(rows[j].status, "skipped") != 0 || strcmp(rows[j].reason, rows[i].reason) != 0) continue;
            before += j < i;
            of++;
            if (before) break;
        }
        if (!before) printf("skipped: %d rows: %s\n", of, rows[i].reason);
    }
}

/* Counts by status, why rows were skipped, and the first few that went wrong. */
static void print_outcomes(int count, const nb_row *rows)
{
    static const char *const names[] = {"ok", "skipped", "diverged", "failed", "planned"};
    enum { SHOWN = 5 };
    printf("rows: %d", count);
    for (size_t s = 0; s < sizeof names / sizeof *names; s++) {
        int of = 0;
        for (int i = 0; i < count; i++) of += strcmp(rows[i].status, names[s]) == 0;
        if (of > 0) printf(", %d %s", of, names[s]);
    }
    fputc('\n', stdout);
    print_skipped(count, rows);
    for (int i = 0, shown = 0; i < count && shown < SHOWN; i++) {
        if (strcmp(rows[i].status, "failed") && strcmp(rows[i].status, "diverged")) continue;
        fprintf(stderr, "nysbench: %s: %s head %d trial %d, %s, m = %d, %s: %s\n", rows[i].status, rows[i].problem,
                rows[i].head, rows[i].trial, rows[i].strategy, rows[i].landmarks, rows[i].core,
                rows[i].reason ? rows[i].reason : "");
        shown++;
    }
}

static void print_places(const nb_experiment *e, bool gnuplot)
{
    printf("\n%s:\n  %-16s the rows of this run, 17 digits\n  %-16s each strategy against the baseline, by problem and pooled\n  %-16s every row measured into this folder; running again goes on from it\n", e->folder,
           NB_CSV_FILE, NB_SHARES_FILE, NB_STORE_FILE);
    printf("  %-16s the experiment with every value written out\n  %-16s program, machine and libraries\n", NB_CONFIG_FILE,
           NB_MANIFEST_FILE);
    if (e->config.plot_count && !e->shard.count)
        printf("  %-16s %s\n", NB_PLOTS_FOLDER "/", gnuplot ? "figures (SVG, PNG), their data and scripts"
                                                              : "data and scripts of the figures; gnuplot is missing");
}

nb_status nb_run_report(const nb_experiment *e, nb_store *store, bool quiet, bool gnuplot, int *failures, nb_ctx *ctx)
{
    nb_row *rows;
    int count;
    nb_summary summary;
    nb_shares shares;
    NB_TRY(ctx, nb_store_rows(store, &count, &rows, ctx));
    NB_TRY(ctx, nb_run_write_csv(e->folder, count, rows, ctx));
    *failures = count_failures(count, rows);
    NB_TRY(ctx, nb_summary_make(count, rows, &summary, ctx));
    NB_TRY(ctx, nb_shares_make(count, rows, &summary, e->config.baseline, &shares, ctx));
    NB_TRY(ctx, nb_run_write_shares(e->folder, &summary, &shares, ctx));
    if (!quiet) {
        nb_table_print(stdout, &summary);
        nb_shares_print(stdout, &summary, &shares);
        NB_TRY(ctx, nb_builds_print(stdout, "Note: ", store, ctx));
        fputc('\n', stdout);
    }
    print_outcomes(count, rows);
    if (!quiet) print_places(e, gnuplot);
    fflush(stdout);
    return interrupted ? NB_OK : draw(e, &summary, gnuplot, ctx);
}

typedef struct { /* the command line's */
    char *jobs, *blas_threads; /* NULL: not given */
    nb_start_choices start;
    int quiet;
} choices;

static int read_workers(const nb_command *command, const choices *chosen, nb_workers *workers)
{
    enum { MOST_JOBS = 1024 };
    int cores = nb_usable_cores();
    *workers = (nb_workers){.blas_threads = 1};
    int code = nb_command_number(command, "--blas-threads", chosen->blas_threads, 1, nb_blas_most_threads(), &workers->blas_threads);
    if (code != NB_GO_ON) return code;
    workers->jobs = workers->blas_threads > 1 ? 1 : cores < MOST_JOBS ? cores : MOST_JOBS;
    return nb_command_number(command, "--jobs", chosen->jobs, 1, MOST_JOBS, &workers->jobs);
}

/* The command line, the experiment and its plan. */
static int parse(const nb_command *command, int argc, const char **argv, choices *chosen, nb_experiment *e,
                 nb_workers *workers, nb_ctx *ctx)
{
    struct poptOption options[] = {
        NB_HELP_OPTION, NB_EXPERIMENT_OPTIONS(*e), NB_SHARD_OPTION(*e),
        {"jobs", 'j', POPT_ARG_STRING, &chosen->jobs, 0, "Worker processes, 1 to 1024 (default: the cores that may be used); 1: no other process", "N"},
        {"blas-threads", '\0', POPT_ARG_STRING, &chosen->blas_threads, 0, "Threads of OpenBLAS in each worker (default: 1; with more, --jobs is 1 unless given)", "N"},
        NB_START_OPTIONS(chosen->start),
        {"quiet", 'q', POPT_ARG_NONE, &chosen->quiet, 0, "No progress, no table", NULL}, POPT_TABLEEND};
    int code = nb_experiment_parse(command, argc, argv, options, e, ctx);
    nb_status status = chosen->jobs ? nb_defer(ctx, free, chosen->jobs) : NB_OK;
    if (status == NB_OK && chosen->blas_threads) status = nb_defer(ctx, free, chosen->blas_threads);
    if (status == NB_OK) status = nb_command_own(chosen->start.retry, ctx);
    if (code != NB_GO_ON) return code;
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    return read_workers(command, chosen, workers);
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    nb_experiment e = {.out = NULL};
    choices chosen = {.jobs = NULL};
    nb_workers workers;
    sink s = {.terminal = isatty(STDERR_FILENO) && !getenv("NO_COLOR")};
    int failures = 0;
    bool *pending, gnuplot = true;
    int code = parse(command, argc, argv, &chosen, &e, &workers, ctx);
    if (code != NB_GO_ON) return code;
    if (e.config.plot_count && !e.shard.count) gnuplot = nb_gnuplot_found();
    if (!gnuplot) fprintf(stderr, "nysbench: warning: gnuplot is not installed; data and scripts will be written, figures will not\n");
    if (workers.blas_threads > 1) fprintf(stderr, "nysbench: warning: with %d BLAS threads, results may differ in their last bits from those with one\n", workers.blas_threads);
    s.quiet = chosen.quiet;
    s.wanted = e.config.wanted;
    s.inputs = e.plan.inputs;
    if (nb_prepare(&e, argc, argv, &chosen.start, workers, &s.store, &pending, &s.todo, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    catch_signals();
    if (run_rows(&e.plan, pending, workers, &s, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    nb_status status = nb_run_report(&e, &s.store, chosen.quiet, gnuplot, &failures, ctx);
    if (interrupted) {
        fprintf(stderr, "nysbench: interrupted; the same command goes on\n");
        return NB_EXIT_INTERRUPTED;
    }
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    return failures ? NB_EXIT_FAILED : NB_EXIT_OK;
}

const nb_command nb_command_run = {"run", "EXPERIMENT.yaml", "Run what is missing of an experiment, draw its figures, print its table", run};
