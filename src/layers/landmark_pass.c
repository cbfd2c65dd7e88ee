/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_pass.c - see landmark_pass.h. A pass is a list of tasks for each of: landmarks and A by head; X by head; B V
 * by head, stretch of keys and block of landmarks; W by head; the outputs by head and block of queries. */
#include "layers/landmark_pass_private.h"

#include "base/clock.h"
#include "kernels/kernel.h"

#include <math.h>
#include <string.h>

/* ln of the sums of exp(logit) over each query's keys, for `cur`. */
static void find_lse(void *self, int task, int thread)
{
    const nb_landmark_work *w = self;
    const nb_layer_shape *shape = &w->pass->layer->shape;
    int each = nb_blocks(shape->n, NB_BLOCK_QUERIES), head = task / each, first = task % each * NB_BLOCK_QUERIES;
    int count = nb_lesser(shape->n - first, NB_BLOCK_QUERIES);
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    nb_mask mask = {.on = shape->causal, .before = NB_UNLIMITED, .query_at = first};
    nb_softmax softmax = w->s->softmax[thread];
    softmax.dv = 0;
    nb_softmax_begin(&softmax, count, points.q + (size_t)first * (size_t)shape->d, NULL);
    nb_softmax_add(&softmax, shape->causal ? first + count : shape->n, points.k, NULL, &mask);
    nb_softmax_end(&softmax, w->s->heads[head].lse + first);
}

/* The place of a stretch of keys' sums for landmarks `first` ... */
typedef struct {
    nb_scalar *out, *largest, *sum;
} sums;

static sums sums_of(const nb_landmark_work *w, const nb_landmark_head *h, int stretch, int first)
{
    size_t m = (size_t)nb_landmark_queries(&w->s->how), dv = (size_t)w->pass->layer->shape.dv, at = (size_t)first;
    nb_scalar *all = h->sums + (size_t)stretch * (dv + 2) * m;
    return (sums){.out = all + at * dv, .largest = all + dv * m + at, .sum = all + (dv + 1) * m + at};
}

static void sum_values(void *self, int task, int thread)
{
    const nb_landmark_work *w = self;
    const nb_layer_shape *shape = &w->pass->layer->shape;
    double start_s = nb_clock_s();
    int m = nb_landmark_queries(&w->s->how), in_head = nb_blocks(m, NB_BLOCK_QUERIES) * w->s->stretches,
        head = task / in_head;
    int stretch = task % in_head / nb_blocks(m, NB_BLOCK_QUERIES),
        first = task % nb_blocks(m, NB_BLOCK_QUERIES) * NB_BLOCK_QUERIES, key = stretch * NB_STRETCH;
    const nb_landmark_head *h = &w->s->heads[head];
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    nb_softmax *softmax = &w->s->softmax[thread];
    nb_mask mask = {.on = shape->causal, .before = NB_UNLIMITED, .queries = h->queries + first, .key_at = key};
    sums to = sums_of(w, h, stretch, first);
    nb_softmax_begin(softmax, nb_lesser(m - first, NB_BLOCK_QUERIES), h->q + (size_t)first * (size_t)shape->d, to.out);
    nb_softmax_add(softmax, nb_lesser(shape->n - key, NB_STRETCH), points.k + (size_t)key * (size_t)shape->d,
                   points.v + (size_t)key * (size_t)shape->dv, &mask);
    nb_softmax_store(softmax);
    memcpy(to.largest, softmax->largest, (size_t)softmax->count * sizeof *to.largest);
    memcpy(to.sum, softmax->sum, (size_t)softmax->count * sizeof *to.sum);
    w->s->busy_s[thread] += nb_clock_s() - start_s;
}

/* X of the heads, which no other task waits for, and B V. */
static void invert_or_sum(void *self, int task, int thread)
{
    const nb_landmark_work *w = self;
    int inverted = w->inverts ? nb_layer_heads(&w->pass->layer->shape) : 0;
    if (task < inverted)
        nb_landmark_invert(self, task, thread);
    else
        sum_values(self, task - inverted, thread);
}

static nb_status find_middle(nb_landmark_work *w, nb_ctx *ctx)
{
    nb_pass *pass = w->pass;
    nb_landmark_state *s = w->s;
    int heads = nb_layer_heads(&pass->layer->shape), threads = nb_team_threads(pass->team),
        queries = nb_landmark_queries(&s->how);
    double busy_s = 0, core_s = 0;
    for (int i = 0; i < threads; i++) s->busy_s[i] = 0;
    nb_team_run(pass->team, heads * s->stretches * nb_blocks(queries, NB_BLOCK_QUERIES) + (w->inverts ? heads : 0),
                invert_or_sum, w);
    for (int i = 0; i < threads; i++) busy_s += s->busy_s[i];
    for (int i = 0; i < heads && w->inverts; i++) core_s += s->heads[i].core_s;
    double of_core = busy_s * s->how.drawn / queries; /* what the drawn queries take */
    nb_pass_parts(pass, (double[NB_PART_COUNT]){[NB_PART_B] = busy_s - of_core, [NB_PART_CORE] = core_s + of_core});
    return w->inverts ? nb_landmark_outcome(pass, s, ctx) : NB_OK;
}

