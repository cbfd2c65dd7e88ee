/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_pass.c - see landmark_pass.h. A pass is a list of tasks for each of: landmarks and A by head; X by head; B V
 * by head, stretch of keys and block of landmarks; W by head; the outputs by head and block of queries. */
#include "layers/landmark_pass.h"

#include "base/clock.h"
#include "calls/compute.h"
#include "calls/picking.h"
#include "kernels/kernel.h"
#include "layers/softmax.h"
#include "linalg/vector.h"
#include "nystrom/engine.h"
#include "nystrom/factors_private.h"
#include "nystrom/make_scene.h"
#include "nystrom/row_sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STRETCH = 1024, REASON = 256 }; /* keys of a task of B V */

typedef struct {          /* one query head's */
    nb_scalar *q, *k;     /* d x m: its landmarks */
    int *queries, *keys;  /* m: which tokens they are, where they are tokens */
    bool tokens;
    double *a, *x;        /* m x m */
    nb_scalar *w;         /* dv x m: (X (B V))' */
    nb_scalar *sums;      /* (dv + 2) x m for each stretch of keys: of exp() v; largest logit; of exp() */
    nb_scalar *lse;       /* n, of cur: ln of the sums of S's rows before they are divided */
    int *kept, kept_count; /* tokens whose rows the core returns exactly */
    double one;           /* |A|_1 */
    double select_s, core_s;
    nb_status status;
    bool refused, diverged;
    char reason[REASON];
} own;

typedef struct {
    const nb_landmark_how *how;
    nb_choice kernel;
    int stretches, most_kept;
    own *heads;
    nb_softmax *softmax; /* one for each thread */
    nb_scalar **gather;  /* by thread: (d + dv) x NB_BLOCK_QUERIES, where rows are kept */
    double **middle;     /* by thread: 2 dv x m */
} state;

typedef struct {
    nb_pass *pass;
    state *s;
    bool fresh;       /* landmarks are chosen in this pass */
    double batch_one; /* the largest |A|_1 */
} work;

static int minimum(int a, int b)
{
    return a < b ? a : b;
}

static int blocks(int count)
{
    return (count + NB_BLOCK_QUERIES - 1) / NB_BLOCK_QUERIES;
}

static int stretches(int n)
{
    return (n + STRETCH - 1) / STRETCH;
}

static int chunk_blocks(const nb_landmark_how *how)
{
    return blocks(how->chunk);
}

/* Whether the core asks for more than A. */
static bool looks_at_s(const nb_landmark_how *how)
{
    return how->kind != NB_NOCORE && nb_core_traits(how->core) & (NB_CORE_RANDOM | NB_CORE_ORACLE);
}

static int most_kept(const nb_landmark_how *how, int n)
{
    const nb_core *core = (const nb_core *)how->core->component;
    int kept = core->cost ? core->cost(how->core->options, n, how->m).kept : 0;
    return kept < n ? kept : n;
}

static nb_status open_head(const nb_landmark_how *how, const nb_layer_shape *shape, const state *s, own *h, nb_ctx *ctx)
{
    size_t m = (size_t)how->m, d = (size_t)shape->d, dv = (size_t)shape->dv;
    NB_NEED(h->q, nb_alloc_scalars(ctx, 2 * d * m));
    h->k = h->q + d * m;
    NB_NEED(h->queries, nb_alloc(ctx, 2 * m, sizeof *h->queries));
    h->keys = h->queries + m;
    NB_NEED(h->a, nb_alloc_raw(ctx, 2 * m * m));
    h->x = h->a + m * m;
    NB_NEED(h->w, nb_alloc_scalars(ctx, dv * m));
    NB_NEED(h->sums, nb_alloc_scalars(ctx, (dv + 2) * m * (size_t)s->stretches));
    if (how->kind == NB_CUR) NB_NEED(h->lse, nb_alloc_scalars(ctx, (size_t)shape->n));
    if (s->most_kept) NB_NEED(h->kept, nb_alloc(ctx, (size_t)s->most_kept, sizeof *h->kept));
    return NB_OK;
}

static double head_bytes(const nb_landmark_how *how, const nb_layer_shape *shape)
{
    double m = how->m, scalars = 2 * m * shape->d + m * shape->dv + (shape->dv + 2.0) * m * stretches(shape->n);
    if (how->kind == NB_CUR) scalars += shape->n;
    return sizeof(own) + scalars * sizeof(nb_scalar) + 2 * m * sizeof(int) + 2 * m * m * sizeof(double) +
           sizeof(int) * (double)most_kept(how, shape->n);
}

