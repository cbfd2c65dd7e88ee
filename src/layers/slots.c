/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slots.c - see slots.h. A chunk's logits, then weights, are a tile of keys x queries: the slots, then the window.
 * Queries are lanes of stripes (softmax_simd.h), so that the bits of one depend on no other; where there is one,
 * its keys are. */
#include "layers/slots.h"

#include "layers/softmax.h"
#include "layers/softmax_simd.h"

#include <math.h>
#include <string.h>

/* A thread's. */
typedef struct {
    nb_scalar *q, *out; /* d and dv x lanes */
    nb_scalar *tile;    /* lanes x keys */
    nb_scalar *sums;    /* by key: weights of a chunk */
} room;

struct nb_slot_heads {
    nb_slots *heads;
    room *rooms;
};

/* Sizes that follow from a rule and a number of tokens. */
typedef struct {
    int slots;    /* at most, with sinks */
    int capacity; /* tokens that there is room for: twice those that can be in the window, so that they move rarely */
    int keys;     /* at most */
    int lanes;
} sizes;

static sizes sizes_of(const nb_slot_rule *rule, int n)
{
    double live = (double)rule->window + rule->group - 1 + NB_SLOT_CHUNK;
    int most = (int)fmin(live, n), slots = rule->sinks + rule->most + rule->extra;
    return (sizes){.slots = slots,
                   .capacity = (int)fmin(2 * live, n),
                   .keys = slots + most,
                   .lanes = nb_softmax_simd_at(0)->lanes};
}

static size_t head_scalars(const nb_slot_rule *rule, const sizes *z)
{
    size_t each = (size_t)(rule->d + rule->dv), weights = rule->weighs ? NB_SLOT_CHUNK * (size_t)z->keys : 0;
    return (size_t)z->slots * (each + 1) + (size_t)z->capacity * (each + 1) + weights;
}

static size_t room_scalars(const nb_slot_rule *rule, const sizes *z)
{
    return (size_t)(rule->d + rule->dv + z->keys) * (size_t)z->lanes + (size_t)z->keys;
}

double nb_slots_bytes(const nb_slot_rule *rule, const nb_layer_shape *s, int threads)
{
    sizes z = sizes_of(rule, s->n);
    double head = (double)(sizeof(nb_slots) + rule->own_bytes + head_scalars(rule, &z) * sizeof(nb_scalar));
    double thread = (double)(sizeof(room) + room_scalars(rule, &z) * sizeof(nb_scalar));
    return sizeof(nb_slot_heads) + nb_layer_heads(s) * head + threads * thread;
}

static nb_status new_head(const nb_slot_rule *rule, const sizes *z, nb_slots *slots, nb_ctx *ctx)
{
    size_t d = (size_t)rule->d, dv = (size_t)rule->dv, count = (size_t)z->slots, tokens = (size_t)z->capacity;
    NB_NEED(slots->k, nb_alloc_scalars(ctx, head_scalars(rule, z)));
    slots->v = slots->k + d * count;
    slots->bias = slots->v + dv * count;
    slots->recent_k = slots->bias + count;
    slots->recent_v = slots->recent_k + d * tokens;
    slots->received = slots->recent_v + dv * tokens;
    slots->weights = rule->weighs ? slots->received + tokens : NULL;
    if (rule->own_bytes > 0) NB_NEED(slots->own, nb_alloc(ctx, 1, rule->own_bytes));
    return NB_OK;
}

static nb_status new_room(const nb_slot_rule *rule, const sizes *z, room *r, nb_ctx *ctx)
{
    size_t lanes = (size_t)z->lanes;
    NB_NEED(r->q, nb_alloc_scalars(ctx, room_scalars(rule, z)));
    r->out = r->q + (size_t)rule->d * lanes;
    r->tile = r->out + (size_t)rule->dv * lanes;
    r->sums = r->tile + (size_t)z->keys * lanes;
    return NB_OK;
}

