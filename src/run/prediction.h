/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prediction.h - predicts time and memory of a run: each study counts the work of its units, and the speed of this
 * machine is measured. */
#ifndef NB_PREDICTION_H
#define NB_PREDICTION_H

#include "run/store.h"
#include "run/plan.h"

/* The range reaches from the likely time over this factor to the likely time times it. */
#define NB_PREDICTION_MARGIN 1.4

struct nb_cost {
    double seconds; /* seconds of one worker with one BLAS thread on the reference machine */
    double fixed_s; /* part of `seconds` that is the same on every machine, such as a time that the config gives */
    double bytes;   /* peak memory of the process */
};

/* Predicts the cost of the unit's pending rows (NULL: of all), from the plan alone: the same everywhere, so that shards
 * agree without exchanging anything. */
nb_cost nb_cost_of(const nb_plan *plan, const nb_unit *unit, const bool *pending);

typedef struct {
    double slowness; /* seconds here for one second on the reference machine */
    double load;     /* load by other programs; 0: none */
    int cpus;
} nb_machine_speed;

/* Measures how fast this machine is, from a small product and some exponentials, in a tenth of a second. CPU time is
 * used if the process did not wait, and the shortest of several tries, since other programs can make a try longer by
 * any factor. The reference machine is one CPU of an AMD EPYC (Zen 3). */
nb_status nb_measure_machine(nb_machine_speed *machine, nb_ctx *ctx);

typedef struct {
    int unit_count;
    nb_unit *units;       /* those with pending rows, in the plan's order */
    double *unit_s;       /* likely seconds of one worker for each */
    double *unit_bytes;   /* memory of each, the largest first */
    double total_s;       /* sum over all units */
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

/* Store and read what was predicted and what it took. */
nb_status nb_prediction_keep(nb_past_prediction past, nb_store *store, nb_ctx *ctx);
nb_status nb_prediction_past(nb_store *store, nb_past_prediction *past, nb_ctx *ctx);

#endif
