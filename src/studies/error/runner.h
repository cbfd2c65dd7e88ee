/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runner.h - from a plan to rows: scene by scene, trial by trial, method by method. */
#ifndef NB_RUNNER_H
#define NB_RUNNER_H

#include "run/pending.h"
#include "studies/error/study.h"
#include "nystrom/landmarks.h"

/* What is being done, by the study's table of phases. */
typedef enum {
    NB_AT_SCENE = NB_AT_START + 1, /* the problem's data and the scene of the rows */
    NB_AT_PICK,                    /* a strategy picks for the rows */
    NB_AT_CORE,                    /* the core of one row */
    NB_AT_MEASURE                  /* the engine, for all of the rows */
} nb_error_phase;

/* Runs the rows of one scene of the plan for which pending[] is set. A row that
 * fails is a result like any other; only what the sink refuses is an error. */
nb_status nb_run_scene(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx);

/* The scene of that head, with hints on what the plan will ask for. */
nb_status nb_run_make_scene(const nb_plan *plan, int scene, const nb_head *head, nb_scene **out, nb_ctx *ctx);

/* The landmarks of one method on one instance, as nb_run_scene picks them. */
nb_status nb_run_pick(const nb_plan *plan, nb_scene *scene, int trial, const nb_error_method *method, gsl_rng *rng,
                      nb_landmarks *landmarks, nb_ctx *ctx);

/* How the engine measures, except for the rows that it looks at. */
nb_how nb_error_how(const nb_config *config);

#endif
