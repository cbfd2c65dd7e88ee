/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prediction.h - predicts time and memory of a run: each study counts the work of its units, and the speed of this
 * machine is measured. */
#ifndef NB_PREDICTION_H
#define NB_PREDICTION_H

#include "run/store.h"
#include "run/plan.h"

/* The range reaches from the likely time over this factor to the likely time times it. */
#define NB_PREDICTION_MARGIN 1.4

typedef struct nb_cost {
    double multiplications; /* as many of a large product of matrices as take the same time: what is slower counts for
                               more of them */
    double given_s;         /* seconds beside them that are the same everywhere, such as a time that the config gives */
    double bytes;           /* peak memory of the process */
} nb_cost;

/* The exponential of an entry and its sums count as this. */
#define NB_EXPONENTIAL 38

/* Multiplications a second of one worker on a usual machine, for what must be the same on all: where shards are cut. */
#define NB_USUAL_RATE 12.5e9

/* Predicts the cost of the unit's pending rows (NULL: of all), from the plan alone: the same everywhere, so that shards
 * agree without exchanging anything. */
nb_cost nb_cost_of(const nb_plan *plan, const nb_unit *unit, const bool *pending);

/* Returns the seconds of one worker that does so many multiplications a second. */
double nb_cost_s(const nb_cost *cost, double rate);

typedef struct {
    double rate; /* multiplications a second of one worker */
    bool kept;   /* the rate of earlier rows; else of a product just measured */
    double load; /* load by other programs; 0: none */
    int cpus;
} nb_machine_speed;

/* Measures how fast this machine is, from a small product and some exponentials, in a tenth of a second. CPU time is
 * used if the process did not wait, and the shortest of several tries, since other programs can make a try longer by
 * any factor. */
nb_status nb_measure_machine(nb_machine_speed *machine, nb_ctx *ctx);

/* The same from the rate that the store keeps of rows measured by this machine's kind of CPU, if it does. `store` NULL:
 * there is none. */
nb_status nb_find_machine(nb_store *store, nb_machine_speed *machine, nb_ctx *ctx);

typedef struct {
    int unit_count;
    nb_unit *units;       /* those with pending rows, in the plan's order */
    double *unit_s;       /* likely seconds of one worker for each */
    double *unit_bytes;   /* memory of each, the largest first */
    double total_s;       /* sum over all units */
    nb_cost total;        /* the same as work; without bytes */
    double wall_s;        /* with `workers`, each taking the next unit when it is free */
    double low_s, high_s; /* range around wall_s: on an idle machine, and under the present load */
    double bytes;         /* of the largest unit */
    double all_bytes;     /* of the largest units that may run at the same time */
    int workers;
} nb_predicted;

/* Predicts the pending rows' time and memory with at most so many workers at a time. */
nb_status nb_predict(const nb_plan *plan, const bool *pending, nb_machine_speed machine, int workers,
                     nb_predicted *predicted, nb_ctx *ctx);

typedef struct { /* the last run's prediction for the rows that it measured */
    bool known;
    double low_s, high_s; /* the range that was predicted */
    double taken_s;
} nb_past_prediction;

/* Stores what was predicted and what it took, of a share of the work, and the rate of its rows, unless they took too
 * short to tell. */
nb_status nb_prediction_keep(const nb_predicted *predicted, double share, double taken_s, nb_store *store, nb_ctx *ctx);
/* Returns the multiplications a second of one worker in a share of what was predicted; NaN if that was mostly not
 * multiplications, but time that was given. */
double nb_rate_of(const nb_predicted *predicted, double share, double taken_s);
nb_status nb_prediction_past(nb_store *store, nb_past_prediction *past, nb_ctx *ctx);

#endif
