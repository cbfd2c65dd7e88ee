/* SPDX-License-Identifier: GPL-3.0-or-later */
/* features.c - see features.h. */
#include "layers/features.h"

#include "linalg/work.h"

#include <math.h>
#include <string.h>

enum { PARTS = 8 }; /* in which a head's keys are summed, at most, so that threads can share one head */

/* Sums over some keys. */
typedef struct {
    nb_scalar *values; /* dv x r: sum of v phi(k)' / exp(c) */
    nb_scalar *total;  /* r: sum of phi(k) / exp(c) */
    nb_scalar *scale;  /* r: c; 0 where the map gives no logarithms */
    nb_scalar *next;   /* r: room for a new c */
} sums;

typedef struct {
    const nb_features *f;
    const nb_feature_map *map;
    const nb_layer *layer;
    nb_scalar *out;
} work;

static nb_scalar larger(nb_scalar x, nb_scalar y)
{
    return x > y ? x : y;
}

static size_t sums_size(const nb_layer_shape *s, int r)
{
    return (size_t)(s->dv + 3) * (size_t)r;
}

/* phi of a block; causal: phi of queries and of keys, each also less its own largest, their products, the outputs of
 * what came before, and three numbers a token. */
static size_t room_size(const nb_layer_shape *s, int r)
{
    if (!s->causal) return (size_t)r * NB_FEATURE_BLOCK;
    return (size_t)(4 * r + NB_FEATURE_STEP + s->dv + 3) * NB_FEATURE_STEP;
}

static int parts_of(const nb_layer_shape *s)
{
    return s->causal ? 1 : nb_lesser(nb_blocks(s->n, NB_FEATURE_BLOCK), PARTS);
}

static size_t sums_count(const nb_layer_shape *s, int threads)
{
    return s->causal ? (size_t)threads : (size_t)s->batch * (size_t)s->key_heads * (size_t)parts_of(s);
}

double nb_features_bytes(const nb_layer_shape *s, int r, int threads)
{
    return (double)(sums_count(s, threads) * sums_size(s, r) + (size_t)threads * room_size(s, r)) * sizeof(nb_scalar);
}

nb_status nb_features_new(const nb_layer_shape *s, int r, int threads, nb_features *f, nb_ctx *ctx)
{
    *f = (nb_features){.shape = *s, .features = r, .parts = parts_of(s)};
    NB_NEED(f->sums, nb_alloc_scalars(ctx, sums_count(s, threads) * sums_size(s, r)));
    NB_NEED(f->room, nb_alloc_scalars(ctx, (size_t)threads * room_size(s, r)));
    return NB_OK;
}

static sums sums_at(const nb_features *f, int i)
{
    size_t r = (size_t)f->features;
    nb_scalar *start = f->sums + (size_t)i * sums_size(&f->shape, f->features);
    nb_scalar *total = start + (size_t)f->shape.dv * r;
    return (sums){.values = start, .total = total, .scale = total + r, .next = total + 2 * r};
}

static void clear_sums(const work *w, const sums *z)
{
    size_t r = (size_t)w->map->features;
    memset(z->values, 0, (size_t)w->f->shape.dv * r * sizeof *z->values);
    memset(z->total, 0, r * sizeof *z->total);
    for (size_t l = 0; l < r; l++) z->scale[l] = w->map->logs ? -INFINITY : 0;
}

/* Multiplies the sums of feature l by exp(c_l - next_l). */
static void rescale(const work *w, const sums *z)
{
    int r = w->map->features, dv = w->f->shape.dv;
    nb_count_multiplications((double)r * (dv + 1));
    for (int l = 0; l < r; l++) {
        nb_scalar factor = (nb_scalar)exp((double)z->scale[l] - (double)z->next[l]);
        z->total[l] *= factor;
        nb_scalar_scale((size_t)dv, factor, z->values + (size_t)l * (size_t)dv);
        z->scale[l] = z->next[l];
    }
}

static void take_larger(int r, const nb_scalar *x, nb_scalar *largest)
{
    for (int l = 0; l < r; l++) largest[l] = larger(x[l], largest[l]);
}

