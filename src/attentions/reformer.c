/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reformer.c - attention to keys of a similar hash. In each of several rounds queries and keys are hashed by their
 * directions to one of b buckets: the largest of (x'R, -x'R), R of b/2 random directions. They are sorted by bucket
 * and by place, and a chunk of queries sees the chunk of keys at the same place of the order and the one before it.
 * Sums of all rounds are added before they are divided.
 *
 * A round takes 2 n chunk (d + dv) multiplications a head, and n d b/2 to hash queries or keys. */
#include "attentions/attention.h"

#include "layers/softmax.h"
#include "linalg/blas.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

typedef struct {
    int rounds, chunk, buckets;
} reformer_options;

static const nb_option options[] = {
    NB_INT(reformer_options, rounds, "4", 1, 64, "hashes"),
    NB_INT(reformer_options, chunk, "64", 1, NB_BLOCK_QUERIES,
           "queries and keys of a chunk; the last one may have less"),
    NB_INT_OR(reformer_options, buckets, "auto", "auto", 2, 1 << 16, "b, even; auto: 2n/chunk, rounded up"),
    NB_OPTION_END};

typedef struct {
    const nb_layer_shape *shape;
    int rounds, chunk, chunks, half; /* half of the buckets */
} plan;

/* A thread's. */
typedef struct {
    nb_scalar *sides;     /* half x NB_BLOCK_QUERIES */
    int *counts;          /* by bucket */
    nb_scalar *q, *k, *v; /* a chunk's points; of keys two */
    nb_scalar *out;       /* dv x chunk */
    nb_softmax softmax;
} room;

typedef struct {
    nb_scalar *directions;    /* d x half, of each round */
    int *order;               /* n for each head, then for each key head */
    int *codes;               /* likewise */
    nb_scalar *largest, *sum; /* n for each head, of all rounds */
    room *rooms;
    gsl_rng *rng;
} reformer_state;

typedef struct {
    plan plan;
    nb_pass *pass;
    const reformer_state *state;
    int round;
} work;

static plan plan_of(const void *opts, const nb_layer_shape *s)
{
    const reformer_options *o = opts;
    plan p = {.shape = s, .rounds = o->rounds, .chunk = nb_lesser(o->chunk, s->n)};
    p.chunks = (s->n + p.chunk - 1) / p.chunk;
    p.half = o->buckets == NB_AUTO ? p.chunks : o->buckets / 2;
    return p;
}

static int bucket_of(int half, const nb_scalar *sides)
{
    int largest = 0;
    for (int b = 1; b < half; b++)
        if (fabs((double)sides[b]) > fabs((double)sides[largest])) largest = b;
    return sides[largest] < 0 ? half + largest : largest;
}

/* Queries of a head, or keys of a key head, in the order of a round. */
static void sort_points(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    const nb_layer_shape *s = p->shape;
    size_t n = (size_t)s->n, d = (size_t)s->d;
    int key_head = task - nb_layer_heads(s), buckets = 2 * p->half;
    const nb_scalar *x =
        key_head >= 0 ? w->pass->layer->k + (size_t)key_head * d * n : w->pass->layer->q + (size_t)task * d * n;
    const nb_scalar *directions = w->state->directions + (size_t)w->round * (size_t)p->half * d;
    int *order = w->state->order + (size_t)task * n, *codes = w->state->codes + (size_t)task * n;
    room *r = &w->state->rooms[thread];
    /* Buckets, by the largest of (x'R, -x'R) */
    for (int at = 0; at < s->n; at += NB_BLOCK_QUERIES) {
        int count = nb_lesser(s->n - at, NB_BLOCK_QUERIES);
        nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, p->half, count, s->d, 1, directions, s->d, x + (size_t)at * d, s->d, 0,
                       r->sides, p->half);
        for (int i = 0; i < count; i++) codes[at + i] = bucket_of(p->half, r->sides + (size_t)i * (size_t)p->half);
    }
    /* Counting sort: counts[b] becomes the place of the next point of bucket b */
    memset(r->counts, 0, ((size_t)buckets + 1) * sizeof *r->counts);
    for (size_t i = 0; i < n; i++) r->counts[codes[i] + 1]++;
    for (int b = 0; b < buckets; b++) r->counts[b + 1] += r->counts[b];
    for (size_t i = 0; i < n; i++) order[r->counts[codes[i]]++] = (int)i;
}

