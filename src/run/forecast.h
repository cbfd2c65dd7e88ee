/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forecast.h - how long a run will take and what it will need, from rows that are
 * there, or a calibration. */
#ifndef NB_FORECAST_H
#define NB_FORECAST_H

#include "studies/error/cost.h"
#include "run/store.h"

typedef struct {
    const nb_plan *plan;
    nb_speeds low, likely, high;
    double load; /* of the machine, which other programs make, and its cores; 0: it is in the speeds already */
    int cores;
    const char *source;  /* where the speeds come from, for people */
    const char *unknown; /* strategies whose time is only guessed, for people; NULL: none */
} nb_forecast;

/* For the pending rows. `store`: where earlier rows are, or NULL. Without
 * `thorough` nothing is tried: what no row tells is guessed. */
nb_status nb_forecast_make(const nb_plan *plan, const bool *pending, nb_store *store, bool thorough,
                           nb_forecast *forecast, nb_ctx *ctx);

typedef struct {
    int unit_count;
    nb_unit *units;       /* those with pending rows, in the plan's order */
    double *unit_s;       /* a worker's likely seconds for each */
    double total_s;       /* of all units, one after the other */
    double wall_s;        /* with so many workers, which take the next unit when they are free */
    double low_s, high_s; /* the range around wall_s: with the machine to itself, and under its load */
    double bytes;         /* of the largest unit */
    double all_bytes;     /* of the largest that may run at a time */
    int workers;
} nb_foreseen;

/* With at most so many workers at a time. */
nb_status nb_foresee(const nb_forecast *forecast, const bool *pending, int workers, nb_foreseen *foreseen, nb_ctx *ctx);

/* Keeps in the store how fast this machine is: `taken_s` for the rows that are
 * flagged, with so many workers. The time that strategies took is in their rows by
 * now and is left out. Too short a time tells nothing. */
nb_status nb_forecast_learn(const nb_plan *plan, const bool *ran, int workers, double taken_s, nb_store *store,
                            nb_ctx *ctx);

#endif