static double thread_bytes(const nb_landmark_how *how, const nb_layer_shape *shape)
{
    double bytes = nb_softmax_bytes(minimum(shape->n, NB_TILE_KEYS)) + sizeof(nb_scalar *) + sizeof(double *) +
                   2.0 * shape->dv * how->m * sizeof(double);
    if (most_kept(how, shape->n)) bytes += (shape->d + shape->dv) * (double)NB_BLOCK_QUERIES * sizeof(nb_scalar);
    return bytes;
}

nb_status nb_landmark_open(const nb_landmark_how *how, const nb_layer_shape *shape, int threads, void **out,
                           nb_ctx *ctx)
{
    state *s;
    int heads = nb_layer_heads(shape);
    NB_NEED(s, nb_alloc(ctx, 1, sizeof *s));
    *s = (state){.how = how, .stretches = stretches(shape->n), .most_kept = most_kept(how, shape->n)};
    NB_NEED(s->heads, nb_alloc(ctx, (size_t)heads, sizeof *s->heads));
    for (int h = 0; h < heads; h++) NB_TRY(ctx, open_head(how, shape, s, &s->heads[h], ctx));
    NB_NEED(s->softmax, nb_alloc(ctx, (size_t)threads, sizeof *s->softmax));
    NB_NEED(s->gather, nb_alloc(ctx, (size_t)threads, sizeof *s->gather));
    NB_NEED(s->middle, nb_alloc(ctx, (size_t)threads, sizeof *s->middle));
    for (int i = 0; i < threads; i++) {
        NB_TRY(ctx, nb_softmax_new(shape->d, shape->dv, minimum(shape->n, NB_TILE_KEYS), &s->softmax[i], ctx));
        NB_NEED(s->middle[i], nb_alloc_raw(ctx, 2 * (size_t)shape->dv * (size_t)how->m));
        if (s->most_kept)
            NB_NEED(s->gather[i], nb_alloc_scalars(ctx, (size_t)(shape->d + shape->dv) * NB_BLOCK_QUERIES));
    }
    *out = s;
    return NB_OK;
}

/* What a head's task has to tell: a failure of `ctx`, or nothing. */
static void keep_failure(own *h, nb_status status, nb_ctx *ctx)
{
    h->status = status;
    if (status == NB_OK) return;
    snprintf(h->reason, sizeof h->reason, "%s", nb_error_message(ctx));
    nb_error_clear(ctx);
}

static void note(own *h, bool *flag, const char *reason)
{
    *flag = true;
    snprintf(h->reason, sizeof h->reason, "%s", reason);
}

/* The head's scene: blank if nobody looks at its points. */
static nb_status find_scene(const work *w, int head, nb_scene **scene, nb_ctx *ctx)
{
    const nb_layer *layer = w->pass->layer;
    const nb_landmark_how *how = w->s->how;
    nb_head *points;
    bool blind = nb_strategy_traits(how->strategy) & NB_BLIND && !looks_at_s(how);
    if (blind) return nb_scene_new_blank(layer->shape.n, layer->shape.d, &w->s->kernel, scene, ctx);
    NB_NEED(points, nb_alloc(ctx, 1, sizeof *points));
    NB_TRY(ctx, nb_layer_head_double(layer, head, points, ctx));
    NB_TRY(ctx, nb_scene_new(points, &w->s->kernel, scene, ctx));
    nb_scene_name(*scene, layer->problem, layer->first + head);
    return NB_OK;
}

static nb_status pick(const work *w, nb_scene *scene, nb_landmarks *landmarks, nb_ctx *ctx)
{
    const nb_landmark_how *how = w->s->how;
    nb_picking picking = {.scene = scene,
                          .strategy = how->strategy,
                          .m = how->m,
                          .pairing = how->pairing,
                          .stream = {.seed = w->pass->stream.seed,
                                     .trial = w->pass->stream.trial,
                                     .component = how->strategy->canonical}};
    NB_TRY(ctx, nb_random_new(&picking.rng, ctx));
    return nb_landmarks_pick(&picking, landmarks, ctx);
}

