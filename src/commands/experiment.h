/* SPDX-License-Identifier: GPL-3.0-or-later */
/* experiment.h - the options and the loading shared by commands that take an experiment's file, and the options of
 * those that run it. */
#ifndef NB_EXPERIMENT_H
#define NB_EXPERIMENT_H

#include "commands/command.h"
#include "linalg/blas.h"
#include "run/plan.h"
#include "run/shard.h"
#include "run/workers.h"

typedef struct {
    const char *path;     /* of the file */
    char *out;            /* --out, or NULL */
    const char **set;     /* each --set, or NULL */
    const char **plugins; /* each --plugin, or NULL */
    char *shard_text;     /* --shard, or NULL */
    const char *limits;   /* other options that affect how a row ends, quoted for a shell (" --timeout 5"); or NULL */
    /* Folder of the results: --out, or results/NAME, or results/NAME-DIGEST if a --set changes the rows. A shard's
     * folder is inside it. */
    const char *folder;
    bool apart; /* the folder's name has the digest */
    nb_config config;
    nb_shard shard;
    nb_plan plan; /* the plan of the shard, if there is one */
} nb_experiment;

#define NB_EXPERIMENT_OPTIONS(e) \
    NB_LIST_OPTION( \
        "set", 's', (e).set, \
        "Replace a key of the experiment, in all its blocks; may be repeated; if it changes the rows, they get " \
        "a folder of their own unless --out is given", \
        "KEY=VALUE"), \
        NB_PLUGIN_OPTION((e).plugins), \
        NB_TEXT_OPTION("out", 'o', (e).out, \
                       "Folder of the results (default: results/NAME, with --set results/NAME-DIGEST)", "DIR")

/* The option of commands that take a shard. */
#define NB_SHARD_OPTION(e) \
    NB_TEXT_OPTION("shard", '\0', (e).shard_text, \
                   "Only the I-th of N parts, balanced by predicted time, in a folder of its own: DIR/shards/I-of-N", \
                   "I/N")

/* Parses the command line, whose options include those above, loads the file that it names and plans it; prints errors.
 * Returns NB_GO_ON, or the exit status. */
int nb_experiment_parse(const nb_command *command, int argc, const char **argv, const struct poptOption *options,
                        nb_experiment *experiment, nb_ctx *ctx);

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

/* Sets the workers that the options ask for. Returns NB_GO_ON, or the exit status after a usage error. */
int nb_worker_read(const nb_command *command, const nb_worker_choices *choices, nb_workers *workers);

#endif
