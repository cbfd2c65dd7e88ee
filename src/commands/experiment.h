/* SPDX-License-Identifier: GPL-3.0-or-later */
/* experiment.h - what commands do with an experiment's file: read options and load it, predict, prepare a run, and tell
 * its results. */
#ifndef NB_EXPERIMENT_H
#define NB_EXPERIMENT_H

#include "commands/command.h"
#include "linalg/blas.h"
#include "run/plan.h"
#include "run/shard.h"
#include "run/workers.h"
#include "run/prediction.h"
#include "run/store.h"
#include "config/config.h"

#include <math.h>
#include <stdio.h>
#include <signal.h>

typedef struct {
    const char *path;     /* of the file */
    char *out;            /* --out, or NULL */
    const char **set;     /* each --set, or NULL */
    const char **plugins; /* each --plugin, or NULL */
    char *shard_text;     /* --shard, or NULL */
    const char *limits;   /* other options that affect how a row ends, quoted for a shell ("--timeout 5"), or "" */
    /* Folder of the results: --out, or results/NAME, or results/NAME-DIGEST if a --set changes the rows. A shard's
     * folder is inside it. */
    const char *folder;
    bool apart;    /* the folder's name has the digest */
    int only_plan; /* nothing will be measured: the code that it names is announced before it is loaded */
    nb_config config;
    nb_shard shard;
    nb_plan plan; /* the plan of the shard, if there is one */
} nb_experiment;

#define NB_EXPERIMENT_OPTIONS(e, line) \
    NB_LIST_OPTION( \
        "set", 's', (e).set, \
        "Replace a key of the experiment, in all its blocks; may be repeated; if it changes the rows, they get " \
        "a folder of their own unless --out is given", \
        "KEY=VALUE"), \
        NB_PLUGIN_OPTION(line), \
        NB_TEXT_OPTION("out", 'o', (e).out, \
                       "Folder of the results (default: results/NAME, with --set results/NAME-DIGEST)", "DIR")

/* The option of commands that take a shard. */
#define NB_SHARD_OPTION(e) \
    NB_TEXT_OPTION("shard", '\0', (e).shard_text, \
                   "Only the I-th of N parts, balanced by predicted time, in a folder of its own: DIR/shards/I-of-N", \
                   "I/N")

/* Parses the command line, whose options include those above, loads the file that it names and plans it. */
nb_status nb_experiment_parse(nb_command_line *line, const struct poptOption *options, nb_experiment *experiment,
                              nb_ctx *ctx);

/* The options for workers: their number and limits. */
typedef struct {
    nb_whole_value jobs, blas_threads;
    nb_real_value timeout;
    char *memory; /* NULL: not given */
} nb_worker_choices;

enum { NB_MOST_JOBS = 1024 };
#define NB_WORKER_DEFAULTS \
    NB_BRACED(.jobs = {.max = NB_MOST_JOBS}, .blas_threads = {.min = 1, .max = nb_blas_most_threads(), .value = 1}, \
              .timeout = {.min = 1e-3, .max = 1e7})

#define NB_WORKER_OPTIONS(c) \
    NB_WHOLE_OPTION("jobs", 'j', (c).jobs, \
                    "Worker processes, 1 to 1024 (default: one for each CPU that may be used); 0: compute in this " \
                    "process, for a debugger", \
                    "N"), \
        NB_WHOLE_OPTION("blas-threads", '\0', (c).blas_threads, \
                        "Threads of OpenBLAS in each worker (default: 1; with more, --jobs is 1 unless given)", "N"), \
        NB_PATIENCE_OPTION("timeout", '\0', (c).timeout, \
                           "Seconds that making the data, picking or a core may take, each (default: no limit)"), \
        NB_TEXT_OPTION("memory", '\0', (c).memory, \
                       "Memory for all workers together: a number and K, M, G or T (powers of 1024), such as 8G " \
                       "(default: what is available)", \
                       "SIZE")

/* Sets the workers that the options ask for. */
nb_status nb_worker_read(const nb_command *command, const nb_worker_choices *choices, nb_workers *workers, nb_ctx *ctx);

/* Prepares a run: its folder, the lock, the store with the plan. */

typedef struct { /* options of the command line */
    int fresh, mixed;
    const char **retry; /* each --retry, or NULL */
} nb_start_choices;

