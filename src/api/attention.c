/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.c - nysbench_attention: each has a handle of its own, whose memory is kept as long as the attention. */
#include "api/handle.h"

#include "base/machine.h"

#include <math.h>
#include <stdlib.h>

nb_status nb_attention_choose(const nysbench *handle, const char *spec, nb_choice *attention, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_choice_parse(&nb_attentions, spec, attention, ctx));
    if (!handle->host->processes) NB_TRY(ctx, nb_refuse_elsewhere(attention, ctx));
    return nb_attention_check(attention, ctx);
}

static nb_status check_request(const char *spec, const nysbench_layer *layer, int threads, int64_t seed, int trial,
                               nb_ctx *ctx)
{
    const size_t least = offsetof(nysbench_layer, causal) + sizeof layer->causal;
    NB_REQUIRE(ctx, spec && layer, NB_EINVAL, "the spec or the layer is NULL");
    NB_REQUIRE(ctx, layer->size >= least && layer->size <= sizeof *layer, NB_EINVAL,
               "the layer has %zu bytes, and this library knows of %zu", layer->size, sizeof *layer);
    NB_REQUIRE(ctx, threads >= 0 && threads <= NB_MOST_THREADS, NB_EINVAL, "%d threads, allowed are 0 to %d", threads,
               NB_MOST_THREADS);
    NB_REQUIRE(ctx, seed >= 0 && trial >= 0, NB_EINVAL, "seed %lld, trial %d: expected numbers of 0 or more",
               (long long)seed, trial);
    return NB_OK;
}

static nb_status open_attention(nysbench_attention *a, const char *spec, const nysbench_layer *layer, int threads,
                                nb_stream stream, nb_ctx *ctx)
{
    nb_team *team;
    const nb_layer_shape shape = {.batch = layer->batch,
                                  .heads = layer->heads,
                                  .key_heads = layer->key_heads,
                                  .n = layer->n,
                                  .d = layer->d,
                                  .dv = layer->dv,
                                  .causal = layer->causal != 0};
    NB_TRY(ctx, nb_attention_choose(a->own, spec, &a->choice, ctx));
    NB_TRY(ctx, nb_layer_check(&shape, ctx));
    NB_TRY(ctx, nb_team_new(threads > 0 ? threads : nb_lesser(nb_usable_cpus(), NB_MOST_THREADS), &team, ctx));
    return nb_attention_open(&a->choice, &shape, team, stream, &a->attending, ctx);
}

static nb_status make(const nysbench *handle, const char *spec, const nysbench_layer *layer, int threads, int64_t seed,
                      int trial, nysbench_attention **attention)
{
    nb_ctx *ctx = handle->ctx;
    NB_REQUIRE(ctx, attention, NB_EINVAL, "attention is NULL");
    *attention = NULL;
    NB_TRY(ctx, check_request(spec, layer, threads, seed, trial, ctx));
    nysbench_attention *a = calloc(1, sizeof *a);
    NB_REQUIRE(ctx, a && nysbench_new(&a->own) == NYSBENCH_OK, NB_ENOMEM, "out of memory: an attention");
    a->own->host = handle->host;
    nb_ctx_fail_alloc(a->own->ctx, nb_ctx_fail_alloc(ctx, 0)); /* it may be one of these that a test lets fail */
    const nb_stream stream = {.seed = (uint64_t)seed, .trial = trial};
    nb_status status = open_attention(a, spec, layer, threads, stream, a->own->ctx);
    a->own->base = nb_ctx_mark(a->own->ctx);
    if (status == NB_OK) {
        *attention = a;
        return NB_OK;
    }
    nb_error_copy(ctx, a->own->ctx); /* with its trace */
    nysbench_attention_free(a);
    return status;
}

nysbench_status nysbench_attention_new(nysbench *handle, const char *spec, const nysbench_layer *layer, int threads,
                                       int64_t seed, int trial, nysbench_attention **attention)
{
    NB_CALL(handle, false, make(handle, spec, layer, threads, seed, trial, attention));
}

void nysbench_attention_free(nysbench_attention *attention)
{
    if (!attention) return;
    nysbench_free(attention->own);
    free(attention);
}

const char *nysbench_attention_message(const nysbench_attention *attention)
{
    return attention ? nysbench_message(attention->own) : "the attention is NULL";
}

static nb_status check_outputs(const nysbench_attention *a, const nb_layer *layer, const nb_scalar *out, nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    const char *where;
    NB_REQUIRE(ctx, !a->passed.refusal, NB_EINVAL, "%s: %s", a->choice.label, a->passed.refusal);
    NB_REQUIRE(ctx, !a->passed.diverged, NB_ENUMERIC, "%s: %s", a->choice.label, a->passed.diverged);
    NB_TRY(ctx, nb_layer_find_odd(s, out, &where, ctx));
    NB_REQUIRE(ctx, !where, NB_ENUMERIC, "%s: outputs are not finite: %s", a->choice.label, where);
    return NB_OK;
}

