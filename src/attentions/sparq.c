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

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef NB_DOUBLE_SCALAR
#define MOST DBL_MAX
#else
#define MOST FLT_MAX
#endif

#define WIDTHS NB_WIDTHS

enum { CHUNK = 32, AT_ONCE = 4 }; /* tokens; coordinates */
/* A token that is chosen has at least GROUPS_EACH groups of scores. A group has GROUP_SCORES of them, unless that makes
 * fewer groups. */
enum { GROUPS_EACH = 2, GROUP_SCORES = 8 };

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
    nb_scalar *scores, *largest; /* n; groups */
    nb_scalar *some;             /* n: scores from which some are selected */
    nb_scalar *weights, *out;    /* d; dv */
    nb_scalar *logits;           /* tokens */
    int *some_tokens, *places;   /* n; the larger of n and d */
    int *chosen;                 /* the larger of tokens and d */
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
static void append_tokens(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->plan.shape;
    size_t d = (size_t)s->d, n = (size_t)s->n, count = (size_t)w->pass->layer->shape.n;
    size_t first = (size_t)w->pass->first, sinks = (size_t)w->plan.sinks;
    const nb_scalar *k = w->pass->layer->k + (size_t)task * count * d;
    key_state *x = &w->state->keys[task];
    (void)thread;
    if (first == 0) memset(x->sum, 0, 2 * d * sizeof *x->sum);
    nb_pass_append(w->pass, task, x->k, x->v);
    for (size_t i = 0, at = first; i < count; i++, at++) {
        if (at % CHUNK == 0) set_deviation(s->d, (int)at, x, x->deviation + at / CHUNK * d);
        nb_scalar_add_moments(d, k + i * d, x->sum, x->square);
        for (size_t l = 0; l < d && at >= sinks; l++) x->rows[l * n + at - sinks] = k[i * d + l];
    }
    nb_count_multiplications((double)count * s->d);
}

WIDTHS static int count_from(nb_scalar bound, size_t count, const nb_scalar *x)
{
    int found = 0;
#pragma omp simd reduction(+ : found)
    for (size_t i = 0; i < count; i++) found += x[i] >= bound;
    return found;
}

WIDTHS static nb_scalar find_least(size_t count, const nb_scalar *x)
{
    nb_scalar least = INFINITY;
#pragma omp simd reduction(min : least)
    for (size_t i = 0; i < count; i++) least = x[i] < least ? x[i] : least;
    return least;
}

/* Returns a bound that at least `wanted` of x (count) reach, where they are numbers, found by halving the range. Not
 * more than `enough` reach it, unless they are equal to it or not finite. */
static nb_scalar find_bound(int wanted, int enough, int count, const nb_scalar *x)
{
    nb_scalar low = (nb_scalar)fmax(find_least((size_t)count, x), -MOST), middle;
    nb_scalar high = (nb_scalar)fmin(nb_scalar_largest((size_t)count, x), MOST);
    for (int found = count; found > enough && (middle = low / 2 + high / 2) > low && middle < high;) {
        int above = count_from(middle, (size_t)count, x);
        if (above >= wanted) {
            low = middle;
            found = above;
        } else {
            high = middle;
        }
    }
    return count_from(high, (size_t)count, x) >= wanted ? high : low;
}

/* places <- of those of x (count, at least 1) that reach the bound. Returns how many. */
static int find_places(nb_scalar bound, int count, const nb_scalar *x, int *places)
{
    int found = 0;
    for (int i = 0; i < count; i++) { /* without a branch, which would often be foretold wrongly */
        places[found] = i;
        found += x[i] >= bound;
    }
    return found;
}

/* chosen (wanted) <- places of the `wanted` largest of x (count), of equal ones the first. Returns how many they are:
 * fewer where they are no numbers. places: count. */
