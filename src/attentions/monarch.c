/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monarch.c - MonarchAttention: softmax(Q K'/sqrt d) is replaced by the Monarch matrix that maximises the same
 * objective as the softmax, sum of P_ij q_i'k_j/sqrt d plus the entropy of each row of P.
 *
 * Tokens are cut into M blocks of b, and token l b + j is the j-th of block l. A Monarch matrix gives the key i of
 * block m from the query j of block l the weight L_j(m, l) R_m(i, j). For fixed L the best R is a softmax within each
 * block, and for fixed R the best L is a softmax over the blocks. Each is computed from the other, in turn:
 *
 * 1. R_m(., j) = softmax over the keys of m of k_i'a_mj/sqrt d, where a_mj is the mean of the queries j weighted by
 *    L_j(m, .); at first it is the query j of block m.
 * 2. y_jm = sum of R_m(i, j) v_i,  x_jm = sum of R_m(i, j) k_i/sqrt d,  h_jm = sum of R_m(i, j) ln R_m(i, j).
 * 3. L_j(., l) = softmax over the blocks m of x_jm'q - h_jm, q the query j of block l.
 *
 * After the last step the query's output is the sum over m of L_j(m, l) y_jm. About n (b + n/b) (2 d steps + dv)
 * multiplications a head. */
#include "attentions/attention.h"

#include <math.h>
#include <string.h>

typedef struct {
    int block, steps;
} monarch_options;

enum { MOST_STEPS = 32 };

static const nb_option options[] = {
    NB_INT_OR(monarch_options, block, "auto", "auto", 1, 1 << 30, "tokens of a block, b; auto: the root of n, rounded"),
    NB_INT(monarch_options, steps, "2", 1, MOST_STEPS, "times that R and L are computed in turn"), NB_OPTION_END};

typedef struct {
    const nb_layer_shape *shape;
    int block, blocks, steps;
} plan;

/* A head's; j, m: position b, block M. */
typedef struct {
    nb_scalar *mean, *weight; /* d x b x M: a_mj times its weight, which is the sum of L_j(m, .) */
    nb_scalar *x, *y, *h;     /* d x M x b, dv x M x b, M x b */
} head_state;

typedef struct {
    head_state *heads;
    nb_scalar **rooms; /* by thread: a logit for each pair of a block or of a position, then those of one column */
} monarch_state;

typedef struct {
    plan plan;
    nb_pass *pass;
    const monarch_state *state;
} work;

/* A sum of L is divided by, also where all queries give a block no weight. */
static const nb_scalar least_weight = (nb_scalar)1e-12;

static plan plan_of(const monarch_options *o, const nb_layer_shape *s)
{
    int block = nb_lesser(o->block == NB_AUTO ? (int)lround(sqrt(s->n)) : o->block, s->n);
    return (plan){.shape = s, .block = block, .blocks = nb_blocks(s->n, block), .steps = o->steps};
}

/* a_mj = q: each query is the only one that gives its block weight. Behind the last token there are zeros. */
static void begin(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    size_t padded = (size_t)p->block * (size_t)p->blocks, d = (size_t)p->shape->d, n = (size_t)p->shape->n;
    const head_state *h = &w->state->heads[task];
    (void)thread;
    memcpy(h->mean, nb_layer_head_of(w->pass->layer, NULL, task).q, n * d * sizeof *h->mean);
    memset(h->mean + n * d, 0, (padded - n) * d * sizeof *h->mean);
    for (size_t i = 0; i < padded; i++) h->weight[i] = 1;
}

/* logits (count) <- their softmax; returns the sum of its entries times their logarithms. copy: count. */
static nb_scalar find_softmax(size_t count, nb_scalar *logits, nb_scalar *copy)
{
    nb_scalar largest = nb_scalar_largest(count, logits), entropy = 0;
    memcpy(copy, logits, count * sizeof *copy);
    nb_scalar sum = nb_scalar_exp_sum(count, logits, largest);
    nb_scalar_scale(count, 1 / sum, logits);
    for (size_t i = 0; i < count; i++) entropy += logits[i] * (copy[i] - largest);
    return entropy - (nb_scalar)log((double)sum);
}

/* R_m and what follows from it, of one block m of keys. */
static void sum_keys(const work *w, int task, int thread, bool with_values)
{
    const plan *p = &w->plan;
    int b = p->block, d = p->shape->d, dv = p->shape->dv, m = task % p->blocks, first = m * b;
    int keys = nb_lesser(b, p->shape->n - first);
    const head_state *h = &w->state->heads[task / p->blocks];
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, task / p->blocks);
    const nb_scalar *k = points.k + (size_t)first * (size_t)d, *v = points.v + (size_t)first * (size_t)dv;
    nb_scalar *r = w->state->rooms[thread], *copy = r + (size_t)b * (size_t)b;
    /* Step 1: column j of R_m is the softmax of k_i'a_mj/sqrt d; h_jm from the same logits */
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, keys, b, d, 1 / sqrt(d), k, d, h->mean + (size_t)first * (size_t)d, d, 0, r,
                   keys);
    for (int j = 0; j < b; j++) {
        nb_scalar *column = r + (size_t)j * (size_t)keys;
        nb_scalar_scale((size_t)keys, 1 / (h->weight[first + j] + least_weight), column);
        h->h[j * p->blocks + m] = find_softmax((size_t)keys, column, copy);
    }
    /* Step 2: x_jm of all j and, in the last step, y_jm */
    nb_count_multiplications(3.0 * keys * b);
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, d, b, keys, 1 / sqrt(d), k, d, r, keys, 0, h->x + (size_t)m * (size_t)d,
                   d * p->blocks);
    if (with_values)
        nb_scalar_gemm(NB_PLAIN, NB_PLAIN, dv, b, keys, 1, v, dv, r, keys, 0, h->y + (size_t)m * (size_t)dv,
                       dv * p->blocks);
}

