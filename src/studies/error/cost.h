/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.h - predicts the cost of a unit of work from the plan alone: the same on every machine, so that shards agree
 * without exchanging anything. */
#ifndef NB_COST_H
#define NB_COST_H

#include "run/prediction.h"
#include "studies/error/study.h"

/* A measured time of a strategy: seconds for m of n tokens, which grow as powers of both. */
typedef struct {
    const nb_choice *strategy;
    int n, m;
    double seconds, n_power, m_power;
} nb_pick_time;

/* The study's own speeds: times of strategies. */
typedef struct {
    int count;
    const nb_pick_time *items; /* of several for a strategy the nearest is used; if there is none, its traits are */
} nb_pick_times;

/* Predicts the cost; the time of plug-in strategies and cores is guessed from their traits. */
nb_cost nb_error_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending, const nb_speeds *speeds);

/* Returns a guess of the power of n by which the time of a strategy with these traits grows. */
double nb_pick_n_power(unsigned traits);

#endif
