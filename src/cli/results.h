/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results.h - what commands print and write about a run's rows. */
#ifndef NB_CLI_RESULTS_H
#define NB_CLI_RESULTS_H

#include "cli/experiment.h"
#include "run/store.h"

#include <signal.h>

typedef struct {
    bool quiet;                               /* no tables */
    int gnuplots;                             /* that draw figures at once; 0: only their data and scripts */
    const volatile sig_atomic_t *interrupted; /* then there are no figures; NULL: it never is */
} nb_telling;

/* Writes rows.csv, the study's files of the store's planned rows and the verdicts on the experiment's claims, prints
 * its tables, the verdicts and what went wrong, and draws the experiment's figures. *failures: rows that are neither ok
 * nor skipped, of all or of those that `only` flags. */
nb_status nb_tell_results(const nb_experiment *e, nb_store *store, const bool *only, const nb_telling *how,
                          int *failures, nb_ctx *ctx);

#endif
