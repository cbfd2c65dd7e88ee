/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hyperattention.c - queries and keys are sorted by a hash of their directions, a block of sorted queries has its exact
 * sums over the block of sorted keys at the same place, and for all other keys a sample of them stands, each for
 * (other keys)/(sampled ones among them). Sums, not averages, are added, before they are divided.
 *
 * n (block + sample) (d + dv) multiplications a head, and 2 n d bits to hash. */
#include "attentions/attention.h"

#include "layers/softmax.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

typedef struct {
    int block, sample, bits;
} hyper_options;

static const nb_option options[] = {
    NB_INT(hyper_options, block, "256", 1, NB_BLOCK_QUERIES, "queries and keys of a block; the last one may have less"),
    NB_INT(hyper_options, sample, "256", 0, 1 << 30, "keys sampled, without replacement; all n where they are fewer"),
    NB_INT(hyper_options, bits, "7", 1, 16, "random planes of the hash"), NB_OPTION_END};

typedef struct {
    const nb_layer_shape *shape;
    int block, blocks, sample, bits;
    int last, last_sample; /* keys of the last block; how many of them are sampled */
} plan;

/* A thread's. */
typedef struct {
    nb_scalar *sides;      /* bits x NB_BLOCK_QUERIES */
    int *counts;           /* 2^bits */
    nb_scalar *q, *k, *v;  /* a block's points */
    nb_scalar *near, *far; /* dv x block: sums over its keys, and over the sample */
    nb_softmax within, beyond;
} room;

typedef struct {
    nb_scalar *planes;    /* d x bits */
    int *sampled, *first; /* places in the order of keys, ascending; blocks + 1: where a block's begin */
    int *query_order;     /* n for each head */
    int *key_order;       /* n for each key head */
    int *codes;           /* n for each of both */
    nb_scalar *k, *v;     /* d x sample and dv x sample for each key head */
    room *rooms;          /* one for each thread */
    gsl_rng *rng;
} hyper_state;

typedef struct {
    plan plan;
    nb_pass *pass;
    const hyper_state *state;
} work;

static plan plan_of(const void *opts, const nb_layer_shape *s)
{
    const hyper_options *o = opts;
    plan p = {.shape = s, .block = nb_lesser(o->block, s->n), .sample = nb_lesser(o->sample, s->n), .bits = o->bits};
    p.blocks = (s->n + p.block - 1) / p.block;
    p.last = s->n - (p.blocks - 1) * p.block;
    p.last_sample = (int)((int64_t)p.sample * p.last / s->n);
    return p;
}

/* `count` of the places from ... from + size - 1, ascending (Knuth's algorithm S). */
static void choose_places(gsl_rng *rng, int from, int size, int count, int *out)
{
    for (int i = 0, left = count; left > 0; i++)
        if ((double)(size - i) * gsl_rng_uniform(rng) < left) out[count - left--] = from + i;
}

/* Draws a sample of keys; in the last block it takes as many places as are its share, so that the work depends on no
 * draw. */
static void draw_planes(const plan *p, const nb_pass *pass)
{
    const hyper_state *state = pass->state;
    int before = p->shape->n - p->last, rest = p->sample - p->last_sample;
    nb_stream stream = pass->stream;
    stream.role = "planes and sample";
    nb_random_seed(state->rng, &stream);
    for (int i = 0; i < p->shape->d * p->bits; i++)
        state->planes[i] = (nb_scalar)gsl_ran_gaussian_ziggurat(state->rng, 1);
    choose_places(state->rng, 0, before, rest, state->sampled);
    choose_places(state->rng, before, p->last, p->last_sample, state->sampled + rest);
    for (int b = 0, i = 0; b <= p->blocks; b++) {
        while (i < p->sample && state->sampled[i] / p->block < b) i++;
        state->first[b] = i;
    }
}

/* The bit pattern of each of n points' sides; its code is its place among all patterns in the order in which neighbours
 * differ by one bit (Gray's). */
static void hash(const work *w, const nb_scalar *x, nb_scalar *sides, int *codes)
{
    int d = w->plan.shape->d, n = w->plan.shape->n, bits = w->plan.bits;
    for (int at = 0; at < n; at += NB_BLOCK_QUERIES) {
        int count = nb_lesser(n - at, NB_BLOCK_QUERIES);
        nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, bits, count, d, 1, w->state->planes, d, x + (size_t)at * (size_t)d, d,
                       0, sides, bits);
        for (int i = 0; i < count; i++) {
            unsigned code = 0;
            for (int b = 0; b < bits; b++) code |= (unsigned)(sides[i * bits + b] > 0) << b;
            for (unsigned shift = 1; shift < 32; shift *= 2) code ^= code >> shift; /* Gray's order */
            codes[at + i] = (int)code;
        }
    }
}

