/* SPDX-License-Identifier: GPL-3.0-or-later */
/* block_choice.c - of the tokens of a pass:
 *
 * 1. They join the keys and values of earlier ones, and of each block that they end it is noted what queries will
 *    compare.
 * 2. A query attends to what it sees anyway, and chooses among the blocks before that.
 * 3. Each block attends to the queries that chose it, and its sums are added to theirs. */
#include "layers/block_choice.h"

#include "layers/softmax.h"
#include "linalg/cpu.h"

#include <math.h>
#include <string.h>

#define WIDTHS NB_WIDTHS

enum { LANES = 32 };

typedef struct {
    const nb_layer_shape *shape;
    nb_block_marking kind;
    int block, top, window, sinks, blocks; /* blocks that some query may choose */
} plan;

/* A key head's, of all tokens so far. */
typedef struct {
    const nb_scalar *k, *v; /* d x n, dv x n: the layer's if a pass has all tokens */
    nb_scalar *held;        /* else: (d + dv) x n */
    nb_scalar *marks;       /* blocks, rounded up, x rows_of: what is known of each block */
} key_state;

/* A thread's, for one head. */
typedef struct {
    nb_scalar *scores;        /* blocks, rounded up */
    nb_scalar *mark;          /* rows_of: of one block */
    nb_scalar *largest, *sum; /* n */
    nb_scalar *q, *out;       /* d and dv x NB_BLOCK_QUERIES: queries that chose a block */
    int *chosen;              /* top x n: blocks, -1: none */
    int *start, *queries;     /* blocks + 1, top x n: who chose each block */
    nb_softmax softmax;
} room;

typedef struct {
    key_state *keys;
    room *rooms;
} choice_state;

typedef struct {
    plan plan;
    nb_pass *pass;
    const choice_state *state;
} work;

static plan plan_of(const nb_block_choice *o, const nb_layer_shape *s)
{
    plan p = {.shape = s,
              .kind = o->kind,
              .block = o->block,
              .window = nb_lesser(o->window, s->n),
              .sinks = nb_lesser(o->sinks, s->n)};
    int behind = s->n - 1 - p.window - p.sinks;
    p.blocks = behind > 0 ? behind / p.block : 0;
    p.top = nb_lesser(o->top, p.blocks);
    return p;
}

/* Tokens whose queries may choose among the same blocks: of number m those among the blocks 0 ... m - 1. */
typedef struct {
    int first, end;
    int near; /* the first key behind those blocks */
} stretch;

static stretch stretch_of(const plan *p, int number)
{
    int near = p->sinks + number * p->block, first = number > 0 ? near + p->window : 0;
    int end = number < p->blocks ? near + p->block + p->window : p->shape->n;
    return (stretch){.first = first, .end = end, .near = near};
}

/* Returns how many blocks that may be chosen end within so many tokens. */
static int blocks_within(const plan *p, int tokens)
{
    return nb_lesser(nb_greater(tokens - p->sinks, 0) / p->block, p->blocks);
}

/* So many blocks, rounded up: a loop over them needs no remainder. */
static int stride_of(int blocks)
{
    return nb_blocks(blocks, LANES) * LANES;
}

/* Returns how many numbers are known of a block. */
static int rows_of(const plan *p)
{
    return p->kind == NB_BLOCK_BOUNDS ? 2 * p->shape->d : p->shape->d;
}

/* low and high (d) <- the least and the largest of each coordinate of so many keys. */
static void find_bounds(size_t d, size_t count, const nb_scalar *k, nb_scalar *low, nb_scalar *high)
{
    memcpy(low, k, d * sizeof *low);
    memcpy(high, k, d * sizeof *high);
    for (size_t j = 1; j < count; j++)
        for (size_t l = 0; l < d; l++) {
            low[l] = k[j * d + l] < low[l] ? k[j * d + l] : low[l];
            high[l] = k[j * d + l] > high[l] ? k[j * d + l] : high[l];
        }
}

