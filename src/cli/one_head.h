/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_head.h - one head, one strategy, one m from the command line, for `select` and
 * `measure`: an experiment of one instance, so that they give what a run gives. */
#ifndef NB_ONE_HEAD_H
#define NB_ONE_HEAD_H

#include "cli/command.h"
#include "studies/error/study.h"

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

typedef struct {
    nb_config config;
    nb_plan plan;    /* one scene */
    int head, trial; /* the one that is meant; the plan has those before it too */
    nb_problem_shape shape;
} nb_one_head_plan;

/* The texts are taken over first, whatever happens. */
nb_status nb_one_head_own(const nb_one_head_texts *texts, nb_ctx *ctx);

/* The experiment but for its strategy and m: head, kernel, factors, cores (all that need no option, if none is
 * named), metrics, seed, trial. NB_EINVAL names the option. */
nb_status nb_one_head_begin(const nb_one_head_texts *texts, nb_one_head_plan *one, nb_ctx *ctx);

/* Then its plan: --strategy and --landmarks, or `strategy` (not NULL) and m. */
nb_status nb_one_head_finish(const nb_one_head_texts *texts, const nb_choice *strategy, int m, nb_one_head_plan *one,
                             nb_ctx *ctx);

/* The spec of the problem that a head file is: one head, or all (-1); causal: true, false or auto, or NULL, auto.
 * NB_EINVAL for another word. */
nb_status nb_head_spec(const char *file, int head, const char *causal, const char **spec, nb_ctx *ctx);

#endif