static int find_largest(int wanted, int count, const nb_scalar *x, int *places, int *chosen)
{
    nb_scalar bound = find_bound(wanted, wanted, count, x);
    int found = find_places(bound, count, x, places), above = 0, many = 0;
    for (int i = 0; i < found; i++) above += x[places[i]] > bound;
    for (int i = 0; i < found && many < wanted; i++)
        if (found <= wanted || x[places[i]] > bound || above++ < wanted) chosen[many++] = places[i];
    return many;
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
    int found = find_largest(p->components, d, r->weights, r->places, r->chosen);
    memset(r->scores, 0, (size_t)count * sizeof *r->scores);
    for (int i = 0; i < found; i += AT_ONCE) {
        const nb_scalar *rows[AT_ONCE];
        nb_scalar factor[AT_ONCE];
        for (int l = 0; l < AT_ONCE; l++) {
            int coordinate = r->chosen[i + l < found ? i + l : i];
            factor[l] = i + l < found ? q[coordinate] : 0;
            rows[l] = x->rows + (size_t)coordinate * (size_t)p->shape->n;
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

static int groups_of(int tokens, int count)
{
    int groups = nb_blocks(count, GROUP_SCORES);
    return nb_lesser(nb_greater(groups, GROUPS_EACH * tokens), count);
}

/* some_tokens <- those whose scores reach a bound, which at least as many groups as tokens reach, and few more. Returns
 * how many. */
static int find_candidates(int tokens, int count, const room *r)
{
    int groups = groups_of(tokens, count), found = 0;
    find_group_largest((size_t)groups, (size_t)count, r->scores, r->largest);
    nb_scalar bound = find_bound(tokens, tokens + tokens / 4, groups, r->largest);
    int some = find_places(bound, groups, r->largest, r->places);
    for (int g = 0; g < some; g++)
        for (int j = r->places[g]; j < count; j += groups) {
            r->some_tokens[found] = j;
            found += r->scores[j] >= bound;
        }
    return found;
}

static int compare_tokens(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* chosen <- the `tokens` places of the largest scores, the first among equals. Returns how many they are: fewer where
 * scores are no numbers. */
static int choose_largest(int tokens, int count, const room *r)
{
    int candidates = find_candidates(tokens, count, r), chosen = 0;
    for (int i = 0; i < candidates; i++) r->some[i] = r->scores[r->some_tokens[i]];
    nb_scalar bound = find_bound(tokens, tokens, candidates, r->some);
    int found = find_places(bound, candidates, r->some, r->places), above = 0;
    for (int i = 0; i < found; i++) {
        r->some_tokens[i] = r->some_tokens[r->places[i]];
        above += r->scores[r->some_tokens[i]] > bound;
    }
    if (found > tokens) qsort(r->some_tokens, (size_t)found, sizeof *r->some_tokens, compare_tokens);
    for (int i = 0; i < found && chosen < tokens; i++)
        if (found <= tokens || r->scores[r->some_tokens[i]] > bound || above++ < tokens)
            r->chosen[chosen++] = r->some_tokens[i];
    return chosen;
}

/* Adds the chosen tokens, whose numbers count from `first` on, to what a query has seen. */
static void attend_chosen(const plan *p, const key_state *x, const nb_scalar *q, int first, int count, const room *r,
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
        int chosen = choose_largest(p->tokens, near - p->sinks, r);
        attend_chosen(p, x, own, p->sinks, chosen, r, out + (size_t)i * dv, &r->softmax.largest[i], &r->softmax.sum[i]);
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

static size_t key_scalars(const nb_layer_shape *s)
{
    size_t d = (size_t)s->d, n = (size_t)s->n;
    return n * (2 * d + (size_t)s->dv) + d * (size_t)nb_blocks(s->n, CHUNK);
}

static size_t room_scalars(const plan *p)
{
    size_t n = (size_t)p->shape->n;
    return 2 * n + (size_t)(p->shape->d + p->shape->dv + p->tokens + groups_of(p->tokens, p->shape->n));
}

static size_t room_integers(const plan *p)
{
    int n = p->shape->n, d = p->shape->d;
    return (size_t)(n + nb_greater(n, d) + nb_greater(p->tokens, d));
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
    r->weights = r->largest + groups_of(p->tokens, s->n);
    r->out = r->weights + s->d;
    r->logits = r->out + s->dv;
    NB_NEED(r->some_tokens, nb_alloc(ctx, room_integers(p), sizeof *r->some_tokens));
    r->places = r->some_tokens + n;
    r->chosen = r->places + nb_greater(s->n, s->d);
    return nb_softmax_new(s->d, s->dv, nb_tile_of(s->n), &r->softmax, ctx);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    int count = nb_layer_key_heads(s);
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
    nb_team_run(pass->team, nb_layer_key_heads(s), append_tokens, &w);
    nb_pass_part(pass, NB_PART_B);
    nb_team_run(pass->team, nb_layer_heads(s) * blocks_of(pass->first, pass->layer->shape.n), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double d = s->d, each = 0, keys = nb_layer_key_heads(s), chunks = nb_blocks(s->n, CHUNK);
    for (int chunk = 0; chunk < chunks; chunk++) {
        int at = chunk * CHUNK, count = nb_lesser(CHUNK, s->n - at), end = at + count, near = near_of(&p, chunk);
        int far = near - p.sinks;
        each += nb_softmax_work(count, nb_lesser(p.sinks, end) + (end > near ? end - near : 0), d, s->dv);
        if (far > 0) each += count * (d + (double)p.components * far + p.tokens * (d + s->dv));
    }
    double room_bytes = sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(&p) +
                        sizeof(int) * (double)room_integers(&p) + nb_softmax_bytes(s->d, s->dv, nb_tile_of(s->n)) -
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
    .component = {"sparq",
                  "causal softmax over a window and the earlier tokens that suit a query best (a variant of SparQ)",
                  references, options, sizeof(sparq_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "tokens",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "A query chooses tokens by a few of its coordinates. SparQ takes those with the largest |q_l|; here they are\n"
        "weighted by the deviation of the keys, since what all keys share chooses nothing. In SparQ the mean value\n"
        "stands for the tokens that are left out, with a weight from the scores at a temperature; here nothing does.\n"
        "`sparq_published` is SparQ itself. With components = d it chooses by exact logits. From window = n or\n"
        "tokens = n on it is exact.",
};
