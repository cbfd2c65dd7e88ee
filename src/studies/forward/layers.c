/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layers.c - heads are read or drawn one by one, in double precision, and put side by side in single. */
#include "studies/forward/study.h"

nb_layer_shape nb_forward_shape(const nb_planned_scene *s)
{
    int heads = s->value[NB_FORWARD_HEADS] > 0 ? s->value[NB_FORWARD_HEADS] : 1, key_heads = heads;
    if (s->shape->shared > 1 && heads % s->shape->shared == 0) key_heads = heads / s->shape->shared;
    if (s->shape->shared > 1 && heads < s->shape->shared) key_heads = 1;
    return (nb_layer_shape){
        .batch = 1, .heads = heads, .key_heads = key_heads, .n = s->n, .d = s->d, .dv = s->d, .causal = s->causal};
}

static nb_status put_head(const nb_layer_shape *s, int h, const nb_head *head, nb_scalar *q, nb_scalar *k, nb_scalar *v,
                          nb_ctx *ctx)
{
    size_t query = (size_t)s->d * (size_t)s->n, value = (size_t)s->dv * (size_t)s->n;
    size_t key_head = (size_t)nb_layer_key_head(s, h);
    NB_REQUIRE(ctx, head->k && head->v, NB_EINVAL, "head %d has no %s, and attention needs q, k and v", h,
               head->k ? "values" : "keys");
    NB_REQUIRE(ctx, head->n == s->n && head->d == s->d && head->dv == s->dv, NB_EDIM,
               "head %d has n = %d, d = %d, dv = %d, and the first of its layer has %d, %d and %d", h, head->n, head->d,
               head->dv, s->n, s->d, s->dv);
    nb_scalar_of(query, head->q, q + (size_t)h * query);
    nb_scalar_of(query, head->k, k + key_head * query);
    nb_scalar_of(value, head->v, v + key_head * value);
    return NB_OK;
}

nb_status nb_forward_layer(const nb_plan *plan, int scene, int trial, gsl_rng *rng, nb_layer *layer, nb_ctx *ctx)
{
    nb_scalar *q, *k, *v;
    nb_head head;
    nb_layer_shape *s = &layer->shape;
    *layer = (nb_layer){.problem = plan->scenes[scene].problem->canonical, .first = plan->scenes[scene].head};
    *s = nb_forward_shape(&plan->scenes[scene]);
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_plan_layer_head(plan, scene, trial, 0, rng, &head, ctx));
    if (head.v) s->dv = head.dv;
    nb_ctx_release(ctx, mark);
    NB_TRY(ctx, nb_layer_allocate(layer, &q, &k, &v, ctx));
    mark = nb_ctx_mark(ctx);
    for (int h = 0; h < s->heads; h++) {
        NB_TRY(ctx, nb_plan_layer_head(plan, scene, trial, h, rng, &head, ctx));
        NB_TRY(ctx, put_head(s, h, &head, q, k, v, ctx));
        nb_ctx_release(ctx, mark);
    }
    return NB_OK;
}
