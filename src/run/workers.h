/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workers.h - runs a plan's rows in several processes, none of which can harm the others. */
#ifndef NB_WORKERS_H
#define NB_WORKERS_H

#include "run/plan.h"
#include "run/sink.h"

/* The number of workers of a run, and the limits of each. */
typedef struct {
    int jobs;         /* worker processes; 0: this process computes */
    int blas_threads; /* BLAS threads of each */
    double timeout_s; /* time limit of one row; 0: none */
    double memory;    /* bytes for all workers together; 0: no limit */
    double share;     /* bytes that one may allocate beyond those held at its start; 0: no limit */
} nb_workers;

/* Reduces an exclusive study to one worker; returns whether this removed any. nb_run_plan does so too. */
bool nb_workers_alone(const nb_plan *plan, nb_workers *workers);

/* Reduces workers->jobs to as many as may run at once: as many of the largest pending units must fit into
 * workers->memory by prediction. Also sets the share of each: an equal one, or 1.5 times what the largest unit is
 * predicted to need. NB_EINVAL, with the unit's name and both numbers, if one does not fit alone. */
nb_status nb_workers_fit(const nb_plan *plan, const bool *pending, nb_workers *workers, nb_ctx *ctx);

/* Returns how many workers such a run starts where so many units have pending rows: no more than there are units. */
int nb_workers_started(const nb_workers *workers, int units);

/* Runs the rows of the plan for which pending[] is set. The sink's `row` is called only in this process, between
 * `begin` and `end`, for rows of one instance that were done together: rows have the same bits for any number of jobs,
 * except times. When it returns all workers have been reaped, and nothing that they started is left.
 *
 * A worker that dies, exceeds its time, runs out of memory or sends nonsense costs only those rows that do so again,
 * alone in a fresh worker: they become `crashed`, `timeout` or `failed`, with the reason. The time limit of a row holds
 * for each of the study's phases; work for `count` rows together may take `count` times as long. Rows whose worker was
 * ended from outside (SIGKILL, SIGTERM, SIGINT, SIGHUP) are tried once more.
 *
 * sink->stop ends the workers at once: an instance is either done or has not begun. So does an error of the sink. Call
 * it before this process has started threads. With jobs = 0 a crash ends this process, and there is no limit of time or
 * memory. */
nb_status nb_run_plan(const nb_plan *plan, const bool *pending, nb_workers workers, const nb_sink *sink, nb_ctx *ctx);

#endif