/* order (n) <- tokens by their codes, those of one code in their own order. */
static void sort_by_code(int n, int bits, const int *codes, int *counts, int *order)
{
    int codes_count = 1 << bits;
    memset(counts, 0, (size_t)codes_count * sizeof *counts);
    for (int i = 0; i < n; i++) counts[codes[i]]++;
    for (int c = 0, at = 0; c < codes_count; c++) {
        int size = counts[c];
        counts[c] = at;
        at += size;
    }
    for (int i = 0; i < n; i++) order[counts[codes[i]]++] = i;
}

/* Queries of a head, or keys of a key head, of which the sampled ones are put together. */
static void sort_points(void *self, int task, int thread)
{
    const work *w = self;
    const hyper_state *state = w->state;
    const nb_layer_shape *s = w->plan.shape;
    size_t n = (size_t)s->n, d = (size_t)s->d, dv = (size_t)s->dv, m = (size_t)w->plan.sample;
    int key_head = task - nb_layer_heads(s), *codes = state->codes + (size_t)task * n;
    bool keys = key_head >= 0;
    size_t head = (size_t)(keys ? key_head : task);
    const nb_scalar *x = (keys ? w->pass->layer->k : w->pass->layer->q) + head * d * n;
    int *order = (keys ? state->key_order : state->query_order) + head * n;
    hash(w, x, state->rooms[thread].sides, codes);
    sort_by_code(s->n, w->plan.bits, codes, state->rooms[thread].counts, order);
    for (size_t i = 0; keys && i < m; i++) {
        nb_scalar_gather(s->d, x, 1, &order[state->sampled[i]], state->k + (head * m + i) * d);
        nb_scalar_gather(s->dv, w->pass->layer->v + head * dv * n, 1, &order[state->sampled[i]],
                         state->v + (head * m + i) * dv);
    }
}

/* Sums of the block's queries over the sampled keys start ... end - 1 of a key head. */
static void add_sampled(const work *w, nb_softmax *softmax, int key_head, int start, int end)
{
    const nb_layer_shape *s = w->plan.shape;
    size_t at = (size_t)key_head * (size_t)w->plan.sample + (size_t)start;
    if (start < end)
        nb_softmax_add(softmax, end - start, w->state->k + at * (size_t)s->d, w->state->v + at * (size_t)s->dv, NULL);
}

/* Adds to the sums over the block's keys those over all other ones, as the sample has them. */
static void add_others(const work *w, room *r, int key_head, int block, int count)
{
    const nb_layer_shape *s = w->plan.shape;
    int start = w->state->first[block], end = w->state->first[block + 1], others = w->plan.sample - (end - start);
    if (others == 0) return;
    nb_softmax_begin(&r->beyond, count, r->q, r->far);
    add_sampled(w, &r->beyond, key_head, 0, start);
    add_sampled(w, &r->beyond, key_head, end, w->plan.sample);
    nb_softmax_store(&r->beyond);
    nb_scalar each = (nb_scalar)(log((double)(s->n - count) / others) / nb_softmax_unit());
    for (int i = 0; i < count; i++) r->beyond.largest[i] += each;
    nb_softmax_merge(count, s->dv, r->near, r->within.largest, r->within.sum, r->far, r->beyond.largest, r->beyond.sum);
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->plan.shape;
    int head = task / w->plan.blocks, block = task % w->plan.blocks, first = block * w->plan.block;
    int count = nb_lesser(s->n - first, w->plan.block), key_head = nb_layer_key_head(s, head);
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    const int *queries = w->state->query_order + (size_t)head * (size_t)s->n + first;
    const int *keys = w->state->key_order + (size_t)key_head * (size_t)s->n + first;
    room *r = &w->state->rooms[thread];
    nb_scalar_gather(s->d, h.q, count, queries, r->q);
    nb_scalar_gather(s->d, h.k, count, keys, r->k);
    nb_scalar_gather(s->dv, h.v, count, keys, r->v);
    nb_softmax_begin(&r->within, count, r->q, r->near);
    nb_softmax_add(&r->within, count, r->k, r->v, NULL);
    nb_softmax_store(&r->within);
    add_others(w, r, key_head, block, count);
    nb_softmax_divide(count, s->dv, r->near, r->within.sum);
    for (int i = 0; i < count; i++)
        memcpy(h.out + (size_t)queries[i] * (size_t)s->dv, r->near + (size_t)i * (size_t)s->dv,
               (size_t)s->dv * sizeof *h.out);
}

