/* SPDX-License-Identifier: GPL-3.0-or-later */
/* softmax.c - see softmax.h. A tile of logits stays in the second cache between the two products. */
#include "layers/softmax.h"

#include <math.h>

static size_t scalars(int tile_keys)
{
    return (size_t)(tile_keys + 2) * NB_BLOCK_QUERIES;
}

double nb_softmax_bytes(int tile_keys)
{
    return (double)(sizeof(nb_softmax) + scalars(tile_keys) * sizeof(nb_scalar));
}

nb_status nb_softmax_new(int d, int dv, int tile_keys, nb_softmax *s, nb_ctx *ctx)
{
    *s = (nb_softmax){.d = d, .dv = dv, .tile_keys = tile_keys, .scale = 1 / sqrt(d)};
    NB_NEED(s->tile, nb_alloc_scalars(ctx, scalars(tile_keys)));
    s->largest = s->tile + (size_t)tile_keys * NB_BLOCK_QUERIES;
    s->sum = s->largest + NB_BLOCK_QUERIES;
    return NB_OK;
}

void nb_softmax_begin(nb_softmax *s, int count, const nb_scalar *q, nb_scalar *out)
{
    s->count = count;
    s->q = q;
    s->out = out;
    s->seen = 0;
    for (int i = 0; i < count; i++) {
        s->largest[i] = -INFINITY;
        s->sum[i] = 0;
    }
}

static int clipped(int64_t x, int hi)
{
    return x < 0 ? 0 : x > hi ? hi : (int)x;
}

/* Logits that query i does not see become -infinity. */
static void apply(const nb_mask *mask, int i, int keys, nb_scalar *logits)
{
    int64_t at = mask->queries ? mask->queries[i] : mask->query_at + i;
    if (mask->keys) {
        for (int j = 0; j < keys; j++)
            if (mask->keys[j] < at - mask->before || mask->keys[j] > at + mask->after) logits[j] = -INFINITY;
        return;
    }
    int first = clipped(at - mask->before - mask->key_at, keys);
    int end = clipped(at + mask->after - mask->key_at + 1, keys);
    for (int j = 0; j < first; j++) logits[j] = -INFINITY;
    for (int j = end > first ? end : first; j < keys; j++) logits[j] = -INFINITY;
}

/* The tile's logits of query i become exp(logit - largest). */
static void raise(nb_softmax *s, int i, int keys)
{
    nb_scalar *column = s->tile + (size_t)i * (size_t)keys;
    nb_scalar largest = nb_scalar_largest((size_t)keys, column), before = s->largest[i];
    if (largest <= before) largest = before;
    if (largest == -INFINITY) { /* nothing is seen yet */
        for (int j = 0; j < keys; j++) column[j] = 0;
        return;
    }
    if (largest > before && s->seen > 0) {
        nb_scalar factor = (nb_scalar)exp((double)before - (double)largest);
        s->sum[i] *= factor;
        nb_scalar_scale((size_t)s->dv, factor, s->out + (size_t)i * (size_t)s->dv);
    }
    s->largest[i] = largest;
    s->sum[i] += nb_scalar_exp_sum((size_t)keys, column, largest);
}

static void add_tile(nb_softmax *s, int keys, const nb_scalar *k, const nb_scalar *v, const nb_mask *mask)
{
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, keys, s->count, s->d, s->scale, k, s->d, s->q, s->d, 0, s->tile, keys);
    for (int i = 0; i < s->count; i++) {
        if (mask && mask->on) apply(mask, i, keys, s->tile + (size_t)i * (size_t)keys);
        raise(s, i, keys);
    }
    if (s->dv > 0)
        nb_scalar_gemm(NB_PLAIN, NB_PLAIN, s->dv, s->count, keys, 1, v, s->dv, s->tile, keys, s->seen ? 1 : 0, s->out,
                       s->dv);
    s->seen++;
}

void nb_softmax_add(nb_softmax *s, int count, const nb_scalar *k, const nb_scalar *v, const nb_mask *mask)
{
    nb_mask here = mask ? *mask : (nb_mask){.on = false};
    for (int j = 0; j < count; j += s->tile_keys) {
        int keys = count - j < s->tile_keys ? count - j : s->tile_keys;
        add_tile(s, keys, k + (size_t)j * (size_t)s->d, v ? v + (size_t)j * (size_t)s->dv : NULL, &here);
        here.key_at += keys;
        if (here.keys) here.keys += keys;
    }
}

void nb_softmax_merge(int count, int dv, nb_scalar *out, nb_scalar *largest, nb_scalar *sum, const nb_scalar *other_out,
                      const nb_scalar *other_largest, const nb_scalar *other_sum)
{
    for (int i = 0; i < count; i++) {
        nb_scalar most = largest[i] > other_largest[i] ? largest[i] : other_largest[i];
        if (most == -INFINITY) continue;
        nb_scalar own = (nb_scalar)exp((double)largest[i] - (double)most);
        nb_scalar theirs = (nb_scalar)exp((double)other_largest[i] - (double)most);
        nb_scalar *o = out + (size_t)i * (size_t)dv;
        largest[i] = most;
        sum[i] = own * sum[i] + theirs * other_sum[i];
        nb_scalar_scale((size_t)dv, own, o);
        nb_scalar_add((size_t)dv, theirs, other_out + (size_t)i * (size_t)dv, o);
    }
}

void nb_softmax_divide(int count, int dv, nb_scalar *out, const nb_scalar *largest, const nb_scalar *sum,
                       nb_scalar *lse)
{
    for (int i = 0; i < count; i++) {
        if (lse) lse[i] = sum[i] > 0 ? (nb_scalar)((double)largest[i] + log((double)sum[i])) : -INFINITY;
        nb_scalar_scale((size_t)dv, sum[i] > 0 ? 1 / sum[i] : 0, out + (size_t)i * (size_t)dv);
    }
}

void nb_softmax_end(nb_softmax *s, nb_scalar *lse)
{
    for (size_t i = 0; s->seen == 0 && i < (size_t)s->count * (size_t)s->dv; i++) s->out[i] = 0;
    nb_softmax_divide(s->count, s->dv, s->out, s->largest, s->sum, lse);
}

void nb_softmax_columns(nb_softmax *s, int count, const nb_scalar *q, const nb_scalar *lse, int keys,
                        const nb_scalar *k, const nb_scalar *v, const nb_mask *mask, bool add, nb_scalar *out)
{
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, keys, count, s->d, s->scale, k, s->d, q, s->d, 0, s->tile, keys);
    for (int i = 0; i < count; i++) {
        nb_scalar *column = s->tile + (size_t)i * (size_t)keys;
        if (mask && mask->on) apply(mask, i, keys, column);
        nb_scalar_exp_sum((size_t)keys, column, lse[i]);
    }
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, s->dv, count, keys, 1, v, s->dv, s->tile, keys, add, out, s->dv);
}

double nb_softmax_work(double queries, double keys, double d, double dv)
{
    return queries * keys * (d + dv);
}
