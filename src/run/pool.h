/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.h - the workers of a run and what is left for them to do: what workers.c and blame.c share. */
#ifndef NB_POOL_H
#define NB_POOL_H

#include "base/process.h"
#include "run/channel.h"
#include "run/child.h"
#include "run/jobs.h"
#include "run/units.h"
#include "run/limits.h"
#include "run/sink.h"

#include <poll.h>
#include <signal.h>

enum { NB_PATIENCE_S = 10 }; /* with a worker that has nothing left to do but to end */

typedef struct nb_kept_row {
    int index;
    nb_row *row; /* the study's */
    struct nb_kept_row *next;
} nb_kept_row;

typedef struct {
    pid_t pid;
    long serial;           /* how many there were at its place before */
    int fd;                /* -1: there is none */
    bool leaving;          /* its channel is closed, and it is not waited for yet */
    bool fresh;            /* it has not been given anything yet */
    nb_job *job;           /* NULL: none */
    double since_s;        /* when it got that */
    nb_whereabouts *where; /* a mapping of its own */
    nb_inbox inbox;
    nb_ctx *memory;            /* of the job */
    nb_kept_row *rows, **last; /* of the instance in flight */
    nb_kept_row *complete;     /* of the one before, which the sink has not got yet; NULL: it has */
    nb_ctx *mail, *read;       /* of these rows, and of those */
} nb_worker;

typedef struct {
    const nb_plan *plan;
    const nb_sink *sink;
    nb_ctx *ctx;
    nb_workers how;
    bool *left; /* by row of the plan: to be done */
    bool *told; /* by row of the plan: kept, of an instance in flight */
    nb_unit *units;
    int unit_count, next_unit;
    int pace_scene; /* whose unit_s is known */
    double unit_s;  /* how long its units took in the job that ended last; 0: not known */
    nb_job *queue;  /* parts of jobs that went wrong: before the next unit */
    nb_suspects suspects;
    nb_worker *workers;
    struct pollfd *polled;
    int worker_count;
    nb_doing *doing;  /* of each worker, for the sink */
    double watched_s; /* when it was told last */
    bool putting;     /* the sink has a part of an instance */
    bool unkept;      /* it has instances that it was not asked to keep yet */
    double unkept_s;  /* since when */
    bool stopping;
    bool begun;                /* the workers have something to do */
    sigset_t signals, blocked; /* the masks outside of the pool, and in it */
} nb_pool;

/* Forks a worker at this place. */
nb_status nb_worker_start(nb_pool *pool, nb_worker *worker);

/* Forgets the rows of the instance in flight. */
void nb_worker_forget_mail(nb_worker *worker);

/* Tells a worker that there is no more to do. */
void nb_worker_let_go(nb_worker *worker);

/* Ends a worker that was let go, and all that it has left. Its job, if any, stays for the caller. */
nb_ending nb_worker_see_off(nb_worker *worker, double patience_s, bool ask);
nb_ending nb_worker_dismiss(nb_worker *worker, double patience_s, bool ask);

/* The sink gets an instance, and keeps what it has got. */
nb_status nb_pool_begin(nb_pool *pool);
nb_status nb_pool_end(nb_pool *pool);
nb_status nb_pool_keep(nb_pool *pool);

/* Adds parts of jobs to what comes before the next unit. */
void nb_pool_push(nb_pool *pool, nb_job *parts);

#endif
