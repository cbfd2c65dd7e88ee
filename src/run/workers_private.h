/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workers_private.h - the workers of a run, and what is shared by the files that start, hear and end them. */
#ifndef NB_WORKERS_PRIVATE_H
#define NB_WORKERS_PRIVATE_H

#include "base/process.h"
#include "run/channel.h"
#include "run/jobs.h"
#include "run/workers.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>

typedef struct { /* memory that a worker shares with its parent, and may write anything into */
    _Atomic double since_s;
    _Atomic int phase, first, end; /* what it is doing, and since when: nb_sink's `at` */
    bool job[];                    /* by row of the plan: it is in the worker's job */
} nb_worker_page;

typedef struct nb_kept_row {
    int index;
    nb_row *row; /* the study's */
    struct nb_kept_row *next;
} nb_kept_row;

typedef enum {
    NB_ABSENT,  /* there is no process */
    NB_BUSY,    /* rows of its job are left */
    NB_READY,   /* its job's rows are complete; it has not said yet that it can do the next */
    NB_LEAVING, /* its channel is closed, at which it ends */
    NB_WORKER_STATES
} nb_worker_state;

typedef struct {
    nb_worker_state state;
    pid_t pid;
    int fd; /* the parent's end of its channel; of one that is leaving, its pidfd */
    nb_packet inbox;
    nb_job job;
    double since_s; /* when it got the job, or was let go */
    double heard_s; /* when its last instance was heard to be complete */
    nb_worker_page *page;
    nb_kept_row *rows, **last; /* of the instance in flight; of the last one, complete, where it is ready */
    nb_ctx *mail;              /* memory of `rows` */
} nb_worker;

typedef struct {
    const nb_plan *plan;
    const nb_sink *sink;
    nb_ctx *ctx;
    nb_workers how;
    nb_jobs jobs;
    nb_message heard; /* the last message */
    size_t page_bytes;
    nb_worker *workers;
    struct pollfd *polled;
    int worker_count;
    double watch_at_s;  /* when the sink is told next */
    double commit_at_s; /* when the sink's instances are to be committed; infinity: there are none */
    double resumed_s;   /* when this process went on after it had been stopped, with its workers; -infinity: never */
    bool stopping;
    sigset_t signals, blocked; /* signal masks outside of the pool, and in it */
} nb_pool;

/* Describes what a worker is doing: see nb_sink's `at`. */
typedef struct {
    int phase, first, end; /* first == end: nothing */
    double since_s;        /* by nb_clock_s */
} nb_doing;

/* Write and read what a worker is doing. */
void nb_worker_note(nb_worker_page *page, int phase, int first, int end);
nb_doing nb_worker_doing(const nb_worker *worker);

/* Returns when a worker's time for what it does is over, and sets how long that is; infinity: never. */
double nb_worker_deadline(const nb_pool *pool, const nb_worker *worker, double *limit_s);

/* Gives the worker the next job, if there is one and it may take it: in a new process if there is none. Lets it go if
 * there is no job, or if one of the two is for a process that does nothing else. */
nb_status nb_worker_hand_out(nb_pool *pool, nb_worker *worker);

/* A worker that is let go has so long to end; others are heard meanwhile. */
enum { NB_PATIENCE_S = 10 };

/* Ends a worker with all that it has left running: after that time, or sooner. Its job stays with the caller. */
nb_ending nb_worker_end(nb_worker *worker, double patience_s, bool ask);

/* The table names the action for a worker's state and what was heard: pool->heard, or NB_HEARD_NOTHING before its
 * deadline. */
typedef nb_status nb_worker_action(nb_pool *pool, nb_worker *worker);
extern nb_worker_action *const nb_worker_actions[NB_WORKER_STATES][NB_HEARD_NOTHING + 1];

/* Runs the worker's first job in the process that was forked for it, and those that it is given over the socket. */
_Noreturn void nb_worker_live(const nb_pool *pool, const nb_worker *worker, int fd);

#endif