#define NB_START_OPTIONS(s) \
    NB_FLAG_OPTION("fresh", 'f', (s).fresh, "Start over; the old results are kept aside"), \
        NB_FLAG_OPTION("mixed", '\0', (s).mixed, \
                       "Continue beside rows measured by another build, with other BLAS kernels or another number of " \
                       "BLAS threads"), \
        NB_LIST_OPTION("retry", '\0', (s).retry, \
                       "Run again the rows that ended with this status: failed, timeout, crashed, diverged; " \
                       "several separated by commas, or the option repeated", \
                       "STATUS")

extern const char *const nb_retry_statuses[]; /* statuses that --retry allows; NULL-terminated */

/* Lists the statuses of --retry, NULL-terminated, owned by ctx; NB_EINVAL for one that is not allowed. */
nb_status nb_start_statuses(const nb_start_choices *choices, const char *const **statuses, nb_ctx *ctx);

typedef struct { /* a run to begin */
    const nb_experiment *e;
    const nb_start_choices *choices;
    const bool *only; /* as in nb_terms */
    nb_workers workers;
    nb_command_line *line; /* for the manifest */
} nb_start;

/* Locks the folder, opens its store (with --fresh the old one is put aside), plans the rows and signs those to be
 * measured (`only`: see nb_terms). Writes the resolved config and, if there is something to run, the manifest. Says on
 * standard error which rows were measured on other data and are run again. If it fails, the store is as it was. The
 * rows of a new store are left to nb_prepare_store. */
nb_status nb_prepare(const nb_start *start, nb_store *store, bool **pending, int *pending_count, nb_ctx *ctx);

/* Plans the rows of a new store, which can wait until the workers are busy; does nothing for other stores. */
nb_status nb_prepare_store(const nb_experiment *e, nb_store *store, nb_ctx *ctx);

typedef struct {
    int planned, done, failed; /* rows; done: with any outcome */
    bool other_build;          /* it has rows measured by another program */
    bool locked;               /* a process works on it, as far as this machine can see */
} nb_shard_state;

/* Finds how far the shards of a run are: `count` + 1 states, from index 1 on; `of` is their assignment. */
nb_status nb_shard_states(const char *run, const nb_plan *plan, const int *of, int count, nb_shard_state **states,
                          nb_ctx *ctx);

/* The preview that `plan` and `run` print before anything runs. */

typedef struct {
    const nb_experiment *e;
    nb_standing standing;
    nb_machine_speed machine;
    nb_predicted times;
    int to_run; /* rows */
    int others; /* rows of the last run measured by another build or with other arithmetic */
} nb_preview;

/* Returns how many of so many workers have a CPU each. */
int nb_preview_workers(int jobs);

/* Makes the preview of the rows that are to begin; `measured`: measure this machine; else it is the reference machine.
 * Reduces the workers to as many as fit into memory; NB_EINVAL if not one does. Reads the store of the experiment's
 * folder, unless it will be put aside (--fresh), and writes nothing. */
nb_status nb_preview_make(nb_start *start, bool measured, nb_preview *preview, nb_ctx *ctx);

enum { NB_TIME_RANGE = 80 };
/* Returns "41 s to 1 min 10 s", or one time if both are the same, for that share of the whole. */
const char *nb_preview_time(const nb_predicted *times, double share, char text[NB_TIME_RANGE]);

/* Prints "3 scenes to run with 2 workers: about 41 s to 1 min 10 s, up to 120 MiB of memory". */
void nb_preview_print(FILE *out, const char *before, const nb_preview *preview);

#define NB_MAX_HOURS_VALUE NB_BRACED(.min = 1e-6, .max = 1e6, .value = INFINITY)
#define NB_MAX_HOURS_OPTION(hours) \
    NB_REAL_OPTION("max-hours", '\0', hours, "Run nothing if the prediction for an idle machine is longer", "H")
/* NB_EINVAL if even the low end of the prediction is more. */
nb_status nb_preview_check(const nb_command *command, const nb_preview *preview, double max_hours, nb_ctx *ctx);

/* Prints on standard output what a run of these rows would do: scenes, rows, time and memory. NB_EINVAL if the run
 * would be refused, because no worker fits into their memory (0: any machine) or as nb_preview_check says. */
nb_status nb_plan_tell(nb_start *start, double max_hours, nb_output_format format, nb_ctx *ctx);

/* Prints and writes the results of a run's rows. */

typedef struct {
    bool quiet;   /* no tables */
    int gnuplots; /* gnuplots that draw figures at the same time; 0: write only data and scripts */
    const volatile sig_atomic_t *interrupted; /* if set, no figures are drawn; NULL: never */
} nb_telling;

/* Writes rows.csv, the study's files for the store's planned rows and the verdicts on the experiment's claims; prints
 * its tables, the verdicts and what went wrong; and draws the experiment's figures. *failures: rows neither ok nor
 * skipped, of all or of those that `only` flags. */
