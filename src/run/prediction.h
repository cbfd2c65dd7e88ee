/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prediction.h - how long a run will take and what it will need, from the rows measured so far, or a calibration. */
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

enum { NB_MOST_UNTIMED = 5 }; /* that are named */

typedef struct {
    int count;
    const char *names, *reason; /* components, "a, b", and why none of them could be timed */
} nb_untimed;

struct nb_prediction {
    const nb_plan *plan;
    nb_speeds low, likely, high;
    double load; /* the machine's load from other programs, and its CPUs; load 0: the speeds include it */
    int cpus;
    const char *source; /* where the speeds come from, for people */
    int untimed_count;
    nb_untimed *untimed; /* whose time is only guessed, though it was to be measured; one for each reason */
};

/* Of the unit's pending rows; pending NULL: of all. On the reference machine, from the plan alone: the same
 * everywhere, so that shards agree without exchanging anything. */
nb_cost nb_cost_of(const nb_plan *plan, const nb_unit *unit, const bool *pending);

/* For the pending rows. `store`: where earlier rows are, or NULL. Without `thorough` nothing is tried, and a time
 * that no row has is guessed. */
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

/* Keeps in the store how fast this machine is: `taken_s` for the rows that are flagged, with so many workers. The
 * time that strategies took is in their rows by now and is left out. No row may have failed: its strategy's time is in
 * none. Nothing is kept if that time is too short. */
nb_status nb_prediction_learn(const nb_plan *plan, const bool *ran, int workers, double taken_s, nb_store *store,
                              nb_ctx *ctx);

typedef struct { /* the last call's, of the rows that it measured */
    bool known;
    double low_s, high_s; /* the range that was predicted */
    double taken_s;
} nb_past_prediction;

/* Keeps in the store what was predicted and what it took. */
nb_status nb_prediction_keep(nb_past_prediction past, nb_store *store, nb_ctx *ctx);
nb_status nb_prediction_past(nb_store *store, nb_past_prediction *past, nb_ctx *ctx);

#endif
