/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skeinformer.c - s sampled keys have their own weights, and all others one weight together:
 *
 * 1. Some rows of S at queries I that are drawn; p_j = |v_j| times the root of the sum over I of S_ij^2.
 * 2. s keys J without replacement, each draw in proportion to p.
 * 3. A query's logit for each other key is the mean of its logits for J, the logit of J's mean key; their value is
 *    the mean of theirs. So an output is a softmax over s + 1 keys, of which the last counts n - s times.
 * 4. The queries I have their exact outputs.
 *
 * (s + |I|) n (d + dv) multiplications a head. */
#include "attentions/attention.h"

#include "layers/exact_attention.h"
#include "linalg/vector.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

typedef struct {
    int columns, rows, exact;
} skeinformer_options;

static const nb_option options[] = {
    NB_INT(skeinformer_options, columns, "256", 1, 1 << 30, "keys sampled, s; at most n"),
    NB_INT_OR(skeinformer_options, rows, "auto", "auto", 1, 1 << 30,
              "queries drawn without replacement, |I|, at most n; auto: as many as columns, or n"),
    NB_BOOL(skeinformer_options, exact, "true", "the queries that are drawn have their exact outputs"), NB_OPTION_END};

enum { GROUP = 32 }; /* rows of S at a time */

/* A head's. Behind J's keys and values stand their mean key and the mean value of all other keys. */
typedef struct {
    int *rows;        /* queries I, ascending */
    nb_scalar *exact; /* dv x |I|: their outputs */
    nb_scalar *k, *v; /* d x (s + 1) and dv x (s + 1) */
} sketch;

/* A thread's. */
typedef struct {
    nb_scalar *q, *weights; /* d x GROUP, n x GROUP */
    nb_scalar *far;         /* dv x NB_BLOCK_QUERIES */
    double *score;          /* n: of a key p^2, then what a draw orders keys by */
    size_t *drawn;          /* s */
    int *tokens;            /* n: 0, 1 ... */
    nb_softmax near, others;
    gsl_rng *rng;
} room;

typedef struct {
    sketch *heads;
    room *rooms;
} skeinformer_state;

typedef struct {
    nb_pass *pass;
    const nb_layer_shape *shape;
    const skeinformer_state *state;
    int columns, rows;
    bool exact;
} work;

static work work_of(const void *opts, nb_pass *pass, const nb_layer_shape *s)
{
    const skeinformer_options *o = opts;
    int rows = o->rows == NB_AUTO ? nb_lesser(o->columns, s->n) : o->rows;
    return (work){pass, s, pass ? pass->state : NULL, o->columns, rows, o->exact};
}

/* p^2 of all keys, and the exact outputs of I. */
static void score_keys(const work *w, const nb_layer_head *points, const sketch *h, room *r)
{
    const nb_layer_shape *s = w->shape;
    size_t n = (size_t)s->n, dv = (size_t)s->dv;
    memset(r->score, 0, n * sizeof *r->score);
    for (int at = 0; at < w->rows; at += GROUP) {
        int count = nb_lesser(w->rows - at, GROUP);
        nb_scalar_gather(s->d, points->q, count, h->rows + at, r->q);
        /* S_I, some rows at a time */
        nb_exact_weights(s, count, r->q, points->k, r->weights);
        /* S_I V */
        if (w->exact)
            nb_scalar_gemm(NB_PLAIN, NB_PLAIN, s->dv, count, s->n, 1, points->v, s->dv, r->weights, s->n, 0,
                           h->exact + (size_t)at * dv, s->dv);
        /* sum over I of S_ij^2 */
        for (size_t i = 0; i < (size_t)count; i++)
            for (size_t j = 0; j < n; j++) r->score[j] += (double)r->weights[i * n + j] * (double)r->weights[i * n + j];
    }
    nb_count_multiplications((double)w->rows * s->n + (double)s->n * (s->dv + 1));
    /* p_j^2 = |v_j|^2 times that */
    for (size_t j = 0; j < n; j++) {
        double squares = 0;
        for (size_t l = 0; l < dv; l++) squares += (double)points->v[j * dv + l] * (double)points->v[j * dv + l];
        r->score[j] *= squares;
    }
}

