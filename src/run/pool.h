/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.h - the workers of a run and the work left for them, shared by workers.c and blame.c. */
#ifndef NB_POOL_H
#define NB_POOL_H

#include "base/process.h"
#include "run/channel.h"
#include "run/child.h"
#include "run/jobs.h"
#include "run/plan.h"
#include "run/limits.h"
#include "run/sink.h"

#include <poll.h>
#include <signal.h>

enum { NB_PATIENCE_S = 10 }; /* seconds that a worker has to end when it has nothing left to do */

typedef struct nb_kept_row {
    int index;
    nb_row *row; /* the study's */
    struct nb_kept_row *next;
} nb_kept_row;

typedef struct {
    pid_t pid;
    long serial;           /* number of earlier workers in its place */
    int fd;                /* -1: there is none */
    bool leaving;          /* its channel is closed, but it is not reaped yet */
    bool fresh;            /* it has not got a job yet */
    bool apart;            /* a plug-in has run in it, or may have */
    nb_job *job;           /* NULL: none */
    double since_s;        /* when it got the job */
    nb_whereabouts *where; /* in a shared mapping of its own */
    nb_inbox inbox;
    nb_ctx *memory;            /* memory of the job */
    nb_kept_row *rows, **last; /* rows of the instance in flight */
    nb_kept_row *complete;     /* rows of the previous instance if the sink has not got it yet; NULL: it has */
    nb_ctx *mail, *read;       /* memory of `rows`, and of `complete` */
} nb_worker;

typedef struct {
    const nb_plan *plan;
    const nb_sink *sink;
    nb_ctx *ctx;
    nb_workers how;
    bool *left; /* by row of the plan: to be done */
    bool *told; /* by row of the plan: received for an instance in flight */
    nb_unit *units;
    int unit_count, next_unit;
    int pace_scene; /* the scene that unit_s is of */
    double unit_s;  /* seconds of one of its units in the job that ended last; 0: unknown */
    nb_job *queue;  /* parts of failed jobs, done before the next unit */
    nb_suspects suspects;
    nb_worker *workers;
    struct pollfd *polled;
    int worker_count;
    nb_doing *doing;  /* what each worker does, for the sink */
    double watched_s; /* when the sink was told last */
    bool putting;     /* the sink is in the middle of an instance */
    bool unkept;      /* the sink holds instances that are not committed yet */
    double unkept_s;  /* when the first of them came */
    bool stopping;
    bool begun;                /* the workers have something to do */
    sigset_t signals, blocked; /* signal masks outside of the pool, and in it */
} nb_pool;

/* Forks a worker in this place. */
nb_status nb_worker_start(nb_pool *pool, nb_worker *worker);

/* Forgets the rows of the instance in flight. */
void nb_worker_forget_mail(nb_worker *worker);

/* Tells a worker that there is no more to do. */
void nb_worker_let_go(nb_worker *worker);

/* Ends a worker that was let go, with everything it has left running. Its job, if any, stays with the caller.
 * nb_worker_dismiss first lets it go. */
nb_ending nb_worker_see_off(nb_worker *worker, double patience_s, bool ask);
nb_ending nb_worker_dismiss(nb_worker *worker, double patience_s, bool ask);

/* Begin and end an instance in the sink; commit the instances that it has got. */
nb_status nb_pool_begin(nb_pool *pool);
nb_status nb_pool_end(nb_pool *pool);
nb_status nb_pool_keep(nb_pool *pool);

/* Queues parts of jobs before the next unit. */
void nb_pool_push(nb_pool *pool, nb_job *parts);

#endif
