/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results.h - prints and writes the results of a run's rows. */
#ifndef NB_CLI_RESULTS_H
#define NB_CLI_RESULTS_H

#include "commands/experiment.h"
#include "report/relation.h"
#include "run/store.h"

#include <signal.h>

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

/* *where: a condition on the views of the rows that holds for those that `only` flags (by row of the plan; NULL: all).
 * *failures: how many of them are neither ok nor skipped, including "planned". */
nb_status nb_outcomes_choose(const nb_relation *relation, const nb_plan *plan, const bool *only, const char **where,
                             int *failures, nb_ctx *ctx);

/* Prints counts by status of the rows for which that holds, why they were skipped, and for each reason of failures the
 * first rows with the command that repeats one alone. The list of all rows goes to NB_FAILURES_FILE in the run's
 * folder; without failures there is no such file. */
nb_status nb_outcomes_print(const nb_experiment *e, const nb_relation *relation, const char *where, nb_ctx *ctx);

#endif
