/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prompt.c - the prompt of a key head is compressed where all its tokens are there: by keys alone before queries are
 * answered, by the window's queries after the last of these. */
#include "layers/prompt.h"

#include "components/component.h"
#include "layers/softmax.h"

#include <string.h>

enum { QUERIES = 32 }; /* at a time */

/* Tokens that stay: of a query head, or of a key head if the rule goes by keys. */
typedef struct {
    nb_scalar *q;     /* d x window: of the queries that the rule looks at */
    nb_scalar *k, *v; /* d x tokens, dv x tokens */
    nb_status status; /* of scoring */
} kept_tokens;

typedef struct {
    nb_scalar *k, *v; /* a key head's, of all tokens so far: d x n, dv x n */
} key_state;

/* A thread's. */
typedef struct {
    nb_scalar *scratch, *scores; /* the rule's; prompt - window */
    size_t *largest;             /* tokens */
    int *chosen;                 /* tokens */
    nb_softmax softmax;
} room;

typedef struct {
    key_state *keys;
    kept_tokens *kept;
    room *rooms;
} prompt_state;

typedef struct {
    const nb_prompt_rule *rule;
    nb_pass *pass;
    const prompt_state *state;
} work;

int nb_prompt_length(int prompt, const nb_layer_shape *shape)
{
    return prompt == NB_AUTO ? (shape->n + 1) / 2 : nb_lesser(prompt, shape->n);
}

static int far_of(const nb_prompt_rule *rule)
{
    return rule->prompt - rule->window;
}

static void compress_prompt(const work *w, const key_state *keys, kept_tokens *x, int thread)
{
    const nb_prompt_rule *rule = w->rule;
    const room *r = &w->state->rooms[thread];
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    x->status = rule->score(rule, keys->k, keys->v, x->q, r->scratch, r->scores, ctx);
    nb_error_clear(ctx);
    nb_ctx_release(ctx, 0);
    if (x->status != NB_OK) memset(r->scores, 0, (size_t)far_of(rule) * sizeof *r->scores);
    nb_scalar_largest_indices((size_t)rule->tokens, (size_t)far_of(rule), r->scores, r->largest);
    for (int i = 0; i < rule->tokens; i++) r->chosen[i] = (int)r->largest[i];
    nb_scalar_gather(rule->shape->d, keys->k, rule->tokens, r->chosen, x->k);
    nb_scalar_gather(rule->shape->dv, keys->v, rule->tokens, r->chosen, x->v);
}

/* The tokens of the pass join those of a key head. */
static void append_tokens(void *self, int task, int thread)
{
    const work *w = self;
    const key_state *keys = &w->state->keys[task];
    int begin = w->pass->first, end = begin + w->pass->layer->shape.n, prompt = w->rule->prompt;
    nb_pass_append(w->pass, task, keys->k, keys->v);
    if (w->rule->by_keys && begin < prompt && prompt <= end) compress_prompt(w, keys, &w->state->kept[task], thread);
}

/* The end of the queries from token `at` on that are answered together. */
static int end_of(const nb_prompt_rule *rule, int at)
{
    int end = nb_lesser((at / QUERIES + 1) * QUERIES, rule->shape->n);
    return at < rule->prompt ? nb_lesser(end, rule->prompt) : end;
}

/* Queries from token `at` on, all of the prompt or all behind it. */
static void answer(const nb_prompt_rule *rule, const key_state *keys, const kept_tokens *x, int at, int count,
                   const nb_scalar *q, nb_scalar *out, nb_softmax *softmax)
{
    int first = at < rule->prompt ? 0 : far_of(rule);
    nb_mask mask = {.on = true, .before = NB_UNLIMITED, .query_at = at, .key_at = first};
    nb_softmax_begin(softmax, count, q, out);
    if (first > 0) nb_softmax_add(softmax, rule->tokens, x->k, x->v, NULL);
    nb_softmax_add(softmax, at + count - first, keys->k + (size_t)first * (size_t)rule->shape->d,
                   keys->v + (size_t)first * (size_t)rule->shape->dv, &mask);
    nb_softmax_end(softmax, NULL);
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_prompt_rule *rule = w->rule;
    size_t d = (size_t)rule->shape->d, dv = (size_t)rule->shape->dv;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, task);
    int key_head = nb_layer_key_head(rule->shape, task), far = far_of(rule);
    const key_state *keys = &w->state->keys[key_head];
    kept_tokens *x = &w->state->kept[rule->by_keys ? key_head : task];
    int begin = w->pass->first, end = begin + w->pass->layer->shape.n;
    for (int at = begin, count; at < end; at += count) {
        const nb_scalar *q = points.q + (size_t)(at - begin) * d;
        count = nb_lesser(end_of(rule, at), end) - at;
        for (int i = nb_greater(at, far); !rule->by_keys && i < nb_lesser(at + count, rule->prompt); i++)
            memcpy(x->q + (size_t)(i - far) * d, q + (size_t)(i - at) * d, d * sizeof *q);
        answer(rule, keys, x, at, count, q, points.out + (size_t)(at - begin) * dv, &w->state->rooms[thread].softmax);
        if (!rule->by_keys && at + count == rule->prompt) compress_prompt(w, keys, x, thread);
    }
}