/* landmarks (d x m) <- the picks' points: of tokens x's columns, of groups their means. */
static nb_status place(const nb_picks *picks, const nb_layer_shape *shape, const nb_scalar *x, nb_scalar *landmarks,
                       nb_ctx *ctx)
{
    size_t d = (size_t)shape->d, m = (size_t)picks->m;
    if (picks->kind == NB_POINTS) {
        nb_scalar_of(d * m, picks->points, landmarks);
    } else if (picks->kind == NB_TOKENS) {
        for (size_t j = 0; j < m; j++) memcpy(landmarks + j * d, x + (size_t)picks->tokens[j] * d, d * sizeof *x);
    } else {
        int *size;
        NB_NEED(size, nb_alloc(ctx, m, sizeof *size));
        memset(landmarks, 0, d * m * sizeof *landmarks);
        for (int i = 0; i < shape->n; i++) {
            size[picks->groups[i]]++;
            nb_scalar_add(d, 1, x + (size_t)i * d, landmarks + (size_t)picks->groups[i] * d);
        }
        for (size_t j = 0; j < m; j++) nb_scalar_scale(d, 1 / (nb_scalar)size[j], landmarks + j * d);
    }
    return NB_OK;
}

/* Chooses the head's landmarks; refused: h->refused. */
static nb_status choose(const work *w, int head, nb_scene *scene, nb_landmarks *l, own *h, nb_ctx *ctx)
{
    const nb_layer_shape *shape = &w->pass->layer->shape;
    const nb_landmark_how *how = w->s->how;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    NB_TRY(ctx, pick(w, scene, l, ctx));
    const char *refusal = l->refusal;
    if (!refusal) refusal = nb_factors_refusal(how->kind, l->queries.kind, shape->causal);
    if (!refusal && how->refresh > 1 && how->keep_place && l->queries.kind != NB_TOKENS)
        refusal = "means and free points have no place to be kept: keep=points keeps where they are";
    if (refusal) {
        note(h, &h->refused, refusal);
        return NB_OK;
    }
    h->tokens = l->queries.kind == NB_TOKENS;
    if (h->tokens) {
        memcpy(h->queries, l->queries.tokens, (size_t)how->m * sizeof *h->queries);
        memcpy(h->keys, l->keys.tokens, (size_t)how->m * sizeof *h->keys);
    }
    NB_TRY(ctx, place(&l->queries, shape, points.q, h->q, ctx));
    return place(&l->keys, shape, points.k, h->k, ctx);
}

/* The same tokens as before, of this layer. */
static void place_again(const work *w, int head, own *h)
{
    const nb_layer_shape *shape = &w->pass->layer->shape;
    size_t d = (size_t)shape->d, bytes = d * sizeof(nb_scalar);
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    for (int j = 0; j < w->s->how->m; j++) {
        memcpy(h->q + (size_t)j * d, points.q + (size_t)h->queries[j] * d, bytes);
        memcpy(h->k + (size_t)j * d, points.k + (size_t)h->keys[j] * d, bytes);
    }
}

/* A = softmax(Q~ K~') of `nystromformer`; of `cur`, S[I, J] = exp(logit - lse of the query), with the mask. */
static nb_status form_a(const work *w, own *h, nb_ctx *ctx)
{
    const nb_layer_shape *shape = &w->pass->layer->shape;
    int m = w->s->how->m, d = shape->d;
    size_t square = (size_t)m * (size_t)m;
    double *q, *k, *logits;
    NB_NEED(q, nb_alloc_raw(ctx, 2 * (size_t)d * (size_t)m + square));
    k = q + (size_t)d * (size_t)m;
    logits = k + (size_t)d * (size_t)m;
    nb_scalar_to_double((size_t)d * (size_t)m, h->q, q);
    nb_scalar_to_double((size_t)d * (size_t)m, h->k, k);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, d, 1 / sqrt(d), k, d, q, d, 0, logits, m);
    for (int i = 0; i < m; i++) {
        double *row = logits + (size_t)i * (size_t)m;
        bool cur = w->s->how->kind == NB_CUR;
        double sum = nb_exp_sum((size_t)m, row, cur ? (double)h->lse[h->queries[i]] : nb_largest((size_t)m, row));
        for (int j = 0; j < m && !cur; j++) row[j] /= sum;
        for (int j = 0; j < m && cur && shape->causal; j++)
            if (h->keys[j] > h->queries[i]) row[j] = 0;
    }
    nb_transpose(m, m, logits, h->a);
    h->one = 0;
    for (int j = 0; j < m; j++) h->one = fmax(h->one, nb_sum((size_t)m, h->a + (size_t)j * (size_t)m));
    return NB_OK;
}

