/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.h - the rows of one scene that a study's `run` is asked for, one instance (the scene in one trial) after the
 * other, and what they end with. */
#ifndef NB_PENDING_H
#define NB_PENDING_H

#include "run/plan.h"
#include "run/sink.h"

typedef struct { /* what `run` is given */
    const nb_plan *plan;
    int scene;        /* of the plan */
    const bool *rows; /* of the plan: which are pending */
    const nb_sink *sink;
    nb_ctx *ctx;
} nb_pending;

/* Runs rows first ... end - 1, of one trial, some of which are pending. */
typedef nb_status nb_instance_run(void *self, int first, int end);

/* Calls `run` for each trial with pending rows, until it fails or the sink says stop. If the scene is impossible, its
 * rows are skipped instead. */
nb_status nb_pending_run(const nb_pending *p, nb_instance_run *run, void *self);

const nb_planned_scene *nb_pending_scene(const nb_pending *p);
bool nb_pending_any(const nb_pending *p, int first, int end); /* of these rows */

/* Tells what begins now (the index of the study's phase), for rows first ... end - 1. Fails once a component has
 * damaged the process: a worker ends here, and without workers the run. */
nb_status nb_pending_at(const nb_pending *p, int phase, int first, int end);

/* A row that is done. Its reason may contain a component's own words. */
nb_status nb_pending_put(const nb_pending *p, int index, nb_row *row);
/* The same outcome for rows first ... end - 1 that are pending. */
nb_status nb_pending_put_all(const nb_pending *p, int first, int end, const char *status, const char *reason);
/* They have failed by `whose` fault, from the ctx's error. A failure of the machine ends the run instead; a plug-in
 * cannot report one. */
nb_status nb_pending_fail(const nb_pending *p, nb_status status, const nb_choice *whose, int first, int end);

#endif