/* *mean (d) <- the mean of the columns of x that are drawn, or of all others. */
static void average(int d, int n, const nb_scalar *x, const work *w, const room *r, bool drawn, nb_scalar *mean)
{
    double *which = r->score;
    for (int j = 0; j < n; j++) which[j] = !drawn;
    for (int i = 0; i < w->columns; i++) which[r->drawn[i]] = drawn;
    memset(mean, 0, (size_t)d * sizeof *mean);
    for (int j = 0; j < n; j++)
        if (which[j] > 0) nb_scalar_add((size_t)d, 1, x + (size_t)j * (size_t)d, mean);
    nb_scalar_scale((size_t)d, 1 / (nb_scalar)(drawn ? w->columns : n - w->columns), mean);
}

/* Every head's draws are the same, so that they do not depend on its place. */
static void sketch_head(void *self, int head, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->shape;
    sketch *h = &w->state->heads[head];
    room *r = &w->state->rooms[thread];
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    size_t d = (size_t)s->d, dv = (size_t)s->dv, count = (size_t)w->columns;
    nb_stream stream = w->pass->stream;
    stream.role = "rows and columns";
    nb_random_seed(r->rng, &stream);
    gsl_ran_choose(r->rng, h->rows, (size_t)w->rows, r->tokens, (size_t)s->n, sizeof *r->tokens);
    score_keys(w, &points, h, r);
    /* Each key gets an exponential waiting time of rate p: the first s to come are s draws in proportion to p, without
     * replacement. Keys with p = 0 come last, by a draw of their own. */
    for (int j = 0; j < s->n; j++) {
        double time = gsl_ran_exponential(r->rng, 1);
        r->score[j] = time / fmax(sqrt(r->score[j]), 1e-150);
    }
    gsl_sort_smallest_index(r->drawn, count, r->score, 1, (size_t)s->n);
    for (size_t i = 0; i < count; i++) {
        memcpy(h->k + i * d, points.k + r->drawn[i] * d, d * sizeof *h->k);
        memcpy(h->v + i * dv, points.v + r->drawn[i] * dv, dv * sizeof *h->v);
    }
    average(s->d, s->n, points.k, w, r, true, h->k + count * d);
    if (w->columns < s->n) average(s->dv, s->n, points.v, w, r, false, h->v + count * dv);
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->shape;
    int blocks = nb_blocks(s->n, NB_BLOCK_QUERIES), head = task / blocks, at = task % blocks * NB_BLOCK_QUERIES;
    int count = nb_lesser(s->n - at, NB_BLOCK_QUERIES);
    size_t dv = (size_t)s->dv, columns = (size_t)w->columns;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    const sketch *h = &w->state->heads[head];
    room *r = &w->state->rooms[thread];
    const nb_scalar *q = points.q + (size_t)at * (size_t)s->d;
    nb_scalar *out = points.out + (size_t)at * dv;
    /* o and sum over the s keys of J */
    nb_softmax_begin(&r->near, count, q, out);
    nb_softmax_add(&r->near, w->columns, h->k, h->v, NULL);
    nb_softmax_store(&r->near);
    if (w->columns < s->n) {
        /* exp(logit of J's mean key) with the mean value of the others, counted n - s times */
        nb_softmax_begin(&r->others, count, q, r->far);
        nb_softmax_add(&r->others, 1, h->k + columns * (size_t)s->d, h->v + columns * dv, NULL);
        nb_softmax_store(&r->others);
        /* ln(n - s), in the unit of the largest logits */
        nb_scalar each = (nb_scalar)(log(s->n - w->columns) / nb_softmax_unit());
        for (int i = 0; i < count; i++) r->others.largest[i] += each;
        nb_softmax_merge(count, s->dv, out, r->near.largest, r->near.sum, r->far, r->others.largest, r->others.sum);
    }
    nb_softmax_divide(count, s->dv, out, r->near.sum);
    for (int i = 0; w->exact && i < w->rows; i++)
        if (h->rows[i] >= at && h->rows[i] < at + count)
            memcpy(points.out + (size_t)h->rows[i] * dv, h->exact + (size_t)i * dv, dv * sizeof *out);
}

static nb_status refusal(const void *opts, const nb_layer_shape *s, const char **why, nb_ctx *ctx)
{
    work w = work_of(opts, NULL, s);
    if (w.columns > s->n)
        NB_NEED(*why, nb_format(ctx, "columns = %d, and there are n = %d keys", w.columns, s->n));
    else if (w.rows > s->n)
        NB_NEED(*why, nb_format(ctx, "rows = %d, and there are n = %d queries", w.rows, s->n));
    return NB_OK;
}

