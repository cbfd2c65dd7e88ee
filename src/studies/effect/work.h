/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h - the pending rows of one source's layers in one trial, while they are computed. */
#ifndef NB_EFFECT_WORK_H
#define NB_EFFECT_WORK_H

#include "layers/landmark_pass.h"
#include "nystrom/engine.h"
#include "run/pending.h"
#include "studies/effect/study.h"
#include "studies/forward/exact.h"

typedef struct { /* a row */
    int row;     /* of the plan */
    const nb_choice *attention;
    bool landmarks;      /* it is F X B, made as `how` says */
    nb_landmark_how how; /* set if `landmarks` */
    const char *why_not; /* why there is no error, since one head's is not a number or not reliable; NULL: there is */
    /* These are of the head at hand (errors.c). NULL: it has none. */
    const nb_landmarks *picked;
    nb_pair *pair;
    nb_request *request;
    double residual_limit; /* of the request's X */
    nb_effect result;
    const char *status, *reason; /* NULL: nothing has failed yet */
} nb_effect_job;

typedef struct {
    const nb_pending *pending;
    const nb_plan *plan;
    const nb_model_part *part;
    bool fresh;       /* the layers are not at hand */
    nb_layer *layers; /* part->layer_count: heads of the exact pass */
    nb_exact *exact;  /* exact outputs of each layer */
    nb_team *team;    /* has one thread */
    gsl_rng *rng;
    int first, end, trial; /* rows of the plan */
    int count;
    nb_effect_job *jobs;
    nb_ctx *texts; /* owns the jobs' reasons */
    nb_ctx *ctx;
} nb_effect_work;

nb_stream nb_effect_stream(const nb_effect_work *work); /* seed and trial */

/* Sets how a job ended; the reason is copied. */
nb_status nb_effect_end_job(const nb_effect_work *work, nb_effect_job *job, const char *status, const char *reason);
/* If `status` is a failure, ends the job as "failed" with the ctx's error; a failure of the machine ends the run
 * instead. */
nb_status nb_effect_take_failure(const nb_effect_work *work, nb_effect_job *job, nb_status status);
/* The same of all jobs that are not over; `landmarks`: of those that are made from landmarks. */
nb_status nb_effect_fail(const nb_effect_work *work, bool landmarks, nb_status status);

/* Computes output_error of all jobs that are not over. */
nb_status nb_effect_find_outputs(nb_effect_work *work);

/* Computes error, error_subspace and error_core of the jobs with landmarks, measured together, head by head. */
nb_status nb_effect_find_errors(nb_effect_work *work);

#endif
