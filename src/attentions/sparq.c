/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sparq.c - causal softmax over the last tokens, the first ones, and those between them that suit a query best. Of each
 * query q of a chunk of tokens:
 *
 * 1. Its coordinates l with the largest |q_l| times the deviation of k_l over all tokens before the chunk.
 * 2. Their part of the products q'k with all tokens between the first ones and the window.
 * 3. Exact attention to the tokens for which it is largest, and to those that it sees anyway.
 *
 * About n (sinks + window + tokens + 16) (d + dv) + n^2 components / 2 multiplications a head; the state is all keys,
 * twice, and all values. */
#include "attentions/attention.h"

#include "layers/softmax.h"
#include "linalg/cpu.h"

#include <gsl/gsl_statistics.h>
#include <math.h>
#include <string.h>

#ifdef NB_DOUBLE_SCALAR
#define SELECT gsl_stats_select
#else
#define SELECT gsl_stats_float_select
#endif

#define WIDTHS NB_WIDTHS

enum { CHUNK = 32, GROUPS_EACH = 2, AT_ONCE = 4 }; /* tokens; groups of scores for a token; coordinates */

typedef struct {
    int window, tokens, components, sinks;
} sparq_options;

static const nb_option options[] = {
    NB_INT(sparq_options, window, "128", 0, 1 << 30, "tokens before a query that it sees, and up to 31 more"),
    NB_INT(sparq_options, tokens, "32", 1, 1 << 30,
           "tokens between the window and the first ones that a query chooses"),
    NB_INT(sparq_options, components, "8", 1, 1 << 20, "coordinates that it chooses by, r"),
    NB_INT(sparq_options, sinks, "4", 0, 1 << 30, "first tokens, which all later ones see"), NB_OPTION_END};

/* A key head's, of all tokens so far. */
typedef struct {
    nb_scalar *k, *v;     /* d x n, dv x n */
    nb_scalar *rows;      /* n x d: k' of the tokens behind the first ones */
    nb_scalar *deviation; /* d x chunks: of keys before each */
    double *sum, *square; /* d: of the keys */
} key_state;

/* A thread's. */
typedef struct {
    nb_scalar *scores, *largest; /* n; GROUPS_EACH tokens */
    nb_scalar *some;             /* n: scores from which some are selected */
    nb_scalar *weights, *out;    /* d; dv */
    nb_scalar *logits;           /* tokens */
    int *some_tokens, *chosen;   /* n; tokens */
    nb_softmax softmax;
} room;

typedef struct {
    key_state *keys;
    room *rooms;
} sparq_state;

typedef struct {
    const nb_layer_shape *shape; /* of all tokens */
    int window, tokens, components, sinks;
} plan;

typedef struct {
    plan plan;
    nb_pass *pass;
    const sparq_state *state;
} work;

static plan plan_of(const sparq_options *o, const nb_layer_shape *s)
{
    return (plan){.shape = s,
                  .window = nb_lesser(o->window, s->n),
                  .tokens = nb_lesser(o->tokens, s->n),
                  .components = nb_lesser(o->components, s->d),
                  .sinks = nb_lesser(o->sinks, s->n)};
}

/* Returns where the tokens begin that the queries of a chunk see anyway, behind the first ones. Those before them are
 * all seen where there are not more of them than a query may choose. */
static int near_of(const plan *p, int chunk)
{
    int near = chunk * CHUNK - p->window;
    return near - p->sinks > p->tokens ? near : p->sinks;
}

static void set_deviation(int d, int tokens, const key_state *x, nb_scalar *deviation)
{
    nb_count_multiplications(3.0 * d);
    for (int l = 0; l < d; l++) {
        double mean = tokens > 0 ? x->sum[l] / tokens : 0;
        deviation[l] = (nb_scalar)(tokens > 0 ? sqrt(fmax(x->square[l] / tokens - mean * mean, 0)) : 0);
    }
}

/* The tokens of the pass join those of a key head. */
static void append(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->plan.shape;
    size_t d = (size_t)s->d, dv = (size_t)s->dv, n = (size_t)s->n, count = (size_t)w->pass->layer->shape.n;
    size_t first = (size_t)w->pass->first, sinks = (size_t)w->plan.sinks;
    const nb_scalar *k = w->pass->layer->k + (size_t)task * count * d,
                    *v = w->pass->layer->v + (size_t)task * count * dv;
    key_state *x = &w->state->keys[task];
    (void)thread;
    if (first == 0) memset(x->sum, 0, 2 * d * sizeof *x->sum);
    memcpy(x->k + first * d, k, count * d * sizeof *k);
    memcpy(x->v + first * dv, v, count * dv * sizeof *v);
    for (size_t i = 0, at = first; i < count; i++, at++) {
        if (at % CHUNK == 0) set_deviation(s->d, (int)at, x, x->deviation + at / CHUNK * d);
        nb_scalar_add_moments(d, k + i * d, x->sum, x->square);
        for (size_t l = 0; l < d && at >= sinks; l++) x->rows[l * n + at - sinks] = k[i * d + l];
    }
    nb_count_multiplications((double)count * s->d);
}