nb_status nb_slots_new(const nb_slot_rule *rule, const nb_layer_shape *s, int threads, nb_slot_heads **out, nb_ctx *ctx)
{
    sizes z = sizes_of(rule, s->n);
    int count = nb_layer_heads(s);
    nb_slot_heads *heads;
    NB_NEED(heads, nb_alloc(ctx, 1, sizeof *heads));
    NB_NEED(heads->heads, nb_alloc(ctx, (size_t)count, sizeof *heads->heads));
    NB_NEED(heads->rooms, nb_alloc(ctx, (size_t)threads, sizeof *heads->rooms));
    for (int h = 0; h < count; h++) NB_TRY(ctx, new_head(rule, &z, &heads->heads[h], ctx));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, new_room(rule, &z, &heads->rooms[i], ctx));
    *out = heads;
    return NB_OK;
}

void nb_slots_reset(const nb_slot_rule *rule, const nb_layer_shape *s, nb_slot_heads *heads)
{
    for (int h = 0; h < nb_layer_heads(s); h++) {
        nb_slots *slots = &heads->heads[h];
        slots->tokens = slots->count = slots->sinks = slots->first = slots->recent = 0;
        if (rule->own_bytes > 0) memset(slots->own, 0, rule->own_bytes);
        if (rule->reset) rule->reset(rule, slots);
    }
}

static void copy_column(int d, const nb_scalar *from, int i, nb_scalar *to, int j)
{
    size_t length = (size_t)d;
    memcpy(to + (size_t)j * length, from + (size_t)i * length, length * sizeof *to);
}

void nb_slots_fill(const nb_slot_rule *rule, nb_slots *slots, int from, int to)
{
    copy_column(rule->d, slots->recent_k, slots->first + from, slots->k, to);
    copy_column(rule->dv, slots->recent_v, slots->first + from, slots->v, to);
    slots->bias[to] = 0;
    if (to == slots->count) slots->count++;
}

void nb_slots_moments(int d, int rows, int count, const nb_scalar *x, double *sum, double *square)
{
    nb_count_multiplications((double)count * d);
    for (int i = 0; i < count; i++) nb_scalar_add_moments((size_t)d, x + (size_t)i * (size_t)rows, sum, square);
}

static void drop_oldest(nb_slots *slots, int count)
{
    slots->first += count;
    slots->recent -= count;
}

static void admit_leaving(const nb_slot_rule *rule, nb_slots *slots)
{
    int leaving = slots->recent - rule->window;
    for (; leaving > 0 && slots->sinks < rule->sinks; leaving--) {
        nb_slots_fill(rule, slots, 0, slots->count);
        slots->sinks++;
        drop_oldest(slots, 1);
    }
    leaving = leaving > 0 ? leaving / rule->group * rule->group : 0;
    if (leaving == 0) return;
    rule->admit(rule, slots, leaving);
    drop_oldest(slots, leaving);
}

static void begin_chunk(const nb_slot_rule *rule, nb_slots *slots, int most_keys, const room *r)
{
    if (rule->weighs && slots->tokens > 0) { /* the last chunk's weights are summed over its queries, always all */
        for (int j = 0; j < slots->count + slots->recent; j++)
            r->sums[j] = nb_scalar_sum(NB_SLOT_CHUNK, slots->weights + (size_t)j * NB_SLOT_CHUNK);
        nb_scalar_add((size_t)slots->recent, 1, r->sums + slots->count, slots->received + slots->first);
        if (rule->note_weights) rule->note_weights(rule, slots, r->sums);
    }
    admit_leaving(rule, slots);
    int keys = nb_lesser(slots->count + slots->recent + NB_SLOT_CHUNK, most_keys);
    if (rule->weighs) memset(slots->weights, 0, (size_t)keys * NB_SLOT_CHUNK * sizeof(nb_scalar));
}

