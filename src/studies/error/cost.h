/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.h - what a unit of work costs, predicted from the plan alone: the same on every machine, so that shards agree
 * without exchanging anything. */
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

/* The study's own speeds: times of strategies. */
typedef struct {
    int count;
    const nb_pick_time *items; /* a strategy that has several: the nearest is taken; none: its traits */
} nb_pick_times;

/* The time of plug-in strategies and cores is guessed from their traits. */
nb_cost nb_error_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending, const nb_speeds *speeds);

/* How the time of a strategy with these traits grows with n: its power, guessed. */
double nb_pick_n_power(unsigned traits);

#endif