/* Returns the place of the largest of x (count), the first among equals; 0 where none is a number. */
static int find_largest(int count, const nb_scalar *x)
{
    nb_scalar largest = nb_scalar_largest((size_t)count, x);
    int l = 0;
    while (l < count && x[l] != largest) l++;
    return l < count ? l : 0;
}

/* scores (count) <- scores + the sum of factor[l] times x[l], AT_ONCE rows. */
WIDTHS static void add_rows(size_t count, const nb_scalar *factor, const nb_scalar *const *x,
                            nb_scalar *restrict scores)
{
    const nb_scalar a = factor[0], b = factor[1], c = factor[2], e = factor[3], *y0 = x[0], *y1 = x[1], *y2 = x[2],
                    *y3 = x[3];
#pragma omp simd
    for (size_t j = 0; j < count; j++) scores[j] += (a * y0[j] + b * y1[j]) + (c * y2[j] + e * y3[j]);
}

/* The part of the products of q with the first `count` keys behind the sinks that its largest coordinates make. */
static void score(const plan *p, const key_state *x, const nb_scalar *deviation, const nb_scalar *q, int count,
                  const room *r)
{
    int d = p->shape->d;
    for (int l = 0; l < d; l++) r->weights[l] = (nb_scalar)fabs((double)q[l]) * deviation[l];
    memset(r->scores, 0, (size_t)count * sizeof *r->scores);
    for (int i = 0; i < p->components; i += AT_ONCE) {
        const nb_scalar *rows[AT_ONCE];
        nb_scalar factor[AT_ONCE];
        for (int l = 0; l < AT_ONCE; l++) {
            int best = find_largest(d, r->weights);
            r->weights[best] = -1;
            factor[l] = i + l < p->components ? q[best] : 0;
            rows[l] = x->rows + (size_t)best * (size_t)p->shape->n;
        }
        add_rows((size_t)count, factor, rows, r->scores);
    }
    nb_count_multiplications(d + (double)p->components * count);
}

/* largest (stride) <- of each group: scores number g, g + stride, g + 2 stride ... */
WIDTHS static void find_group_largest(size_t stride, size_t count, const nb_scalar *restrict scores,
                                      nb_scalar *restrict largest)
{
    memcpy(largest, scores, stride * sizeof *largest);
    for (size_t first = stride; first < count; first += stride) {
        size_t some = count - first < stride ? count - first : stride;
#pragma omp simd
        for (size_t g = 0; g < some; g++) largest[g] = scores[first + g] > largest[g] ? scores[first + g] : largest[g];
    }
}

static nb_scalar find_nth_largest(int nth, int count, nb_scalar *x)
{
    return SELECT(x, 1, (size_t)count, (size_t)(count - nth));
}

/* some_tokens <- those whose scores are at least the tokens-th largest of the groups' largest: at least as many tokens
 * are, and few more. Returns how many. */
static int find_candidates(int tokens, int count, const room *r)
{
    int stride = nb_lesser(GROUPS_EACH * tokens, count), found = 0;
    nb_scalar bound = -INFINITY;
    find_group_largest((size_t)stride, (size_t)count, r->scores, r->largest);
    if (stride > tokens) {
        memcpy(r->some, r->largest, (size_t)stride * sizeof *r->some);
        bound = find_nth_largest(tokens, stride, r->some);
    }
    for (int g = 0; g < stride; g++)
        for (int j = g; r->largest[g] >= bound && j < count; j += stride) {
            r->some_tokens[found] = j; /* without a branch, which would often be foretold wrongly */
            found += r->scores[j] >= bound;
        }
    return found;
}

