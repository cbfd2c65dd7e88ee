/* SPDX-License-Identifier: GPL-3.0-or-later */
/* errors.c - F X B against S, head by head, as the error study measures it: with the landmarks and the X that the pass
 * takes there. */
#include "studies/effect/work.h"

#include "calls/compute.h"
#include "calls/picking.h"
#include "kernels/kernel.h"
#include "linalg/vector.h"
#include "nystrom/factors_record.h"
#include "nystrom/make_scene.h"
#include "nystrom/row_sample.h"

#include <math.h>
#include <string.h>

typedef struct { /* one head */
    nb_effect_work *w;
    nb_scene *scene;
    nb_how how;
    int pair_count, request_count;
    nb_pair *pairs;
    nb_request *requests;
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

/* Landmarks of a job: those of an earlier one that has the same. */
static nb_status find_landmarks(one_head *o, nb_effect_job *job)
{
    nb_effect_work *w = o->w;
    nb_landmarks *own;
    for (const nb_effect_job *other = w->jobs; other < job && !job->picked; other++)
        if (other->picked && same_picks(&other->how, &job->how)) job->picked = other->picked;
    if (!job->picked) {
        NB_NEED(own, nb_alloc(w->ctx, 1, sizeof *own));
        nb_pending_at(w->pending, NB_EFFECT_AT_PICK, job->row, job->row + 1);
        nb_status status = pick(o, job, own);
        NB_TRY(w->ctx, nb_effect_take_failure(w, job, status));
        if (job->status) return NB_OK;
        job->picked = own;
    }
    const char *why = job->picked->refusal;
    if (!why) why = nb_factors_refusal(job->how.kind, job->picked->queries.kind, nb_scene_head(o->scene)->causal, NULL);
    return why ? nb_effect_end_job(w, job, "skipped", why) : NB_OK;
}

/* The factor pair of a job: that of an earlier one with the same landmarks and factors, or a new one. */
static void find_pair(one_head *o, nb_effect_job *job)
{
    nb_pair *p = o->pairs, *end = o->pairs + o->pair_count;
    while (p < end && (p->landmarks != job->picked || p->kind != job->how.kind)) p++;
    job->pair = p;
    if (p < end) return;
    *p = (nb_pair){.landmarks = job->picked, .kind = job->how.kind};
    o->pair_count++;
}

static nb_status find_pairs(one_head *o)
{
    nb_effect_work *w = o->w;
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++) {
        job->picked = NULL;
        job->request = NULL;
        if (!is_open(job)) continue;
        NB_TRY(w->ctx, find_landmarks(o, job));
        if (is_open(job)) find_pair(o, job);
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
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++) {
        double *x = NULL;
        bool more;
        if (!is_open(job) || job->why_not) continue;
        if (job->pair->failure)
            NB_TRY(w->ctx, nb_effect_end_job(w, job, "failed", job->pair->failure));
        else
            NB_TRY(w->ctx, compute(o, job, job->pair->factors, &x));
        if (!x) continue;
        job->residual_limit = job->pair->factors->notes.residual_limit;
        job->request = &o->requests[o->request_count++];
        *job->request = (nb_request){.pair = job->pair, .x = x};
        NB_TRY(w->ctx, nb_request_find_seen(job->request, o->how.order, &more, w->ctx));
    }
    return NB_OK;
}

static void add_measures(const nb_effect_work *w, nb_effect_job *job, const nb_measures *m)
{
    double share = 1.0 / (w->part->layer_count * w->part->model.heads);
    job->result.local.error += share * m->error;
    job->result.local.error_subspace += share * m->error_subspace;
    job->result.local.error_core += share * m->error_core;
    if (!isfinite(m->error)) job->why_not = "F X B is not finite in some head";
    if (m->core_residual > job->residual_limit)
        job->why_not = "the error of some head is rounding alone: X has diverged";
}

static nb_status measure(one_head *o)
{
    nb_effect_work *w = o->w;
    if (o->request_count == 0) return NB_OK;
    nb_pending_at(w->pending, NB_EFFECT_AT_MEASURE, w->first, w->end);
    NB_TRY(w->ctx, nb_engine_measure(o->scene, &o->how, o->request_count, o->requests, w->ctx));
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++) {
        if (!job->request) continue;
        if (job->request->failure)
            NB_TRY(w->ctx, nb_effect_end_job(w, job, "failed", job->request->failure));
        else
            add_measures(w, job, &job->request->measures);
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

static nb_status run_head(nb_effect_work *w, int layer, int head, const nb_choice *kernel)
{
    one_head o = {.w = w, .how = {.engine = NB_STREAMED, .precision = NB_DOUBLE}};
    NB_NEED(o.pairs, nb_alloc(w->ctx, (size_t)w->count + 1, sizeof *o.pairs));
    NB_NEED(o.requests, nb_alloc(w->ctx, (size_t)w->count + 1, sizeof *o.requests));
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

/* A failure that is no job's own is that of all. */
nb_status nb_effect_find_errors(nb_effect_work *w)
{
    nb_choice kernel;
    NB_TRY(w->ctx, nb_choice_parse(&nb_kernels, nb_standard_kernel(), &kernel, w->ctx));
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++)
        job->result.local.error = job->result.local.error_subspace = job->result.local.error_core = 0;
    nb_status status = run_heads(w, &kernel);
    if (status != NB_OK) NB_TRY(w->ctx, nb_effect_fail(w, true, status));
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++)
        if (!job->landmarks || job->why_not)
            job->result.local.error = job->result.local.error_subspace = job->result.local.error_core = NAN;
    return NB_OK;
}
