/* SPDX-License-Identifier: GPL-3.0-or-later */
/* errors.c - F X B against S, head by head, as the error study measures it: with the landmarks and the X that the pass
 * takes there. */
#include "studies/effect/work.h"

#include "calls/compute.h"
#include "calls/picking.h"
#include "kernels/kernel.h"
#include "linalg/vector.h"
#include "nystrom/engine.h"
#include "nystrom/factors_record.h"
#include "nystrom/make_scene.h"
#include "nystrom/row_sample.h"

#include <math.h>
#include <string.h>

typedef struct { /* one head */
    nb_effect_work *w;
    nb_scene *scene;
    nb_how how;
    const nb_landmarks **landmarks; /* by job; NULL: it has none */
    int *pair;                      /* by job: of `pairs` */
    int pair_count, request_count;
    nb_pair *pairs;
    nb_request *requests;
    int *job;               /* by request */
    double *residual_limit; /* by request */
} one_head;

static bool is_open(const nb_effect_job *job)
{
    return job->landmarks && !job->status;
}

static bool same_picks(const nb_landmark_how *a, const nb_landmark_how *b)
{
    return a->m == b->m && a->pairing == b->pairing && strcmp(a->strategy->canonical, b->strategy->canonical) == 0;
}

static nb_status find_scene(one_head *o, const nb_layer *layer, int head, const nb_choice *kernel)
{
    nb_ctx *ctx = o->w->ctx;
    nb_head *points;
    NB_NEED(points, nb_alloc(ctx, 1, sizeof *points));
    NB_TRY(ctx, nb_layer_head_double(layer, head, points, ctx));
    NB_TRY(ctx, nb_scene_new(points, kernel, &o->scene, ctx));
    nb_scene_name(o->scene, layer->problem, layer->first + head);
    return nb_scene_order(o->scene, nb_effect_stream(o->w).seed, o->w->trial, &o->how.order, ctx);
}

static nb_status pick(const one_head *o, const nb_effect_job *job, nb_landmarks *landmarks)
{
    nb_stream stream = nb_effect_stream(o->w);
    stream.component = job->how.strategy->canonical;
    return nb_landmarks_pick(
        &(nb_picking){o->scene, job->how.strategy, job->how.m, job->how.pairing, stream, o->w->rng}, landmarks,
        o->w->ctx);
}

/* Landmarks of job j: those of an earlier one that has the same. */
static nb_status find_landmarks(one_head *o, int j)
{
    nb_effect_work *w = o->w;
    nb_effect_job *job = &w->jobs[j];
    nb_landmarks *own;
    for (int i = 0; i < j && !o->landmarks[j]; i++)
        if (o->landmarks[i] && same_picks(&w->jobs[i].how, &job->how)) o->landmarks[j] = o->landmarks[i];
    if (!o->landmarks[j]) {
        NB_NEED(own, nb_alloc(w->ctx, 1, sizeof *own));
        nb_pending_at(w->pending, NB_EFFECT_AT_PICK, job->row, job->row + 1);
        nb_status status = pick(o, job, own);
        NB_TRY(w->ctx, nb_effect_take_failure(w, job, status));
        if (job->status) return NB_OK;
        o->landmarks[j] = own;
    }
    const char *why = o->landmarks[j]->refusal;
    if (!why)
        why = nb_factors_refusal(job->how.kind, o->landmarks[j]->queries.kind, nb_scene_head(o->scene)->causal, NULL);
    return why ? nb_effect_end_job(w, job, "skipped", why) : NB_OK;
}

/* The factor pair of job j: that of an earlier one with the same landmarks and factors, or a new one. */
static void find_pair(one_head *o, int j)
{
    const nb_landmarks *l = o->landmarks[j];
    nb_factors_kind kind = o->w->jobs[j].how.kind;
    int p = 0;
    while (p < o->pair_count && (o->pairs[p].landmarks != l || o->pairs[p].kind != kind)) p++;
    if (p == o->pair_count) o->pairs[o->pair_count++] = (nb_pair){.landmarks = l, .kind = kind};
    o->pair[j] = p;
}

static nb_status find_pairs(one_head *o)
{
    nb_effect_work *w = o->w;
    for (int j = 0; j < w->count; j++) {
        if (!is_open(&w->jobs[j])) continue;
        NB_TRY(w->ctx, find_landmarks(o, j));
        if (is_open(&w->jobs[j])) find_pair(o, j);
    }
    return NB_OK;
}

/* X of a job, which is NULL where it has none. */
static nb_status compute(const one_head *o, nb_effect_job *job, nb_factors *factors, double **x)
{
    nb_ctx *ctx = o->w->ctx;
    size_t square = (size_t)job->how.m * (size_t)job->how.m;
    double *out;
    nb_computed computed;
    *x = NULL;
    NB_NEED(out, nb_alloc_reals(ctx, square, 1));
    nb_pending_at(o->w->pending, NB_EFFECT_AT_CORE, job->row, job->row + 1);
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = nb_core_compute(job->how.core, factors, o->scene, nb_effect_stream(o->w), out, &computed, ctx);
    nb_ctx_release(ctx, mark);
    NB_TRY(ctx, nb_effect_take_failure(o->w, job, status));
    if (job->status) return NB_OK;
    if (computed.refusal) return nb_effect_end_job(o->w, job, "skipped", computed.refusal);
    if (nb_all_finite(square, out))
        *x = out;
    else
        job->why_not = "X is not finite in some head";
    return NB_OK;
}