static int compare_places(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* chosen <- the `tokens` places of the largest scores, the first among equals. Returns how many they are: fewer where
 * scores are no numbers. */
static int choose(int tokens, int count, const room *r)
{
    int candidates = find_candidates(tokens, count, r), above = 0, equal = 0, chosen = 0;
    if (candidates <= tokens) {
        memcpy(r->chosen, r->some_tokens, (size_t)candidates * sizeof *r->chosen);
        return candidates;
    }
    for (int i = 0; i < candidates; i++) r->some[i] = r->scores[r->some_tokens[i]];
    nb_scalar least = find_nth_largest(tokens, candidates, r->some);
    for (int i = 0; i < candidates; i++) {
        above += r->some[i] > least;
        equal += r->some[i] == least;
    }
    if (above + equal > tokens) qsort(r->some_tokens, (size_t)candidates, sizeof *r->some_tokens, compare_places);
    for (int i = 0; i < candidates && chosen < tokens; i++) {
        int j = r->some_tokens[i];
        if (r->scores[j] > least || (r->scores[j] == least && above++ < tokens)) r->chosen[chosen++] = j;
    }
    return chosen;
}

/* Adds the chosen tokens, whose numbers count from `first` on, to what a query has seen. */
static void see_chosen(const plan *p, const key_state *x, const nb_scalar *q, int first, int count, const room *r,
                       nb_scalar *out, nb_scalar *largest, nb_scalar *sum)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv;
    nb_scalar scale = (nb_scalar)(1 / sqrt(p->shape->d));
    for (int i = 0; i < count; i++)
        r->logits[i] = scale * nb_scalar_dot(d, q, x->k + (size_t)(first + r->chosen[i]) * d);
    nb_scalar most = nb_scalar_largest((size_t)count, r->logits);
    nb_scalar theirs = nb_scalar_exp_sum((size_t)count, r->logits, most), unit = (nb_scalar)(most / nb_softmax_unit());
    memset(r->out, 0, dv * sizeof *r->out);
    for (int i = 0; i < count; i++) nb_scalar_add(dv, r->logits[i], x->v + (size_t)(first + r->chosen[i]) * dv, r->out);
    nb_softmax_merge(1, p->shape->dv, out, largest, sum, r->out, &unit, &theirs);
    nb_count_multiplications(count * (double)(d + dv));
}

/* `count` queries from number `at` on, of one chunk; q and out are theirs. */
static void attend_some(const plan *p, const key_state *x, int at, int count, const nb_scalar *q, nb_scalar *out,
                        room *r)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv;
    int chunk = at / CHUNK, near = near_of(p, chunk), end = at + count, sinks = nb_lesser(p->sinks, end);
    nb_mask mask = {.on = true, .before = NB_UNLIMITED, .query_at = at};
    nb_softmax_begin(&r->softmax, count, q, out);
    nb_softmax_add(&r->softmax, sinks, x->k, x->v, &mask);
    mask.key_at = near;
    if (end > near) nb_softmax_add(&r->softmax, end - near, x->k + (size_t)near * d, x->v + (size_t)near * dv, &mask);
    nb_softmax_store(&r->softmax);
    for (int i = 0; i < count && near > p->sinks; i++) {
        const nb_scalar *own = q + (size_t)i * d;
        score(p, x, x->deviation + (size_t)chunk * d, own, near - p->sinks, r);
        int chosen = choose(p->tokens, near - p->sinks, r);
        see_chosen(p, x, own, p->sinks, chosen, r, out + (size_t)i * dv, &r->softmax.largest[i], &r->softmax.sum[i]);
    }
    nb_softmax_divide(count, p->shape->dv, out, r->softmax.sum);
}

/* Returns how many blocks of queries a pass of so many tokens has that come after `first`. */
static int blocks_of(int first, int count)
{
    return (first + count - 1) / NB_BLOCK_QUERIES - first / NB_BLOCK_QUERIES + 1;
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    int count = w->pass->layer->shape.n, begin = w->pass->first, blocks = blocks_of(begin, count), head = task / blocks;
    int block = begin / NB_BLOCK_QUERIES + task % blocks, some;
    int first = block * NB_BLOCK_QUERIES > begin ? block * NB_BLOCK_QUERIES : begin;
    int end = nb_lesser((block + 1) * NB_BLOCK_QUERIES, begin + count);
    const key_state *x = &w->state->keys[nb_layer_key_head(p->shape, head)];
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    for (int at = first; at < end; at += some) {
        size_t from = (size_t)(at - begin);
        some = nb_lesser(CHUNK - at % CHUNK, end - at);
        attend_some(p, x, at, some, h.q + from * (size_t)p->shape->d, h.out + from * (size_t)p->shape->dv,
                    &w->state->rooms[thread]);
    }
}

static int tile_of(const nb_layer_shape *s)
{
    return nb_lesser(NB_TILE_KEYS, s->n);
}