static nb_status pass(nysbench_attention *a, const nb_layer *layer, bool extends, nb_scalar *out, nb_ctx *ctx)
{
    nb_status status =
        (extends ? nb_attention_extend : nb_attention_forward)(&a->attending, layer, out, &a->passed, ctx);
    return status == NB_OK ? check_outputs(a, layer, out, ctx) : status;
}

nysbench_status nb_attention_pass(nysbench_attention *a, const nb_layer *layer, bool extends, nb_scalar *out)
{
    nb_call_begin(a->own, true);
    return nb_call_end(a->own, pass(a, layer, extends, out, a->own->ctx));
}

/* A program whose scalars are double has its layers in double, and no use for this. */
#ifndef NB_DOUBLE_SCALAR
static nb_status check_points(const char *name, int heads, int n, int d, const float *x, nb_ctx *ctx)
{
    size_t each = (size_t)n * (size_t)d, at = 0;
    NB_REQUIRE(ctx, x, NB_EINVAL, "%s is NULL", name);
    if (nb_scalars_finite((size_t)heads * each, x)) return NB_OK;
    while (isfinite(x[at])) at++;
    NB_FAIL(ctx, NB_ENUMERIC, "%s: head %zu, token %zu, coordinate %zu is NaN or Inf", name, at / each,
            at % each / (size_t)d, at % (size_t)d);
}

static nb_status check_arrays(const nb_layer *layer, const float *out, nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    int key_heads = s->batch * s->key_heads;
    NB_REQUIRE(ctx, s->n >= 1, NB_EINVAL, "tokens = %d: expected at least 1", s->n);
    NB_TRY(ctx, check_points("q", nb_layer_heads(s), s->n, s->d, layer->q, ctx));
    NB_TRY(ctx, check_points("k", key_heads, s->n, s->d, layer->k, ctx));
    NB_TRY(ctx, check_points("v", key_heads, s->n, s->dv, layer->v, ctx));
    NB_REQUIRE(ctx, out, NB_EINVAL, "out is NULL");
    return NB_OK;
}

static nysbench_status call(nysbench_attention *a, const nb_layer *layer, bool extends, float *out)
{
    nb_call_begin(a->own, true);
    nb_status status = check_arrays(layer, out, a->own->ctx);
    return nb_call_end(a->own, status == NB_OK ? pass(a, layer, extends, out, a->own->ctx) : status);
}

nysbench_status nysbench_attention_forward(nysbench_attention *a, const float *q, const float *k, const float *v,
                                           float *out)
{
    if (!a) return NYSBENCH_EINVAL;
    const nb_layer layer = {.shape = a->attending.shape, .q = q, .k = k, .v = v, .problem = ""};
    return call(a, &layer, false, out);
}

nysbench_status nysbench_attention_extend(nysbench_attention *a, int tokens, const float *q, const float *k,
                                          const float *v, float *out)
{
    if (!a) return NYSBENCH_EINVAL;
    nb_layer layer = {.shape = a->attending.shape, .q = q, .k = k, .v = v, .problem = ""};
    layer.shape.n = tokens;
    return call(a, &layer, true, out);
}
#endif

static nb_status find_seed(const char *spec, int64_t seed, int trial, uint64_t *drawn, nb_ctx *ctx)
{
    nb_choice attention;
    gsl_rng *rng;
    NB_REQUIRE(ctx, spec && drawn, NB_EINVAL, "the spec or the place for the seed is NULL");
    NB_TRY(ctx, nb_choice_parse(&nb_attentions, spec, &attention, ctx));
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    *drawn =
        nb_attention_seed(rng, (nb_stream){.seed = (uint64_t)seed, .trial = trial, .component = attention.canonical});
    return NB_OK;
}

nysbench_status nysbench_attention_seed(nysbench *handle, const char *spec, int64_t seed, int trial, uint64_t *drawn)
{
    NB_CALL(handle, false, find_seed(spec, seed, trial, drawn, handle->ctx));
}

void nysbench_attention_restart(nysbench_attention *attention)
{
    if (attention) nb_attention_restart(&attention->attending);
}

void nysbench_attention_cost(const nysbench_attention *a, nysbench_cost *cost)
{
    if (!a || !cost) return;
    *cost = (nysbench_cost){
        .seconds = a->passed.seconds, .multiplications = a->passed.multiplications, .bytes = a->passed.bytes};
}