static size_t room_scalars(const nb_layer_shape *s)
{
    return ((size_t)s->d + (size_t)s->n) * GROUP + (size_t)s->dv * NB_BLOCK_QUERIES;
}

static size_t sketch_scalars(const work *w)
{
    size_t d = (size_t)w->shape->d, dv = (size_t)w->shape->dv;
    return dv * (size_t)w->rows + (d + dv) * ((size_t)w->columns + 1);
}

static nb_status open_room(const work *w, room *r, nb_ctx *ctx)
{
    const nb_layer_shape *s = w->shape;
    NB_NEED(r->q, nb_alloc_scalars(ctx, room_scalars(s)));
    r->weights = r->q + (size_t)s->d * GROUP;
    r->far = r->weights + (size_t)s->n * GROUP;
    NB_NEED(r->score, nb_alloc_raw(ctx, (size_t)s->n));
    NB_NEED(r->drawn, nb_alloc(ctx, (size_t)w->columns, sizeof *r->drawn));
    NB_NEED(r->tokens, nb_alloc(ctx, (size_t)s->n, sizeof *r->tokens));
    for (int i = 0; i < s->n; i++) r->tokens[i] = i;
    NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(w->columns), &r->near, ctx));
    NB_TRY(ctx, nb_softmax_new(s->d, s->dv, 1, &r->others, ctx));
    return nb_random_new(&r->rng, ctx);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    work w = work_of(opts, NULL, s);
    size_t heads = (size_t)nb_layer_heads(s);
    skeinformer_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->heads, nb_alloc(ctx, heads, sizeof *state->heads));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (size_t i = 0; i < heads; i++) {
        sketch *h = &state->heads[i];
        NB_NEED(h->rows, nb_alloc(ctx, (size_t)w.rows, sizeof *h->rows));
        NB_NEED(h->exact, nb_alloc_scalars(ctx, sketch_scalars(&w)));
        h->k = h->exact + (size_t)s->dv * (size_t)w.rows;
        h->v = h->k + (size_t)s->d * ((size_t)w.columns + 1);
    }
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(&w, &state->rooms[i], ctx));
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = &pass->layer->shape;
    work w = work_of(opts, pass, s);
    nb_stage stages[] = {{.per_head = 1, .task = sketch_head},
                         {.per_head = nb_blocks(s->n, NB_BLOCK_QUERIES), .task = attend}};
    NB_TRY(ctx, nb_team_run_stages(pass->team, nb_layer_heads(s), 2, stages, &w, ctx));
    nb_pass_parts(pass,
                  (double[NB_PART_COUNT]){[NB_PART_LANDMARKS] = stages[0].busy_s, [NB_PART_F] = stages[1].busy_s});
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    work w = work_of(opts, NULL, s);
    double n = s->n, d = s->d, dv = s->dv, rows = w.rows, columns = w.columns, heads = nb_layer_heads(s);
    double looks = nb_softmax_work(rows, n, d, w.exact ? dv : 0) + rows * n + n * (dv + 1);
    double output = nb_softmax_work(n, columns < n ? columns + 1 : n, d, dv);
    double each = sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(s) + (sizeof(double) + sizeof(int)) * n +
                  sizeof(size_t) * columns + nb_softmax_bytes(s->d, s->dv, nb_tile_of(w.columns)) +
                  nb_softmax_bytes(s->d, s->dv, 1) - 2 * sizeof(nb_softmax);
    return (nb_attention_cost){
        .multiplications = heads * (looks + output),
        .bytes = sizeof(skeinformer_state) + threads * each +
                 heads * (sizeof(sketch) + sizeof(int) * rows + sizeof(nb_scalar) * (double)sketch_scalars(&w))};
}

static const char *const references[] = {
    "Chen, Zeng, Ji & Yang, Sketching as a tool for understanding and accelerating self-attention for long sequences, "
    "NAACL 2022, arXiv:2112.05359",
    NULL};

const nb_attention nb_attention_skeinformer = {
    .component = {"skeinformer", "softmax over keys sampled by what exact rows give them, and one for the others",
                  references, options, sizeof(skeinformer_options)},
    .traits = NB_ATTENTION_RANDOM,
    .size = "columns",
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "The paper's algorithm, with its adaptive row normalisation and its reuse of the pilot rows, but that these\n"
        "are drawn without replacement, and anew in every pass from the same draws for all heads. The paper's s is\n"
        "256, rows and columns alike. With as many columns as keys, or rows as queries, it is exact.",
};