/* x from the factors, or why there is none. */
static nb_status compute(const work *w, nb_factors *factors, nb_scene *scene, own *h, nb_ctx *ctx)
{
    const nb_choice *choice = w->s->how->core;
    const nb_core *core = (const nb_core *)choice->component;
    const char *refusal = core->refusal ? core->refusal(factors, choice->options) : NULL;
    size_t square = (size_t)factors->m * (size_t)factors->m;
    double seconds;
    if (refusal) {
        note(h, &h->refused, refusal);
        return NB_OK;
    }
    nb_factors_begin(factors);
    NB_TRY(ctx, nb_core_compute(choice, factors, scene, h->x, &seconds, ctx));
    if (!nb_all_finite(square, h->x))
        note(h, &h->diverged, factors->notes.diverged ? factors->notes.diverged : "X is not finite");
    return NB_OK;
}

/* X of a core that looks at S, with the engine's factors. */
static nb_status compute_from_s(const work *w, nb_scene *scene, const nb_landmarks *l, own *h, nb_ctx *ctx)
{
    nb_pair pair = {.landmarks = l, .kind = w->s->how->kind};
    nb_how how = {.engine = NB_STREAMED, .precision = NB_DOUBLE};
    nb_engine_times times;
    NB_TRY(ctx, nb_scene_order(scene, w->pass->stream.seed, w->pass->stream.trial, &how.order, ctx));
    if (!(nb_core_traits(w->s->how->core) & NB_CORE_ORACLE)) { /* one row is all that the engine itself looks at */
        how.sample = 1;
        how.tokens = how.order;
    }
    NB_TRY(ctx, nb_engine_prepare(scene, &how, 1, &pair, &times, ctx));
    NB_REQUIRE(ctx, !pair.failure, NB_ENUMERIC, "%s", pair.failure);
    NB_TRY(ctx, compute(w, pair.factors, scene, h, ctx));
    h->kept_count = nb_factors_keeps_rows(pair.factors) ? minimum(nb_factors_seen(pair.factors), w->s->most_kept) : 0;
    for (int i = 0; i < h->kept_count; i++) h->kept[i] = how.order[i];
    return NB_OK;
}

static nb_status prepare_head(const work *w, int head, own *h, nb_ctx *ctx)
{
    const nb_landmark_how *how = w->s->how;
    nb_scene *scene;
    nb_landmarks l;
    double start_s = nb_clock_s();
    if (w->fresh) {
        NB_TRY(ctx, find_scene(w, head, &scene, ctx));
        NB_TRY(ctx, choose(w, head, scene, &l, h, ctx));
    } else {
        place_again(w, head, h);
    }
    h->select_s = nb_clock_s() - start_s;
    if (h->refused || how->kind == NB_NOCORE) return NB_OK;
    return looks_at_s(how) ? compute_from_s(w, scene, &l, h, ctx) : form_a(w, h, ctx);
}

static void prepare(void *self, int task, int thread)
{
    const work *w = self;
    own *h = &w->s->heads[task];
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    double start_s = nb_clock_s();
    h->refused = h->diverged = false;
    keep_failure(h, prepare_head(w, task, h, ctx), ctx);
    nb_ctx_release(ctx, 0);
    h->core_s = nb_clock_s() - start_s - h->select_s;
}

static void invert(void *self, int task, int thread)
{
    const work *w = self;
    own *h = &w->s->heads[task];
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    nb_factors factors = {.m = w->s->how->m, .a = h->a, .unremarked = true, .batch_one = w->batch_one};
    nb_status status = (factors.ctx = nb_ctx_child(ctx)) ? NB_OK : NB_ENOMEM;
    if (status == NB_OK) status = compute(w, &factors, NULL, h, ctx);
    keep_failure(h, status, ctx);
    nb_ctx_release(ctx, 0);
}

