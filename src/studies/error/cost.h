/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.h - what a unit of work costs, predicted from the plan alone: the same on
 * every machine, so that shards need no word between them. */
#ifndef NB_COST_H
#define NB_COST_H

#include "run/prediction.h"
#include "studies/error/study.h"

/* How long a strategy took once: seconds for m of n tokens, which grow as powers. */
typedef struct {
    const nb_choice *strategy;
    int n, m;
    double seconds, n_power, m_power;
} nb_pick_time;

/* The study's own speeds: how long strategies take. */
typedef struct {
    int count;
    const nb_pick_time *items; /* a strategy that has several: the nearest is taken; none: its traits */
} nb_pick_times;

/* What strategies and cores of one's own take is guessed from their traits. */
nb_cost nb_error_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending, const nb_speeds *speeds);

/* How the time of a strategy with these traits grows with n: its power, guessed. */
double nb_pick_n_power(unsigned traits);

/* A worker's seconds for the singular values of an S of order n that `m`
 * landmarks ask for, on the reference machine; with their vectors. */
double nb_cost_spectrum_s(int n, int m, bool vectors);

#endif
