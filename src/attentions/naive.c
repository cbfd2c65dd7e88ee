/* SPDX-License-Identifier: GPL-3.0-or-later */
/* naive.c - exact attention as a textbook has it: S = softmax(Q K'/sqrt d) of all heads is formed, then S V.
 *
 * 2 n^2 d multiplications and n^2 scalars a head. */
#include "attentions/attention.h"

#include <math.h>

typedef struct {
    nb_pass *pass;
    nb_scalar *s; /* n x n, a query a column, for each head */
} work;

enum { COLUMNS = 256 }; /* queries of a task */

typedef struct {
    nb_layer_head head;
    nb_scalar *s; /* of its first query */
    int first, count;
} part;

static part part_of(const work *w, int task)
{
    const nb_layer_shape *shape = &w->pass->layer->shape;
    int each = nb_blocks(shape->n, COLUMNS), head = task / each, first = task % each * COLUMNS;
    size_t n = (size_t)shape->n;
    return (part){.head = nb_layer_head_of(w->pass->layer, w->pass->out, head),
                  .s = w->s + ((size_t)head * n + (size_t)first) * n,
                  .first = first,
                  .count = nb_lesser(shape->n - first, COLUMNS)};
}

static void form_logits(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    part p = part_of(w, task);
    (void)thread;
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, s->n, p.count, s->d, 1 / sqrt(s->d), p.head.k, s->d,
                   p.head.q + (size_t)p.first * (size_t)s->d, s->d, 0, p.s, s->n);
}

static void apply_softmax(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    part p = part_of(w, task);
    (void)thread;
    for (int i = 0; i < p.count; i++) {
        nb_scalar *column = p.s + (size_t)i * (size_t)s->n;
        size_t seen = s->causal ? (size_t)(p.first + i + 1) : (size_t)s->n;
        for (size_t j = seen; j < (size_t)s->n; j++) column[j] = 0;
        nb_scalar sum = nb_scalar_exp_sum(seen, column, nb_scalar_largest(seen, column));
        nb_scalar_scale(seen, 1 / sum, column);
    }
}

static void multiply(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    part p = part_of(w, task);
    (void)thread;
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, s->dv, p.count, s->n, 1, p.head.v, s->dv, p.s, s->n, 0,
                   p.head.out + (size_t)p.first * (size_t)s->dv, s->dv);
}

static nb_status open(const void *options, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx)
{
    size_t n = (size_t)shape->n;
    (void)options, (void)threads;
    NB_NEED(*state, nb_alloc_scalars(ctx, (size_t)nb_layer_heads(shape) * n * n));
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *options, nb_ctx *ctx)
{
    const nb_layer_shape *s = &pass->layer->shape;
    work w = {.pass = pass, .s = pass->state};
    int tasks = nb_layer_heads(s) * nb_blocks(s->n, COLUMNS);
    (void)options, (void)ctx;
    nb_team_run(pass->team, tasks, form_logits, &w);
    nb_team_run(pass->team, tasks, apply_softmax, &w);
    nb_pass_part(pass, NB_PART_F);
    nb_team_run(pass->team, tasks, multiply, &w);
    nb_pass_part(pass, NB_PART_OUTPUT);
    return NB_OK;
}

static nb_attention_cost cost(const void *options, const nb_layer_shape *s, int threads)
{
    double heads = nb_layer_heads(s), n = s->n;
    (void)options, (void)threads;
    return (nb_attention_cost){.multiplications = heads * n * n * (s->d + s->dv),
                               .bytes = heads * n * n * sizeof(nb_scalar)};
}

static const nb_option options[] = {NB_OPTION_END};

static const char *const references[] = {"Vaswani et al., Attention is all you need, NeurIPS 2017, arXiv:1706.03762",
                                         NULL};

const nb_attention nb_attention_naive = {
    .component = {"naive", "exact attention, S formed and stored", references, options, 0},
    .traits = NB_ATTENTION_EXACT | NB_ATTENTION_CAUSAL,
    .cost = cost,
    .open = open,
    .forward = forward,
};
