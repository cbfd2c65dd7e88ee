/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clustered.c - queries in C groups, one softmax over all keys for the mean query of each, and every query gets what
 * its group gets. With top = k, what the group gives to its k strongest keys, as one sum, is divided among them by each
 * query's own softmax over them (the paper's improved form).
 *
 * n C (d + dv) multiplications a head, with top n k (d + dv) more, and the clustering's, about iterations * n C d. */
#include "attentions/attention.h"

#include "layers/exact_attention.h"
#include "linalg/kmeans.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

typedef struct {
    int clusters, iterations, bits, top;
} clustered_options;

static const nb_option options[] = {
    NB_INT(clustered_options, clusters, "100", 1, 1 << 30, "groups of queries, at most n"),
    NB_INT(clustered_options, iterations, "10", 1, 10000, "at most that many Lloyd iterations, from random queries"),
    NB_INT(clustered_options, bits, "0", 0, 1 << 16,
           "cluster the signs of that many random projections of each query, as the official code does with 63; 0: the "
           "queries"),
    NB_INT(clustered_options, top, "0", 0, 1 << 30,
           "strongest keys of a group among which each query divides by itself, 32 in the paper, at most n; 0: none"),
    NB_OPTION_END};

enum { GROUPS = 32 }; /* of a task */

/* A thread's. */
typedef struct {
    nb_scalar *weights; /* n x GROUPS: of the keys, a group a column */
    nb_scalar *shared;  /* dv x GROUPS: what all queries of a group get */
    nb_scalar *mass;    /* GROUPS: the weight of the strongest keys */
    size_t *strongest;  /* top x GROUPS */
    nb_scalar *k, *v;   /* d x top, dv x top */
    nb_scalar *q, *own; /* d and dv x NB_BLOCK_QUERIES */
    nb_softmax softmax;
} room;

/* A head's. */
typedef struct {
    nb_scalar *centres; /* d x C: mean queries */
    int *order, *start; /* n: the queries, group by group; C + 1: where each group begins */
    nb_status status;
} grouping;

typedef struct {
    grouping *heads;
    room *rooms;
} clustered_state;

typedef struct {
    const clustered_options *o;
    nb_pass *pass;
    const clustered_state *state;
} work;

/* 1 and -1 by the side of `bits` random planes through 0 on which a point lies; the planes are the same for all
 * heads. */
static nb_status take_signs(const work *w, int d, int n, double **x, gsl_rng *rng, nb_ctx *ctx)
{
    int bits = w->o->bits;
    size_t size = (size_t)bits * (size_t)n;
    double *planes, *signs;
    NB_NEED(planes, nb_alloc_raw(ctx, (size_t)d * (size_t)bits));
    NB_NEED(signs, nb_alloc_raw(ctx, size));
    for (size_t i = 0; i < (size_t)d * (size_t)bits; i++) planes[i] = gsl_ran_gaussian_ziggurat(rng, 1);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, bits, n, d, 1, planes, d, *x, d, 0, signs, bits);
    for (size_t i = 0; i < size; i++) signs[i] = signs[i] > 0 ? 1 : -1;
    *x = signs;
    return NB_OK;
}

static nb_status cluster(const work *w, const nb_scalar *q, nb_clusters *out, nb_ctx *ctx)
{
    const nb_layer_shape *s = &w->pass->layer->shape;
    nb_kmeans_how how = {.init = NB_KMEANS_RANDOM, .restarts = 1, .iterations = w->o->iterations};
    nb_stream stream = w->pass->stream;
    size_t size = (size_t)s->d * (size_t)s->n;
    gsl_rng *rng;
    double *x;
    NB_NEED(x, nb_alloc_raw(ctx, size));
    nb_scalar_to_double(size, q, x);
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    stream.role = "queries";
    stream.m = w->o->clusters;
    nb_random_seed(rng, &stream);
    if (w->o->bits > 0) NB_TRY(ctx, take_signs(w, s->d, s->n, &x, rng, ctx));
    return nb_kmeans(w->o->bits > 0 ? w->o->bits : s->d, s->n, x, w->o->clusters, &how, rng, out, ctx);
}

/* Queries group by group, from the group of each (n). */
static void sort_queries(int n, int count, const int *group, const grouping *g)
{
    memset(g->start, 0, ((size_t)count + 1) * sizeof *g->start);
    for (int i = 0; i < n; i++) g->start[group[i] + 1]++;
    for (int j = 0; j < count; j++) g->start[j + 1] += g->start[j];
    for (int i = 0; i < n; i++) g->order[g->start[group[i]]++] = i;
    for (int j = count; j > 0; j--) g->start[j] = g->start[j - 1];
    g->start[0] = 0;
}

