/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workers.h - a plan's rows spread over processes, none of which can harm the others. */
#ifndef NB_WORKERS_H
#define NB_WORKERS_H

#include "run/limits.h"
#include "run/plan.h"
#include "run/sink.h"

/* One worker where the study is exclusive; whether that takes some away. nb_run_plan sees to it too. */
bool nb_workers_alone(const nb_plan *plan, nb_workers *workers);

/* How many of workers->jobs may run at once: the largest units that are pending, that many of them, are predicted to
 * fit into workers->memory together. Sets their share too: an equal one, or half more than the largest unit is
 * predicted to need. NB_EINVAL, with the unit's name and both numbers, if one does not fit alone. */
nb_status nb_workers_fit(const nb_plan *plan, const bool *pending, nb_workers *workers, nb_ctx *ctx);

/* Runs the rows of the plan for which pending[] is set. The sink's row is called in this process alone, between
 * begin and end, for rows of one instance that were done together: rows are the same bits whatever the number of
 * jobs, but for times. The ends of all workers have been awaited when it returns, and nothing that they started is
 * left.
 *
 * A worker that dies, exceeds its time, runs out of memory or sends nonsense costs only those rows that do so again,
 * alone in a fresh worker: they become `crashed`, `timeout` or `failed`, with the reason. How long one row takes is
 * the time of each of the study's phases; what is done for `count` rows together may take `count` times as long.
 * Rows whose worker was ended from outside (SIGKILL, SIGTERM, SIGINT, SIGHUP) are tried once more.
 *
 * sink->stop ends the workers at once: an instance is done or as if it had not begun. So does an error of the sink.
 * Call it before this process has started threads. With jobs = 0 a crash is a crash of this process, and there is no
 * limit of time or memory. */
nb_status nb_run_plan(const nb_plan *plan, const bool *pending, nb_workers workers, const nb_sink *sink, nb_ctx *ctx);

#endif
