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
    {"head",    '\0', POPT_ARG_STRING, \
     &(t).head, 0,    "A .safetensors file or a folder of .npy files, and which of its heads", \
     "FILE[:H]"}, \
        {"strategy", 's', POPT_ARG_STRING, &(t).strategy, 0, "How the landmarks are picked", "SPEC"}, \
        {"landmarks", 'm', POPT_ARG_STRING, &(t).landmarks, 0, "How many", "M"}, \
        {"pairing", \
         '\0', \
         POPT_ARG_STRING, \
         &(t).pairing, \
         0, \
         "Whose points the strategy looks at: joint, independent, ... (default: its own, as `describe pairing` says)", \
         "P"}, \
        {"seed", '\0', POPT_ARG_STRING, &(t).seed, 0, "Seed, as in an experiment (default: 20260101)", "S"}, \
        {"trial", '\0', POPT_ARG_STRING, &(t).trial, 0, "Which of its trials (default: 0)", "T"}, \
        {"kernel", 'k', POPT_ARG_STRING, &(t).kernel, 0, "The matrix S (default: as in an experiment)", "SPEC"}, \
        {"causal",         '\0', POPT_ARG_STRING, \
         &(t).causal,      0,    "Whether a query sees only the keys up to its own (default: auto, as the file says)", \
         "true|false|auto"}, \
        NB_PLUGIN_OPTION((t).plugins)

/* Makes the request that the options ask for, and, for messages, the host. */
void nb_one_head_request(const nb_one_head_texts *texts, nysbench_request *request, nb_host *host);

#endif
