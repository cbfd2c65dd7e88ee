/* SPDX-License-Identifier: GPL-3.0-or-later */
/* moba.c - causal softmax over the blocks of keys that suit a query: its own block up to itself, and of the whole
 * blocks before it the `top` whose mean keys have the largest products with it. Each query chooses for itself: first
 * all have what they see anyway, then each block has the queries that chose it, and the sums are added.
 *
 * About n (block / 2 + window + top block + sinks) (d + dv) multiplications a head, and n^2 d / (2 block) to choose. */
#include "attentions/attention.h"

#include "layers/softmax.h"

#include <math.h>
#include <string.h>

typedef struct {
    int block, top, window, sinks;
} moba_options;

static const nb_option options[] = {
    NB_INT(moba_options, block, "64", 1, NB_BLOCK_QUERIES, "keys of a block"),
    NB_INT(moba_options, top, "3", 0, 1 << 20, "blocks that a query chooses"),
    NB_INT(moba_options, window, "0", 0, 1 << 30, "tokens before a query that it sees besides, whole blocks of them"),
    NB_INT(moba_options, sinks, "0", 0, 1 << 30, "first tokens, which all later ones see; blocks begin behind them"),
    NB_OPTION_END};

typedef struct {
    const nb_layer_shape *shape;
    int block, top, window, sinks, blocks; /* blocks that some query may choose */
} plan;

/* A thread's, for one head. */
typedef struct {
    nb_scalar *means;         /* d x blocks */
    nb_scalar *scores;        /* blocks x block */
    nb_scalar *largest, *sum; /* n */
    nb_scalar *q, *out;       /* d and dv x NB_BLOCK_QUERIES: queries that chose a block */
    int *chosen;              /* top x n: blocks, -1: none */
    int *start, *queries;     /* blocks + 1, top x n: who chose each block */
    nb_softmax softmax;
} room;

typedef struct {
    plan plan;
    nb_pass *pass;
} work;

static plan plan_of(const moba_options *o, const nb_layer_shape *s)
{
    plan p = {.shape = s, .block = o->block, .window = nb_lesser(o->window, s->n), .sinks = nb_lesser(o->sinks, s->n)};
    int behind = s->n - 1 - p.window - p.sinks;
    p.blocks = behind > 0 ? behind / p.block : 0;
    p.top = nb_lesser(o->top, p.blocks);
    return p;
}

/* Queries that may choose among the same blocks: of number m those among the blocks 0 ... m - 1. */
typedef struct {
    int first, count;
    int near; /* the first key behind those blocks */
} stretch;

static stretch stretch_of(const plan *p, int number)
{
    int near = p->sinks + number * p->block, first = number > 0 ? near + p->window : 0;
    int end = number < p->blocks ? near + p->block + p->window : p->shape->n;
    return (stretch){.first = first, .count = end - first, .near = near};
}

static void find_means(const plan *p, const nb_scalar *k, const room *r)
{
    int d = p->shape->d;
    nb_count_multiplications((double)p->blocks * d);
    for (int b = 0; b < p->blocks; b++) {
        nb_scalar *mean = r->means + (size_t)b * (size_t)d;
        memset(mean, 0, (size_t)d * sizeof *mean);
        nb_scalar_add_columns(d, p->block, k + (size_t)(p->sinks + b * p->block) * (size_t)d, mean);
        nb_scalar_scale((size_t)d, 1 / (nb_scalar)p->block, mean);
    }
}

/* The `top` largest of so many scores, which change; -1 where there are fewer. */
static void choose(int top, int count, nb_scalar *scores, int *chosen)
{
    for (int t = 0; t < top; t++) {
        int best = t < count ? 0 : -1;
        for (int b = 1; b < count && best >= 0; b++)
            if (scores[b] > scores[best]) best = b;
        chosen[t] = best;
        if (best >= 0) scores[best] = -INFINITY;
    }
}

/* Attends to the keys that the queries `first` ... of a run, at most NB_BLOCK_QUERIES, see anyway. */
static void see_near(const plan *p, const stretch *run, int first, int count, const nb_layer_head *h, room *r)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, query = (size_t)first, near = (size_t)run->near;
    nb_mask mask = {.on = true, .before = NB_UNLIMITED, .query_at = first};
    int sinks = nb_lesser(p->sinks, first + count), keys = first + count - run->near;
    nb_softmax_begin(&r->softmax, count, h->q + query * d, h->out + query * dv);
    nb_softmax_add(&r->softmax, sinks, h->k, h->v, &mask);
    mask.key_at = run->near;
    if (keys > 0) nb_softmax_add(&r->softmax, keys, h->k + near * d, h->v + near * dv, &mask);
    nb_softmax_store(&r->softmax);
    memcpy(r->largest + query, r->softmax.largest, (size_t)count * sizeof *r->largest);
    memcpy(r->sum + query, r->softmax.sum, (size_t)count * sizeof *r->sum);
}

static void choose_blocks(const plan *p, int number, int first, int count, const nb_scalar *q, const room *r)
{
    size_t d = (size_t)p->shape->d;
    if (number > 0 && p->top > 0)
        nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, number, count, p->shape->d, 1, r->means, p->shape->d,
                       q + (size_t)first * d, p->shape->d, 0, r->scores, number);
    for (int i = 0; i < count; i++)
        choose(p->top, number, r->scores + (size_t)i * (size_t)number,
               r->chosen + (size_t)(first + i) * (size_t)p->top);
}

