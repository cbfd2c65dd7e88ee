/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runner.h - measures the rows of a plan: scene by scene, trial by trial, method by method. */
#ifndef NB_RUNNER_H
#define NB_RUNNER_H

#include "run/pending.h"
#include "studies/error/study.h"
#include "nystrom/landmarks.h"

/* Numbers of the study's phases. */
typedef enum {
    NB_AT_SCENE = NB_AT_START + 1, /* the problem's data and the scene of the rows */
    NB_AT_PICK,                    /* a strategy picks for the rows */
    NB_AT_CORE,                    /* the core of one row */
    NB_AT_MEASURE                  /* the engine, for all of the rows */
} nb_error_phase;

/* Measures the rows of one scene of the plan for which pending[] is set. A row that fails is a result like any other;
 * only a failure of the sink is an error. */
nb_status nb_run_scene(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx);

/* Makes the scene of that head, with hints on what the plan will ask for. */
nb_status nb_run_make_scene(const nb_plan *plan, int scene, const nb_head *head, nb_scene **out, nb_ctx *ctx);

/* Picks the landmarks of one method on one instance, as nb_run_scene does. */
nb_status nb_run_pick(const nb_plan *plan, nb_scene *scene, int trial, const nb_error_method *method, gsl_rng *rng,
                      nb_landmarks *landmarks, nb_ctx *ctx);

/* Returns how the engine measures, except which rows it reads. */
nb_how nb_error_how(const nb_config *config);

#endif
