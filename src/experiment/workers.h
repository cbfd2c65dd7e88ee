/* workers.h - a plan's scenes spread over processes. */
#ifndef NB_WORKERS_H
#define NB_WORKERS_H

#include "experiment/runner.h"

typedef struct {
    int jobs;         /* processes that compute; 1: this one */
    int blas_threads; /* of each */
} nb_workers;

/* Runs the rows of the plan for which pending[] is set. The sink is called in
 * this process alone, one whole instance at a time, in the order in which they
 * are done: rows are the same bits whatever the number of jobs, but for times.
 * The ends of all workers have been awaited when it returns.
 *
 * With one job, what nb_run_scene does. With more, sink->stop ends the workers
 * at once: an instance is done or as if it had not begun. So does an error. A
 * worker that dies costs its unit of work; the others go on, and then it is
 * NB_EIO, with where and how it died. Call it before this process has started
 * threads. */
nb_status nb_run_plan(const nb_plan *plan, const bool *pending, nb_workers workers, const nb_sink *sink, nb_ctx *ctx);

#endif