/* ln of the sums of exp(logit) over each query's keys, for `cur`. */
static void find_lse(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *shape = &w->pass->layer->shape;
    int each = blocks(shape->n), head = task / each, first = task % each * NB_BLOCK_QUERIES;
    int count = minimum(shape->n - first, NB_BLOCK_QUERIES);
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    nb_mask mask = {.on = shape->causal, .before = NB_UNLIMITED, .query_at = first};
    nb_softmax softmax = w->s->softmax[thread];
    softmax.dv = 0;
    nb_softmax_begin(&softmax, count, points.q + (size_t)first * (size_t)shape->d, NULL);
    nb_softmax_add(&softmax, shape->causal ? first + count : shape->n, points.k, NULL, &mask);
    nb_softmax_end(&softmax, w->s->heads[head].lse + first);
}

/* Where a stretch of keys has its sums for landmarks `first` ... */
typedef struct {
    nb_scalar *out, *largest, *sum;
} sums;

static sums sums_of(const work *w, const own *h, int stretch, int first)
{
    size_t m = (size_t)w->s->how->m, dv = (size_t)w->pass->layer->shape.dv, at = (size_t)first;
    nb_scalar *all = h->sums + (size_t)stretch * (dv + 2) * m;
    return (sums){.out = all + at * dv, .largest = all + dv * m + at, .sum = all + (dv + 1) * m + at};
}

static void sum_values(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *shape = &w->pass->layer->shape;
    int m = w->s->how->m, in_head = blocks(m) * w->s->stretches, head = task / in_head;
    int stretch = task % in_head / blocks(m), first = task % blocks(m) * NB_BLOCK_QUERIES, key = stretch * STRETCH;
    const own *h = &w->s->heads[head];
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    nb_softmax *softmax = &w->s->softmax[thread];
    nb_mask mask = {.on = shape->causal, .before = NB_UNLIMITED, .queries = h->queries + first, .key_at = key};
    sums to = sums_of(w, h, stretch, first);
    nb_softmax_begin(softmax, minimum(m - first, NB_BLOCK_QUERIES), h->q + (size_t)first * (size_t)shape->d, to.out);
    nb_softmax_add(softmax, minimum(shape->n - key, STRETCH), points.k + (size_t)key * (size_t)shape->d,
                   points.v + (size_t)key * (size_t)shape->dv, &mask);
    memcpy(to.largest, softmax->largest, (size_t)softmax->count * sizeof *to.largest);
    memcpy(to.sum, softmax->sum, (size_t)softmax->count * sizeof *to.sum);
}

/* W = X (B V), in double precision since X may be large. */
static void multiply(void *self, int task, int thread)
{
    const work *w = self;
    int m = w->s->how->m, dv = w->pass->layer->shape.dv;
    size_t size = (size_t)dv * (size_t)m;
    own *h = &w->s->heads[task];
    sums first = sums_of(w, h, 0, 0);
    for (int i = 1; i < w->s->stretches; i++) {
        sums next = sums_of(w, h, i, 0);
        nb_softmax_merge(m, dv, first.out, first.largest, first.sum, next.out, next.largest, next.sum);
    }
    nb_softmax_divide(m, dv, first.out, first.largest, first.sum, NULL);
    if (w->s->how->kind == NB_NOCORE) {
        memcpy(h->w, first.out, size * sizeof *h->w);
        return;
    }
    double *bv = w->s->middle[thread], *xbv = bv + size;
    nb_scalar_to_double(size, first.out, bv);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, dv, m, m, 1, bv, dv, h->x, m, 0, xbv, dv);
    nb_scalar_of(size, xbv, h->w);
}

static void attend_block(const work *w, const own *h, const nb_layer_head *points, int first, nb_softmax *softmax)
{
    const nb_layer_shape *shape = &w->pass->layer->shape;
    int m = w->s->how->m, count = minimum(shape->n - first, NB_BLOCK_QUERIES);
    const nb_scalar *q = points->q + (size_t)first * (size_t)shape->d;
    nb_scalar *out = points->out + (size_t)first * (size_t)shape->dv;
    if (w->s->how->kind != NB_CUR) {
        nb_softmax_begin(softmax, count, q, out);
        nb_softmax_add(softmax, m, h->k, h->w, NULL);
        nb_softmax_end(softmax, NULL);
        return;
    }
    for (int j = 0; j < m; j += softmax->tile_keys) {
        nb_mask mask = {.on = shape->causal, .before = NB_UNLIMITED, .query_at = first, .keys = h->keys + j};
        nb_softmax_columns(softmax, count, q, h->lse + first, minimum(m - j, softmax->tile_keys),
                           h->k + (size_t)j * (size_t)shape->d, h->w + (size_t)j * (size_t)shape->dv, &mask, j > 0,
                           out);
    }
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    int all = blocks(w->pass->layer->shape.n), chunk = chunk_blocks(w->s->how), each = (all + chunk - 1) / chunk;
    int head = task / each, block = task % each * chunk;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    for (int i = block; i < minimum(block + chunk, all); i++)
        attend_block(w, &w->s->heads[head], &points, i * NB_BLOCK_QUERIES, &w->s->softmax[thread]);
}