/* Logarithms of `count` keys' features become features over exp(c), c the largest with these keys. */
static void raise_keys(const work *w, const sums *z, int count, nb_scalar *phi)
{
    size_t r = (size_t)w->map->features;
    memcpy(z->next, z->scale, r * sizeof *z->next);
    for (int i = 0; i < count; i++) take_larger((int)r, phi + (size_t)i * r, z->next);
    rescale(w, z);
    for (int i = 0; i < count; i++) {
        nb_scalar_add(r, -1, z->scale, phi + (size_t)i * r);
        nb_scalar_exp_sum(r, phi + (size_t)i * r, 0);
    }
}

/* Adds `count` keys, of which phi holds what the map gave. */
static void add_keys(const work *w, const sums *z, int count, const nb_scalar *v, nb_scalar *phi)
{
    int r = w->map->features, dv = w->f->shape.dv;
    if (w->map->logs) raise_keys(w, z, count, phi);
    nb_scalar_gemm(NB_PLAIN, NB_TRANSPOSED, dv, r, count, 1, v, dv, phi, r, 1, z->values, dv);
    for (int i = 0; i < count; i++) nb_scalar_add((size_t)r, 1, phi + (size_t)i * (size_t)r, z->total);
}

static void sum_keys(void *self, int task, int thread)
{
    const work *w = self;
    const nb_features *f = w->f;
    const nb_layer_shape *s = &f->shape;
    int head = task / f->parts, part = task % f->parts, all = nb_blocks(s->n, NB_FEATURE_BLOCK);
    int end = nb_lesser((int)((int64_t)all * (part + 1) / f->parts) * NB_FEATURE_BLOCK, s->n);
    const nb_scalar *k = w->layer->k + (size_t)head * (size_t)s->d * (size_t)s->n;
    const nb_scalar *v = w->layer->v + (size_t)head * (size_t)s->dv * (size_t)s->n;
    nb_scalar *phi = f->room + (size_t)thread * room_size(s, f->features);
    sums z = sums_at(f, task);
    clear_sums(w, &z);
    for (int at = (int)((int64_t)all * part / f->parts) * NB_FEATURE_BLOCK; at < end; at += NB_FEATURE_BLOCK) {
        int count = nb_lesser(end - at, NB_FEATURE_BLOCK);
        w->map->map(w->map->self, at, count, k + (size_t)at * (size_t)s->d, phi);
        add_keys(w, &z, count, v + (size_t)at * (size_t)s->dv, phi);
    }
}

/* The parts of a key head, in their order, into the first. */
static void unite(void *self, int head, int thread)
{
    const work *w = self;
    const nb_features *f = w->f;
    size_t r = (size_t)f->features;
    sums all = sums_at(f, head * f->parts);
    (void)thread;
    for (int p = 1; p < f->parts; p++) {
        sums more = sums_at(f, head * f->parts + p);
        memcpy(all.next, all.scale, r * sizeof *all.next);
        take_larger(f->features, more.scale, all.next);
        memcpy(more.next, all.next, r * sizeof *more.next);
        rescale(w, &all);
        rescale(w, &more);
        nb_scalar_add(r, 1, more.total, all.total);
        nb_scalar_add((size_t)f->shape.dv * r, 1, more.values, all.values);
    }
}

/* Logarithms of a query's features, over the sums' exp(c), become multiples of the largest; returns its logarithm. */
static nb_scalar raise_query(const work *w, const sums *z, nb_scalar *phi)
{
    size_t r = (size_t)w->map->features;
    if (!w->map->logs) return 0;
    if (z) nb_scalar_add(r, 1, z->scale, phi);
    nb_scalar largest = nb_scalar_largest(r, phi);
    nb_scalar_exp_sum(r, phi, largest);
    return largest;
}

/* out (dv x count) <- the quotient of the sums, 0 where its denominator is 0; denominator (count), where it is not
 * NULL, has its logarithm. */
static void apply_sums(const work *w, const sums *z, int count, nb_scalar *phi, nb_scalar *out, nb_scalar *denominator)
{
    int r = w->map->features, dv = w->f->shape.dv;
    nb_scalar sum[NB_FEATURE_BLOCK];
    nb_count_multiplications((double)count * r);
    for (int i = 0; i < count; i++) {
        nb_scalar *own = phi + (size_t)i * (size_t)r, scale = raise_query(w, z, own);
        sum[i] = nb_scalar_dot((size_t)r, z->total, own);
        if (denominator) denominator[i] = (nb_scalar)(scale + log((double)sum[i]));
    }
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, dv, count, r, 1, z->values, dv, phi, r, 0, out, dv);
    for (int i = 0; i < count; i++)
        nb_scalar_scale((size_t)dv, sum[i] > 0 ? 1 / sum[i] : 0, out + (size_t)i * (size_t)dv);
}

