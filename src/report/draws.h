/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draws.h - which rows another trial may give another result for, even on the same data: there is one, or a component
 * of theirs draws random numbers. */
#ifndef NB_DRAWS_H
#define NB_DRAWS_H

#include "base/ctx.h"
#include "statistics/crossed.h"

enum { NB_LEAST_TRIALS = 3 }; /* for a verdict on what is drawn: from fewer, its luck cannot be told */

/* Finds whether a component that a column names draws; one that the program does not know may. Of a column without
 * components false. */
nb_status nb_draws_component(const char *column, const char *spec, bool *draws, nb_ctx *ctx);

/* Returns in how many trials the sources of each stratum have what is drawn there: the fewest; -1: nothing is drawn. */
int nb_drawn_trials(int strata, const nb_common_error *common, const bool *draws);
/* *why: that these are too few for a verdict. */
nb_status nb_draws_few(int trials, const char **why, nb_ctx *ctx);

#endif
