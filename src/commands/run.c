/* run.c - nysbench run EXP.yaml: run what is missing, then report. */
#include "commands/command.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/machine.h"
#include "commands/experiment.h"
#include "commands/spectrum_plot.h"
#include "experiment/provenance.h"
#include "experiment/workers.h"
#include "linalg/blas.h"
#include "report/plots.h"
#include "report/run_folder.h"
#include "report/table.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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
    NB_TRY(ctx, nb_store_commit(&s->store, ctx));
    show_progress(s);
    return NB_OK;
}

static bool stop(void *self)
{
    (void)self;
    return interrupted;
}

/* With --fresh, an old store is kept under a name that says when it was put aside. */
static nb_status put_aside(const char *path, nb_ctx *ctx)
{
    char moment[32];
    const char *aside, *journal, *journal_aside;
    time_t now = time(NULL);
    struct tm utc;
    if (!nb_is_file(path)) return NB_OK;
    strftime(moment, sizeof moment, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    NB_NEED(aside, nb_format(ctx, "%s.%s.%d.old", path, moment, (int)getpid()));
    NB_NEED(journal, nb_format(ctx, "%s-journal", path)); /* what a killed run left; it belongs to the store */
    NB_NEED(journal_aside, nb_format(ctx, "%s-journal", aside));
    if (nb_is_file(journal)) NB_REQUIRE(ctx, rename(journal, journal_aside) == 0, NB_EIO, "%s: cannot be renamed: %s", journal, strerror(errno));
    NB_REQUIRE(ctx, rename(path, aside) == 0, NB_EIO, "%s: cannot be renamed: %s", path, strerror(errno));
    return NB_OK;
}

static void notice(void *self, const char *text)
{
    const sink *s = self;
    fprintf(stderr, "%snysbench: warning: %s\n", s->terminal && !s->quiet ? "\n" : "", text);
}

static nb_status run_rows(const nb_plan *plan, const bool *pending, nb_workers workers, sink *s, nb_ctx *ctx)
{
    nb_sink functions = {s, begin, put_row, end, stop, NULL, notice};
    s->start_s = nb_clock_s();
    nb_status status = nb_run_plan(plan, pending, workers, &functions, ctx);
    if (!s->quiet && s->terminal && s->done > 0 && s->done < s->todo) fputc('\n', stderr);
    return status;
}

/* As many workers as fit, and a word where those are fewer than asked for. */
static nb_status fit_workers(const nb_experiment *e, const bool *pending, nb_workers *workers, nb_ctx *ctx)
{
    int asked = workers->jobs;
    NB_TRY(ctx, nb_workers_fit(&e->plan, pending, workers, ctx));
    if (workers->jobs < asked)
        fprintf(stderr, "nysbench: warning: %d of %d workers run: more would not fit into %.1f MiB of memory\n", workers->jobs, asked, workers->memory / 0x1p20);
    return NB_OK;
}

/* The store, the resolved config and the manifest are there before anything runs. */
static nb_status prepare(const nb_experiment *e, int argc, const char **argv, bool fresh, nb_workers *workers, sink *s,
                         bool **pending, nb_ctx *ctx)
{
    const char *path, *resolved, *manifest;
    NB_TRY(ctx, nb_make_folder(e->folder, ctx));
    NB_TRY(ctx, nb_run_path(e->folder, NB_STORE_FILE, &path, ctx));
    NB_TRY(ctx, nb_lock_folder(e->folder, ctx));
    if (fresh) NB_TRY(ctx, put_aside(path, ctx));
    NB_TRY(ctx, nb_store_open(path, true, &s->store, ctx));
    NB_TRY(ctx, nb_config_text(&e->config, &resolved, ctx));
    NB_TRY(ctx, nb_run_write_text(e->folder, NB_CONFIG_FILE, resolved, ctx));
    NB_TRY(ctx, nb_store_plan(&s->store, &e->plan, pending, &s->todo, ctx));
    if (s->todo == 0) return NB_OK;
    NB_TRY(ctx, fit_workers(e, *pending, workers, ctx));
    NB_TRY(ctx, nb_manifest_text(argc, argv, resolved, e->config.plot_count > 0, *workers, &manifest, ctx));
    NB_TRY(ctx, nb_run_write_text(e->folder, NB_MANIFEST_FILE, manifest, ctx));
    return nb_store_set(&s->store, "manifest", manifest, ctx);
}

static nb_status draw(const nb_experiment *e, const nb_summary *summary, bool gnuplot, nb_ctx *ctx)
{
    const char *folder;
    int figures;
    NB_TRY(ctx, nb_run_path(e->folder, NB_PLOTS_FOLDER, &folder, ctx));
    for (int i = 0; i < e->config.plot_count; i++) {
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

static bool went_wrong(const nb_row *row)
{
    static const char *const fine[] = {"ok", "skipped", "planned", NULL};
    int i = 0;
    while (fine[i] && strcmp(fine[i], row->status) != 0) i++;
    return !fine[i];
}

/* Counts by status, why rows were skipped, and the first few that went wrong. */
static void print_outcomes(int count, const nb_row *rows)
{
    enum { SHOWN = 5 };
    printf("rows: %d", count);
    for (const char *const *status = nb_row_statuses; *status; status++) {
        int of = 0;
        for (int i = 0; i < count; i++) of += strcmp(rows[i].status, *status) == 0;
        if (of > 0) printf(", %d %s", of, *status);
    }
    fputc('\n', stdout);
    print_skipped(count, rows);
    for (int i = 0, shown = 0; i < count && shown < SHOWN; i++) {
        if (!went_wrong(&rows[i])) continue;
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
    if (e->config.plot_count)
        printf("  %-16s %s\n", NB_PLOTS_FOLDER "/", gnuplot ? "figures (SVG, PNG), their data and scripts"
                                                              : "data and scripts of the figures; gnuplot is missing");
}

static nb_status report(const nb_experiment *e, nb_store *store, bool quiet, bool gnuplot, int *failures, nb_ctx *ctx)
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
        fputc('\n', stdout);
    }
    print_outcomes(count, rows);
    if (!quiet) print_places(e, gnuplot);
    fflush(stdout);
    return draw(e, &summary, gnuplot, ctx);
}

typedef struct { /* the command line's */
    char *jobs, *blas_threads, *timeout, *memory; /* NULL: not given */
    int fresh, quiet;
} choices;

/* Bytes: a number and K, M, G or T, which are powers of 1024. */
static int read_memory(const nb_command *command, const char *text, double *bytes)
{
    static const char suffixes[] = "KMGT";
    char *end = NULL;
    if (!text) return NB_GO_ON;
    double number = strtod(text, &end);
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    if (text[strspn(text, "0123456789.")] == *end && end > text && suffix && end[1] == '\0' && number > 0 && number < 1e6) {
        *bytes = number * pow(1024, (double)(suffix - suffixes + 1));
        return NB_GO_ON;
    }
    nb_print_error("%s: --memory '%s': expected a number and K, M, G or T, such as 8G", command->name, text);
    return NB_EXIT_USAGE;
}

/* In this process there is nobody to hold to a limit. */
static int check_here(const nb_command *command, const choices *chosen)
{
    const char *limit = chosen->timeout ? "--timeout" : chosen->memory ? "--memory" : NULL;
    if (!limit) return NB_GO_ON;
    nb_print_error("%s: %s: needs a worker, and with --jobs 0 there is none", command->name, limit);
    return NB_EXIT_USAGE;
}

static int read_workers(const nb_command *command, const choices *chosen, nb_workers *workers)
{
    enum { MOST_JOBS = 1024 };
    int cores = nb_usable_cores();
    double most = INFINITY;
    *workers = (nb_workers){.blas_threads = 1};
    int code = nb_command_number(command, "--blas-threads", chosen->blas_threads, 1, nb_blas_most_threads(), &workers->blas_threads);
    if (code != NB_GO_ON) return code;
    workers->jobs = workers->blas_threads > 1 ? 1 : cores < MOST_JOBS ? cores : MOST_JOBS;
    code = nb_command_number(command, "--jobs", chosen->jobs, 0, MOST_JOBS, &workers->jobs);
    if (code == NB_GO_ON) code = nb_command_real(command, "--timeout", chosen->timeout, 1e-3, 1e7, &workers->timeout_s);
    if (code == NB_GO_ON) code = read_memory(command, chosen->memory, &most);
    if (code == NB_GO_ON && workers->jobs == 0) return check_here(command, chosen);
    workers->memory = fmin(most, nb_available_memory());
    if (isinf(workers->memory)) workers->memory = 0;
    return code;
}

/* The command line, the experiment and its plan. */
static int parse(const nb_command *command, int argc, const char **argv, choices *chosen, nb_experiment *e,
                 nb_workers *workers, nb_ctx *ctx)
{
    struct poptOption options[] = {
        NB_HELP_OPTION, NB_EXPERIMENT_OPTIONS(*e),
        {"jobs", 'j', POPT_ARG_STRING, &chosen->jobs, 0, "Worker processes, 1 to 1024 (default: the cores that may be used); 0: none, all in this process, for a debugger", "N"},
        {"timeout", '\0', POPT_ARG_STRING, &chosen->timeout, 0, "What one cell may take for its pick, for its core, for its part of the measurement (default: no limit)", "SECONDS"},
        {"memory", '\0', POPT_ARG_STRING, &chosen->memory, 0, "What all workers together may take, such as 8G (default: what is available)", "SIZE"},
        {"blas-threads", '\0', POPT_ARG_STRING, &chosen->blas_threads, 0, "Threads of OpenBLAS in each worker (default: 1; with more, --jobs is 1 unless given)", "N"},
        {"fresh", 'f', POPT_ARG_NONE, &chosen->fresh, 0, "Start anew; the old results are kept aside", NULL},
        {"quiet", 'q', POPT_ARG_NONE, &chosen->quiet, 0, "No progress, no table", NULL}, POPT_TABLEEND};
    int code = nb_experiment_parse(command, argc, argv, options, e, ctx);
    char *const texts[] = {chosen->jobs, chosen->blas_threads, chosen->timeout, chosen->memory};
    nb_status status = NB_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] && nb_defer(ctx, free, texts[i]) != NB_OK) status = NB_ENOMEM;
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
    if (e.config.plot_count) gnuplot = nb_gnuplot_found();
    if (!gnuplot) fprintf(stderr, "nysbench: warning: gnuplot is not installed; data and scripts will be written, figures will not\n");
    if (workers.blas_threads > 1) fprintf(stderr, "nysbench: warning: with %d BLAS threads, results may differ in their last bits from those with one\n", workers.blas_threads);
    s.quiet = chosen.quiet;
    s.wanted = e.config.wanted;
    if (prepare(&e, argc, argv, chosen.fresh, &workers, &s, &pending, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    catch_signals();
    if (run_rows(&e.plan, pending, workers, &s, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    nb_status status = report(&e, &s.store, chosen.quiet, gnuplot, &failures, ctx);
    if (interrupted) {
        fprintf(stderr, "nysbench: interrupted; the same command goes on\n");
        return NB_EXIT_INTERRUPTED;
    }
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    return failures ? NB_EXIT_FAILED : NB_EXIT_OK;
}

const nb_command nb_command_run = {"run", "EXPERIMENT.yaml", "Run what is missing of an experiment, draw its figures, print its table", run};
