/* SPDX-License-Identifier: GPL-3.0-or-later */
/* child.h - a worker: a forked copy of the run that computes the jobs received over its channel. */
#ifndef NB_CHILD_H
#define NB_CHILD_H

#include "run/plan.h"

#include <stdatomic.h>

/* Memory shared between a worker and its parent: what it is doing, and since when. */
typedef struct {
    _Atomic double since_s;
    _Atomic int phase, first, end; /* nb_sink's */
} nb_whereabouts;

void nb_whereabouts_note(nb_whereabouts *where, int phase, int first, int end);

typedef struct {
    const nb_plan *plan;
    nb_ctx *ctx;
    int blas_threads;
    double timeout_s; /* limit of a call that runs in a process of its own; 0: none */
    double share;     /* bytes that it may allocate beyond those held at its start; 0: no limit */
    nb_whereabouts *where;
    int fd; /* its end of the channel */
} nb_child;

/* Runs a worker in the forked process: reads jobs from the channel (a count, and that many rows of the plan), and sends
 * rows back. */
_Noreturn void nb_child_live(const nb_child *child);

#endif