static void find_right(void *self, int task, int thread)
{
    sum_keys(self, task, thread, false);
}

static void find_last_right(void *self, int task, int thread)
{
    sum_keys(self, task, thread, true);
}

/* The queries in position j of their blocks, a point in d * block numbers. */
typedef struct {
    int head, j, count;
    nb_layer_head points;
    const nb_scalar *q;
    nb_scalar *left; /* M x count: L_j */
} position;

/* L_j. */
static position find_weights(const work *w, int task, int thread)
{
    const plan *p = &w->plan;
    int b = p->block, d = p->shape->d, j = task % b, blocks = p->blocks;
    position x = {.head = task / b, .j = j, .count = nb_blocks(p->shape->n - j, b), .left = w->state->rooms[thread]};
    const head_state *h = &w->state->heads[x.head];
    x.points = nb_layer_head_of(w->pass->layer, w->pass->out, x.head);
    x.q = x.points.q + (size_t)j * (size_t)d;
    /* Step 3: column l of L_j is the softmax over m of x_jm'q - h_jm */
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, blocks, x.count, d, 1, h->x + (size_t)j * (size_t)(d * blocks), d, x.q,
                   d * b, 0, x.left, blocks);
    for (int l = 0; l < x.count; l++) {
        nb_scalar *column = x.left + (size_t)l * (size_t)blocks;
        nb_scalar_add((size_t)blocks, -1, h->h + (size_t)j * (size_t)blocks, column);
        nb_scalar sum = nb_scalar_exp_sum((size_t)blocks, column, nb_scalar_largest((size_t)blocks, column));
        nb_scalar_scale((size_t)blocks, 1 / sum, column);
    }
    nb_count_multiplications((double)blocks * x.count);
    return x;
}

static void find_left(void *self, int task, int thread)
{
    const work *w = self;
    int b = w->plan.block, d = w->plan.shape->d, blocks = w->plan.blocks;
    position x = find_weights(w, task, thread);
    const head_state *h = &w->state->heads[x.head];
    /* a_mj times its weight: the sum over l of L_j(m, l) q; then the weight */
    nb_scalar_gemm(NB_PLAIN, NB_TRANSPOSED, d, blocks, x.count, 1, x.q, d * b, x.left, blocks, 0,
                   h->mean + (size_t)x.j * (size_t)d, d * b);
    for (int m = 0; m < blocks; m++) h->weight[m * b + x.j] = 0;
    for (int l = 0; l < x.count; l++)
        for (int m = 0; m < blocks; m++) h->weight[m * b + x.j] += x.left[(size_t)l * (size_t)blocks + (size_t)m];
}