static void average(int d, int count, const nb_scalar *q, const grouping *g)
{
    nb_count_multiplications((double)count * d);
    memset(g->centres, 0, (size_t)d * (size_t)count * sizeof *g->centres);
    for (int j = 0; j < count; j++) {
        nb_scalar *mean = g->centres + (size_t)j * (size_t)d;
        for (int i = g->start[j]; i < g->start[j + 1]; i++)
            nb_scalar_add((size_t)d, 1, q + (size_t)g->order[i] * (size_t)d, mean);
        nb_scalar_scale((size_t)d, 1 / (nb_scalar)(g->start[j + 1] - g->start[j]), mean);
    }
}

/* Every head's draws are the same, so that its groups do not depend on its place. */
static void group_head(void *self, int head, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    nb_mark mark = nb_ctx_mark(ctx);
    grouping *g = &w->state->heads[head];
    const nb_scalar *q = nb_layer_head_of(w->pass->layer, NULL, head).q;
    nb_clusters clusters;
    g->status = cluster(w, q, &clusters, ctx);
    if (g->status == NB_OK) {
        sort_queries(s->n, w->o->clusters, clusters.group, g);
        average(s->d, w->o->clusters, q, g);
    } else {
        nb_error_clear(ctx);
    }
    nb_ctx_release(ctx, mark);
}

/* Takes the strongest keys out of group j's weights. */
static void take_strongest(const work *w, const room *r, int j)
{
    int n = w->pass->layer->shape.n, top = w->o->top;
    nb_scalar *column = r->weights + (size_t)j * (size_t)n;
    size_t *strongest = r->strongest + (size_t)j * (size_t)top;
    nb_scalar_largest_indices((size_t)top, (size_t)n, column, strongest);
    r->mass[j] = 0;
    for (int i = 0; i < top; i++) {
        r->mass[j] += column[strongest[i]];
        column[strongest[i]] = 0;
    }
}

/* Adds what some queries of group j give to its strongest keys. */
static void answer_strongest(const work *w, room *r, int j, int count, const int *queries, const nb_layer_head *h)
{
    const nb_layer_shape *s = &w->pass->layer->shape;
    size_t dv = (size_t)s->dv;
    nb_scalar_gather(s->d, h->q, count, queries, r->q);
    nb_softmax_begin(&r->softmax, count, r->q, r->own);
    nb_softmax_add(&r->softmax, w->o->top, r->k, r->v, NULL);
    nb_softmax_end(&r->softmax, NULL);
    nb_count_multiplications((double)count * s->dv);
    for (int i = 0; i < count; i++)
        nb_scalar_add(dv, r->mass[j], r->own + (size_t)i * dv, h->out + (size_t)queries[i] * dv);
}

/* Outputs of the queries of group j of a task, `number` of the head. */
static void answer(const work *w, room *r, int j, int number, const grouping *g, const nb_layer_head *h)
{
    const nb_layer_shape *s = &w->pass->layer->shape;
    size_t d = (size_t)s->d, dv = (size_t)s->dv;
    const size_t *strongest = r->strongest + (size_t)j * (size_t)w->o->top;
    int end = g->start[number + 1];
    for (int i = g->start[number]; i < end; i++)
        memcpy(h->out + (size_t)g->order[i] * dv, r->shared + (size_t)j * dv, dv * sizeof *r->shared);
    for (size_t i = 0; i < (size_t)w->o->top; i++) {
        memcpy(r->k + i * d, h->k + strongest[i] * d, d * sizeof *r->k);
        memcpy(r->v + i * dv, h->v + strongest[i] * dv, dv * sizeof *r->v);
    }
    for (int i = g->start[number]; w->o->top > 0 && i < end; i += NB_BLOCK_QUERIES)
        answer_strongest(w, r, j, nb_lesser(end - i, NB_BLOCK_QUERIES), g->order + i, h);
}

static int tasks_of(const clustered_options *o)
{
    return (o->clusters + GROUPS - 1) / GROUPS;
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    int head = task / tasks_of(w->o), first = task % tasks_of(w->o) * GROUPS;
    int count = nb_lesser(w->o->clusters - first, GROUPS);
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    const grouping *g = &w->state->heads[head];
    if (g->status != NB_OK) return;
    room *r = &w->state->rooms[thread];
    nb_exact_weights(s, count, g->centres + (size_t)first * (size_t)s->d, h.k, r->weights);
    for (int j = 0; w->o->top > 0 && j < count; j++) take_strongest(w, r, j);
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, s->dv, count, s->n, 1, h.v, s->dv, r->weights, s->n, 0, r->shared, s->dv);
    for (int j = 0; j < count; j++) answer(w, r, j, first + j, g, &h);
}

