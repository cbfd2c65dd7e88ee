/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prediction.h - how long a run will take and what it will need, from rows that are
 * there, or a calibration. */
#ifndef NB_PREDICTION_H
#define NB_PREDICTION_H

#include "run/units.h"

/* Times on an idle machine lie within this factor of what is likely. */
#define NB_PREDICTION_MARGIN 1.3

struct nb_cost {
    double seconds; /* of one worker with one BLAS thread */
    double own_s;   /* the part of these that does not scale with the machine's speed: it was timed here */
    double bytes;   /* most that the process holds at a time */
};

/* At which speed. */
struct nb_speeds {
    double machine;  /* seconds here for one of the reference machine */
    const void *own; /* the study's: how long its components take; NULL: guessed */
};

struct nb_prediction {
    const nb_plan *plan;
    nb_speeds low, likely, high;
    double load; /* of the machine, which other programs make, and its cores; 0: it is in the speeds already */
    int cores;
    const char *source;  /* where the speeds come from, for people */
    const char *unknown; /* components whose time is only guessed, for people; NULL: none */
};

/* Of the unit's pending rows; pending NULL: of all. On the reference machine, from the plan
 * alone: the same everywhere, so that shards need no word between them. */
nb_cost nb_cost_of(const nb_plan *plan, const nb_unit *unit, const bool *pending);

/* For the pending rows. `store`: where earlier rows are, or NULL. Without
 * `thorough` nothing is tried: what no row tells is guessed. */
nb_status nb_prediction_make(const nb_plan *plan, const bool *pending, nb_store *store, bool thorough,
                             nb_prediction *prediction, nb_ctx *ctx);

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
} nb_predicted;

/* With at most so many workers at a time. */
nb_status nb_predict(const nb_prediction *prediction, const bool *pending, int workers, nb_predicted *predicted,
                     nb_ctx *ctx);

/* Keeps in the store how fast this machine is: `taken_s` for the rows that are
 * flagged, with so many workers. The time that strategies took is in their rows by
 * now and is left out. Too short a time tells nothing. */
nb_status nb_prediction_learn(const nb_plan *plan, const bool *ran, int workers, double taken_s, nb_store *store,
                              nb_ctx *ctx);

#endif
