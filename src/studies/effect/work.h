/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h - the pending rows of one source's layers in one trial, on their way. */
#ifndef NB_EFFECT_WORK_H
#define NB_EFFECT_WORK_H

#include "layers/landmark_pass.h"
#include "run/pending.h"
#include "studies/effect/study.h"
#include "studies/forward/exact.h"

typedef struct { /* a row */
    int row;     /* of the plan */
    const nb_choice *attention;
    bool landmarks;      /* it has F, X, B, and is: */
    nb_landmark_how how; /* (set where it has) */
    const char *why_not; /* there is no error: a head's is not a number, or not to be trusted; NULL: there is */
    nb_effect result;
    const char *status, *reason; /* NULL: nothing has gone wrong yet */
} nb_effect_job;

typedef struct {
    const nb_pending *pending;
    const nb_plan *plan;
    const nb_model_part *part;
    nb_layer *layers; /* part->layer_count: the heads of the exact pass */
    nb_exact *exact;  /* of each: its outputs */
    nb_team *team;    /* of one thread */
    gsl_rng *rng;
    int first, end, trial; /* rows of the plan */
    int count;
    nb_effect_job *jobs;
    nb_ctx *texts; /* the jobs' reasons */
    nb_ctx *ctx;
} nb_effect_work;

nb_stream nb_effect_stream(const nb_effect_work *work); /* seed and trial */

/* What a job ends with; the reason is copied. */
nb_status nb_effect_end_job(const nb_effect_work *work, nb_effect_job *job, const char *status, const char *reason);
/* The same, "failed", where `status` is a failure, from the ctx's error. One of the machine ends the run instead. */
nb_status nb_effect_take_failure(const nb_effect_work *work, nb_effect_job *job, nb_status status);

/* output_error of all jobs that are not over. */
nb_status nb_effect_find_outputs(nb_effect_work *work);

/* error, error_subspace and error_core of those from landmarks, measured together, head by head. */
nb_status nb_effect_find_errors(nb_effect_work *work);

#endif