static size_t room_scalars(const plan *p)
{
    size_t block = (size_t)p->block, d = (size_t)p->shape->d, dv = (size_t)p->shape->dv;
    return (size_t)p->bits * NB_BLOCK_QUERIES + block * (2 * d + 3 * dv);
}

static nb_status open_room(const plan *p, room *r, nb_ctx *ctx)
{
    const nb_layer_shape *s = p->shape;
    size_t block = (size_t)p->block, d = (size_t)s->d, dv = (size_t)s->dv;
    NB_NEED(r->counts, nb_alloc(ctx, (size_t)1 << p->bits, sizeof *r->counts));
    NB_NEED(r->sides, nb_alloc_scalars(ctx, room_scalars(p)));
    r->q = r->sides + (size_t)p->bits * NB_BLOCK_QUERIES;
    r->k = r->q + block * d;
    r->v = r->k + block * d;
    r->near = r->v + block * dv;
    r->far = r->near + block * dv;
    NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(s->n), &r->within, ctx));
    return nb_softmax_new(s->d, s->dv, nb_tile_of(s->n), &r->beyond, ctx);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    size_t n = (size_t)s->n, d = (size_t)s->d, heads = (size_t)nb_layer_heads(s), keys = (size_t)nb_layer_key_heads(s);
    size_t sampled = keys * (size_t)p.sample;
    hyper_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->planes, nb_alloc_scalars(ctx, d * (size_t)p.bits));
    NB_NEED(state->sampled, nb_alloc(ctx, (size_t)(p.sample + p.blocks + 1), sizeof *state->sampled));
    state->first = state->sampled + p.sample;
    NB_NEED(state->query_order, nb_alloc(ctx, 2 * (heads + keys) * n, sizeof *state->query_order));
    state->key_order = state->query_order + heads * n;
    state->codes = state->key_order + keys * n;
    NB_NEED(state->k, nb_alloc_scalars(ctx, sampled * (d + (size_t)s->dv)));
    state->v = state->k + sampled * d;
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(&p, &state->rooms[i], ctx));
    *out = state;
    return nb_random_new(&state->rng, ctx);
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = &pass->layer->shape;
    work w = {.plan = plan_of(opts, s), .pass = pass, .state = pass->state};
    (void)ctx;
    if (pass->index == 0) draw_planes(&w.plan, pass);
    nb_team_run(pass->team, nb_layer_heads(s) + nb_layer_key_heads(s), sort_points, &w);
    nb_pass_part(pass, NB_PART_LANDMARKS);
    nb_team_run(pass->team, nb_layer_heads(s) * w.plan.blocks, attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double n = s->n, d = s->d, dv = s->dv, heads = nb_layer_heads(s), keys = nb_layer_key_heads(s), whole = n - p.last;
    double m = p.sample, own = (m - p.last_sample) * p.block + (double)p.last_sample * p.last;
    double products = whole * p.block + (double)p.last * p.last + (p.blocks > 1 ? n * m - own : 0);
    double each = sizeof(room) + sizeof(int) * (double)(1 << p.bits) + sizeof(nb_scalar) * (double)room_scalars(&p) +
                  2 * (nb_softmax_bytes(s->d, s->dv, nb_tile_of(s->n)) - sizeof(nb_softmax));
    return (nb_attention_cost){.multiplications = (heads + keys) * n * d * p.bits + heads * products * (d + dv),
                               .bytes = sizeof(hyper_state) + sizeof(nb_scalar) * (d * p.bits + keys * m * (d + dv)) +
                                        sizeof(int) * (m + p.blocks + 1 + 2 * (heads + keys) * n) + threads * each};
}

static int passes_per_choice(const void *opts)
{
    (void)opts;
    return INT_MAX;
}

static const char *const references[] = {
    "Han et al., HyperAttention: long-context attention in near-linear time, ICLR 2024, arXiv:2310.05869", NULL};

const nb_attention nb_attention_hyperattention = {
    .component = {"hyperattention", "softmax within blocks of similar points, and over a sample of the other keys",
                  references, options, sizeof(hyper_options)},
    .traits = NB_ATTENTION_RANDOM,
    .size = "sample",
    .passes_per_choice = passes_per_choice,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "The paper's practical form, without a causal one (there the authors split a layer in halves, down to pieces\n"
        "that are computed exactly). The hash is the signs of 7 random projections, ordered so that neighbours\n"
        "differ in one bit, as the paper says; the official code takes the inverse of that order, where they need\n"
        "not. The official code samples with replacement and anew in each pass; here planes and sample are drawn at\n"
        "the first pass, without replacement, and are the same for all heads. With a sample of all keys it is exact.",
};