nb_status nb_tell_results(const nb_experiment *e, nb_store *store, const bool *only, const nb_telling *how,
                          int *failures, nb_ctx *ctx);

/* Makes the table `asked` of the positions of rows that `only` flags (by row of the plan; NULL: none). *failures: how
 * many of these, or of all, are neither ok nor skipped, including "planned". */
nb_status nb_outcomes_choose(const nb_relation *relation, const nb_plan *plan, const bool *only, int *failures,
                             nb_ctx *ctx);

/* Prints counts by status of all rows, or of `some`, those in `asked`, why they were skipped, and for each reason of
 * failures the first rows with the command that repeats one alone. The list of all rows goes to NB_FAILURES_FILE in the
 * run's folder; without failures there is no such file. */
nb_status nb_outcomes_print(const nb_experiment *e, const nb_relation *relation, bool some, nb_ctx *ctx);

/* An experiment's file is written from a template, which gives its keys, their order, meaning and defaults; these
 * replace its values. */
typedef struct {
    const nb_override *values; /* of keys; commas separate the items of lists; value NULL: none; ends with a NULL key */
    const char *const *heads;  /* each FILE, FILE:H or a pattern with '*'; NULL-terminated; NULL: none */
} nb_new_answers;

/* Returns what `new` writes, by place: "experiment", and kinds of components; NULL behind the last. */
const char *nb_new_at(int index);

/* Writes the file, replacing an existing one. What no answer gives is the template's. NB_EINVAL with the first mistake
 * in the answers; then nothing is written. */
nb_status nb_new_experiment(const char *path, const nb_new_answers *answers, nb_ctx *ctx);

/* Shows the progress of a run on a terminal or in a log. */

typedef struct {
    int scenes, scenes_done;       /* units of work */
    int rows, rows_done, failed;   /* failed: rows neither ok nor skipped */
    double share;                  /* done share of the predicted cost, 0 to 1 */
    double elapsed_s, predicted_s; /* seconds since the start; predicted seconds of the whole */
    double since_s;                /* seconds since the last row was done, or since the start */
} nb_progress_state;

/* Returns the seconds left: at first as predicted, soon by the pace so far, which is updated when a row is done; in
 * between it counts down. 0: it takes longer than that. */
double nb_progress_left_s(const nb_progress_state *state);

enum { NB_PROGRESS_LINE = 160 };
/* Writes "30 %, 3 of 10 scenes, 30 of 100 rows, 2 failed, 40 s left"; for a terminal of `width` columns (0: a log) with
 * a bar before it, or less if there is no room. */
void nb_progress_text(const nb_progress_state *state, int width, char text[NB_PROGRESS_LINE]);

enum { NB_QUANTITY = 32 };
/* Writes "0.4 s", "47 s", "3 min 5 s", "2 h 10 min", "3 d 4 h"; rounded. */
const char *nb_duration_text(double seconds, char text[NB_QUANTITY]);
/* Writes "850 KiB", "120 MiB", "2.4 GiB": powers of 1024, as in --memory. */
const char *nb_bytes_text(double bytes, char text[NB_QUANTITY]);

typedef struct {
    nb_progress_state state;
    bool quiet, terminal;
    double start_s;
    double done_s, total_s; /* predicted seconds of the rows done, and of all */
    double *weight_s;       /* predicted seconds by row of the plan */
    int *unit_of, *left;    /* unit of each row; rows of each unit that are still to be run */
    int shown;              /* tenths shown in a log */
    double row_s, drawn_s;  /* when the last row was done, and when the terminal was last drawn */
    bool drawn;             /* the terminal has a bar, to be cleared before other output */
} nb_progress;

/* Begins; the start is now. */
nb_status nb_progress_init(nb_progress *progress, const nb_predicted *predicted, const nb_plan *plan,
                           const bool *pending, nb_ctx *ctx);
/* Records that a row is done, with this status. */
void nb_progress_row(nb_progress *progress, int index, const char *status);
/* Shows the progress on standard error after rows are done: on a terminal about five times a second, else at each
 * tenth. */
void nb_progress_show(nb_progress *progress);
/* Draws the bar of a terminal while no row is done: the time that is left counts down. */
void nb_progress_watch(nb_progress *progress);
/* Removes the bar of a terminal, for other output. */
void nb_progress_clear(nb_progress *progress);
/* Leaves the bar of a terminal in its final state. */
void nb_progress_end(nb_progress *progress);

#endif
