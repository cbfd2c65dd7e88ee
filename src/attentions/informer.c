/* SPDX-License-Identifier: GPL-3.0-or-later */
/* informer.c - ProbSparse attention: exact outputs for the queries that are furthest from giving all keys the same, and
 * the mean value for all others.
 *
 * 1. For each query the logits of some keys, drawn uniformly with replacement; M = the largest less their mean.
 * 2. The queries with the largest M have their exact outputs, the others the mean of all values.
 *
 * n samples d + queries n (d + dv) multiplications a head. */
#include "attentions/attention.h"

#include "layers/softmax.h"

#include <math.h>
#include <string.h>

typedef struct {
    int queries, samples;
} informer_options;

static const nb_option options[] = {NB_INT_OR(informer_options, queries, "auto", "auto", 1, 1 << 30,
                                              "queries with exact outputs, u; auto: 5 ln n, ln n rounded up"),
                                    NB_INT_OR(informer_options, samples, "auto", "auto", 1, 1 << 20,
                                              "keys drawn for each query; auto: 5 ln n, as above"),
                                    NB_OPTION_END};

enum { FACTOR = 5 }; /* the paper's c */

typedef struct {
    const nb_layer_shape *shape;
    int queries, samples;
} plan;

/* A thread's. */
typedef struct {
    nb_scalar *measure; /* n: M */
    nb_scalar *logits;  /* samples */
    nb_scalar *mean;    /* dv */
    nb_scalar *q, *out; /* d and dv x NB_BLOCK_QUERIES */
    size_t *chosen;     /* queries */
    nb_softmax softmax;
} room;

typedef struct {
    gsl_rng *rng;
    int *drawn; /* samples x n */
    room *rooms;
} informer_state;

typedef struct {
    plan plan;
    nb_pass *pass;
    const informer_state *state;
} work;

static plan plan_of(const informer_options *o, const nb_layer_shape *s)
{
    int automatic = nb_greater(FACTOR * (int)ceil(log(s->n)), 1);
    return (plan){.shape = s,
                  .queries = nb_lesser(o->queries == NB_AUTO ? automatic : o->queries, s->n),
                  .samples = nb_lesser(o->samples == NB_AUTO ? automatic : o->samples, s->n)};
}

static void measure_queries(const work *w, const nb_layer_head *h, const room *r)
{
    const plan *p = &w->plan;
    size_t d = (size_t)p->shape->d, samples = (size_t)p->samples;
    nb_scalar scale = (nb_scalar)(1 / sqrt(p->shape->d));
    for (size_t i = 0; i < (size_t)p->shape->n; i++) {
        const int *drawn = w->state->drawn + i * samples;
        for (size_t j = 0; j < samples; j++)
            r->logits[j] = scale * nb_scalar_dot(d, h->q + i * d, h->k + (size_t)drawn[j] * d);
        r->measure[i] = nb_scalar_largest(samples, r->logits) - nb_scalar_sum(samples, r->logits) / (nb_scalar)samples;
    }
    nb_count_multiplications((double)p->shape->n * (p->samples * (p->shape->d + 1.0) + 1));
}

static void attend(void *self, int head, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    int n = p->shape->n, tokens[NB_BLOCK_QUERIES];
    size_t dv = (size_t)p->shape->dv;
    room *r = &w->state->rooms[thread];
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    measure_queries(w, &h, r);
    nb_scalar_largest_indices((size_t)p->queries, (size_t)n, r->measure, r->chosen);
    memset(r->mean, 0, dv * sizeof *r->mean);
    nb_scalar_add_columns(p->shape->dv, n, h.v, r->mean);
    nb_scalar_scale(dv, 1 / (nb_scalar)n, r->mean);
    nb_count_multiplications(p->shape->dv);
    for (size_t i = 0; i < (size_t)n; i++) memcpy(h.out + i * dv, r->mean, dv * sizeof *r->mean);
    for (int at = 0, count; at < p->queries; at += count) {
        count = nb_lesser(p->queries - at, NB_BLOCK_QUERIES);
        for (int i = 0; i < count; i++) tokens[i] = (int)r->chosen[at + i];
        nb_scalar_gather(p->shape->d, h.q, count, tokens, r->q);
        nb_softmax_begin(&r->softmax, count, r->q, r->out);
        nb_softmax_add(&r->softmax, n, h.k, h.v, NULL);
        nb_softmax_end(&r->softmax, NULL);
        for (int i = 0; i < count; i++)
            memcpy(h.out + (size_t)tokens[i] * dv, r->out + (size_t)i * dv, dv * sizeof *r->out);
    }
}

static size_t room_scalars(const plan *p)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv;
    return (size_t)p->shape->n + (size_t)p->samples + dv + (d + dv) * NB_BLOCK_QUERIES;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    informer_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->drawn, nb_alloc(ctx, (size_t)s->n * (size_t)p.samples, sizeof *state->drawn));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < threads; i++) {
        room *r = &state->rooms[i];
        NB_NEED(r->measure, nb_alloc_scalars(ctx, room_scalars(&p)));
        r->logits = r->measure + s->n;
        r->mean = r->logits + p.samples;
        r->q = r->mean + s->dv;
        r->out = r->q + (size_t)s->d * NB_BLOCK_QUERIES;
        NB_NEED(r->chosen, nb_alloc(ctx, (size_t)p.queries, sizeof *r->chosen));
        NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(s->n), &r->softmax, ctx));
    }
    *out = state;
    return nb_random_new(&state->rng, ctx);
}

/* The keys drawn for a query are the same in all heads, as in the authors' code. */
static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = pass->shape;
    work w = {.plan = plan_of(opts, s), .pass = pass, .state = pass->state};
    nb_stream stream = pass->stream;
    (void)ctx;
    stream.role = "keys";
    nb_random_seed(w.state->rng, &stream);
    for (int i = 0; i < s->n; i++)
        nb_draw_indices(w.state->rng, s->n, w.plan.samples, w.state->drawn + (size_t)i * (size_t)w.plan.samples);
    nb_pass_part(pass, NB_PART_LANDMARKS);
    nb_team_run(pass->team, nb_layer_heads(s), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double n = s->n, looks = n * (p.samples * (s->d + 1.0) + 1);
    double each = sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(&p) + sizeof(size_t) * (double)p.queries +
                  nb_softmax_bytes(s->d, s->dv, nb_tile_of(s->n)) - sizeof(nb_softmax);
    return (nb_attention_cost){.multiplications =
                                   nb_layer_heads(s) * (looks + s->dv + nb_softmax_work(p.queries, n, s->d, s->dv)),
                               .bytes = sizeof(informer_state) + sizeof(int) * n * p.samples + threads * each};
}

static int size_of(const void *opts, const nb_layer_shape *shape)
{
    return plan_of(opts, shape).queries;
}

static const char *const references[] = {
    "Zhou et al., Informer: beyond efficient transformer for long sequence time-series forecasting, AAAI 2021, "
    "arXiv:2012.07436",
    NULL};

const nb_attention nb_attention_informer = {
    .component = {"informer", "exact outputs for the queries that choose most, the mean value for others (ProbSparse)",
                  references, options, sizeof(informer_options)},
    .traits = NB_ATTENTION_RANDOM | NB_ATTENTION_UNTRAINED,
    .size = "queries",
    .size_of = size_of,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "The paper's algorithm without a mask. Its measure of a query subtracts the mean of the sampled logits; the\n"
        "authors' code divides their sum by n instead. Informer's models are trained with it; here they are not.\n"
        "With queries = n it is exact.",
};