static void mark_block(const plan *p, const key_state *x, int block, nb_scalar *mark)
{
    int d = p->shape->d;
    const nb_scalar *k = x->k + (size_t)(p->sinks + block * p->block) * (size_t)d;
    if (p->kind == NB_BLOCK_BOUNDS) {
        find_bounds((size_t)d, (size_t)p->block, k, mark, mark + d);
    } else {
        memset(mark, 0, (size_t)d * sizeof *mark);
        nb_scalar_add_columns(d, p->block, k, mark);
        for (int l = 0; l < d; l++) mark[l] /= (nb_scalar)p->block;
        nb_count_multiplications(d);
    }
    for (int l = 0; l < rows_of(p); l++) x->marks[l * stride_of(p->blocks) + block] = mark[l];
}

/* The tokens of the pass join those of a key head. */
static void append_tokens(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    const nb_layer *layer = w->pass->layer;
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, count = (size_t)layer->shape.n;
    int first = w->pass->first;
    key_state *x = &w->state->keys[task];
    x->k = layer->k + (size_t)task * count * d;
    x->v = layer->v + (size_t)task * count * dv;
    if (layer->shape.n < p->shape->n) {
        nb_scalar *k = x->held, *v = x->held + d * (size_t)p->shape->n;
        nb_pass_append(w->pass, task, k, v);
        x->k = k;
        x->v = v;
    }
    for (int b = blocks_within(p, first); b < blocks_within(p, first + layer->shape.n); b++)
        mark_block(p, x, b, w->state->rooms[thread].mark);
}

/* The `top` largest of so many scores, which change; -1 where there are fewer. */
static void choose_largest(int top, int count, nb_scalar *scores, int *chosen)
{
    for (int t = 0; t < top; t++) {
        int best = t < count ? 0 : -1;
        for (int b = 1; b < count && best >= 0; b++)
            if (scores[b] > scores[best]) best = b;
        chosen[t] = best;
        if (best >= 0) scores[best] = -INFINITY;
    }
}

/* A thread works at the queries of a head, of `count` tokens from `first` on, and their outputs. */
typedef struct {
    const plan *plan;
    const key_state *keys;
    int first, count;
    const nb_scalar *q;
    nb_scalar *out;
    room *room;
} part;

/* Attends to the keys that `count` queries of a stretch, from token `at` on, see anyway. */
static void attend_near(const part *w, const stretch *run, int at, int count)
{
    const plan *p = w->plan;
    room *r = w->room;
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, query = (size_t)(at - w->first),
           near = (size_t)run->near;
    nb_mask mask = {.on = true, .before = NB_UNLIMITED, .query_at = at};
    int sinks = nb_lesser(p->sinks, at + count), keys = at + count - run->near;
    nb_softmax_begin(&r->softmax, count, w->q + query * d, w->out + query * dv);
    nb_softmax_add(&r->softmax, sinks, w->keys->k, w->keys->v, &mask);
    mask.key_at = run->near;
    if (keys > 0) nb_softmax_add(&r->softmax, keys, w->keys->k + near * d, w->keys->v + near * dv, &mask);
    nb_softmax_store(&r->softmax);
    memcpy(r->largest + query, r->softmax.largest, (size_t)count * sizeof *r->largest);
    memcpy(r->sum + query, r->softmax.sum, (size_t)count * sizeof *r->sum);
}

/* scores (count, a multiple of LANES) <- of each of the first blocks the product of q (d) with its mean key, or the
 * largest that a key within its bounds has: of each coordinate the product with the high bound where q is above 0, and
 * else with the low one. marks: stride x rows; `high` rows behind a coordinate's low bound is its high one. */
WIDTHS static void score(size_t d, size_t stride, size_t count, const nb_scalar *marks, size_t high, const nb_scalar *q,
                         nb_scalar *restrict scores)
{
    for (size_t first = 0; first < count; first += LANES) {
        nb_scalar sums[LANES] = {0};
        for (size_t l = 0; l < d; l++) {
            const nb_scalar *row = marks + (q[l] > 0 ? l + high : l) * stride + first;
#pragma omp simd
            for (size_t b = 0; b < LANES; b++) sums[b] += q[l] * row[b];
        }
        memcpy(scores + first, sums, sizeof sums);
    }
}