static nb_status refusal(const void *opts, const nb_layer_shape *s, const char **why, nb_ctx *ctx)
{
    const clustered_options *o = opts;
    if (o->clusters > s->n)
        NB_NEED(*why, nb_format(ctx, "%d groups of n = %d queries are more than the queries", o->clusters, s->n));
    else if (o->top > s->n)
        NB_NEED(*why, nb_format(ctx, "top = %d, and there are %d keys", o->top, s->n));
    return NB_OK;
}

static nb_status open_room(const clustered_options *o, const nb_layer_shape *s, room *r, nb_ctx *ctx)
{
    size_t d = (size_t)s->d, dv = (size_t)s->dv, top = (size_t)o->top;
    NB_NEED(r->weights, nb_alloc_scalars(ctx, ((size_t)s->n + dv) * GROUPS));
    r->shared = r->weights + (size_t)s->n * GROUPS;
    if (o->top == 0) return NB_OK;
    NB_NEED(r->strongest, nb_alloc(ctx, top * GROUPS, sizeof *r->strongest));
    NB_NEED(r->mass, nb_alloc_scalars(ctx, GROUPS + (d + dv) * (top + NB_BLOCK_QUERIES)));
    r->k = r->mass + GROUPS;
    r->v = r->k + d * top;
    r->q = r->v + dv * top;
    r->own = r->q + d * NB_BLOCK_QUERIES;
    return nb_softmax_new(s->d, s->dv, nb_tile_of(o->top), &r->softmax, ctx);
}

static double room_bytes(const clustered_options *o, const nb_layer_shape *s)
{
    double d = s->d, dv = s->dv, top = o->top, scalars = (s->n + dv) * GROUPS, bytes = sizeof(room);
    if (o->top > 0) {
        scalars += GROUPS + (d + dv) * (top + NB_BLOCK_QUERIES);
        bytes += sizeof(size_t) * top * GROUPS + nb_softmax_bytes(s->d, s->dv, nb_tile_of(o->top)) - sizeof(nb_softmax);
    }
    return bytes + sizeof(nb_scalar) * scalars;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    const clustered_options *o = opts;
    size_t n = (size_t)s->n, clusters = (size_t)o->clusters, heads = (size_t)nb_layer_heads(s);
    clustered_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->heads, nb_alloc(ctx, heads, sizeof *state->heads));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (size_t h = 0; h < heads; h++) {
        grouping *g = &state->heads[h];
        NB_NEED(g->centres, nb_alloc_scalars(ctx, (size_t)s->d * clusters));
        NB_NEED(g->order, nb_alloc(ctx, n + clusters + 1, sizeof *g->order));
        g->start = g->order + n;
    }
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(o, s, &state->rooms[i], ctx));
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    int heads = nb_layer_heads(&pass->layer->shape);
    work w = {.o = opts, .pass = pass, .state = pass->state};
    nb_stage stages[] = {{.per_head = 1, .task = group_head}, {.per_head = tasks_of(w.o), .task = attend}};
    NB_TRY(ctx, nb_team_run_stages(pass->team, heads, 2, stages, &w, ctx));
    for (int h = 0; h < heads; h++)
        NB_REQUIRE(ctx, w.state->heads[h].status == NB_OK, w.state->heads[h].status,
                   "the queries of head %d could not be clustered: out of memory", h);
    nb_pass_parts(pass,
                  (double[NB_PART_COUNT]){[NB_PART_LANDMARKS] = stages[0].busy_s, [NB_PART_F] = stages[1].busy_s});
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    const clustered_options *o = opts;
    double n = s->n, c = o->clusters, d = s->d, dv = s->dv, heads = nb_layer_heads(s);
    double divided = o->top > 0 ? nb_softmax_work(n, o->top, d, dv) + n * dv : 0;
    return (nb_attention_cost){.multiplications = heads * (c * d + nb_softmax_work(c, n, d, dv) + divided),
                               .bytes =
                                   sizeof(clustered_state) + threads * room_bytes(o, s) +
                                   heads * (sizeof(grouping) + d * c * sizeof(nb_scalar) + (n + c + 1) * sizeof(int))};
}

static const char *const references[] = {
    "Vyas, Katharopoulos & Fleuret, Fast transformers with clustered attention, NeurIPS 2020, arXiv:2007.04825", NULL};

const nb_attention nb_attention_clustered = {
    .component = {"clustered", "one softmax for each group of queries", references, options, sizeof(clustered_options)},
    .traits = NB_ATTENTION_RANDOM,
    .size = "clusters",
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "The groups are k-means of the queries, Euclidean, in double precision, in every pass anew from the same\n"
        "draws; no group is empty. The official code clusters 63 signs of random projections instead, in Hamming\n"
        "space (the centre of a group is the majority of each bit), in 10 iterations, and groups may be empty:\n"
        "bits=63 is the same but for centres that are means of bits. top > 0 is the improved form. With as many\n"
        "groups as queries it is exact. The clustering's multiplications are not in the cost that is predicted, and\n"
        "are in what is counted.",
};