static size_t key_scalars(const nb_layer_shape *s)
{
    size_t d = (size_t)s->d, n = (size_t)s->n;
    return n * (2 * d + (size_t)s->dv) + d * (size_t)nb_blocks(s->n, CHUNK);
}

static size_t room_scalars(const plan *p)
{
    size_t n = (size_t)p->shape->n;
    return 2 * n + (size_t)(p->shape->d + p->shape->dv + (GROUPS_EACH + 1) * p->tokens);
}

static nb_status open_keys(const nb_layer_shape *s, key_state *x, nb_ctx *ctx)
{
    size_t d = (size_t)s->d, n = (size_t)s->n;
    NB_NEED(x->k, nb_alloc_scalars(ctx, key_scalars(s)));
    x->rows = x->k + d * n;
    x->v = x->rows + d * n;
    x->deviation = x->v + (size_t)s->dv * n;
    NB_NEED(x->sum, nb_alloc_raw(ctx, 2 * d));
    x->square = x->sum + d;
    return NB_OK;
}

static nb_status open_room(const plan *p, room *r, nb_ctx *ctx)
{
    const nb_layer_shape *s = p->shape;
    size_t n = (size_t)s->n;
    NB_NEED(r->scores, nb_alloc_scalars(ctx, room_scalars(p)));
    r->some = r->scores + n;
    r->largest = r->some + n;
    r->weights = r->largest + GROUPS_EACH * p->tokens;
    r->out = r->weights + s->d;
    r->logits = r->out + s->dv;
    NB_NEED(r->some_tokens, nb_alloc(ctx, n + (size_t)p->tokens, sizeof *r->some_tokens));
    r->chosen = r->some_tokens + n;
    return nb_softmax_new(s->d, s->dv, tile_of(s), &r->softmax, ctx);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    int count = s->batch * s->key_heads;
    sparq_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->keys, nb_alloc(ctx, (size_t)count, sizeof *state->keys));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < count; i++) NB_TRY(ctx, open_keys(s, &state->keys[i], ctx));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(&p, &state->rooms[i], ctx));
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = pass->shape;
    work w = {.plan = plan_of(opts, s), .pass = pass, .state = pass->state};
    (void)ctx;
    nb_team_run(pass->team, s->batch * s->key_heads, append, &w);
    nb_pass_part(pass, NB_PART_B);
    nb_team_run(pass->team, nb_layer_heads(s) * blocks_of(pass->first, pass->layer->shape.n), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double d = s->d, each = 0, keys = s->batch * s->key_heads, chunks = nb_blocks(s->n, CHUNK);
    for (int chunk = 0; chunk < chunks; chunk++) {
        int at = chunk * CHUNK, count = nb_lesser(CHUNK, s->n - at), end = at + count, near = near_of(&p, chunk);
        int far = near - p.sinks;
        each += nb_softmax_work(count, nb_lesser(p.sinks, end) + (end > near ? end - near : 0), d, s->dv);
        if (far > 0) each += count * (d + (double)p.components * far + p.tokens * (d + s->dv));
    }
    double room_bytes = sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(&p) +
                        sizeof(int) * ((double)s->n + p.tokens) + nb_softmax_bytes(s->d, s->dv, tile_of(s)) -
                        sizeof(nb_softmax);
    double key_bytes = sizeof(key_state) + sizeof(nb_scalar) * (double)key_scalars(s) + 2 * d * sizeof(double);
    return (nb_attention_cost){.multiplications = nb_layer_heads(s) * each + keys * (s->n * d + chunks * 3 * d),
                               .bytes = sizeof(sparq_state) + keys * key_bytes + threads * room_bytes};
}

static const char *const references[] = {
    "Ribar et al., SparQ attention: bandwidth-efficient LLM inference, ICML 2024, arXiv:2312.04985",
    "Yang, Sheng, Gonzalez, Stoica & Zheng, Post-training sparse attention with double sparsity, 2024, "
    "arXiv:2408.07092 (the same coordinates for all queries, chosen beforehand)",
    NULL};

const nb_attention nb_attention_sparq = {
    .component = {"sparq", "causal softmax over a window and the earlier tokens that suit a query best (SparQ)",
                  references, options, sizeof(sparq_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "tokens",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "A query chooses tokens by a few of its coordinates. SparQ takes those with the largest |q_l|; here they are\n"
        "weighted by the deviation of the keys, since what all keys share chooses nothing, and the mean value does\n"
        "not stand for the tokens that are left out. With components = d it chooses by exact logits. From window = n\n"
        "or tokens = n on it is exact.",
};