static void find_outputs(void *self, int task, int thread)
{
    const work *w = self;
    int b = w->plan.block, dv = w->plan.shape->dv, blocks = w->plan.blocks;
    position x = find_weights(w, task, thread);
    const nb_scalar *y = w->state->heads[x.head].y + (size_t)x.j * (size_t)(dv * blocks);
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, dv, x.count, blocks, 1, y, dv, x.left, blocks, 0,
                   x.points.out + (size_t)x.j * (size_t)dv, dv * b);
}

static size_t head_scalars(const plan *p)
{
    return (size_t)p->block * (size_t)p->blocks * (2 * (size_t)p->shape->d + (size_t)p->shape->dv + 2);
}

static size_t room_scalars(const plan *p)
{
    size_t b = (size_t)p->block, blocks = (size_t)p->blocks;
    return b * b + b > blocks * blocks ? b * b + b : blocks * blocks;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    size_t heads = (size_t)nb_layer_heads(s), d = (size_t)s->d, padded = (size_t)p.block * (size_t)p.blocks;
    monarch_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->heads, nb_alloc(ctx, heads, sizeof *state->heads));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (size_t i = 0; i < heads; i++) {
        head_state *h = &state->heads[i];
        NB_NEED(h->mean, nb_alloc_scalars(ctx, head_scalars(&p)));
        h->x = h->mean + padded * d;
        h->y = h->x + padded * d;
        h->weight = h->y + padded * (size_t)s->dv;
        h->h = h->weight + padded;
    }
    for (int i = 0; i < threads; i++) NB_NEED(state->rooms[i], nb_alloc_scalars(ctx, room_scalars(&p)));
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    work w = {.plan = plan_of(opts, pass->shape), .pass = pass, .state = pass->state};
    nb_stage stages[2 * MOST_STEPS + 1] = {{.per_head = 1, .task = begin}};
    int count = 1, steps = w.plan.steps;
    double busy_s[NB_PART_COUNT] = {0};
    for (int i = 0; i < steps; i++) {
        bool last = i == steps - 1;
        stages[count++] = (nb_stage){.per_head = w.plan.blocks, .task = last ? find_last_right : find_right};
        stages[count++] = (nb_stage){.per_head = w.plan.block, .task = last ? find_outputs : find_left};
    }
    NB_TRY(ctx, nb_team_run_stages(pass->team, nb_layer_heads(pass->shape), count, stages, &w, ctx));
    for (int i = 0; i < count; i++) busy_s[i % 2 ? NB_PART_B : NB_PART_F] += stages[i].busy_s;
    nb_pass_parts(pass, busy_s);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double n = s->n, d = s->d, dv = s->dv, b = p.block, blocks = p.blocks, heads = nb_layer_heads(s);
    double right = n * b * (2 * d + 3), left = n * blocks * (2 * d + 1);
    return (nb_attention_cost){
        .multiplications = heads * (p.steps * right + n * b * dv + (p.steps - 1) * left + n * blocks * (d + dv + 1)),
        .bytes = sizeof(monarch_state) + heads * (sizeof(head_state) + sizeof(nb_scalar) * (double)head_scalars(&p)) +
                 threads * (sizeof(nb_scalar *) + sizeof(nb_scalar) * (double)room_scalars(&p))};
}

static int size_of(const void *opts, const nb_layer_shape *shape)
{
    return plan_of(opts, shape).block;
}

static const char *const references[] = {
    "Yaras, Xu, Abillama, Lee & Balzano, MonarchAttention: zero-shot conversion to fast, hardware-aware structured "
    "attention, 2025, arXiv:2505.18698",
    NULL};

const nb_attention nb_attention_monarch = {
    .component = {"monarch", "a Monarch matrix for S, from softmaxes in turn (MonarchAttention)", references, options,
                  sizeof(monarch_options)},
    .size = "block",
    .size_of = size_of,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "As in the authors' code, the last block is filled up with queries and keys that do not count. Blocks are\n"
        "of tokens that follow each other: the tokens' order matters. With block = 1 or block = n it is exact.",
};
