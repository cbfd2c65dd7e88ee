/* SPDX-License-Identifier: GPL-3.0-or-later */
/* longformer.c - exact softmax over the keys that a query sees: those at a distance of at most window/2 on each side,
 * and the first `global` tokens, which see all and are seen by all.
 *
 * About n (block + window + global) (d + dv) multiplications a head, for queries in blocks of the window's length,
 * between 32 and 256: each block has one product with all keys that some query of it sees. Memory is a tile for each
 * thread. */
#include "attentions/attention.h"

#include "layers/softmax.h"

typedef struct {
    int window, global;
} longformer_options;

static const nb_option options[] = {
    NB_INT(longformer_options, window, "512", 0, NB_UNLIMITED,
           "keys around a query that it sees, besides its own: half of them, rounded down, on each side"),
    NB_INT(longformer_options, global, "1", 0, 1 << 30, "first tokens, which see all and are seen by all; at most n"),
    NB_OPTION_END};

/* Queries 0 ... global - 1 in blocks, then the others. */
typedef struct {
    const nb_layer_shape *shape;
    int reach, global;         /* keys seen on each side; tokens */
    int block;                 /* queries of a block of the others */
    int global_blocks, blocks; /* those, and all */
    nb_pass *pass;
    nb_softmax *softmax; /* one for each thread */
} work;

static work work_of(const longformer_options *o, const nb_layer_shape *s)
{
    work w = {.shape = s, .reach = nb_lesser(o->window / 2, s->n), .global = o->global};
    int wanted = (nb_lesser(o->window, NB_BLOCK_QUERIES) + 31) / 32 * 32;
    w.block = wanted < 32 ? 32 : wanted;
    w.global_blocks = (w.global + NB_BLOCK_QUERIES - 1) / NB_BLOCK_QUERIES;
    w.blocks = w.global_blocks + (s->n - w.global + w.block - 1) / w.block;
    return w;
}

typedef struct {
    int first, count; /* queries */
    int key, keys;    /* from which key on how many have a product with them */
    bool local;       /* of these a query sees those in reach, and before them all global ones; else all */
} part;

static part part_of(const work *w, int block)
{
    const nb_layer_shape *s = w->shape;
    if (block < w->global_blocks) {
        int first = block * NB_BLOCK_QUERIES, count = nb_lesser(w->global - first, NB_BLOCK_QUERIES);
        return (part){.first = first, .count = count, .keys = s->causal ? first + count : s->n};
    }
    int first = w->global + (block - w->global_blocks) * w->block, count = nb_lesser(s->n - first, w->block);
    int key = first - w->reach > w->global ? first - w->reach : w->global;
    int end = s->causal ? first + count : nb_lesser(first + count + w->reach, s->n);
    return (part){.first = first, .count = count, .key = key, .keys = end - key, .local = true};
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->shape;
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task / w->blocks);
    part p = part_of(w, task % w->blocks);
    nb_softmax *softmax = &w->softmax[thread];
    nb_mask mask = {.on = p.local || s->causal,
                    .before = p.local ? w->reach : NB_UNLIMITED,
                    .after = s->causal ? 0 : w->reach,
                    .query_at = p.first,
                    .key_at = p.key};
    nb_softmax_begin(softmax, p.count, h.q + (size_t)p.first * (size_t)s->d, h.out + (size_t)p.first * (size_t)s->dv);
    if (p.local) nb_softmax_add(softmax, w->global, h.k, h.v, NULL);
    nb_softmax_add(softmax, p.keys, h.k + (size_t)p.key * (size_t)s->d, h.v + (size_t)p.key * (size_t)s->dv, &mask);
    nb_softmax_end(softmax, NULL);
}

static nb_status refusal(const void *opts, const nb_layer_shape *s, const char **why, nb_ctx *ctx)
{
    const longformer_options *o = opts;
    if (o->global > s->n) NB_NEED(*why, nb_format(ctx, "global = %d, and there are %d tokens", o->global, s->n));
    return NB_OK;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **state, nb_ctx *ctx)
{
    nb_softmax *all;
    (void)opts;
    NB_NEED(all, nb_alloc(ctx, (size_t)threads, sizeof *all));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(s->n), &all[i], ctx));
    *state = all;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    work w = work_of(opts, &pass->layer->shape);
    (void)ctx;
    w.pass = pass;
    w.softmax = pass->state;
    nb_team_run(pass->team, nb_layer_heads(w.shape) * w.blocks, attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    work w = work_of(opts, s);
    double work_done = 0;
    for (int b = 0; b < w.blocks; b++) {
        part p = part_of(&w, b);
        work_done += nb_softmax_work(p.count, p.keys + (p.local ? w.global : 0), s->d, s->dv);
    }
    return (nb_attention_cost){.multiplications = nb_layer_heads(s) * work_done,
                               .bytes = threads * nb_softmax_bytes(s->d, s->dv, nb_tile_of(s->n))};
}

static const char *const references[] = {
    "Beltagy, Peters & Cohan, Longformer: the long-document transformer, 2020, arXiv:2004.05150", NULL};

const nb_attention nb_attention_longformer = {
    .component = {"longformer", "softmax over a window of keys and some global tokens", references, options,
                  sizeof(longformer_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_UNTRAINED,
    .size = "window",
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "window is Longformer's w: a query sees the w/2 keys before it, its own and the w/2 after it (under a causal\n"
        "mask: before it), and global tokens besides. Longformer has other, trained projections for global tokens;\n"
        "here they have the queries, keys and values of the others. From window = 2n on it is exact.",
};