/* Rows of S that the core has seen and returns exactly. */
static void attend_kept(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *shape = &w->pass->layer->shape;
    const own *h = &w->s->heads[task];
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, task);
    nb_softmax *softmax = &w->s->softmax[thread];
    size_t d = (size_t)shape->d, dv = (size_t)shape->dv;
    nb_scalar *q = w->s->gather[thread], *out = q + d * NB_BLOCK_QUERIES;
    for (int first = 0; first < h->kept_count; first += NB_BLOCK_QUERIES) {
        int count = minimum(h->kept_count - first, NB_BLOCK_QUERIES);
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

/* The first head that has something to tell, tells it. */
static nb_status find_outcome(nb_pass *pass, const state *s, nb_ctx *ctx)
{
    int heads = nb_layer_heads(&pass->layer->shape);
    for (int i = 0; i < heads; i++) {
        const own *h = &s->heads[i];
        if (h->status != NB_OK && heads > 1) NB_FAIL(ctx, h->status, "head %d: %s", i, h->reason);
        if (h->status != NB_OK) NB_FAIL(ctx, h->status, "%s", h->reason);
        if (h->refused && !pass->refusal) pass->refusal = h->reason;
        if (h->diverged && !pass->diverged) pass->diverged = h->reason;
    }
    return NB_OK;
}

/* Tasks that call plug-ins, or what works outside of this process, stay in this thread. */
static void run_calls(nb_pass *pass, const state *s, nb_task *task, work *w)
{
    const nb_choice *strategy = s->how->strategy, *core = s->how->core;
    int heads = nb_layer_heads(&pass->layer->shape);
    bool outside = nb_plugin_of(strategy->component) || nb_plugin_of(core->component) ||
                   nb_strategy_traits(strategy) & NB_ELSEWHERE;
    if (!outside) nb_team_run(pass->team, heads, task, w);
    for (int i = 0; i < heads && outside; i++) task(w, i, 0);
}

/* The time of what is both goes to landmarks and core in proportion to what they took. */
static void divide_time(nb_pass *pass, const state *s)
{
    double select_s = 0, core_s = 0, before_s = pass->part_s[NB_PART_LANDMARKS];
    for (int i = 0; i < nb_layer_heads(&pass->layer->shape); i++) {
        select_s += s->heads[i].select_s;
        core_s += s->heads[i].core_s;
    }
    nb_pass_part(pass, NB_PART_LANDMARKS);
    double both_s = pass->part_s[NB_PART_LANDMARKS] - before_s, of_core_s = both_s * core_s / (select_s + core_s + 1e-12);
    pass->part_s[NB_PART_LANDMARKS] -= of_core_s;
    pass->part_s[NB_PART_CORE] += of_core_s;
}

/* Landmarks, A and X; on a pass that keeps them, nothing. */
static nb_status find_middle(nb_pass *pass, work *w, nb_ctx *ctx)
{
    state *s = w->s;
    int heads = nb_layer_heads(&pass->layer->shape);
    bool kept = !w->fresh && !s->how->keep_place;
    if (kept) return NB_OK;
    run_calls(pass, s, prepare, w);
    divide_time(pass, s);
    NB_TRY(ctx, find_outcome(pass, s, ctx));
    if (pass->refusal || s->how->kind == NB_NOCORE || looks_at_s(s->how)) return NB_OK;
    for (int i = 0; i < heads; i++) w->batch_one = fmax(w->batch_one, s->heads[i].one);
    run_calls(pass, s, invert, w);
    nb_pass_part(pass, NB_PART_CORE);
    return find_outcome(pass, s, ctx);
}

nb_status nb_landmark_forward(nb_pass *pass, const nb_landmark_how *how, nb_ctx *ctx)
{
    state *s = pass->state;
    const nb_layer_shape *shape = &pass->layer->shape;
    int heads = nb_layer_heads(shape), chunk = chunk_blocks(how), chunks = (blocks(shape->n) + chunk - 1) / chunk;
    work w = {.pass = pass, .s = s, .fresh = pass->index % how->refresh == 0};
    s->how = how;
    NB_TRY(ctx, nb_choice_parse(&nb_kernels, nb_standard_kernel(), &s->kernel, ctx));
    if (how->kind == NB_CUR) {
        nb_team_run(pass->team, heads * blocks(shape->n), find_lse, &w);
        nb_pass_part(pass, NB_PART_F);
    }
    NB_TRY(ctx, find_middle(pass, &w, ctx));
    if (pass->refusal) return NB_OK;
    nb_team_run(pass->team, heads * s->stretches * blocks(how->m), sum_values, &w);
    nb_team_run(pass->team, heads, multiply, &w);
    nb_pass_part(pass, NB_PART_B);
    nb_team_run(pass->team, heads * chunks, attend, &w);
    nb_pass_part(pass, NB_PART_F);
    if (s->most_kept) nb_team_run(pass->team, heads, attend_kept, &w);
    if (s->most_kept) nb_pass_part(pass, NB_PART_OUTPUT);
    return NB_OK;
}

nb_attention_cost nb_landmark_cost(const nb_landmark_how *how, const nb_layer_shape *shape, int threads)
{
    const nb_core *core = (const nb_core *)how->core->component;
    double heads = nb_layer_heads(shape), n = shape->n, m = how->m, d = shape->d, dv = shape->dv;
    double each = 2 * n * m * (d + dv), middle = how->kind == NB_NOCORE ? 0 : m * m * dv;
    if (how->kind == NB_CUR) { /* the sums of S's rows */
        for (int first = 0; first < shape->n; first += NB_BLOCK_QUERIES) {
            double count = minimum(shape->n - first, NB_BLOCK_QUERIES);
            each += count * (shape->causal ? first + count : n) * d;
        }
    }
    if (how->kind != NB_NOCORE && looks_at_s(how)) middle = NAN;
    if (how->kind != NB_NOCORE && !looks_at_s(how))
        middle += m * m * d + (core->cost ? core->cost(how->core->options, shape->n, how->m).multiplications : NAN);
    return (nb_attention_cost){.multiplications = heads * (each + middle),
                               .bytes = sizeof(state) + heads * head_bytes(how, shape) +
                                        threads * thread_bytes(how, shape)};
}

int nb_landmark_count(int option, int n)
{
    int m = option;
    if (option != NB_AUTO) return m;
    for (m = 0; n >> (m + 1);) m++;
    return m > 0 ? m : 1;
}

unsigned nb_landmark_traits(const nb_choice *strategy, const nb_choice *core)
{
    unsigned s = nb_strategy_traits(strategy), c = nb_core_traits(core), traits = 0;
    if (s & NB_RANDOM || c & NB_CORE_RANDOM) traits |= NB_ATTENTION_RANDOM;
    if (s & NB_ORACLE || c & NB_CORE_ORACLE) traits |= NB_ATTENTION_ORACLE;
    return traits;
}

nb_status nb_landmark_check(const nb_landmark_how *how, nb_ctx *ctx)
{
    const nb_strategy *strategy = (const nb_strategy *)how->strategy->component;
    bool identity = nb_core_traits(how->core) & NB_CORE_IDENTITY;
    NB_REQUIRE(ctx, nb_strategy_has(strategy, how->pairing), NB_EINVAL, "%s has no pairing '%s'",
               how->strategy->component->name, nb_pairing_names[how->pairing]);
    NB_REQUIRE(ctx, !identity || how->kind == NB_NOCORE, NB_EINVAL, "core=%s is that of factors=%s alone",
               how->core->component->name, nb_factors_names[NB_NOCORE]);
    return strategy->check ? strategy->check(how->strategy->options, ctx) : NB_OK;
}

nb_status nb_landmark_refusal(const nb_landmark_how *how, const nb_layer_shape *shape, const char **why, nb_ctx *ctx)
{
    *why = NULL;
    if (how->m > shape->n)
        NB_NEED(*why, nb_format(ctx, "%d landmarks of %d tokens", how->m, shape->n));
    else if (shape->causal && how->kind != NB_CUR)
        *why = "under a causal mask a landmark's row or column of S is no query's or key's, but factors=cur are exact "
               "about the mask";
    return NB_OK;
}