/* Sums over the keys of a chunk in the order; the first has the last before it. */
static void add_keys(const work *w, room *r, const nb_layer_head *h, int key_head, int chunk)
{
    const nb_layer_shape *s = w->plan.shape;
    int first = chunk * w->plan.chunk, count = nb_lesser(s->n - first, w->plan.chunk);
    const int *keys = w->state->order + (size_t)(nb_layer_heads(s) + key_head) * (size_t)s->n + first;
    nb_scalar_gather(s->d, h->k, count, keys, r->k);
    nb_scalar_gather(s->dv, h->v, count, keys, r->v);
    nb_softmax_add(&r->softmax, count, r->k, r->v, NULL);
}

/* The sums of a chunk of queries go to those of the rounds before. */
static void merge_sums(const work *w, const room *r, int head, int count, const int *queries, nb_scalar *out)
{
    size_t dv = (size_t)w->plan.shape->dv, at = (size_t)head * (size_t)w->plan.shape->n;
    for (int i = 0; i < count; i++) {
        size_t query = (size_t)queries[i];
        nb_scalar *largest = &w->state->largest[at + query], *sum = &w->state->sum[at + query], *own = out + query * dv;
        const nb_scalar *new_out = r->out + (size_t)i * dv;
        if (w->round == 0) {
            *largest = r->softmax.largest[i];
            *sum = r->softmax.sum[i];
            memcpy(own, new_out, dv * sizeof *own);
        } else {
            nb_softmax_merge(1, (int)dv, own, largest, sum, new_out, &r->softmax.largest[i], &r->softmax.sum[i]);
        }
        if (w->round == w->plan.rounds - 1) nb_softmax_divide(1, (int)dv, own, sum);
    }
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    const nb_layer_shape *s = p->shape;
    int head = task / p->chunks, chunk = task % p->chunks, first = chunk * p->chunk;
    int count = nb_lesser(s->n - first, p->chunk), key_head = nb_layer_key_head(s, head);
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    const int *queries = w->state->order + (size_t)head * (size_t)s->n + first;
    room *r = &w->state->rooms[thread];
    nb_scalar_gather(s->d, h.q, count, queries, r->q);
    nb_softmax_begin(&r->softmax, count, r->q, r->out);
    add_keys(w, r, &h, key_head, chunk);
    if (p->chunks > 1) add_keys(w, r, &h, key_head, (chunk + p->chunks - 1) % p->chunks);
    nb_softmax_store(&r->softmax);
    merge_sums(w, r, head, count, queries, h.out);
}

static nb_status check(const void *opts, nb_ctx *ctx)
{
    const reformer_options *o = opts;
    NB_REQUIRE(ctx, o->buckets == NB_AUTO || o->buckets % 2 == 0, NB_EINVAL,
               "reformer: buckets = %d; expected an even number", o->buckets);
    return NB_OK;
}

static size_t room_scalars(const plan *p)
{
    size_t chunk = (size_t)p->chunk, d = (size_t)p->shape->d, dv = (size_t)p->shape->dv;
    return (size_t)p->half * NB_BLOCK_QUERIES + 2 * chunk * (d + dv);
}

