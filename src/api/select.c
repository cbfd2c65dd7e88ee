/* SPDX-License-Identifier: GPL-3.0-or-later */
/* select.c - nysbench_select: one strategy's landmarks. No plan is made: a scene, and the streams that a run's rows
 * would have. */
#include "api/one_head.h"

#include "calls/called.h"
#include "calls/heads.h"
#include "calls/picking.h"
#include "nystrom/make_scene.h"

#include <string.h>

static nb_status make_scene(const nb_one_head *one, const nb_head *head, nb_scene **scene, nb_ctx *ctx)
{
    const nb_choice *kernel = nb_one_head_choice(one, NB_ERROR_KERNEL);
    const nb_component *caller;
    NB_TRY(ctx, nb_called_begin(kernel, &caller, ctx));
    nb_status status = nb_scene_new(head, kernel, scene, ctx);
    NB_TRY(ctx, nb_called_end(caller, kernel, status, ctx));
    nb_scene_name(*scene, nb_one_head_choice(one, NB_ERROR_PROBLEM)->canonical, one->head);
    return NB_OK;
}

static nb_status widen(int count, const int *from, const int64_t **wide, nb_ctx *results)
{
    int64_t *to;
    NB_NEED(to, nb_alloc(results, (size_t)count, sizeof *to));
    for (int i = 0; i < count; i++) to[i] = from[i];
    *wide = to;
    return NB_OK;
}

static nb_status keep_side(const nb_picks *picks, const nb_head *head, const double *x, nysbench_side *side,
                           nb_ctx *results)
{
    double *points;
    NB_NEED(points, nb_alloc_reals(results, (size_t)head->d, (size_t)picks->m));
    NB_TRY(results, nb_picks_landmarks(picks, head->d, head->n, x, points, results));
    side->points = points;
    if (picks->kind == NB_TOKENS) return widen(picks->m, picks->tokens, &side->tokens, results);
    if (picks->kind == NB_GROUPS) return widen(head->n, picks->groups, &side->groups, results);
    return NB_OK;
}

static nb_status keep_landmarks(nysbench *handle, const nb_landmarks *picked, const nb_head *head,
                                nysbench_landmarks *out)
{
    nb_ctx *results = handle->results;
    const nb_picks *q = &picked->queries;
    *out = (nysbench_landmarks){.kind = q->kind == NB_TOKENS   ? NYSBENCH_TOKENS
                                        : q->kind == NB_GROUPS ? NYSBENCH_GROUPS
                                                               : NYSBENCH_POINTS,
                                .m = q->m,
                                .n = head->n,
                                .d = head->d,
                                .select_s = picked->select_s};
    NB_TRY(results, keep_side(q, head, head->q, &out->queries, results));
    out->keys = out->queries;
    if (head->k) NB_TRY(results, keep_side(&picked->keys, head, head->k, &out->keys, results));
    if (picked->note) NB_NEED(out->note, nb_strdup(results, picked->note));
    return NB_OK;
}

/* True for "NAME: why" and "NAME needs ...". */
static bool names_itself(const char *refusal, const char *name)
{
    size_t length = strlen(name);
    return strncmp(refusal, name, length) == 0 && (refusal[length] == ':' || refusal[length] == ' ');
}

static nb_status pick(nysbench *handle, const nb_one_head *one, nysbench_landmarks *out, nb_ctx *ctx)
{
    const nb_choice *strategy = nb_one_head_choice(one, NB_ERROR_STRATEGY);
    const nb_head_origins *origins = &one->shape.origins;
    nb_picking picking = {
        .strategy = strategy,
        .m = one->config.lists[NB_ERROR_LANDMARKS].numbers[0],
        .pairing = nb_pairing_meant(one->config.lists[NB_ERROR_PAIRING].numbers[0], strategy),
        .stream = {.seed = one->config.draws == NB_DRAWS_SHARED
                               ? (uint64_t)one->config.seed
                               : nb_source_seed((uint64_t)one->config.seed, origins->model, origins->sources[0]),
                   .trial = one->trial,
                   .component = strategy->canonical}};
    nb_head head;
    nb_landmarks picked;
    NB_TRY(ctx, nb_random_new(&picking.rng, ctx));
    NB_TRY(ctx, nb_heads_make(nb_one_head_choice(one, NB_ERROR_PROBLEM), one->head, picking.stream, picking.rng, &head,
                              ctx));
    NB_TRY(ctx, make_scene(one, &head, &picking.scene, ctx));
    NB_TRY(ctx, nb_landmarks_pick(&picking, &picked, ctx));
    handle->at_work = !picked.refusal; /* which is a mistake in the request */
    if (picked.refusal && !names_itself(picked.refusal, strategy->component->name))
        NB_NEED(picked.refusal, nb_format(ctx, "%s: %s", strategy->label, picked.refusal));
    NB_REQUIRE(ctx, !picked.refusal, NB_EINVAL, "%s", picked.refusal);
    NB_NEED(handle->strategy, nb_strdup(handle->results, strategy->label));
    handle->pairing = picking.pairing;
    handle->seed = one->config.seed;
    handle->trial = one->trial;
    return keep_landmarks(handle, &picked, &head, out);
}

static nb_status select_landmarks(nysbench *handle, const nysbench_request *request, nysbench_landmarks *out)
{
    nb_ctx *ctx = handle->ctx;
    nb_one_head one;
    NB_REQUIRE(ctx, out, NB_EINVAL, "landmarks is NULL");
    *out = (nysbench_landmarks){.m = 0};
    NB_TRY(ctx, nb_one_head_begin(handle, request, &one, ctx));
    if (handle->host->seen) NB_TRY(ctx, handle->host->seen(handle->host->self, &one.shape, NULL, ctx));
    NB_TRY(ctx, nb_one_head_strategy(&one, ctx));
    handle->at_work = true;
    return pick(handle, &one, out, ctx);
}

int64_t nysbench_source_seed(int64_t seed, const char *model, const char *source)
{
    return (int64_t)nb_source_seed((uint64_t)seed, model, source);
}

nysbench_status nysbench_select(nysbench *handle, const nysbench_request *request, nysbench_landmarks *landmarks)
{
    NB_CALL(handle, false, select_landmarks(handle, request, landmarks));
}
