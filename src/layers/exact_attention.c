/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_attention.c - see exact_attention.h. */
#include "layers/exact_attention.h"

#include <math.h>

typedef struct {
    const nb_layer *layer;
    nb_softmax *softmax;
    nb_scalar *out;
} work;

static int queries_of(const nb_layer_shape *s, int block)
{
    return nb_lesser(s->n - block * NB_BLOCK_QUERIES, NB_BLOCK_QUERIES);
}

/* Keys that some query of the block sees. */
static int keys_of(const nb_layer_shape *s, int block)
{
    return s->causal ? nb_lesser((block + 1) * NB_BLOCK_QUERIES, s->n) : s->n;
}

/* The last blocks first: under a mask they take longest. */
static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->layer->shape;
    int heads = nb_layer_heads(s), block = nb_blocks(s->n, NB_BLOCK_QUERIES) - 1 - task / heads,
        first = block * NB_BLOCK_QUERIES;
    nb_layer_head h = nb_layer_head_of(w->layer, w->out, task % heads);
    nb_softmax *softmax = &w->softmax[thread];
    nb_mask mask = {.on = s->causal, .before = NB_UNLIMITED, .query_at = first};
    nb_softmax_begin(softmax, queries_of(s, block), h.q + (size_t)first * (size_t)s->d,
                     h.out + (size_t)first * (size_t)s->dv);
    nb_softmax_add(softmax, keys_of(s, block), h.k, h.v, &mask);
    nb_softmax_end(softmax, NULL);
}

void nb_exact_attend(const nb_layer *layer, nb_softmax *softmax, nb_team *team, nb_scalar *out)
{
    work w = {.layer = layer, .softmax = softmax, .out = out};
    nb_team_run(team, nb_layer_heads(&layer->shape) * nb_blocks(layer->shape.n, NB_BLOCK_QUERIES), attend, &w);
}

double nb_exact_work(const nb_layer_shape *s)
{
    double each = 0;
    for (int b = 0; b < nb_blocks(s->n, NB_BLOCK_QUERIES); b++)
        each += nb_softmax_work(queries_of(s, b), keys_of(s, b), s->d, s->dv);
    return nb_layer_heads(s) * each;
}

void nb_exact_weights(const nb_layer_shape *s, int count, const nb_scalar *q, const nb_scalar *k, nb_scalar *weights)
{
    size_t n = (size_t)s->n;
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, s->n, count, s->d, 1 / sqrt(s->d), k, s->d, q, s->d, 0, weights, s->n);
    for (size_t j = 0; j < (size_t)count; j++) {
        nb_scalar *column = weights + j * n;
        nb_scalar_scale(n, 1 / nb_scalar_exp_sum(n, column, nb_scalar_largest(n, column)), column);
    }
}