static void append_tokens(const nb_slot_rule *rule, nb_slots *slots, int capacity, int count, const nb_scalar *k,
                          const nb_scalar *v)
{
    size_t d = (size_t)rule->d, dv = (size_t)rule->dv, size = sizeof(nb_scalar);
    if (slots->first + slots->recent + count > capacity) {
        size_t first = (size_t)slots->first, live = (size_t)slots->recent;
        memmove(slots->recent_k, slots->recent_k + first * d, live * d * size);
        memmove(slots->recent_v, slots->recent_v + first * dv, live * dv * size);
        memmove(slots->received, slots->received + first, live * size);
        slots->first = 0;
    }
    size_t at = (size_t)(slots->first + slots->recent);
    memcpy(slots->recent_k + at * d, k, (size_t)count * d * size);
    memcpy(slots->recent_v + at * dv, v, (size_t)count * dv * size);
    for (int i = 0; i < count; i++) slots->received[at + (size_t)i] = 0;
    slots->recent += count;
    slots->tokens += count;
}

/* The tile of `count` queries, whose last one sees `keys` keys: of the last count - 1 a query sees those up to its
 * own. */
static void find_logits(const nb_slot_rule *rule, const nb_slots *slots, const nb_softmax_simd *stripe, int count,
                        int keys, const room *r)
{
    int lanes = stripe->lanes, recent = keys - slots->count;
    stripe->dots(rule->d, slots->count, r->q, slots->k, r->tile);
    stripe->dots(rule->d, recent, r->q, slots->recent_k + (size_t)slots->first * (size_t)rule->d,
                 r->tile + slots->count * lanes);
    for (int j = slots->sinks; j < slots->count; j++) {
        nb_scalar bias = slots->bias[j] * (nb_scalar)sqrt(rule->d);
#pragma omp simd
        for (int i = 0; i < lanes; i++) r->tile[j * lanes + i] += bias;
    }
    for (int j = 1; j < count; j++)
        for (int i = 0; i < j; i++) r->tile[(keys - count + j) * lanes + i] = -INFINITY;
}

static void find_outputs(const nb_slot_rule *rule, const nb_slots *slots, const nb_softmax_simd *stripe, int keys,
                         const room *r)
{
    int lanes = stripe->lanes, recent = keys - slots->count;
    stripe->values(rule->dv, slots->count, r->tile, slots->v, false, r->out);
    stripe->values(rule->dv, recent, r->tile + slots->count * lanes,
                   slots->recent_v + (size_t)slots->first * (size_t)rule->dv, true, r->out);
}

enum { MOST_LANES = 32 };

/* Computes the outputs of a stripe: `lane` is its first query's place in the chunk. */
static void attend_stripe(const nb_slot_rule *rule, const nb_slots *slots, const room *r, int lane, int count, int keys,
                          const nb_scalar *q, nb_scalar *out)
{
    const nb_softmax_simd *stripe = nb_softmax_simd_at(0);
    const nb_scalar c = (nb_scalar)(1.4426950408889634 / sqrt(rule->d));
    nb_scalar largest[MOST_LANES], sum[MOST_LANES] = {0}, factor[MOST_LANES];
    int lanes = stripe->lanes;
    for (int i = 0; i < lanes; i++) largest[i] = -INFINITY;
    stripe->pack(rule->d, count, q, r->q);
    find_logits(rule, slots, stripe, count, keys, r);
    /* Weights exp(logit - largest), as 2^(c q'k - largest), and their sums */
    stripe->raise(keys, c, r->tile, largest);
    stripe->powers(keys, c, largest, r->tile, sum);
    find_outputs(rule, slots, stripe, keys, r);
    for (int i = 0; i < lanes; i++) factor[i] = sum[i] > 0 ? 1 / sum[i] : NAN; /* a logit that is infinite */
    stripe->unpack(rule->dv, count, r->out, factor, out);
    for (int j = 0; rule->weighs && j < keys; j++) {
        nb_scalar *weights = slots->weights + j * NB_SLOT_CHUNK + lane, *tile = r->tile + j * lanes;
#pragma omp simd
        for (int i = 0; i < count; i++) weights[i] = factor[i] * tile[i];
    }
}

