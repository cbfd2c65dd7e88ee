/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prepare.h - what a run starts from: its folder, the lock, the store with the plan. */
#ifndef NB_PREPARE_H
#define NB_PREPARE_H

#include "cli/experiment.h"
#include "run/store.h"
#include "run/workers.h"

typedef struct { /* the command line's */
    int fresh, mixed;
    const char **retry; /* each --retry, or NULL */
} nb_start_choices;

#define NB_START_OPTIONS(s) \
    {"fresh", 'f', POPT_ARG_NONE, &(s).fresh, 0, "Start over; the old results are kept aside", NULL}, \
        {"mixed", \
         '\0', \
         POPT_ARG_NONE, \
         &(s).mixed, \
         0, \
         "Continue beside rows measured by another build, with other BLAS kernels or another number of BLAS threads", \
         NULL}, \
    { \
        "retry", '\0', POPT_ARG_ARGV, &(s).retry, 0, \
            "Run again the rows that ended with this status: failed, timeout, crashed, diverged; " \
            "several separated by commas, or the option repeated", \
            "STATUS" \
    }

extern const char *const nb_retry_statuses[]; /* what --retry allows; NULL-terminated */

/* The statuses of --retry, NULL-terminated, ctx's; NB_EINVAL for one that is not allowed. */
nb_status nb_start_statuses(const nb_start_choices *choices, const char *const **statuses, nb_ctx *ctx);

typedef struct { /* a run that is about to begin */
    const nb_experiment *e;
    const nb_start_choices *choices;
    const bool *only; /* see nb_terms */
    nb_workers workers;
    int argc; /* the command line, for the manifest */
    const char **argv;
} nb_start;

/* Locks the folder, opens its store (put aside before, with --fresh), plans the rows and signs those to come
 * (`only`: see nb_terms); writes the resolved config and, if there is something to run, the manifest. Says on
 * standard error which rows were measured on other data and are run again. If it fails, the store is as it was. A
 * new store's rows are left to nb_prepare_store. */
nb_status nb_prepare(const nb_start *start, nb_store *store, bool **pending, int *pending_count, nb_ctx *ctx);

/* Plans the rows of a store that was new, which can wait until the workers work; no others. */
nb_status nb_prepare_store(const nb_experiment *e, nb_store *store, nb_ctx *ctx);

#endif
