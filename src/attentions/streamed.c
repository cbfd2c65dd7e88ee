/* SPDX-License-Identifier: GPL-3.0-or-later */
/* streamed.c - exact attention without S: blocks of queries against tiles of keys, by the online softmax.
 *
 * 2 n^2 d multiplications, half of them under a causal mask, where tiles that no query of a block sees are left out.
 * Memory is a tile for each thread. */
#include "attentions/attention.h"

#include "layers/exact_attention.h"

typedef struct {
    int tile;
} streamed_options;

static const nb_option options[] = {
    NB_INT(streamed_options, tile, "128", 1, 1 << 20, "keys of a tile; it changes no more than the last bits"),
    NB_OPTION_END};

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **state, nb_ctx *ctx)
{
    const streamed_options *o = opts;
    nb_softmax *all;
    NB_NEED(all, nb_alloc(ctx, (size_t)threads, sizeof *all));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_lesser(o->tile, s->n), &all[i], ctx));
    *state = all;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    (void)opts, (void)ctx;
    nb_exact_attend(pass->layer, pass->state, pass->team, pass->out);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    const streamed_options *o = opts;
    return (nb_attention_cost){.multiplications = nb_exact_work(s),
                               .bytes = threads * nb_softmax_bytes(s->d, s->dv, nb_lesser(o->tile, s->n))};
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