static void answer(void *self, int task, int thread)
{
    const work *w = self;
    const nb_features *f = w->f;
    const nb_layer_shape *s = &f->shape;
    int each = nb_blocks(s->n, NB_FEATURE_BLOCK), head = task / each, at = task % each * NB_FEATURE_BLOCK;
    int count = nb_lesser(s->n - at, NB_FEATURE_BLOCK);
    nb_layer_head h = nb_layer_head_of(w->layer, w->out, head);
    nb_scalar *phi = f->room + (size_t)thread * room_size(s, f->features);
    sums z = sums_at(f, nb_layer_key_head(s, head) * f->parts);
    w->map->map(w->map->self, at, count, h.q + (size_t)at * (size_t)s->d, phi);
    apply_sums(w, &z, count, phi, h.out + (size_t)at * (size_t)s->dv, NULL);
}

/* Memory that a step of a causal pass works in. */
typedef struct {
    nb_scalar *keys, *queries;            /* r x step: what the map gave */
    nb_scalar *own_keys, *own_queries;    /* r x step: features over each token's largest */
    nb_scalar *products;                  /* step x step, a query a column */
    nb_scalar *earlier;                   /* dv x step: outputs from the keys before the step */
    nb_scalar *key_scale, *here, *before; /* step: ln of a key's largest; of denominators, in the step and before it */
} span;

static span span_of(const nb_features *f, int thread)
{
    size_t r = (size_t)f->features * NB_FEATURE_STEP, square = (size_t)NB_FEATURE_STEP * NB_FEATURE_STEP;
    nb_scalar *room = f->room + (size_t)thread * room_size(&f->shape, f->features), *rest = room + 4 * r + square;
    nb_scalar *numbers = rest + (size_t)f->shape.dv * NB_FEATURE_STEP;
    return (span){.keys = room,
                  .queries = room + r,
                  .own_keys = room + 2 * r,
                  .own_queries = room + 3 * r,
                  .products = room + 4 * r,
                  .earlier = rest,
                  .key_scale = numbers,
                  .here = numbers + NB_FEATURE_STEP,
                  .before = numbers + 2 * NB_FEATURE_STEP};
}

/* Column i of the products becomes weights of the keys 0 ... i that sum to 1, and 0 after them; returns the logarithm
 * of their sum before. */
static nb_scalar weigh(const work *w, const span *t, int i, int count)
{
    nb_scalar *column = t->products + (size_t)i * (size_t)count, largest = 0, factor[NB_FEATURE_STEP];
    size_t seen = (size_t)i + 1;
    for (int j = i + 1; j < count; j++) column[j] = 0;
    if (w->map->logs) {
        largest = nb_scalar_largest(seen, t->key_scale);
        memcpy(factor, t->key_scale, seen * sizeof *factor);
        nb_scalar_exp_sum(seen, factor, largest);
        for (int j = 0; j <= i; j++) column[j] = larger(column[j], (nb_scalar)NB_FEATURE_LEAST) * factor[j];
    }
    nb_scalar sum = nb_scalar_sum(seen, column);
    nb_scalar_scale(seen, sum > 0 ? 1 / sum : 0, column);
    return (nb_scalar)(largest + log((double)sum));
}

/* Outputs of a step's queries from the step's keys. */
static void answer_within(const work *w, const span *t, int count, const nb_scalar *v, nb_scalar *out)
{
    int r = w->map->features, dv = w->f->shape.dv;
    size_t size = (size_t)r * (size_t)count;
    memcpy(t->own_keys, t->keys, size * sizeof *t->keys);
    memcpy(t->own_queries, t->queries, size * sizeof *t->queries);
    for (int i = 0; i < count; i++) t->key_scale[i] = raise_query(w, NULL, t->own_keys + (size_t)i * (size_t)r);
    for (int i = 0; i < count; i++) t->here[i] = raise_query(w, NULL, t->own_queries + (size_t)i * (size_t)r);
    /* phi(k)'phi(q) of the step's keys and queries */
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, count, count, r, 1, t->own_keys, r, t->own_queries, r, 0, t->products,
                   count);
    if (w->map->logs) nb_count_multiplications(0.5 * count * (count + 1));
    for (int i = 0; i < count; i++) t->here[i] += weigh(w, t, i, count);
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, dv, count, count, 1, v, dv, t->products, count, 0, out, dv);
}

