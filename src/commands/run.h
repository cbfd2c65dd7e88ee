/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.h - the end of a run, for the commands that make one. */
#ifndef NB_RUN_H
#define NB_RUN_H

#include "run/experiment.h"
#include "run/store.h"

/* Writes rows.csv and shares.csv of the store's planned rows, draws the experiment's
 * figures (with gnuplot: their pictures too), and prints the outcomes; unless quiet, the
 * table. *failures: rows that are neither ok nor skipped, of all or of those that `only` flags. */
nb_status nb_run_report(const nb_experiment *e, nb_store *store, const bool *only, bool quiet, bool gnuplot,
                        int *failures, nb_ctx *ctx);

#endif
