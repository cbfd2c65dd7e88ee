/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delta.c - another attention, corrected by exact outputs: each `every`-th query has its exact output, and
 * what that differs by from the other's output is added to the outputs of the queries up to the next one.
 *
 *     out_i <- out_i + (exact output - out)_g,      g = every floor(i / every)
 *
 * That is Delta Attention's correction. n^2 (d + dv) / every multiplications a head, half of them under a causal mask,
 * beside those of the other attention. */
#include "attentions/attention.h"

#include "layers/softmax.h"

#include <string.h>

typedef struct {
    const nb_choice *of;
    int every;
} delta_options;

static const nb_option options[] = {
    NB_COMPONENT(delta_options, of, "streamingllm", &nb_attentions, "the attention whose outputs are corrected"),
    NB_INT(delta_options, every, "64", 1, 1 << 30, "queries of which the first has its exact output"), NB_OPTION_END};

enum { EXACT_QUERIES = 32 }; /* of a task */

/* A thread's. */
typedef struct {
    nb_scalar *q, *exact; /* d and dv x EXACT_QUERIES */
    nb_softmax softmax;
} room;

typedef struct {
    void *inner;
    room *rooms;
} delta_state;

typedef struct {
    nb_pass *pass;
    const delta_state *state;
    int every;
} work;

static const nb_attention *inner_of(const delta_options *o)
{
    return (const nb_attention *)o->of->component;
}

static nb_status check(const void *opts, nb_ctx *ctx)
{
    return nb_attention_check(((const delta_options *)opts)->of, ctx);
}

static nb_status refusal(const void *opts, const nb_layer_shape *shape, const char **why, nb_ctx *ctx)
{
    return nb_attention_refusal(((const delta_options *)opts)->of, shape, why, ctx);
}

/* A query is corrected by one before it. Exact outputs need all earlier keys, which the other may have forgotten. */
static unsigned traits_of(const void *opts)
{
    return nb_attention_traits(((const delta_options *)opts)->of) & ~(unsigned)NB_ATTENTION_STEPS;
}

static int size_of(const void *opts, const nb_layer_shape *shape)
{
    return nb_attention_size(((const delta_options *)opts)->of, shape);
}

static int passes_per_choice(const void *opts)
{
    return nb_attention_passes_per_choice(((const delta_options *)opts)->of);
}

/* Returns how many exact queries a head has. */
static int exact_queries(const nb_layer_shape *s, int every)
{
    return nb_blocks(s->n, every);
}

/* The exact outputs of `count` queries, of which the first is token number `first`, go to r->exact. */
static void attend(const work *w, const nb_layer_head *h, int first, int count, const room *r)
{
    const nb_layer_shape *s = &w->pass->layer->shape;
    int tokens[EXACT_QUERIES], last = first + (count - 1) * w->every;
    nb_softmax softmax = r->softmax;
    for (int i = 0; i < count; i++) tokens[i] = first + i * w->every;
    nb_mask mask = {.on = s->causal, .before = NB_UNLIMITED, .queries = tokens};
    nb_scalar_gather(s->d, h->q, count, tokens, r->q);
    nb_softmax_begin(&softmax, count, r->q, r->exact);
    nb_softmax_add(&softmax, s->causal ? last + 1 : s->n, h->k, h->v, &mask);
    nb_softmax_end(&softmax, NULL);
}

static void correct(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    int all = exact_queries(s, w->every), tasks = nb_blocks(all, EXACT_QUERIES);
    int at = task % tasks * EXACT_QUERIES, count = nb_lesser(all - at, EXACT_QUERIES);
    size_t dv = (size_t)s->dv;
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task / tasks);
    const room *r = &w->state->rooms[thread];
    attend(w, &h, at * w->every, count, r);
    for (int i = 0; i < count; i++) {
        int first = (at + i) * w->every, end = nb_lesser(s->n - first, w->every) + first;
        nb_scalar *out = h.out + (size_t)first * dv, *difference = r->exact + (size_t)i * dv;
        nb_scalar_add(dv, -1, out, difference);
        for (int token = first; token < end; token++) nb_scalar_add(dv, 1, difference, h.out + (size_t)token * dv);
    }
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    const delta_options *o = opts;
    delta_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_TRY(ctx, inner_of(o)->open(o->of->options, s, threads, &state->inner, ctx));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < threads; i++) {
        room *r = &state->rooms[i];
        NB_NEED(r->q, nb_alloc_scalars(ctx, (size_t)(s->d + s->dv) * EXACT_QUERIES));
        r->exact = r->q + (size_t)s->d * EXACT_QUERIES;
        NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(s->n), &r->softmax, ctx));
    }
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const delta_options *o = opts;
    const nb_layer_shape *s = &pass->layer->shape;
    work w = {.pass = pass, .state = pass->state, .every = nb_lesser(o->every, s->n)};
    void *own = pass->state;
    pass->state = w.state->inner;
    pass->stream.component = o->of->canonical; /* so that it draws what it draws by itself */
    nb_status status = inner_of(o)->forward(pass, o->of->options, ctx);
    pass->state = own;
    NB_TRY(ctx, status);
    if (pass->refusal) return NB_OK;
    nb_team_run(pass->team, nb_layer_heads(s) * nb_blocks(exact_queries(s, w.every), EXACT_QUERIES), correct, &w);
    nb_pass_part(pass, NB_PART_OUTPUT);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    const delta_options *o = opts;
    int every = nb_lesser(o->every, s->n), all = exact_queries(s, every);
    double each = 0;
    for (int at = 0; at < all; at += EXACT_QUERIES) {
        int count = nb_lesser(all - at, EXACT_QUERIES), last = (at + count - 1) * every;
        each += nb_softmax_work(count, s->causal ? last + 1 : s->n, s->d, s->dv);
    }
    nb_attention_cost c = nb_attention_cost_of(o->of, s, threads);
    c.multiplications += nb_layer_heads(s) * each;
    c.bytes +=
        sizeof(delta_state) + threads * (sizeof(room) + sizeof(nb_scalar) * (double)(s->d + s->dv) * EXACT_QUERIES +
                                         nb_softmax_bytes(s->d, s->dv, nb_tile_of(s->n)) - sizeof(nb_softmax));
    return c;
}

static const char *const references[] = {
    "Willette, Lee & Hwang, Delta attention: fast and accurate sparse attention inference by delta correction, 2025, "
    "arXiv:2505.11254",
    NULL};

const nb_attention nb_attention_delta = {
    .component = {"delta", "another attention plus what exact outputs of some queries differ by (Delta Attention)",
                  references, options, sizeof(delta_options)},
    .traits_of = traits_of,
    .size_of = size_of,
    .passes_per_choice = passes_per_choice,
    .check = check,
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "The paper corrects a window with sinks, by every 64th query. It corrects prompts alone, and computes the\n"
        "last tokens of a prompt exactly; here all tokens are corrected, and none is exact but each first one. With\n"
        "every = 1 it is exact.",
};