static void choose_blocks(const part *w, int number, int at, int count)
{
    const plan *p = w->plan;
    size_t d = (size_t)p->shape->d, stride = (size_t)stride_of(p->blocks);
    nb_count_multiplications(p->top > 0 ? (double)count * number * p->shape->d : 0);
    for (int query = at - w->first; query < at - w->first + count && p->top > 0; query++) {
        score(d, stride, (size_t)stride_of(number), w->keys->marks, (size_t)rows_of(p) - d, w->q + (size_t)query * d,
              w->room->scores);
        choose_largest(p->top, number, w->room->scores, w->room->chosen + (size_t)query * (size_t)p->top);
    }
}

/* Queries by the block that they chose. */
static void sort_queries(const plan *p, int count, const room *r)
{
    size_t all = (size_t)p->top * (size_t)count;
    memset(r->start, 0, ((size_t)p->blocks + 2) * sizeof *r->start);
    for (size_t i = 0; i < all; i++)
        if (r->chosen[i] >= 0) r->start[r->chosen[i] + 2]++;
    for (int b = 0; b < p->blocks; b++) r->start[b + 2] += r->start[b + 1];
    for (size_t i = 0; i < all; i++)
        if (r->chosen[i] >= 0) r->queries[r->start[r->chosen[i] + 1]++] = (int)(i / (size_t)p->top);
}

/* Sums over a block's keys, of the queries that chose it. */
static void attend_block(const part *w, int block)
{
    const plan *p = w->plan;
    room *r = w->room;
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, key = (size_t)(p->sinks + block * p->block);
    for (int at = r->start[block], count; at < r->start[block + 1]; at += count) {
        const int *queries = r->queries + at;
        count = nb_lesser(r->start[block + 1] - at, NB_BLOCK_QUERIES);
        nb_scalar_gather(p->shape->d, w->q, count, queries, r->q);
        nb_softmax_begin(&r->softmax, count, r->q, r->out);
        nb_softmax_add(&r->softmax, p->block, w->keys->k + key * d, w->keys->v + key * dv, NULL);
        nb_softmax_store(&r->softmax);
        for (int i = 0; i < count; i++) {
            size_t query = (size_t)queries[i];
            nb_softmax_merge(1, p->shape->dv, w->out + query * dv, &r->largest[query], &r->sum[query],
                             r->out + (size_t)i * dv, &r->softmax.largest[i], &r->softmax.sum[i]);
        }
    }
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task);
    part mine = {.plan = p,
                 .keys = &w->state->keys[nb_layer_key_head(p->shape, task)],
                 .first = w->pass->first,
                 .count = w->pass->layer->shape.n,
                 .q = h.q,
                 .out = h.out,
                 .room = &w->state->rooms[thread]};
    /* 2. By stretches of queries that may choose among the same blocks: o and its sums over the keys they see anyway */
    for (int number = 0; number <= p->blocks; number++) {
        stretch run = stretch_of(p, number);
        int end = nb_lesser(run.end, mine.first + mine.count);
        for (int at = nb_greater(run.first, mine.first), count; at < end; at += count) {
            count = nb_lesser(p->block - (at - run.first) % p->block, end - at);
            attend_near(&mine, &run, at, count);
            choose_blocks(&mine, number, at, count);
        }
    }
    /* 3. o += what each chosen block adds, for all queries that chose it together; then o / sum */
    sort_queries(p, mine.count, mine.room);
    for (int b = 0; b < p->blocks; b++) attend_block(&mine, b);
    nb_softmax_divide(mine.count, p->shape->dv, h.out, mine.room->sum);
}

static size_t key_scalars(const plan *p)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, n = (size_t)p->shape->n;
    return n * (d + dv) + (size_t)rows_of(p) * (size_t)stride_of(p->blocks);
}