static int kept_heads(const nb_prompt_rule *rule)
{
    return rule->by_keys ? rule->shape->batch * rule->shape->key_heads : nb_layer_heads(rule->shape);
}

static size_t kept_scalars(const nb_prompt_rule *rule)
{
    size_t d = (size_t)rule->shape->d, dv = (size_t)rule->shape->dv;
    return (rule->by_keys ? 0 : d * (size_t)rule->window) + (d + dv) * (size_t)rule->tokens;
}

static size_t room_scalars(const nb_prompt_rule *rule)
{
    return rule->scratch + (size_t)far_of(rule);
}

nb_status nb_prompt_open(const nb_prompt_rule *rule, int threads, void **out, nb_ctx *ctx)
{
    const nb_layer_shape *s = rule->shape;
    int key_heads = nb_layer_key_heads(s), kept = kept_heads(rule);
    size_t d = (size_t)s->d, dv = (size_t)s->dv, n = (size_t)s->n;
    prompt_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->keys, nb_alloc(ctx, (size_t)key_heads, sizeof *state->keys));
    NB_NEED(state->kept, nb_alloc(ctx, (size_t)kept, sizeof *state->kept));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < key_heads; i++) {
        NB_NEED(state->keys[i].k, nb_alloc_scalars(ctx, n * (d + dv)));
        state->keys[i].v = state->keys[i].k + n * d;
    }
    for (int i = 0; i < kept; i++) {
        kept_tokens *x = &state->kept[i];
        NB_NEED(x->k, nb_alloc_scalars(ctx, kept_scalars(rule)));
        x->v = x->k + d * (size_t)rule->tokens;
        x->q = rule->by_keys ? NULL : x->v + dv * (size_t)rule->tokens;
    }
    for (int i = 0; i < threads; i++) {
        room *r = &state->rooms[i];
        NB_NEED(r->scratch, nb_alloc_scalars(ctx, room_scalars(rule)));
        r->scores = r->scratch + rule->scratch;
        NB_NEED(r->largest, nb_alloc(ctx, (size_t)rule->tokens, sizeof *r->largest));
        NB_NEED(r->chosen, nb_alloc(ctx, (size_t)rule->tokens, sizeof *r->chosen));
        NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(s->n), &r->softmax, ctx));
    }
    *out = state;
    return NB_OK;
}

nb_status nb_prompt_forward(const nb_prompt_rule *rule, nb_pass *pass, nb_ctx *ctx)
{
    work w = {.rule = rule, .pass = pass, .state = pass->state};
    nb_team_run(pass->team, pass->shape->batch * pass->shape->key_heads, append_tokens, &w);
    nb_pass_part(pass, NB_PART_B);
    nb_team_run(pass->team, nb_layer_heads(pass->shape), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    for (int i = 0; i < kept_heads(rule); i++) {
        nb_status status = w.state->kept[i].status;
        NB_REQUIRE(ctx, status == NB_OK || status == NB_ENUMERIC, status, "the tokens of the prompt were not scored");
        if (status == NB_ENUMERIC) pass->diverged = "the scores of the prompt's tokens are not finite";
    }
    return NB_OK;
}

nb_attention_cost nb_prompt_cost(const nb_prompt_rule *rule, int threads)
{
    const nb_layer_shape *s = rule->shape;
    double d = s->d, dv = s->dv, each = 0, keys = nb_layer_key_heads(s);
    for (int at = 0, end; at < s->n; at = end) {
        end = end_of(rule, at);
        each += nb_softmax_work(end - at, at < rule->prompt ? end : rule->tokens + end - far_of(rule), d, dv);
    }
    double room_bytes = sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(rule) +
                        (sizeof(size_t) + sizeof(int)) * (double)rule->tokens +
                        nb_softmax_bytes(s->d, s->dv, nb_tile_of(s->n)) - sizeof(nb_softmax);
    double kept_bytes = sizeof(kept_tokens) + sizeof(nb_scalar) * (double)kept_scalars(rule);
    return (nb_attention_cost){.multiplications = nb_layer_heads(s) * each + kept_heads(rule) * rule->work,
                               .bytes = sizeof(prompt_state) +
                                        keys * (sizeof(key_state) + sizeof(nb_scalar) * (double)s->n * (d + dv)) +
                                        kept_heads(rule) * kept_bytes + threads * room_bytes};
}
