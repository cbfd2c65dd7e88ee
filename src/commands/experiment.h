/* SPDX-License-Identifier: GPL-3.0-or-later */
/* experiment.h - the options and the loading shared by commands that take an experiment's file. */
#ifndef NB_EXPERIMENT_H
#define NB_EXPERIMENT_H

#include "commands/command.h"
#include "commands/worker_options.h"
#include "run/plan.h"
#include "run/shard.h"

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
int nb_experiment_parse(const nb_command *command, int argc, const char **argv, struct poptOption *options,
                        nb_experiment *experiment, nb_ctx *ctx);

#endif