/* Computes the outputs of the chunk's queries from number `begun` on, which are the last `count` tokens. */
static void attend_all(const nb_slot_rule *rule, const nb_slots *slots, const room *r, int begun, int count,
                       const nb_scalar *q, nb_scalar *out)
{
    int before = slots->count + slots->recent - count, lanes = nb_softmax_simd_at(0)->lanes;
    for (int i = 0; i < count; i += lanes) {
        int some = nb_lesser(lanes, count - i);
        attend_stripe(rule, slots, r, begun + i, some, before + i + some, q + (size_t)i * (size_t)rule->d,
                      out + (size_t)i * (size_t)rule->dv);
    }
}

/* The same for one query, without idle lanes: keys, then values' coordinates, are the lanes, and each sum has its terms
 * in the same order. z (keys, and room for as many as there are lanes) <- q'k. */
static void find_dots(const nb_softmax_simd *stripe, int d, int count, const nb_scalar *k, const nb_scalar *q,
                      nb_scalar *packed, nb_scalar *z)
{
    for (int j = 0; j < count; j += stripe->lanes) {
        stripe->pack(d, nb_lesser(stripe->lanes, count - j), k + (size_t)j * (size_t)d, packed);
        stripe->dots(d, 1, packed, q, z + j);
    }
}

/* Turns z into exp(logit - largest); returns their sum. */
static nb_scalar find_weights(const nb_softmax_simd *stripe, nb_scalar c, int keys, nb_scalar *z)
{
    nb_scalar largest = c * nb_scalar_largest((size_t)keys, z), shift[MOST_LANES], unused[MOST_LANES] = {0}, sum = 0;
    int rows = nb_blocks(keys, stripe->lanes);
    for (int i = 0; i < stripe->lanes; i++) shift[i] = largest;
    for (int j = keys; j < rows * stripe->lanes; j++) z[j] = -INFINITY;
    stripe->powers(rows, c, shift, z, unused);
    for (int j = 0; j < keys; j++) sum += z[j];
    return sum;
}

/* out (dv) <- out, or 0, + the sum of z v; block: as many keys as `some`, x lanes. */
static void add_values(const nb_softmax_simd *stripe, int dv, int count, const nb_scalar *z, const nb_scalar *v,
                       bool add, int some, nb_scalar *block, nb_scalar *out)
{
    for (int at = 0; at < dv; at += stripe->lanes)
        for (int j = 0; j < count; j += some) {
            int keys = nb_lesser(some, count - j);
            size_t width = (size_t)nb_lesser(stripe->lanes, dv - at) * sizeof *v;
            for (int i = 0; i < keys; i++)
                memcpy(block + (size_t)i * (size_t)stripe->lanes, v + (size_t)(j + i) * (size_t)dv + at, width);
            stripe->values(1, keys, block, z + j, add || j > 0, out + at);
        }
}

