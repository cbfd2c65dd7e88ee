/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.h - jobs, which are given to one worker at a time: rows of one unit, or of several units of a scene. The job of
 * a worker that died is divided until only what killed it is left. */
#ifndef NB_JOBS_H
#define NB_JOBS_H

#include "run/plan.h"

typedef struct nb_job {
    int count, *rows; /* of the plan, ascending */
    bool fresh;       /* only for a worker that has done nothing before */
    int attempts;     /* attempts that were ended from outside */
    int units;        /* number of units in it; 0: only a part of units */
    struct nb_job *next;
} nb_job;

typedef struct {
    int phase;      /* NB_AT_START, or 1 + the index of the study's phase */
    int first, end; /* rows of the plan */
} nb_position;

/* Suspects: components of the plan that killed a worker when they ran alone, and those of plug-ins that run in a worker
 * itself: all but strategies and cores. Their rows are kept apart from others from the start, and their workers too. */
typedef struct {
    char *flags[NB_MOST_AXES]; /* by axis and value, 0: none; NULL: no axis of components */
} nb_suspects;

nb_status nb_suspects_new(const nb_plan *plan, nb_suspects *suspects, nb_ctx *ctx);
void nb_suspects_add(const nb_plan *plan, nb_position at, nb_suspects *suspects);

/* Divides the job of a worker that died at that position:
 * 1. A job of a worker that was not fresh is first tried again by a fresh one.
 * 2. The rows of the component that was at work are separated from the rest.
 * 3. A job of that component alone is divided by trial, then by the study's levels from coarse to fine, then by row:
 *    rows that share computations, and so keep their bits, stay together as long as another cause is possible.
 * *parts (for fresh workers, owned by ctx) is NULL if the job cannot be divided: then its rows are to blame. */
nb_status nb_job_divide(const nb_plan *plan, const nb_job *job, nb_position at, nb_job **parts, nb_ctx *ctx);

/* True if a worker that has done the job must not do another. */
bool nb_job_is_apart(const nb_plan *plan, const nb_suspects *suspects, const nb_job *job);

/* Separates the suspects from a job that has not begun: *job keeps the others' rows, maybe none, and *parts has the
 * suspects'. */
nb_status nb_job_part_suspects(const nb_plan *plan, const nb_suspects *suspects, nb_job *job, nb_job **parts,
                               nb_ctx *ctx);

/* Copies the rows for which left[] is set; ctx owns the copy. */
nb_status nb_job_rest(const nb_job *job, const bool *left, nb_job **rest, nb_ctx *ctx);

#endif