static nb_status open_room(const plan *p, room *r, nb_ctx *ctx)
{
    size_t chunk = (size_t)p->chunk, d = (size_t)p->shape->d, dv = (size_t)p->shape->dv;
    NB_NEED(r->counts, nb_alloc(ctx, 2 * (size_t)p->half + 1, sizeof *r->counts));
    NB_NEED(r->sides, nb_alloc_scalars(ctx, room_scalars(p)));
    r->q = r->sides + (size_t)p->half * NB_BLOCK_QUERIES;
    r->k = r->q + chunk * d;
    r->v = r->k + chunk * d;
    r->out = r->v + chunk * dv;
    return nb_softmax_new(p->shape->d, p->shape->dv, nb_tile_of(p->chunk), &r->softmax, ctx);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    size_t n = (size_t)s->n, heads = (size_t)nb_layer_heads(s), all = heads + (size_t)nb_layer_key_heads(s);
    reformer_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->directions, nb_alloc_scalars(ctx, (size_t)p.rounds * (size_t)p.half * (size_t)s->d));
    NB_NEED(state->order, nb_alloc(ctx, 2 * all * n, sizeof *state->order));
    state->codes = state->order + all * n;
    NB_NEED(state->largest, nb_alloc_scalars(ctx, 2 * heads * n));
    state->sum = state->largest + heads * n;
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(&p, &state->rooms[i], ctx));
    *out = state;
    return nb_random_new(&state->rng, ctx);
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = &pass->layer->shape;
    const reformer_state *state = pass->state;
    work w = {.plan = plan_of(opts, s), .pass = pass, .state = pass->state};
    (void)ctx;
    if (pass->index == 0) {
        size_t size = (size_t)w.plan.rounds * (size_t)w.plan.half * (size_t)s->d;
        nb_stream stream = pass->stream;
        stream.role = "directions";
        nb_random_seed(state->rng, &stream);
        for (size_t i = 0; i < size; i++) state->directions[i] = (nb_scalar)gsl_ran_gaussian_ziggurat(state->rng, 1);
    }
    for (; w.round < w.plan.rounds; w.round++) {
        nb_team_run(pass->team, nb_layer_heads(s) + nb_layer_key_heads(s), sort_points, &w);
        nb_pass_part(pass, NB_PART_LANDMARKS);
        nb_team_run(pass->team, nb_layer_heads(s) * w.plan.chunks, attend, &w);
        nb_pass_part(pass, NB_PART_F);
    }
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double n = s->n, d = s->d, dv = s->dv, heads = nb_layer_heads(s), all = heads + nb_layer_key_heads(s);
    double last = n - (double)(p.chunks - 1) * p.chunk; /* the last chunk, and who sees it, see fewer keys */
    double pairs = p.chunks == 1 ? n * n : 2 * n * p.chunk - (p.chunk + last) * (p.chunk - last);
    double each = sizeof(room) + sizeof(int) * (2.0 * p.half + 1) + sizeof(nb_scalar) * (double)room_scalars(&p) +
                  nb_softmax_bytes(s->d, s->dv, nb_tile_of(p.chunk)) - sizeof(nb_softmax);
    return (nb_attention_cost){
        .multiplications = p.rounds * (all * n * d * p.half + heads * nb_softmax_work(1, pairs, d, dv)),
        .bytes = sizeof(reformer_state) + sizeof(nb_scalar) * ((double)p.rounds * p.half * d + 2 * heads * n) +
                 sizeof(int) * 2 * all * n + threads * each};
}

static int passes_per_choice(const void *opts)
{
    (void)opts;
    return INT_MAX;
}

static const char *const references[] = {
    "Kitaev, Kaiser & Levskaya, Reformer: the efficient transformer, ICLR 2020, arXiv:2001.04451",
    "Andoni et al., Practical and optimal LSH for angular distance, NIPS 2015, arXiv:1509.02897 (the hash)", NULL};

const nb_attention nb_attention_reformer = {
    .component = {"reformer", "softmax within chunks of points that are sorted by a hash, in several rounds",
                  references, options, sizeof(reformer_options)},
    .traits = NB_ATTENTION_RANDOM | NB_ATTENTION_UNTRAINED,
    .size = "rounds",
    .passes_per_choice = passes_per_choice,
    .check = check,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "Reformer trains queries that are their own keys, up to their length; here both come from a model that was\n"
        "trained without it, so they are hashed apart and sorted side by side. As in PyTorch's ports of it, a chunk\n"
        "sees two chunks of keys whatever their buckets, and a pair that meets in several rounds counts as often: in\n"
        "the paper buckets mask each other, and pairs count once. No causal form. Directions are drawn at the first\n"
        "pass, the same for all heads. Where one chunk has all points it is exact.",
};
