/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.h - the pending rows of one scene, for a study's `run`: they are run one instance (the scene in one trial)
 * after the other, and their outcomes are recorded. */
#ifndef NB_PENDING_H
#define NB_PENDING_H

#include "run/plan.h"
#include "run/sink.h"

typedef struct { /* the arguments of `run` */
    const nb_plan *plan;
    int scene;        /* a scene of the plan */
    const bool *rows; /* by row of the plan: pending */
    const nb_sink *sink;
    nb_ctx *ctx;
} nb_pending;

/* Runs the pending rows of first ... end - 1, which are of one trial. */
typedef nb_status nb_instance_run(void *self, int first, int end);

/* Calls `run` for each trial with pending rows, until it fails or the sink stops. If the scene is impossible, its rows
 * are skipped instead. */
nb_status nb_pending_run(const nb_pending *p, nb_instance_run *run, void *self);

const nb_planned_scene *nb_pending_scene(const nb_pending *p);
bool nb_pending_any(const nb_pending *p, int first, int end); /* true if any of these rows is pending */

/* Announces what begins now (the index of the study's phase) for rows first ... end - 1. */
void nb_pending_at(const nb_pending *p, int phase, int first, int end);

/* Delivers a finished row. Its reason may contain a component's own words. */
nb_status nb_pending_put(const nb_pending *p, int index, nb_row *row);
/* Delivers the same outcome for all pending rows of first ... end - 1. */
nb_status nb_pending_put_all(const nb_pending *p, int first, int end, const char *status, const char *reason);
/* Returns the status of rows for which a call returned that error: "failed", "crashed" or "timeout". */
const char *nb_pending_outcome(nb_status status);
/* Delivers this outcome for these rows, with the ctx's error as its reason. A failure of the machine, NB_EHOST, is
 * returned instead: it ends the run. */
nb_status nb_pending_fail(const nb_pending *p, nb_status status, int first, int end);

#endif
