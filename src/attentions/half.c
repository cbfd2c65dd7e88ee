/* SPDX-License-Identifier: GPL-3.0-or-later */
/* half.c - exact attention as it is in half precision, by rounding to 16 bits what GPUs have in them: q, k and v; the
 * numerators of the softmax, exp(logit - largest logit), before they are multiplied by the values; the output.
 *
 * Logits and the sum of numerators are in single precision. Sums of values are in double, so that an output does not
 * depend on how many others are beside it: where it is rounded, a last bit would count.
 * n^2 (d + dv) multiplications a head, under a mask too. A thread holds n x 32 logits. */
#include "attentions/attention.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    int format, logits;
} half_options;

enum { BFLOAT16, FLOAT16 };
static const char *const formats[] = {"bfloat16", "float16", NULL};
enum { LOGITS_SINGLE, LOGITS_HALF };
static const char *const precisions[] = {"single", "half", NULL};

static const nb_option options[] = {
    NB_ENUM(half_options, format, "bfloat16", formats, "the type: 8 or 11 bits of precision"),
    NB_ENUM(half_options, logits, "single", precisions,
            "of the logits: single as in FlashAttention, half where S is formed in half precision"),
    NB_OPTION_END};

enum { QUERIES = 32 }; /* at a time */

/* A key head's, rounded. */
typedef struct {
    nb_scalar *k; /* d x n */
    double *v;    /* dv x n */
} key_state;

/* A thread's. */
typedef struct {
    nb_scalar *q, *row;    /* d x QUERIES; n x QUERIES: logits, numerators */
    double *weights, *out; /* the numerators; dv x QUERIES */
} room;

typedef struct {
    key_state *keys;
    room *rooms;
} half_state;

typedef struct {
    const half_options *o;
    nb_pass *pass;
    const half_state *state;
} work;

/* The nearest number of the type, the even one of two; beyond its range infinity. */
static float round_one(float x, int format)
{
    const float least_normal = 0x1p-14f, largest = 65504;
    uint32_t bits;
    if (!(fabsf(x) <= FLT_MAX)) return x;
    if (format == FLOAT16 && fabsf(x) < least_normal) return copysignf((fabsf(x) + 0.5f) - 0.5f, x);
    int cut = format == FLOAT16 ? 13 : 16;
    memcpy(&bits, &x, sizeof bits);
    bits += (1u << (cut - 1)) - 1 + (bits >> cut & 1);
    bits &= ~((1u << cut) - 1);
    memcpy(&x, &bits, sizeof bits);
    return format == FLOAT16 && fabsf(x) > largest ? copysignf(INFINITY, x) : x;
}

static void round_to(int format, size_t count, const nb_scalar *x, nb_scalar *out)
{
    for (size_t i = 0; i < count; i++) out[i] = (nb_scalar)round_one((float)x[i], format);
}

static void round_keys(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer *layer = w->pass->layer;
    size_t n = (size_t)layer->shape.n, d = (size_t)layer->shape.d, dv = (size_t)layer->shape.dv, head = (size_t)task;
    (void)thread;
    round_to(w->o->format, n * d, layer->k + head * n * d, w->state->keys[task].k);
    for (size_t i = 0; i < n * dv; i++)
        w->state->keys[task].v[i] = (double)round_one((float)layer->v[head * n * dv + i], w->o->format);
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->pass->shape;
    int n = s->n, d = s->d, dv = s->dv, blocks = nb_blocks(n, QUERIES), at = task % blocks * QUERIES;
    int count = nb_lesser(n - at, QUERIES);
    const key_state *keys = &w->state->keys[nb_layer_key_head(s, task / blocks)];
    const room *r = &w->state->rooms[thread];
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task / blocks);
    nb_scalar *out = h.out + (size_t)at * (size_t)dv;
    /* Logits Q K' / sqrt d of rounded q and k: a column of n for each query. */
    round_to(w->o->format, (size_t)count * (size_t)d, h.q + (size_t)at * (size_t)d, r->q);
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, n, count, d, 1 / sqrt(d), keys->k, d, r->q, d, 0, r->row, n);
    /* Numerators exp(logit - largest), rounded after they are summed; 0 for keys that are masked. */
    nb_scalar sums[QUERIES] = {0};
    for (int i = 0; i < count; i++) {
        nb_scalar *row = r->row + (size_t)i * (size_t)n;
        size_t seen = s->causal ? (size_t)(at + i + 1) : (size_t)n;
        if (w->o->logits == LOGITS_HALF) round_to(w->o->format, seen, row, row);
        sums[i] = nb_scalar_exp_sum(seen, row, nb_scalar_largest(seen, row));
        round_to(w->o->format, seen, row, row);
        memset(row + seen, 0, ((size_t)n - seen) * sizeof *row);
    }
    /* Their sum of values in double, over the sum of numerators, rounded. */
    nb_scalar_to_double((size_t)count * (size_t)n, r->row, r->weights);
    nb_gemm(NB_PLAIN, NB_PLAIN, dv, count, n, 1, keys->v, dv, r->weights, n, 0, r->out, dv);
    for (int i = 0; i < count * dv; i++)
        out[i] = (nb_scalar)round_one((float)(r->out[i] / (double)sums[i / dv]), w->o->format);
    nb_count_multiplications((double)count * dv);
}

