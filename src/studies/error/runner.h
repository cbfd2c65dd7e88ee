/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runner.h - from a plan to rows: scene by scene, trial by trial, cell by cell. */
#ifndef NB_RUNNER_H
#define NB_RUNNER_H

#include "run/plan.h"
#include "nystrom/landmarks.h"

/* What is being done: for whoever has to tell which cell it was that did not come back. */
typedef enum {
    NB_AT_START,   /* nothing yet */
    NB_AT_SCENE,   /* the problem's data and the scene of the rows */
    NB_AT_PICK,    /* a strategy picks for the rows */
    NB_AT_CORE,    /* the core of one row */
    NB_AT_MEASURE, /* the engine, for all of the rows */
    NB_PHASE_COUNT
} nb_phase;

/* Where results go. Returning anything but NB_OK ends the run with that. */
typedef struct {
    void *self;
    nb_status (*begin)(void *self, nb_ctx *ctx);                             /* an instance begins */
    nb_status (*row)(void *self, int index, const nb_row *row, nb_ctx *ctx); /* row `index` of the plan is done */
    nb_status (*end)(void *self, nb_ctx *ctx);                               /* the instance is done */
    bool (*stop)(void *self);                                                /* asked between instances */
    void (*at)(void *self, nb_phase phase, int first,
               int end);                          /* what begins now, for rows first ... end - 1; NULL: nobody asks */
    void (*notice)(void *self, const char *text); /* something a user should hear; NULL: nobody does */
    /* nb_run_plan alone: once, before any row if there are any, what can be done while workers work; NULL: nothing. */
    nb_status (*meanwhile)(void *self, nb_ctx *ctx);
} nb_sink;

/* Runs the rows of one scene of the plan for which pending[] is set. A row that
 * fails is a result like any other; only what the sink refuses is an error. */
nb_status nb_run_scene(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx);

/* The data of one instance, as nb_run_scene sees them. */
nb_status nb_run_make_head(const nb_plan *plan, int scene, int trial, gsl_rng *rng, nb_head *head, nb_ctx *ctx);

/* The scene of that head, with the foresight that the plan allows. */
nb_status nb_run_make_scene(const nb_plan *plan, int scene, const nb_head *head, nb_scene **out, nb_ctx *ctx);

/* The landmarks of one cell on one instance, as nb_run_scene picks them. */
nb_status nb_run_pick(const nb_plan *plan, nb_scene *scene, int trial, const nb_cell *cell, gsl_rng *rng,
                      nb_landmarks *landmarks, nb_ctx *ctx);

#endif