/* Two averages become one, each by its denominator. */
static void mix_averages(const work *w, const span *t, int count, nb_scalar *out)
{
    size_t dv = (size_t)w->f->shape.dv;
    nb_count_multiplications(2.0 * count * (double)dv);
    for (int i = 0; i < count; i++) {
        nb_scalar *o = out + (size_t)i * dv;
        /* exp(here) / (exp(here) + exp(before)), of the logarithms of their denominators */
        double share = t->here[i] == -INFINITY ? 0 : 1 / (1 + exp((double)t->before[i] - (double)t->here[i]));
        nb_scalar_scale(dv, (nb_scalar)share, o);
        nb_scalar_add(dv, (nb_scalar)(1 - share), t->earlier + (size_t)i * dv, o);
    }
}

static void answer_causally(void *self, int head, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->f->shape;
    nb_layer_head h = nb_layer_head_of(w->layer, w->out, head);
    span t = span_of(w->f, thread);
    sums z = sums_at(w->f, thread);
    clear_sums(w, &z);
    for (int at = 0; at < s->n; at += NB_FEATURE_STEP) {
        int count = nb_lesser(s->n - at, NB_FEATURE_STEP);
        const nb_scalar *v = h.v + (size_t)at * (size_t)s->dv;
        nb_scalar *out = h.out + (size_t)at * (size_t)s->dv;
        w->map->map(w->map->self, at, count, h.k + (size_t)at * (size_t)s->d, t.keys);
        w->map->map(w->map->self, at, count, h.q + (size_t)at * (size_t)s->d, t.queries);
        answer_within(w, &t, count, v, out);
        if (at > 0) {
            apply_sums(w, &z, count, t.queries, t.earlier, t.before);
            mix_averages(w, &t, count, out);
        }
        if (at + count < s->n) add_keys(w, &z, count, v, t.keys);
    }
}

void nb_features_keys(const nb_features *f, const nb_feature_map *map, const nb_layer *layer, nb_team *team)
{
    const nb_layer_shape *s = &f->shape;
    work w = {.f = f, .map = map, .layer = layer};
    if (s->causal) return;
    nb_team_run(team, nb_layer_key_heads(s) * f->parts, sum_keys, &w);
    nb_team_run(team, nb_layer_key_heads(s), unite, &w);
}

void nb_features_queries(const nb_features *f, const nb_feature_map *map, const nb_layer *layer, nb_scalar *out,
                         nb_team *team)
{
    const nb_layer_shape *s = &f->shape;
    work w = {.f = f, .map = map, .layer = layer, .out = out};
    if (s->causal)
        nb_team_run(team, nb_layer_heads(s), answer_causally, &w);
    else
        nb_team_run(team, nb_layer_heads(s) * nb_blocks(s->n, NB_FEATURE_BLOCK), answer, &w);
}

static double causal_work(const nb_layer_shape *s, double r, bool logs, double each)
{
    double n = s->n, dv = s->dv, length = NB_FEATURE_STEP, steps = nb_blocks(s->n, NB_FEATURE_STEP);
    double last = n - (steps - 1) * length, squares = (steps - 1) * length * length + last * last;
    double within = squares * (r + dv) + (logs ? (squares + n) / 2 : 0);
    double earlier = (n - fmin(n, length)) * (r * dv + r + 2 * dv);
    double keys = (n - last) * r * dv + (logs ? (steps - 1) * r * (dv + 1) : 0);
    return nb_layer_heads(s) * (2 * n * each + within + earlier + keys);
}

double nb_features_work(const nb_layer_shape *s, int features, bool logs, double each)
{
    double n = s->n, dv = s->dv, r = features, key_heads = (double)s->batch * s->key_heads;
    if (s->causal) return causal_work(s, r, logs, each);
    double scales = r * (dv + 1) * ((logs ? nb_blocks(s->n, NB_FEATURE_BLOCK) : 0) + 2 * (parts_of(s) - 1));
    return key_heads * (n * (each + r * dv) + scales) + nb_layer_heads(s) * n * (each + r + r * dv);
}
