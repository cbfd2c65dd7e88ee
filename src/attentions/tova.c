/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tova.c - causal softmax over a state of so many tokens, from which each new token drops one: token omission via
 * attention. Of each token:
 *
 * 1. Its key and value join the state, and its queries attend to all of the state.
 * 2. If that is more than it may hold, the token is dropped to which this token's queries give the least weight, in the
 *    mean over all heads of the layer. It may be the new one.
 *
 * At most n (tokens + 1) (d + dv + 2) multiplications a head; the state is the keys and values of these tokens. */
#include "attentions/attention.h"

#include <math.h>
#include <string.h>

typedef struct {
    int tokens;
} tova_options;

static const nb_option options[] = {
    NB_INT(tova_options, tokens, "256", 1, 1 << 30, "tokens that are kept, the same for all heads of a layer"),
    NB_OPTION_END};

/* One input's: all its heads keep the same tokens, in their order. */
typedef struct {
    int count;
    nb_scalar *k, *v;   /* d and dv x room, a key head after the other */
    nb_scalar *weights; /* room: of one query */
    nb_scalar *sum;     /* room: of all heads' weights */
} kept_tokens;

typedef struct {
    nb_pass *pass;
    kept_tokens *kept;
    int room; /* tokens, with the one that is dropped */
} work;

static int room_of(const tova_options *o, const nb_layer_shape *s)
{
    return nb_lesser(o->tokens, s->n) + 1;
}

/* out (dv) <- what query q gives to so many tokens of its key head; weights: what each of them gets. */
static void attend(const nb_layer_shape *s, int count, const nb_scalar *q, const nb_scalar *k, const nb_scalar *v,
                   nb_scalar *weights, nb_scalar *out)
{
    size_t d = (size_t)s->d, dv = (size_t)s->dv, tokens = (size_t)count;
    nb_scalar scale = (nb_scalar)(1 / sqrt(s->d));
    for (size_t j = 0; j < tokens; j++) weights[j] = scale * nb_scalar_dot(d, q, k + j * d);
    nb_scalar sum = nb_scalar_exp_sum(tokens, weights, nb_scalar_largest(tokens, weights));
    nb_scalar_scale(tokens, 1 / sum, weights);
    memset(out, 0, dv * sizeof *out);
    for (size_t j = 0; j < tokens; j++) nb_scalar_add(dv, weights[j], v + j * dv, out);
    nb_count_multiplications((double)count * (s->d + s->dv + 2));
}

/* Drops the token of least weight, the oldest of several. */
static void drop_lightest(const nb_layer_shape *s, int room, kept_tokens *x)
{
    size_t d = (size_t)s->d, dv = (size_t)s->dv, least = 0;
    for (int j = 1; j < x->count; j++)
        if (x->sum[j] < x->sum[least]) least = (size_t)j;
    x->count--;
    size_t behind = (size_t)x->count - least;
    for (size_t h = 0; h < (size_t)s->key_heads; h++) {
        nb_scalar *k = x->k + (h * (size_t)room + least) * d, *v = x->v + (h * (size_t)room + least) * dv;
        memmove(k, k + d, behind * d * sizeof *k);
        memmove(v, v + dv, behind * dv * sizeof *v);
    }
}

/* The tokens of the pass, of one input. */
static void take_tokens(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer *layer = w->pass->layer;
    const nb_layer_shape *s = &layer->shape;
    size_t d = (size_t)s->d, dv = (size_t)s->dv, room = (size_t)w->room;
    kept_tokens *x = &w->kept[task];
    (void)thread;
    if (w->pass->first == 0) x->count = 0;
    for (size_t i = 0; i < (size_t)s->n; i++) {
        memset(x->sum, 0, room * sizeof *x->sum);
        for (int h = 0; h < s->heads; h++) {
            nb_layer_head head = nb_layer_head_of(layer, w->pass->out, task * s->heads + h);
            size_t key_head = (size_t)(h / (s->heads / s->key_heads));
            nb_scalar *k = x->k + key_head * room * d, *v = x->v + key_head * room * dv;
            memcpy(k + (size_t)x->count * d, head.k + i * d, d * sizeof *k);
            memcpy(v + (size_t)x->count * dv, head.v + i * dv, dv * sizeof *v);
            attend(s, x->count + 1, head.q + i * d, k, v, x->weights, head.out + i * dv);
            nb_scalar_add((size_t)x->count + 1, 1, x->weights, x->sum);
        }
        x->count++;
        if (x->count == w->room) drop_lightest(s, w->room, x);
    }
}

static size_t kept_scalars(const nb_layer_shape *s, int room)
{
    return (size_t)room * ((size_t)s->key_heads * ((size_t)s->d + (size_t)s->dv) + 2);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **state, nb_ctx *ctx)
{
    int room = room_of(opts, s);
    kept_tokens *kept;
    (void)threads;
    NB_NEED(kept, nb_alloc(ctx, (size_t)s->batch, sizeof *kept));
    for (int i = 0; i < s->batch; i++) {
        NB_NEED(kept[i].k, nb_alloc_scalars(ctx, kept_scalars(s, room)));
        kept[i].v = kept[i].k + (size_t)room * (size_t)s->key_heads * (size_t)s->d;
        kept[i].weights = kept[i].v + (size_t)room * (size_t)s->key_heads * (size_t)s->dv;
        kept[i].sum = kept[i].weights + room;
    }
    *state = kept;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    work w = {.pass = pass, .kept = pass->state, .room = room_of(opts, pass->shape)};
    (void)ctx;
    nb_team_run(pass->team, pass->shape->batch, take_tokens, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    double pairs = 0, room = room_of(opts, s);
    (void)threads;
    for (int i = 0; i < s->n; i++) pairs += fmin(i + 1, room);
    return (nb_attention_cost){.multiplications = nb_layer_heads(s) * pairs * (s->d + s->dv + 2),
                               .bytes = s->batch *
                                        (sizeof(kept_tokens) + sizeof(nb_scalar) * (double)kept_scalars(s, (int)room))};
}

static const char *const references[] = {
    "Oren, Hassid, Yarden, Adi & Schwartz, Transformers are multi-state RNNs, EMNLP 2024, arXiv:2401.06104", NULL};

const nb_attention nb_attention_tova = {
    .component = {"tova", "causal softmax over a state from which each token drops the one it needs least (TOVA)",
                  references, options, sizeof(tova_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "tokens",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "As in the authors' code, the mean over all heads of a layer decides, so that they keep the same tokens. Keys\n"
        "keep the positions that they were given. One thread does all heads of an input, since each token waits for\n"
        "the one before it. From tokens = n on it is exact.",
};
