/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sparq_published.c - SparQ attention as published: causal softmax over the last tokens and the earlier ones that suit
 * a query best, beside the mean value of all. Of each query q and the keys so far:
 *
 * 1. Its coordinates l in I with the largest |q_l|, and a = softmax over the keys of (sum over I of q_l k_l)/t, at the
 *    temperature t = sqrt(d (sum over I of |q_l|)/(sum of all |q_l|)).
 * 2. The `local` last tokens, and of those before them the ones with the largest a, `tokens` in all: J.
 * 3. out = b (softmax over J of q'k/sqrt d, times v) + (1 - b) (mean of all values so far), b the sum over J of a.
 *
 * About n^2 components / 2 + n tokens (d + dv) multiplications a head; the state is all keys and values. */
#include "attentions/attention.h"

#include "layers/softmax.h"

#include <math.h>
#include <string.h>

typedef struct {
    int tokens, components, local;
} sparq_options;

static const nb_option options[] = {
    NB_INT(sparq_options, tokens, "128", 1, 1 << 30, "tokens that a query sees, k"),
    NB_INT(sparq_options, components, "16", 1, 1 << 20, "coordinates that it chooses by, r"),
    NB_INT_OR(sparq_options, local, "auto", "auto", 0, 1 << 30,
              "of these, the last tokens, which it sees anyway, at most all; auto: a quarter"),
    NB_OPTION_END};

enum { QUERIES = 32 }; /* of a task */

typedef struct {
    const nb_layer_shape *shape; /* of all tokens */
    int tokens, components, local;
} plan;

/* A key head's, of all tokens so far. */
typedef struct {
    nb_scalar *k, *v, *means; /* d x n, dv x n, dv x n: the mean value up to each token */
    double *sum;              /* dv: of the values */
} key_state;

/* A thread's. */
typedef struct {
    nb_scalar *scores;    /* n */
    nb_scalar *magnitude; /* d */
    nb_scalar *k, *v;     /* d and dv x tokens */
    size_t *coordinates;  /* components */
    size_t *largest;      /* tokens */
    int *chosen;          /* tokens */
    nb_softmax softmax;
} room;

typedef struct {
    key_state *keys;
    room *rooms;
} sparq_state;

typedef struct {
    plan plan;
    nb_pass *pass;
    const sparq_state *state;
} work;

static plan plan_of(const sparq_options *o, const nb_layer_shape *s)
{
    int tokens = nb_lesser(o->tokens, s->n);
    return (plan){.shape = s,
                  .tokens = tokens,
                  .components = nb_lesser(o->components, s->d),
                  .local = o->local == NB_AUTO ? tokens / 4 : nb_lesser(o->local, tokens)};
}

/* The tokens of the pass join those of a key head. */
static void append_tokens(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer *layer = w->pass->layer;
    size_t dv = (size_t)layer->shape.dv, count = (size_t)layer->shape.n, first = (size_t)w->pass->first;
    key_state *x = &w->state->keys[task];
    (void)thread;
    if (first == 0) memset(x->sum, 0, dv * sizeof *x->sum);
    nb_pass_append(w->pass, task, x->k, x->v);
    for (size_t i = first; i < first + count; i++)
        for (size_t l = 0; l < dv; l++) {
            x->sum[l] += (double)x->v[i * dv + l];
            x->means[i * dv + l] = (nb_scalar)(x->sum[l] / (double)(i + 1));
        }
    nb_count_multiplications((double)count * layer->shape.dv);
}

/* r->scores (count) <- the logits of so many keys by q's largest coordinates. */
static void score(const plan *p, const key_state *x, const nb_scalar *q, int count, const room *r)
{
    size_t d = (size_t)p->shape->d, components = (size_t)p->components;
    double all = 0, some = 0;
    for (size_t l = 0; l < d; l++) r->magnitude[l] = (nb_scalar)fabs((double)q[l]);
    for (size_t l = 0; l < d; l++) all += (double)r->magnitude[l];
    nb_scalar_largest_indices(components, d, r->magnitude, r->coordinates);
    for (size_t l = 0; l < components; l++) some += (double)r->magnitude[r->coordinates[l]];
    nb_scalar divisor = all > 0 ? (nb_scalar)(1 / sqrt(p->shape->d * some / all)) : 0;
    for (size_t j = 0; j < (size_t)count; j++) {
        nb_scalar sum = 0;
        for (size_t l = 0; l < components; l++) sum += q[r->coordinates[l]] * x->k[j * d + r->coordinates[l]];
        r->scores[j] = divisor * sum;
    }
    nb_count_multiplications((p->components + 1.0) * count);
}

/* Chooses among so many tokens, more than `tokens`, by their logits, since a weight may underflow. Returns the share of
 * the weights that the chosen ones have. */
static nb_scalar choose_tokens(const plan *p, int count, const room *r)
{
    int far = p->tokens - p->local;
    nb_scalar chosen = 0;
    nb_scalar_largest_indices((size_t)far, (size_t)(count - p->local), r->scores, r->largest);
    for (int i = 0; i < far; i++) r->chosen[i] = (int)r->largest[i];
    for (int i = far; i < p->tokens; i++) r->chosen[i] = count - p->tokens + i;
    nb_scalar sum = nb_scalar_exp_sum((size_t)count, r->scores, nb_scalar_largest((size_t)count, r->scores));
    for (int i = 0; i < p->tokens; i++) chosen += r->scores[r->chosen[i]];
    nb_count_multiplications(1);
    return chosen / sum;
}

static void answer_query(const plan *p, const key_state *x, int token, const nb_scalar *q, nb_scalar *out, room *r)
{
    int count = token + 1, d = p->shape->d, dv = p->shape->dv;
    const nb_scalar *k = x->k, *v = x->v;
    nb_scalar weight = 1;
    if (count > p->tokens) {
        score(p, x, q, count, r);
        weight = choose_tokens(p, count, r);
        nb_scalar_gather(d, x->k, p->tokens, r->chosen, r->k);
        nb_scalar_gather(dv, x->v, p->tokens, r->chosen, r->v);
        k = r->k;
        v = r->v;
    }
    nb_softmax_begin(&r->softmax, 1, q, out);
    nb_softmax_add(&r->softmax, nb_lesser(count, p->tokens), k, v, NULL);
    nb_softmax_end(&r->softmax, NULL);
    if (count > p->tokens) {
        nb_scalar_scale((size_t)dv, weight, out);
        nb_scalar_add((size_t)dv, 1 - weight, x->means + (size_t)token * (size_t)dv, out);
        nb_count_multiplications(2.0 * dv);
    }
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    int blocks = nb_blocks(s->n, QUERIES), head = task / blocks, at = task % blocks * QUERIES;
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    for (int i = at; i < nb_lesser(at + QUERIES, s->n); i++)
        answer_query(&w->plan, &w->state->keys[nb_layer_key_head(s, head)], w->pass->first + i,
                     h.q + (size_t)i * (size_t)s->d, h.out + (size_t)i * (size_t)s->dv, &w->state->rooms[thread]);
}

static size_t key_scalars(const nb_layer_shape *s)
{
    return (size_t)s->n * ((size_t)s->d + 2 * (size_t)s->dv);
}

static size_t room_scalars(const plan *p)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv;
    return (size_t)p->shape->n + d + (d + dv) * (size_t)p->tokens;
}

