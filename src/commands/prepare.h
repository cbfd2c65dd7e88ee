/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prepare.h - prepares a run: its folder, the lock, the store with the plan. */
#ifndef NB_PREPARE_H
#define NB_PREPARE_H

#include "commands/experiment.h"
#include "run/store.h"
#include "run/workers.h"

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
    int argc; /* the command line, for the manifest */
    const char **argv;
} nb_start;

/* Locks the folder, opens its store (with --fresh the old one is put aside), plans the rows and signs those to be
 * measured (`only`: see nb_terms). Writes the resolved config and, if there is something to run, the manifest. Says on
 * standard error which rows were measured on other data and are run again. If it fails, the store is as it was. The
 * rows of a new store are left to nb_prepare_store. */
nb_status nb_prepare(const nb_start *start, nb_store *store, bool **pending, int *pending_count, nb_ctx *ctx);

/* Plans the rows of a new store, which can wait until the workers are busy; does nothing for other stores. */
nb_status nb_prepare_store(const nb_experiment *e, nb_store *store, nb_ctx *ctx);

#endif
