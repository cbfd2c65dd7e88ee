/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prediction.h - predicts time and memory of a run, from the rows measured so far or from a calibration. */
#ifndef NB_PREDICTION_H
#define NB_PREDICTION_H

#include "run/units.h"

/* Times on an idle machine are within this factor of the likely time. */
#define NB_PREDICTION_MARGIN 1.3

struct nb_cost {
    double seconds; /* seconds of one worker with one BLAS thread */
    double own_s;   /* part of `seconds` that was timed here, and so does not scale with the machine's speed */
    double bytes;   /* peak memory of the process */
};

/* The speeds to predict with. */
struct nb_speeds {
    double machine;  /* seconds here for one second on the reference machine */
    const void *own; /* the study's times of its components; NULL: guessed */
};

enum { NB_MOST_UNTIMED = 5 }; /* most groups that are named */

typedef struct {
    int count;
    const char *names, *reason; /* components, "a, b", and why they could not be timed */
} nb_untimed;

struct nb_prediction {
    const nb_plan *plan;
    nb_speeds low, likely, high;
    double load; /* load of the machine by other programs, and its CPUs; load 0: the speeds include it */
    int cpus;
    const char *source; /* where the speeds come from, for people */
    int untimed_count;
    nb_untimed *untimed; /* components whose time is guessed although it should have been measured, by reason */
};

/* Predicts the cost of the unit's pending rows (NULL: of all) on the reference machine, from the plan alone: the same
 * everywhere, so that shards agree without exchanging anything. */
nb_cost nb_cost_of(const nb_plan *plan, const nb_unit *unit, const bool *pending);

/* Makes a prediction for the pending rows. `store`: earlier rows, or NULL. Without `thorough` nothing is tried, and a
 * time that no row has is guessed. */
nb_status nb_prediction_make(const nb_plan *plan, const bool *pending, nb_store *store, bool thorough,
                             nb_prediction *prediction, nb_ctx *ctx);

typedef struct {
    int unit_count;
    nb_unit *units;       /* those with pending rows, in the plan's order */
    double *unit_s;       /* likely seconds of one worker for each */
    double total_s;       /* sum over all units */
    double wall_s;        /* with `workers`, each taking the next unit when it is free */
    double low_s, high_s; /* range around wall_s: on an idle machine, and under the present load */
    double bytes;         /* of the largest unit */
    double all_bytes;     /* of the largest units that may run at the same time */
    int workers;
} nb_predicted;

/* Predicts with at most so many workers at a time. */
nb_status nb_predict(const nb_prediction *prediction, const bool *pending, int workers, nb_predicted *predicted,
                     nb_ctx *ctx);

/* Stores the speed of this machine: the flagged rows took `taken_s` with so many workers. The time of strategies is in
 * their rows by now, and is left out; so no row may have failed, since its strategy's time is in none. Stores nothing
 * if that time is too short. */
nb_status nb_prediction_learn(const nb_plan *plan, const bool *ran, int workers, double taken_s, nb_store *store,
                              nb_ctx *ctx);

typedef struct { /* the last run's prediction for the rows that it measured */
    bool known;
    double low_s, high_s; /* the range that was predicted */
    double taken_s;
} nb_past_prediction;

/* Store and read what was predicted and what it took. */
nb_status nb_prediction_keep(nb_past_prediction past, nb_store *store, nb_ctx *ctx);
nb_status nb_prediction_past(nb_store *store, nb_past_prediction *past, nb_ctx *ctx);

#endif