static void attend_one(const nb_slot_rule *rule, const nb_slots *slots, const room *r, int lane, const nb_scalar *q,
                       nb_scalar *out)
{
    const nb_softmax_simd *stripe = nb_softmax_simd_at(0);
    const nb_scalar root = (nb_scalar)sqrt(rule->d), c = (nb_scalar)(1.4426950408889634 / sqrt(rule->d));
    const nb_scalar *recent_k = slots->recent_k + (size_t)slots->first * (size_t)rule->d;
    const nb_scalar *recent_v = slots->recent_v + (size_t)slots->first * (size_t)rule->dv;
    nb_scalar *z = r->tile, *recent_z = z + slots->count;
    find_dots(stripe, rule->d, slots->count, slots->k, q, r->q, z);
    find_dots(stripe, rule->d, slots->recent, recent_k, q, r->q, recent_z);
    /* z = sqrt(d) (logit + bias), of which find_weights takes 2^(z log2(e) / sqrt(d)) */
    for (int j = slots->sinks; j < slots->count; j++) z[j] += slots->bias[j] * root;
    nb_scalar sum = find_weights(stripe, c, slots->count + slots->recent, z), factor = sum > 0 ? 1 / sum : NAN;
    add_values(stripe, rule->dv, slots->count, z, slots->v, false, rule->d, r->q, r->out);
    add_values(stripe, rule->dv, slots->recent, recent_z, recent_v, slots->count > 0, rule->d, r->q, r->out);
    for (int l = 0; l < rule->dv; l++) out[l] = factor * r->out[l];
    for (int j = 0; rule->weighs && j < slots->count + slots->recent; j++)
        slots->weights[j * NB_SLOT_CHUNK + lane] = factor * z[j];
}

typedef struct {
    const nb_slot_rule *rule;
    nb_pass *pass;
    sizes sizes;
} work;

static double chunk_work(const nb_slot_rule *rule, int count, int keys)
{
    return nb_softmax_work(count, keys, rule->d, rule->dv) + (rule->weighs ? (double)count * keys : 0);
}

static void extend_head(void *self, int task, int thread)
{
    const work *w = self;
    const nb_slot_rule *rule = w->rule;
    const nb_slot_heads *heads = w->pass->state;
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task);
    nb_slots *slots = &heads->heads[task];
    const room *r = &heads->rooms[thread];
    int n = w->pass->layer->shape.n, count;
    for (int at = 0; at < n; at += count) {
        int begun = slots->tokens % NB_SLOT_CHUNK;
        const nb_scalar *q = h.q + (size_t)at * (size_t)rule->d, *k = h.k + (size_t)at * (size_t)rule->d;
        const nb_scalar *v = h.v + (size_t)at * (size_t)rule->dv;
        nb_scalar *out = h.out + (size_t)at * (size_t)rule->dv;
        count = nb_lesser(NB_SLOT_CHUNK - begun, n - at);
        if (begun == 0) begin_chunk(rule, slots, w->sizes.keys, r);
        append_tokens(rule, slots, w->sizes.capacity, count, k, v);
        nb_count_multiplications(chunk_work(rule, count, slots->count + slots->recent));
        if (count == 1)
            attend_one(rule, slots, r, begun, q, out);
        else
            attend_all(rule, slots, r, begun, count, q, out);
        if (rule->note_tokens) rule->note_tokens(rule, slots, count, q, k, v);
    }
}

void nb_slots_extend(const nb_slot_rule *rule, nb_pass *pass)
{
    work w = {.rule = rule, .pass = pass, .sizes = sizes_of(rule, pass->shape->n)};
    nb_team_run(pass->team, nb_layer_heads(pass->shape), extend_head, &w);
    nb_pass_part(pass, NB_PART_F);
}

double nb_slots_work(const nb_slot_rule *rule, const nb_layer_shape *s)
{
    nb_slots_step step = {.at = 0};
    int gone = 0; /* tokens that left the window */
    for (; step.at < s->n; step.at += NB_SLOT_CHUNK) {
        int sinks = nb_lesser(rule->sinks, gone), leaving = step.at - gone - rule->window;
        int more = leaving > 0 ? nb_lesser(leaving, rule->sinks - sinks) : 0;
        step.leaving = leaving > more ? (leaving - more) / rule->group * rule->group : 0;
        gone += more + step.leaving;
        step.count = nb_lesser(s->n - step.at, NB_SLOT_CHUNK);
        rule->step(rule, &step);
        step.work += chunk_work(rule, step.count, sinks + more + step.slots + step.at - gone + step.count);
    }
    return nb_layer_heads(s) * step.work;
}
