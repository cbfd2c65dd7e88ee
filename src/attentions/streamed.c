/* SPDX-License-Identifier: GPL-3.0-or-later */
/* streamed.c - exact attention without S: blocks of queries against tiles of keys, by the online softmax.
 *
 * 2 n^2 d multiplications, half of them under a causal mask, where tiles that no query of a block sees are left out.
 * Memory is a tile for each thread. */
#include "attentions/attention.h"

#include "layers/softmax.h"

typedef struct {
    int tile;
} streamed_options;

static const nb_option options[] = {
    NB_INT(streamed_options, tile, "256", 1, 1 << 20, "keys of a tile; it changes no more than the last bits"),
    NB_OPTION_END};

typedef struct {
    nb_pass *pass;
    nb_softmax *softmax; /* one for each thread */
} work;

static int blocks(int n)
{
    return (n + NB_BLOCK_QUERIES - 1) / NB_BLOCK_QUERIES;
}

/* Keys that some query of the block sees. */
static int keys_of(const nb_layer_shape *s, int block)
{
    int end = (block + 1) * NB_BLOCK_QUERIES;
    return s->causal && end < s->n ? end : s->n;
}

/* The last blocks first: under a mask they take longest. */
static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    int heads = nb_layer_heads(s), block = blocks(s->n) - 1 - task / heads, first = block * NB_BLOCK_QUERIES;
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task % heads);
    nb_softmax *softmax = &w->softmax[thread];
    nb_mask mask = {.on = s->causal, .before = NB_UNLIMITED, .query_at = first};
    nb_softmax_begin(softmax, s->n - first < NB_BLOCK_QUERIES ? s->n - first : NB_BLOCK_QUERIES,
                     h.q + (size_t)first * (size_t)s->d, h.out + (size_t)first * (size_t)s->dv);
    nb_softmax_add(softmax, keys_of(s, block), h.k, h.v, &mask);
    nb_softmax_end(softmax, NULL);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **state, nb_ctx *ctx)
{
    const streamed_options *o = opts;
    nb_softmax *all;
    NB_NEED(all, nb_alloc(ctx, (size_t)threads, sizeof *all));
    for (int i = 0; i < threads; i++)
        NB_TRY(ctx, nb_softmax_new(s->d, s->dv, o->tile < s->n ? o->tile : s->n, &all[i], ctx));
    *state = all;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = &pass->layer->shape;
    work w = {.pass = pass, .softmax = pass->state};
    (void)opts, (void)ctx;
    nb_team_run(pass->team, nb_layer_heads(s) * blocks(s->n), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    const streamed_options *o = opts;
    double work_done = 0;
    for (int b = 0; b < blocks(s->n); b++) {
        int queries = s->n - b * NB_BLOCK_QUERIES < NB_BLOCK_QUERIES ? s->n - b * NB_BLOCK_QUERIES : NB_BLOCK_QUERIES;
        work_done += nb_softmax_work(queries, keys_of(s, b), s->d, s->dv);
    }
    return (nb_attention_cost){.multiplications = nb_layer_heads(s) * work_done,
                               .bytes = threads * nb_softmax_bytes(o->tile < s->n ? o->tile : s->n)};
}

static const char *const references[] = {
    "Milakov & Gimelshein, Online normalizer calculation for softmax, 2018, arXiv:1805.02867",
    "Rabe & Staats, Self-attention does not need O(n^2) memory, 2021, arXiv:2112.05682",
    "Dao, Fu, Ermon, Rudra & Re, FlashAttention, NeurIPS 2022, arXiv:2205.14135", NULL};

const nb_attention nb_attention_streamed = {
    .component = {"streamed", "exact attention in tiles, by the online softmax; S is never stored", references, options,
                  sizeof(streamed_options)},
    .traits = NB_ATTENTION_EXACT | NB_ATTENTION_CAUSAL,
    .cost = cost,
    .open = open,
    .forward = forward,
};