/* Queries by the block that they chose. */
static void sort_queries(const plan *p, const room *r)
{
    size_t all = (size_t)p->top * (size_t)p->shape->n;
    memset(r->start, 0, ((size_t)p->blocks + 2) * sizeof *r->start);
    for (size_t i = 0; i < all; i++)
        if (r->chosen[i] >= 0) r->start[r->chosen[i] + 2]++;
    for (int b = 0; b < p->blocks; b++) r->start[b + 2] += r->start[b + 1];
    for (size_t i = 0; i < all; i++)
        if (r->chosen[i] >= 0) r->queries[r->start[r->chosen[i] + 1]++] = (int)(i / (size_t)p->top);
}

/* Sums over a block's keys, of the queries that chose it. */
static void see_block(const plan *p, int block, const nb_layer_head *h, room *r)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, key = (size_t)(p->sinks + block * p->block);
    for (int at = r->start[block], count; at < r->start[block + 1]; at += count) {
        const int *queries = r->queries + at;
        count = nb_lesser(r->start[block + 1] - at, NB_BLOCK_QUERIES);
        nb_scalar_gather(p->shape->d, h->q, count, queries, r->q);
        nb_softmax_begin(&r->softmax, count, r->q, r->out);
        nb_softmax_add(&r->softmax, p->block, h->k + key * d, h->v + key * dv, NULL);
        nb_softmax_store(&r->softmax);
        for (int i = 0; i < count; i++) {
            size_t query = (size_t)queries[i];
            nb_softmax_merge(1, p->shape->dv, h->out + query * dv, &r->largest[query], &r->sum[query],
                             r->out + (size_t)i * dv, &r->softmax.largest[i], &r->softmax.sum[i]);
        }
    }
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task);
    room *r = &((room *)w->pass->state)[thread];
    find_means(p, h.k, r);
    for (int number = 0; number <= p->blocks; number++) {
        stretch run = stretch_of(p, number);
        for (int at = 0, count; at < run.count; at += count) {
            count = nb_lesser(run.count - at, p->block);
            see_near(p, &run, run.first + at, count, &h, r);
            choose_blocks(p, number, run.first + at, count, h.q, r);
        }
    }
    sort_queries(p, r);
    for (int b = 0; b < p->blocks; b++) see_block(p, b, &h, r);
    nb_softmax_divide(p->shape->n, p->shape->dv, h.out, r->sum);
}

static int tile_of(const nb_layer_shape *s)
{
    return nb_lesser(NB_TILE_KEYS, s->n);
}

static size_t room_scalars(const plan *p)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, blocks = (size_t)p->blocks, n = (size_t)p->shape->n;
    return blocks * (d + (size_t)p->block) + 2 * n + (d + dv) * NB_BLOCK_QUERIES;
}

static size_t room_integers(const plan *p)
{
    return 2 * (size_t)p->top * (size_t)p->shape->n + (size_t)p->blocks + 2;
}

static nb_status open_room(const plan *p, room *r, nb_ctx *ctx)
{
    size_t d = (size_t)p->shape->d, blocks = (size_t)p->blocks, n = (size_t)p->shape->n, all = (size_t)p->top * n;
    NB_NEED(r->means, nb_alloc_scalars(ctx, room_scalars(p)));
    r->scores = r->means + blocks * d;
    r->largest = r->scores + blocks * (size_t)p->block;
    r->sum = r->largest + n;
    r->q = r->sum + n;
    r->out = r->q + d * NB_BLOCK_QUERIES;
    NB_NEED(r->chosen, nb_alloc(ctx, room_integers(p), sizeof *r->chosen));
    r->queries = r->chosen + all;
    r->start = r->queries + all;
    return nb_softmax_new(p->shape->d, p->shape->dv, tile_of(p->shape), &r->softmax, ctx);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **state, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    room *rooms;
    NB_NEED(rooms, nb_alloc(ctx, (size_t)threads, sizeof *rooms));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(&p, &rooms[i], ctx));
    *state = rooms;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    work w = {.plan = plan_of(opts, pass->shape), .pass = pass};
    (void)ctx;
    nb_team_run(pass->team, nb_layer_heads(pass->shape), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double each = (double)p.blocks * s->d;
    for (int number = 0; number <= p.blocks; number++) {
        stretch run = stretch_of(&p, number);
        for (int at = 0, count; at < run.count; at += count) {
            count = nb_lesser(run.count - at, p.block);
            int end = run.first + at + count, near = end > run.near ? end - run.near : 0;
            each += nb_softmax_work(count, nb_lesser(p.sinks, end) + near, s->d, s->dv);
            each += (p.top > 0 ? (double)count * number * s->d : 0) +
                    nb_softmax_work(count, (double)nb_lesser(p.top, number) * p.block, s->d, s->dv);
        }
    }
    double room_bytes = sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(&p) +
                        sizeof(int) * (double)room_integers(&p) + nb_softmax_bytes(s->d, s->dv, tile_of(s)) -
                        sizeof(nb_softmax);
    return (nb_attention_cost){.multiplications = nb_layer_heads(s) * each, .bytes = threads * room_bytes};
}

static const char *const references[] = {
    "Lu et al., MoBA: mixture of block attention for long-context LLMs, 2025, arXiv:2502.13189",
    "Roy, Saffar, Vaswani & Grangier, Efficient content-based sparse attention with routing transformers, TACL 9, "
    "2021, arXiv:2003.05997",
    NULL};

const nb_attention nb_attention_moba = {
    .component = {"moba", "causal softmax over a query's own block and those whose mean keys suit it (MoBA)",
                  references, options, sizeof(moba_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_UNTRAINED,
    .size = "top",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "With window = sinks = 0 it is MoBA's, whose models are trained with it; here they are not. With more of them\n"
        "the blocks that may be chosen end before the window and begin behind the first tokens. With top of n/block\n"
        "it is exact.",
};