/* Computes W = X (B V), in double precision since X may be large; or takes what is fitted to B V. */
static void multiply(void *self, int task, int thread)
{
    const nb_landmark_work *w = self;
    int m = w->s->how.m, queries = nb_landmark_queries(&w->s->how), dv = w->pass->layer->shape.dv;
    size_t size = (size_t)dv * (size_t)m;
    nb_landmark_head *h = &w->s->heads[task];
    sums first = sums_of(w, h, 0, 0);
    /* B V, of all stretches of keys */
    for (int i = 1; i < w->s->stretches; i++) {
        sums next = sums_of(w, h, i, 0);
        nb_softmax_merge(queries, dv, first.out, first.largest, first.sum, next.out, next.largest, next.sum);
    }
    nb_softmax_divide(queries, dv, first.out, first.sum);
    if (w->s->how.drawn) {
        nb_landmark_fit(w, task, thread, first.out);
        return;
    }
    if (w->s->how.kind == NB_NOCORE) {
        memcpy(h->w, first.out, size * sizeof *h->w);
        return;
    }
    /* W = X (B V), transposed */
    double *bv = w->s->middle[thread], *xbv = bv + size;
    nb_scalar_to_double(size, first.out, bv);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, dv, m, m, 1, bv, dv, h->x, m, 0, xbv, dv);
    nb_scalar_of(size, xbv, h->w);
}

static void attend_block(const nb_landmark_work *w, const nb_landmark_head *h, const nb_layer_head *points, int first,
                         nb_softmax *softmax)
{
    const nb_layer_shape *shape = &w->pass->layer->shape;
    int m = w->s->how.m, count = nb_lesser(shape->n - first, NB_BLOCK_QUERIES);
    const nb_scalar *q = points->q + (size_t)first * (size_t)shape->d;
    nb_scalar *out = points->out + (size_t)first * (size_t)shape->dv;
    if (w->s->how.kind != NB_CUR) {
        nb_softmax_begin(softmax, count, q, out);
        nb_softmax_add(softmax, m, h->k, h->w, NULL);
        nb_softmax_end(softmax, NULL);
        return;
    }
    nb_mask mask = {.on = shape->causal, .before = NB_UNLIMITED, .query_at = first, .keys = h->keys};
    nb_softmax_begin_columns(softmax, count, q, h->lse + first, out);
    nb_softmax_add(softmax, m, h->k, h->w, &mask);
    nb_softmax_store(softmax);
}

static void attend(void *self, int task, int thread)
{
    const nb_landmark_work *w = self;
    int all = nb_blocks(w->pass->layer->shape.n, NB_BLOCK_QUERIES), chunk = w->s->how.chunk,
        each = (all + chunk - 1) / chunk;
    int head = task / each, block = task % each * chunk;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    for (int i = block; i < nb_lesser(block + chunk, all); i++)
        attend_block(w, &w->s->heads[head], &points, i * NB_BLOCK_QUERIES, &w->s->softmax[thread]);
}

/* Rows of S that the core has seen and returns exactly. */
static void attend_kept(void *self, int task, int thread)
{
    const nb_landmark_work *w = self;
    const nb_layer_shape *shape = &w->pass->layer->shape;
    const nb_landmark_head *h = &w->s->heads[task];
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, task);
    nb_softmax *softmax = &w->s->softmax[thread];
    size_t d = (size_t)shape->d, dv = (size_t)shape->dv;
    nb_scalar *q = w->s->gather[thread], *out = q + d * NB_BLOCK_QUERIES;
    for (int first = 0; first < h->kept_count; first += NB_BLOCK_QUERIES) {
        int count = nb_lesser(h->kept_count - first, NB_BLOCK_QUERIES);
        nb_mask mask = {.on = shape->causal, .before = NB_UNLIMITED, .queries = h->kept + first};
        for (int i = 0; i < count; i++)
            memcpy(q + (size_t)i * d, points.q + (size_t)h->kept[first + i] * d, d * sizeof *q);
        nb_softmax_begin(softmax, count, q, out);
        nb_softmax_add(softmax, shape->n, points.k, points.v, &mask);
        nb_softmax_end(softmax, NULL);
        for (int i = 0; i < count; i++)
            memcpy(points.out + (size_t)h->kept[first + i] * dv, out + (size_t)i * dv, dv * sizeof *out);
    }
}

nb_status nb_landmark_forward(nb_pass *pass, const void *options, nb_ctx *ctx)
{
    nb_landmark_state *s = pass->state;
    const nb_landmark_how *how = &s->how;
    const nb_layer_shape *shape = &pass->layer->shape;
    int heads = nb_layer_heads(shape), chunks = (nb_blocks(shape->n, NB_BLOCK_QUERIES) + how->chunk - 1) / how->chunk;
    nb_landmark_work w = {.pass = pass, .s = s, .fresh = pass->index % how->refresh == 0};
    (void)options;
    NB_TRY(ctx, nb_choice_parse(&nb_kernels, nb_standard_kernel(), &s->kernel, ctx));
    if (how->kind == NB_CUR) {
        nb_team_run(pass->team, heads * nb_blocks(shape->n, NB_BLOCK_QUERIES), find_lse, &w);
        nb_pass_part(pass, NB_PART_F);
    }
    NB_TRY(ctx, nb_landmark_middle(&w, ctx));
    if (pass->refusal) return NB_OK;
    NB_TRY(ctx, find_middle(&w, ctx));
    if (pass->refusal) return NB_OK;
    nb_team_run(pass->team, heads, multiply, &w);
    nb_pass_part(pass, how->drawn ? NB_PART_CORE : NB_PART_B);
    if (how->drawn) NB_TRY(ctx, nb_landmark_outcome(pass, s, ctx));
    nb_team_run(pass->team, heads * chunks, attend, &w);
    nb_pass_part(pass, NB_PART_F);
    if (s->most_kept) nb_team_run(pass->team, heads, attend_kept, &w);
    if (s->most_kept) nb_pass_part(pass, NB_PART_OUTPUT);
    return NB_OK;
}