static nb_status find_requests(one_head *o)
{
    nb_effect_work *w = o->w;
    for (int j = 0; j < w->count; j++) {
        nb_effect_job *job = &w->jobs[j];
        nb_pair *pair = &o->pairs[o->pair[j]];
        double *x = NULL;
        bool more;
        if (!is_open(job) || job->why_not) continue;
        if (pair->failure)
            NB_TRY(w->ctx, nb_effect_end_job(w, job, "failed", pair->failure));
        else
            NB_TRY(w->ctx, compute(o, job, pair->factors, &x));
        if (!x) continue;
        o->job[o->request_count] = j;
        o->residual_limit[o->request_count] = pair->factors->notes.residual_limit;
        nb_request *request = &o->requests[o->request_count++];
        *request = (nb_request){.pair = pair, .x = x};
        NB_TRY(w->ctx, nb_request_see(request, o->how.order, &more, w->ctx));
    }
    return NB_OK;
}

static void take(nb_effect_work *w, nb_effect_job *job, const nb_measures *m, double residual_limit)
{
    double share = 1.0 / (w->part->layer_count * w->part->model.heads);
    job->result.local.error += share * m->error;
    job->result.local.error_subspace += share * m->error_subspace;
    job->result.local.error_core += share * m->error_core;
    if (!isfinite(m->error)) job->why_not = "F X B is not finite in some head";
    if (m->core_residual > residual_limit) job->why_not = "the error of some head is rounding alone: X has diverged";
}

static nb_status measure(one_head *o)
{
    nb_effect_work *w = o->w;
    if (o->request_count == 0) return NB_OK;
    nb_pending_at(w->pending, NB_EFFECT_AT_MEASURE, w->first, w->end);
    NB_TRY(w->ctx, nb_engine_measure(o->scene, &o->how, o->request_count, o->requests, w->ctx));
    for (int r = 0; r < o->request_count; r++) {
        nb_effect_job *job = &w->jobs[o->job[r]];
        const nb_request *request = &o->requests[r];
        if (request->failure)
            NB_TRY(w->ctx, nb_effect_end_job(w, job, "failed", request->failure));
        else
            take(w, job, &request->measures, o->residual_limit[r]);
    }
    return NB_OK;
}

static nb_status prepare(one_head *o)
{
    nb_engine_times times = {.pass_s = 0};
    nb_pending_at(o->w->pending, NB_EFFECT_AT_MEASURE, o->w->first, o->w->end);
    return o->pair_count == 0 ? NB_OK
                              : nb_engine_prepare(o->scene, &o->how, o->pair_count, o->pairs, &times, o->w->ctx);
}

static nb_status make_room(one_head *o)
{
    nb_ctx *ctx = o->w->ctx;
    size_t count = (size_t)o->w->count + 1;
    NB_NEED(o->landmarks, nb_alloc(ctx, count, sizeof *o->landmarks));
    NB_NEED(o->pair, nb_alloc(ctx, count, sizeof *o->pair));
    NB_NEED(o->pairs, nb_alloc(ctx, count, sizeof *o->pairs));
    NB_NEED(o->requests, nb_alloc(ctx, count, sizeof *o->requests));
    NB_NEED(o->job, nb_alloc(ctx, count, sizeof *o->job));
    NB_NEED(o->residual_limit, nb_alloc_reals(ctx, count, 1));
    return NB_OK;
}

static nb_status run_head(nb_effect_work *w, int layer, int head, const nb_choice *kernel)
{
    one_head o = {.w = w, .how = {.engine = NB_STREAMED, .precision = NB_DOUBLE}};
    NB_TRY(w->ctx, make_room(&o));
    NB_TRY(w->ctx, find_scene(&o, &w->layers[layer], head, kernel));
    NB_TRY(w->ctx, find_pairs(&o));
    NB_TRY(w->ctx, prepare(&o));
    NB_TRY(w->ctx, find_requests(&o));
    return measure(&o);
}

static nb_status run_heads(nb_effect_work *w, const nb_choice *kernel)
{
    for (int l = 0; l < w->part->layer_count; l++)
        for (int h = 0; h < w->part->model.heads; h++) {
            nb_mark mark = nb_ctx_mark(w->ctx);
            NB_TRY(w->ctx, run_head(w, l, h, kernel));
            nb_ctx_release(w->ctx, mark);
        }
    return NB_OK;
}

/* A failure that is no job's own is that of all; one of the machine ends the run. */
static nb_status end_all(nb_effect_work *w, nb_status status)
{
    if (status == NB_EHOST) return status;
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++)
        if (is_open(job)) NB_TRY(w->ctx, nb_effect_end_job(w, job, "failed", nb_error_message(w->ctx)));
    nb_error_clear(w->ctx);
    return NB_OK;
}

static void finish(nb_effect_job *job)
{
    if (!job->landmarks || job->why_not)
        job->result.local.error = job->result.local.error_subspace = job->result.local.error_core = NAN;
}

nb_status nb_effect_find_errors(nb_effect_work *w)
{
    nb_choice kernel;
    NB_TRY(w->ctx, nb_choice_parse(&nb_kernels, nb_standard_kernel(), &kernel, w->ctx));
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++)
        job->result.local.error = job->result.local.error_subspace = job->result.local.error_core = 0;
    nb_status status = run_heads(w, &kernel);
    if (status != NB_OK) NB_TRY(w->ctx, end_all(w, status));
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++) finish(job);
    return NB_OK;
}