static size_t room_scalars(const plan *p)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, n = (size_t)p->shape->n;
    return (size_t)stride_of(p->blocks) + (size_t)rows_of(p) + 2 * n + (d + dv) * NB_BLOCK_QUERIES;
}

static size_t room_integers(const plan *p)
{
    return 2 * (size_t)p->top * (size_t)p->shape->n + (size_t)p->blocks + 2;
}

static nb_status open_room(const plan *p, room *r, nb_ctx *ctx)
{
    size_t d = (size_t)p->shape->d, n = (size_t)p->shape->n, all = (size_t)p->top * n;
    NB_NEED(r->scores, nb_alloc_scalars(ctx, room_scalars(p)));
    r->mark = r->scores + stride_of(p->blocks);
    r->largest = r->mark + rows_of(p);
    r->sum = r->largest + n;
    r->q = r->sum + n;
    r->out = r->q + d * NB_BLOCK_QUERIES;
    NB_NEED(r->chosen, nb_alloc(ctx, room_integers(p), sizeof *r->chosen));
    r->queries = r->chosen + all;
    r->start = r->queries + all;
    return nb_softmax_new(p->shape->d, p->shape->dv, nb_tile_of(p->shape->n), &r->softmax, ctx);
}

static nb_status open_keys(const plan *p, key_state *x, nb_ctx *ctx)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, n = (size_t)p->shape->n;
    NB_NEED(x->held, nb_alloc_scalars(ctx, key_scalars(p)));
    x->marks = x->held + (d + dv) * n;
    memset(x->marks, 0, (size_t)rows_of(p) * (size_t)stride_of(p->blocks) * sizeof *x->marks);
    return NB_OK;
}

nb_status nb_block_choice_open(const nb_block_choice *o, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(o, s);
    int count = nb_layer_key_heads(s);
    choice_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->keys, nb_alloc(ctx, (size_t)count, sizeof *state->keys));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < count; i++) NB_TRY(ctx, open_keys(&p, &state->keys[i], ctx));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(&p, &state->rooms[i], ctx));
    *out = state;
    return NB_OK;
}

void nb_block_choice_forward(const nb_block_choice *o, nb_pass *pass)
{
    const nb_layer_shape *s = pass->shape;
    work w = {.plan = plan_of(o, s), .pass = pass, .state = pass->state};
    nb_team_run(pass->team, nb_layer_key_heads(s), append_tokens, &w);
    nb_pass_part(pass, NB_PART_B);
    nb_team_run(pass->team, nb_layer_heads(s), attend, &w);
    nb_pass_part(pass, NB_PART_F);
}

nb_attention_cost nb_block_choice_cost(const nb_block_choice *o, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(o, s);
    double each = 0, keys = nb_layer_key_heads(s);
    for (int number = 0; number <= p.blocks; number++) {
        stretch run = stretch_of(&p, number);
        for (int at = run.first, count; at < run.end; at += count) {
            count = nb_lesser(run.end - at, p.block);
            int end = at + count, near = nb_greater(end - run.near, 0);
            each += nb_softmax_work(count, nb_lesser(p.sinks, end) + near, s->d, s->dv);
            each += (p.top > 0 ? (double)count * number * s->d : 0) +
                    nb_softmax_work(count, (double)nb_lesser(p.top, number) * p.block, s->d, s->dv);
        }
    }
    double room_bytes = sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(&p) +
                        sizeof(int) * (double)room_integers(&p) + nb_softmax_bytes(s->d, s->dv, nb_tile_of(s->n)) -
                        sizeof(nb_softmax);
    double key_bytes = sizeof(key_state) + sizeof(nb_scalar) * (double)key_scalars(&p);
    return (nb_attention_cost){.multiplications =
                                   nb_layer_heads(s) * each + (p.kind == NB_BLOCK_MEANS ? keys * p.blocks * s->d : 0),
                               .bytes = sizeof(choice_state) + keys * key_bytes + threads * room_bytes};
}