static nb_status open_room(const plan *p, room *r, nb_ctx *ctx)
{
    const nb_layer_shape *s = p->shape;
    NB_NEED(r->scores, nb_alloc_scalars(ctx, room_scalars(p)));
    r->magnitude = r->scores + s->n;
    r->k = r->magnitude + s->d;
    r->v = r->k + (size_t)s->d * (size_t)p->tokens;
    NB_NEED(r->coordinates, nb_alloc(ctx, (size_t)(p->components + p->tokens), sizeof *r->coordinates));
    r->largest = r->coordinates + p->components;
    NB_NEED(r->chosen, nb_alloc(ctx, (size_t)p->tokens, sizeof *r->chosen));
    return nb_softmax_new(s->d, s->dv, nb_tile_of(p->tokens), &r->softmax, ctx);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    int count = nb_layer_key_heads(s);
    size_t n = (size_t)s->n;
    sparq_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->keys, nb_alloc(ctx, (size_t)count, sizeof *state->keys));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < count; i++) {
        key_state *x = &state->keys[i];
        NB_NEED(x->k, nb_alloc_scalars(ctx, key_scalars(s)));
        x->v = x->k + n * (size_t)s->d;
        x->means = x->v + n * (size_t)s->dv;
        NB_NEED(x->sum, nb_alloc_raw(ctx, (size_t)s->dv));
    }
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(&p, &state->rooms[i], ctx));
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = &pass->layer->shape;
    work w = {.plan = plan_of(opts, pass->shape), .pass = pass, .state = pass->state};
    (void)ctx;
    nb_team_run(pass->team, nb_layer_key_heads(s), append_tokens, &w);
    nb_pass_part(pass, NB_PART_B);
    nb_team_run(pass->team, nb_layer_heads(s) * nb_blocks(s->n, QUERIES), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double each = 0, keys = nb_layer_key_heads(s);
    for (int count = 1; count <= s->n; count++) {
        each += nb_softmax_work(1, nb_lesser(count, p.tokens), s->d, s->dv);
        if (count > p.tokens) each += (p.components + 1.0) * count + 1 + 2.0 * s->dv;
    }
    double room_bytes = sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(&p) +
                        sizeof(size_t) * (double)(p.components + p.tokens) + sizeof(int) * (double)p.tokens +
                        nb_softmax_bytes(s->d, s->dv, nb_tile_of(p.tokens)) - sizeof(nb_softmax);
    double key_bytes = sizeof(key_state) + sizeof(nb_scalar) * (double)key_scalars(s) + sizeof(double) * (double)s->dv;
    return (nb_attention_cost){.multiplications = nb_layer_heads(s) * each + keys * s->n * s->dv,
                               .bytes = sizeof(sparq_state) + keys * key_bytes + threads * room_bytes};
}

static const char *const references[] = {
    "Ribar et al., SparQ attention: bandwidth-efficient LLM inference, ICML 2024, arXiv:2312.04985", NULL};

const nb_attention nb_attention_sparq_published = {
    .component = {"sparq_published",
                  "causal softmax over the tokens that suit a query best, and the mean value (SparQ as published)",
                  references, options, sizeof(sparq_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "tokens",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "Each query head chooses for itself; where heads share keys, the paper lets them choose together. `sparq` is\n"
        "our variant of it. From tokens = n on it is exact.",
};
