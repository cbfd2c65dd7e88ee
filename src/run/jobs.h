/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.h - the rows that are left to do, and the jobs in which workers get them. */
#ifndef NB_JOBS_H
#define NB_JOBS_H

#include "run/plan.h"

/* The rows first ... end - 1 of the plan that are left and, as the job says, are kept apart or are not. */
typedef struct {
    int first, end;
    bool apart;
    bool alone; /* for a process that does nothing else */
    bool again; /* a worker that had it was ended from outside */
    int units;  /* number of whole units; 0: a part of one */
} nb_job;

typedef enum { NB_ROW_DONE, NB_ROW_LEFT, NB_ROW_TOLD } nb_row_progress; /* told: done, but its instance is not */

/* `rows` belongs to the caller, who changes it as rows are done. Rows are kept apart if their method has killed a
 * worker before, or runs a plug-in's component in the worker itself. */
typedef struct {
    const nb_plan *plan;
    nb_ctx *ctx;
    char *rows;   /* by row of the plan: its nb_row_progress */
    bool *apart;  /* by row of the plan */
    bool *deadly; /* by method of the plan */
    nb_unit *units;
    int unit_count, next_unit;
    int pace_scene; /* the scene that unit_s is of */
    double unit_s;  /* seconds of one of its units in the job that ended last; 0: unknown */
    nb_job *queue;  /* parts of jobs, done before the next unit; the last one first */
    int queued, room;
} nb_jobs;

nb_status nb_jobs_new(const nb_plan *plan, const bool *pending, nb_jobs *jobs, nb_ctx *ctx);

/* Returns whether a row is one of the job's that are left. */
bool nb_jobs_has(const nb_jobs *jobs, const nb_job *job, int row);

/* Moves job->first to the first row that is left; returns false if none is. */
bool nb_jobs_any(const nb_jobs *jobs, nb_job *job);

/* Returns how many rows of the instance in flight are left. */
int nb_jobs_count_together(const nb_jobs *jobs, const nb_job *job);

/* Takes the next job; *found is false if there is none. Short units are given several at a time. */
nb_status nb_jobs_next(nb_jobs *jobs, int worker_count, nb_job *job, bool *found);

/* Makes that job the next one again. */
nb_status nb_jobs_put_back(nb_jobs *jobs, const nb_job *job);

/* Is told how long a job took. */
void nb_jobs_note_pace(nb_jobs *jobs, const nb_job *job, double seconds);

/* Returns the study's record of a phase; one of its own for the start, and for a phase that there is not. */
const nb_phase *nb_phase_of(const nb_plan *plan, int phase);

/* Takes back the rows left of a job whose worker ended in that phase, `outside`: perhaps by a signal
 * from outside.
 * 1. The rows of the instance in flight become a job for a process of their own (all of the unit's, if the phase is of
 *    its data), and those behind them another.
 * 2. If that process ends too, they are divided by the study's levels from coarse to fine: rows that share computations
 *    stay together as long as others may be the cause.
 * 3. What cannot be divided is to blame: *blamed is set, and nothing is queued. */
nb_status nb_jobs_take_back(nb_jobs *jobs, const nb_job *job, const nb_phase *phase, bool outside, bool *blamed);

#endif
