/* SPDX-License-Identifier: GPL-3.0-or-later */
/* block_sparse.c - causal softmax over the last tokens, the first ones, and the blocks of keys between them that get
 * most of a block of queries, by exact attention: an oracle, a yardstick for whatever chooses blocks.
 *
 * About n (window + sinks + top block + 16) (d + dv) multiplications a head, and n^2 d / 2 to choose, which a method
 * that chooses without looking would save. Workspace is n x 32 for each thread. */
#include "attentions/attention.h"

#include "layers/softmax.h"

#include <math.h>

typedef struct {
    int window, block, top, sinks;
} block_sparse_options;

static const nb_option options[] = {
    NB_INT(block_sparse_options, window, "128", 0, 1 << 30, "tokens before a query that it sees, and up to 31 more"),
    NB_INT(block_sparse_options, block, "16", 1, 4096, "keys of a block"),
    NB_INT(block_sparse_options, top, "8", 0, 1 << 20, "blocks that are chosen for each 32 queries"),
    NB_INT(block_sparse_options, sinks, "4", 0, 1 << 30, "first tokens, which all later ones see"), NB_OPTION_END};

enum { QUERIES = 32 };

typedef struct {
    const nb_layer_shape *shape;
    int window, block, top, sinks;
} plan;

/* A thread's. */
typedef struct {
    nb_scalar *weights; /* n x QUERIES: exact ones, a query a column */
    nb_scalar *mass;    /* by block of keys */
    nb_softmax softmax;
} room;

typedef struct {
    plan plan;
    nb_pass *pass;
} work;

static plan plan_of(const block_sparse_options *o, const nb_layer_shape *s)
{
    return (plan){.shape = s,
                  .window = nb_lesser(o->window, s->n),
                  .block = o->block,
                  .top = nb_lesser(o->top, nb_blocks(s->n, o->block)),
                  .sinks = nb_lesser(o->sinks, s->n)};
}

/* Some queries, which may choose whole blocks of keys behind the sinks and before the window, and see all keys from
 * `near` on. */
typedef struct {
    int first, count;
    int sinks, blocks, near;
} part;

static part part_of(const plan *p, int number)
{
    int first = number * QUERIES, count = nb_lesser(p->shape->n - first, QUERIES);
    int sinks = nb_lesser(p->sinks, first + count), between = first - p->window - sinks;
    int blocks = between > 0 ? between / p->block : 0;
    return (part){.first = first, .count = count, .sinks = sinks, .blocks = blocks, .near = sinks + blocks * p->block};
}

/* Sums for each block the weights that all the queries give to its keys. */
static void find_mass(const plan *p, const part *t, const nb_layer_head *h, const room *r)
{
    int keys = t->first + t->count, d = p->shape->d;
    /* K Q_t'/sqrt d: a query is a column */
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, keys, t->count, d, 1 / sqrt(d), h->k, d,
                   h->q + (size_t)t->first * (size_t)d, d, 0, r->weights, keys);
    /* mass_b = sum over queries i and keys j of b of exp(logit_ij) / sum over j <= i of exp(logit_ij) */
    for (int b = 0; b < t->blocks; b++) r->mass[b] = 0;
    for (int i = 0; i < t->count; i++) {
        nb_scalar *column = r->weights + (size_t)i * (size_t)keys;
        size_t seen = (size_t)(t->first + i + 1);
        nb_scalar sum = nb_scalar_exp_sum(seen, column, nb_scalar_largest(seen, column));
        for (int b = 0; b < t->blocks; b++)
            r->mass[b] += nb_scalar_sum((size_t)p->block, column + t->sinks + b * p->block) / sum;
    }
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv;
    int parts = nb_blocks(p->shape->n, QUERIES);
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task / parts);
    part t = part_of(p, task % parts);
    room *r = &((room *)w->pass->state)[thread];
    nb_mask mask = {.on = true, .before = NB_UNLIMITED, .query_at = t.first};
    find_mass(p, &t, &h, r);
    /* One softmax over the sinks, the `top` blocks of most mass, and all keys from `near` on */
    nb_softmax_begin(&r->softmax, t.count, h.q + (size_t)t.first * d, h.out + (size_t)t.first * dv);
    nb_softmax_add(&r->softmax, t.sinks, h.k, h.v, &mask);
    for (int i = 0; i < nb_lesser(p->top, t.blocks); i++) {
        int best = 0;
        for (int b = 1; b < t.blocks; b++)
            if (r->mass[b] > r->mass[best]) best = b;
        size_t begin = (size_t)(t.sinks + best * p->block);
        r->mass[best] = -1;
        nb_softmax_add(&r->softmax, p->block, h.k + begin * d, h.v + begin * dv, NULL);
    }
    mask.key_at = t.near;
    nb_softmax_add(&r->softmax, t.first + t.count - t.near, h.k + (size_t)t.near * d, h.v + (size_t)t.near * dv, &mask);
    nb_softmax_end(&r->softmax, NULL);
}

static size_t room_scalars(const plan *p)
{
    return (size_t)p->shape->n * QUERIES + (size_t)(p->shape->n / p->block);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **state, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    room *rooms;
    NB_NEED(rooms, nb_alloc(ctx, (size_t)threads, sizeof *rooms));
    for (int i = 0; i < threads; i++) {
        NB_NEED(rooms[i].weights, nb_alloc_scalars(ctx, room_scalars(&p)));
        rooms[i].mass = rooms[i].weights + (size_t)s->n * QUERIES;
        NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(s->n), &rooms[i].softmax, ctx));
    }
    *state = rooms;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    work w = {.plan = plan_of(opts, pass->shape), .pass = pass};
    (void)ctx;
    nb_team_run(pass->team, nb_layer_heads(pass->shape) * nb_blocks(pass->shape->n, QUERIES), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double each = 0, bytes = sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(&p) +
                             nb_softmax_bytes(s->d, s->dv, nb_tile_of(s->n)) - sizeof(nb_softmax);
    for (int i = 0; i < nb_blocks(s->n, QUERIES); i++) {
        part t = part_of(&p, i);
        int end = t.first + t.count, keys = t.sinks + nb_lesser(p.top, t.blocks) * p.block + end - t.near;
        each += (double)t.count * end * s->d + nb_softmax_work(t.count, keys, s->d, s->dv);
    }
    return (nb_attention_cost){.multiplications = nb_layer_heads(s) * each, .bytes = threads * bytes};
}

static const char *const references[] = {
    "Jiang et al., MInference: accelerating pre-filling for long-context LLMs via dynamic sparse attention, NeurIPS "
    "2024, arXiv:2407.02490 (blocks of keys that are chosen for blocks of queries)",
    NULL};

const nb_attention nb_attention_block_sparse = {
    .component = {"block_sparse",
                  "causal softmax over a window and the blocks of keys with most attention, by an oracle", references,
                  options, sizeof(block_sparse_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_ORACLE | NB_ATTENTION_FORESEES,
    .size = "top",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "An oracle: blocks are chosen by exact attention, summed over 32 queries, of which the first would not know\n"
        "the last. With top of n/block it is exact.",
};
