/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.h - a job is what a worker is given at a time: rows of one unit, or of several of a scene. A job whose worker
 * died is divided until only what killed it is left. */
#ifndef NB_JOBS_H
#define NB_JOBS_H

#include "run/plan.h"

typedef struct nb_job {
    int count, *rows; /* of the plan, ascending */
    bool fresh;       /* for a worker that has done nothing before */
    int attempts;     /* that ended from outside */
    int units;        /* how many it is made of; 0: a part of some */
    struct nb_job *next;
} nb_job;

typedef struct {
    int phase;      /* NB_AT_START, or 1 + the index of the study's phase */
    int first, end; /* rows of the plan */
} nb_position;

/* The suspects: components of the plan that have killed a worker on their own. Their rows are kept apart from the
 * others from the start. */
typedef struct {
    bool *flags[NB_MOST_AXES]; /* by axis, and value of it; NULL: no component */
} nb_suspects;

nb_status nb_suspects_new(const nb_plan *plan, nb_suspects *suspects, nb_ctx *ctx);
void nb_suspects_add(const nb_plan *plan, nb_position at, nb_suspects *suspects);

/* Divides the job, whose worker died at that position. Whoever was at work then is
 * parted from the rest: all that one component does. Where the job is
 * that alone, by trial and the study's levels, from coarse to fine; then by row:
 * rows that share computations are together as long as there is somebody else to
 * blame, and so keep their bits. A job that was not a fresh worker's is first tried
 * again by one. *parts (for fresh workers, owned by ctx) is NULL
 * where the job cannot be divided: then its rows are to blame. */
nb_status nb_job_divide(const nb_plan *plan, const nb_job *job, nb_position at, nb_job **parts, nb_ctx *ctx);

/* Parts the suspects from a job that has not begun: *job keeps the others' rows, which
 * may be none, and *parts are the suspects'. */
nb_status nb_job_part_suspects(const nb_plan *plan, const nb_suspects *suspects, nb_job *job, nb_job **parts,
                               nb_ctx *ctx);

/* A copy, owned by ctx, of the rows for which left[] is set. */
nb_status nb_job_rest(const nb_job *job, const bool *left, nb_job **rest, nb_ctx *ctx);

#endif
