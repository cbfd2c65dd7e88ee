/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_head.h - reads one head, one strategy and one m from the command line, for `select` and `measure`. */
#ifndef NB_ONE_HEAD_OPTIONS_H
#define NB_ONE_HEAD_OPTIONS_H

#include "commands/command.h"
#include "commands/program.h"

typedef struct { /* the options' values; NULL: not given */
    char *head, *kernel, *causal, *strategy, *landmarks, *seed, *trial, *pairing, *factors, *metrics;
    const char **cores, **plugins;
} nb_one_head_texts;

#define NB_ONE_HEAD_OPTIONS(t) \
    NB_TEXT_OPTION("head", '\0', (t).head, "A .safetensors file or a folder of .npy files, and which of its heads", \
                   "FILE[:H]"), \
        NB_TEXT_OPTION("strategy", 's', (t).strategy, "How the landmarks are picked", "SPEC"), \
        NB_TEXT_OPTION("landmarks", 'm', (t).landmarks, "How many", "M"), \
        NB_TEXT_OPTION("pairing", '\0', (t).pairing, \
                       "Whose points the strategy looks at: joint, independent, ... (default: its own, as `describe " \
                       "pairing` says)", \
                       "P"), \
        NB_TEXT_OPTION("seed", '\0', (t).seed, "Seed, as in an experiment (default: 20260101)", "S"), \
        NB_TEXT_OPTION("trial", '\0', (t).trial, "Which of its trials (default: 0)", "T"), \
        NB_TEXT_OPTION("kernel", 'k', (t).kernel, "The matrix S (default: as in an experiment)", "SPEC"), \
        NB_TEXT_OPTION("causal", '\0', (t).causal, \
                       "Whether a query sees only the keys up to its own (default: auto, as the file says)", \
                       "true|false|auto"), \
        NB_PLUGIN_OPTION((t).plugins)

/* Makes the request that the options ask for, and, for messages, the host. */
void nb_one_head_request(const nb_one_head_texts *texts, nysbench_request *request, nb_host *host);

#endif
