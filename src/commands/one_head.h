/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_head.h - reads one head, one strategy and one m from the command line, for `select` and `measure`. */
#ifndef NB_ONE_HEAD_OPTIONS_H
#define NB_ONE_HEAD_OPTIONS_H

#include "commands/command.h"
#include "commands/program.h"

/* Options that fill in a request, which has its defaults, and the host. */
#define NB_ONE_HEAD_OPTIONS_H

#include "commands/command.h"
#include "commands/program.h"

typedef struct { /* the options' values; NULL: not given */
    char *head, *kernel, *causal, *strategy, *landmarks, *seed, *trial, *pairing, *factors, *metrics;
    const char **cores, **plugins;
} nb_one_head_texts;

#define NB_ONE_HEAD_OPTIONS(request, host, plugins) \
    NB_TEXT_OPTION("head", '\0', (request).file, \
                   "A .safetensors file or a folder of .npy files, and which of its heads", "FILE[:H]"), \
        NB_TEXT_OPTION("strategy", 's', (request).strategy, "How the landmarks are picked", "SPEC"), \
        NB_TEXT_OPTION("landmarks", 'm', (host).landmarks, "How many", "M"), \
        NB_TEXT_OPTION("pairing", '\0', (request).pairing, \
                       "Whose points the strategy looks at: joint, independent, ... (default: its own, as `describe " \
                       "pairing` says)", \
                       "P"), \
        NB_TEXT_OPTION("seed", '\0', (host).seed, "Seed, as in an experiment (default: 20260101)", "S"), \
        NB_TEXT_OPTION("trial", '\0', (host).trial, "Which of its trials (default: 0)", "T"), \
        NB_TEXT_OPTION("kernel", 'k', (request).kernel, "The matrix S (default: as in an experiment)", "SPEC"), \
        NB_TEXT_OPTION("causal", '\0', (host).causal, \
                       "Whether a query sees only the keys up to its own (default: auto, as the file says)", \
                       "true|false|auto"), \
        NB_PLUGIN_OPTION(plugins)

#endif