static size_t room_scalars(const nb_layer_shape *s)
{
    return ((size_t)s->d + (size_t)s->n) * QUERIES;
}

static size_t room_doubles(const nb_layer_shape *s)
{
    return ((size_t)s->dv + (size_t)s->n) * QUERIES;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    int key_heads = nb_layer_key_heads(s);
    half_state *state;
    (void)opts;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->keys, nb_alloc(ctx, (size_t)key_heads, sizeof *state->keys));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < key_heads; i++) {
        NB_NEED(state->keys[i].k, nb_alloc_scalars(ctx, (size_t)s->n * (size_t)s->d));
        NB_NEED(state->keys[i].v, nb_alloc_raw(ctx, (size_t)s->n * (size_t)s->dv));
    }
    for (int i = 0; i < threads; i++) {
        room *r = &state->rooms[i];
        NB_NEED(r->q, nb_alloc_scalars(ctx, room_scalars(s)));
        r->row = r->q + (size_t)s->d * QUERIES;
        NB_NEED(r->weights, nb_alloc_raw(ctx, room_doubles(s)));
        r->out = r->weights + (size_t)s->n * QUERIES;
    }
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = pass->shape;
    work w = {.o = opts, .pass = pass, .state = pass->state};
    (void)ctx;
    nb_team_run(pass->team, nb_layer_key_heads(s), round_keys, &w);
    nb_pass_part(pass, NB_PART_B);
    nb_team_run(pass->team, nb_layer_heads(s) * nb_blocks(s->n, QUERIES), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    pass->clock = NB_CLOCK_NONE;
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    double n = s->n, d = s->d, dv = s->dv;
    (void)opts;
    double key_bytes = sizeof(key_state) + sizeof(nb_scalar) * n * d + sizeof(double) * n * dv;
    double room_bytes =
        sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(s) + sizeof(double) * (double)room_doubles(s);
    return (nb_attention_cost){.multiplications = nb_layer_heads(s) * n * (n * (d + dv) + dv),
                               .bytes = sizeof(half_state) + nb_layer_key_heads(s) * key_bytes + threads * room_bytes};
}

static const char *const references[] = {
    "Dao, Fu, Ermon, Rudra & Re, FlashAttention, NeurIPS 2022, arXiv:2205.14135",
    "Kalamkar et al., A study of BFLOAT16 for deep learning training, 2019, arXiv:1905.12322", NULL};

const nb_attention nb_attention_half = {
    .component = {"half", "exact attention rounded to half precision: what its error is, not what it takes", references,
                  options, sizeof(half_options)},
    .traits = NB_ATTENTION_CAUSAL,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "A baseline for errors: an approximation that is closer to exact attention than this one differs less than\n"
        "what models are run with. Half precision is emulated by rounding on every CPU, also on those that have it:\n"
        "its time says nothing, and none is measured (clock: none). GPUs round the numerators of each tile by the\n"
        "largest logit so far; here it is the largest of all.",
};
