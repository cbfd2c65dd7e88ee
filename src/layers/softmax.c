/* SPDX-License-Identifier: GPL-3.0-or-later */
/* softmax.c - see softmax.h: what both ways share, and the products of BLAS. There a tile of logits is keys x queries
 * and stays in the second cache between the two products. */
#include "layers/softmax.h"

#include "layers/softmax_private.h"

#include <math.h>

/* Scalars of all arrays but `seen`, of which there is one for each stripe. */
static size_t scalars(int d, int dv, int tile_keys)
{
    int lanes = nb_stripe_lanes();
    size_t tile = (size_t)tile_keys * (size_t)(lanes ? lanes : NB_BLOCK_QUERIES);
    return tile + (size_t)(2 + (lanes ? d + dv : 0)) * NB_BLOCK_QUERIES;
}

static size_t flags(void)
{
    int lanes = nb_stripe_lanes();
    return lanes ? (size_t)(NB_BLOCK_QUERIES / lanes) : 1;
}

double nb_softmax_bytes(int d, int dv, int tile_keys)
{
    return (double)(sizeof(nb_softmax) + scalars(d, dv, tile_keys) * sizeof(nb_scalar) + flags() * sizeof(bool));
}

nb_status nb_softmax_new(int d, int dv, int tile_keys, nb_softmax *s, nb_ctx *ctx)
{
    *s = (nb_softmax){.d = d, .dv = dv, .tile_keys = tile_keys, .scale = 1 / sqrt(d), .lanes = nb_stripe_lanes()};
    NB_NEED(s->largest, nb_alloc_scalars(ctx, scalars(d, dv, tile_keys)));
    s->sum = s->largest + NB_BLOCK_QUERIES;
    s->tile = s->sum + NB_BLOCK_QUERIES;
    if (s->lanes) s->stripes = s->tile + (size_t)tile_keys * (size_t)s->lanes;
    NB_NEED(s->seen, nb_alloc(ctx, flags(), sizeof *s->seen));
    return NB_OK;
}

double nb_softmax_unit(void)
{
    return nb_stripe_lanes() ? log(2) : 1;
}

/* Queries of a block with those that fill its last stripe. */
static int with_padding(const nb_softmax *s, int count)
{
    return s->lanes ? (count + s->lanes - 1) / s->lanes * s->lanes : count;
}

static void begin_block(nb_softmax *s, int count, const nb_scalar *q, nb_scalar *out)
{
    s->count = count;
    s->q = q;
    s->out = out;
    for (size_t i = 0; i < flags(); i++) s->seen[i] = false;
    for (int i = 0; i < with_padding(s, count); i++) s->sum[i] = 0;
    if (s->lanes) nb_stripes_begin(s);
}

void nb_softmax_begin(nb_softmax *s, int count, const nb_scalar *q, nb_scalar *out)
{
    s->given = false;
    for (int i = 0; i < with_padding(s, count); i++) s->largest[i] = -INFINITY;
    begin_block(s, count, q, out);
}

void nb_softmax_begin_columns(nb_softmax *s, int count, const nb_scalar *q, const nb_scalar *lse, nb_scalar *out)
{
    s->given = true;
    for (int i = 0; i < with_padding(s, count); i++)
        s->largest[i] = i < count ? (nb_scalar)((double)lse[i] / nb_softmax_unit()) : 0;
    begin_block(s, count, q, out);
}

static int clipped(int64_t x, int hi)
{
    return x < 0 ? 0 : x > hi ? hi : (int)x;
}

/* Logits that query i does not see become -infinity. */
static void apply_mask(const nb_mask *mask, int i, int keys, nb_scalar *logits)
{
    int64_t at = nb_mask_query(mask, i);
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

static void add_bias(const nb_mask *mask, int i, int keys, nb_scalar *logits)
{
    for (int j = 0; j < keys; j++) logits[j] += mask->bias[(size_t)j * (size_t)mask->bias_stride + (size_t)i];
}

/* The tile's logits of query i become exp(logit - largest). */
static void raise(nb_softmax *s, int i, int keys)
{
    nb_scalar *column = s->tile + (size_t)i * (size_t)keys;
    nb_scalar before = s->largest[i], largest = s->given ? before : nb_scalar_largest((size_t)keys, column);
    if (largest <= before) largest = before;
    if (largest == -INFINITY) { /* nothing is seen yet */
        for (int j = 0; j < keys; j++) column[j] = 0;
        return;
    }
    if (largest > before && s->seen[0]) {
        nb_scalar factor = (nb_scalar)exp((double)before - (double)largest);
        s->sum[i] *= factor;
        if (s->dv > 0) nb_scalar_scale((size_t)s->dv, factor, s->out + (size_t)i * (size_t)s->dv);
    }
    s->largest[i] = largest;
    s->sum[i] += nb_scalar_exp_sum((size_t)keys, column, largest);
}

static void add_tile(nb_softmax *s, int keys, const nb_scalar *k, const nb_scalar *v, const nb_mask *mask)
{
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, keys, s->count, s->d, s->scale, k, s->d, s->q, s->d, 0, s->tile, keys);
    for (int i = 0; i < s->count; i++) {
        if (mask->on) apply_mask(mask, i, keys, s->tile + (size_t)i * (size_t)keys);
        if (mask->bias) add_bias(mask, i, keys, s->tile + (size_t)i * (size_t)keys);
        raise(s, i, keys);
    }
    if (s->dv > 0)
        nb_scalar_gemm(NB_PLAIN, NB_PLAIN, s->dv, s->count, keys, 1, v, s->dv, s->tile, keys, s->seen[0] ? 1 : 0,
                       s->out, s->dv);
    s->seen[0] = true;
}

void nb_softmax_add(nb_softmax *s, int count, const nb_scalar *k, const nb_scalar *v, const nb_mask *mask)
{
    nb_mask here = mask ? *mask : (nb_mask){.on = false};
    for (int j = 0; j < count; j += s->tile_keys) {
        int keys = count - j < s->tile_keys ? count - j : s->tile_keys;
        const nb_scalar *its_k = k + (size_t)j * (size_t)s->d, *its_v = v ? v + (size_t)j * (size_t)s->dv : NULL;
        if (s->lanes)
            nb_stripes_add(s, keys, its_k, its_v, &here);
        else
            add_tile(s, keys, its_k, its_v, &here);
        here.key_at += keys;
        if (here.keys) here.keys += keys;
        if (here.bias) here.bias += (size_t)keys * (size_t)here.bias_stride;
    }
}

/* Clears the outputs where no key was seen; else they hold the sums that BLAS has added. */
static void clear_unseen(nb_softmax *s)
{
    for (size_t i = 0; !s->seen[0] && i < (size_t)s->count * (size_t)s->dv; i++) s->out[i] = 0;
}

void nb_softmax_store(nb_softmax *s)
{
    if (s->lanes)
        nb_stripes_store(s, false);
    else
        clear_unseen(s);
}

void nb_softmax_end(nb_softmax *s, nb_scalar *lse)
{
    if (s->lanes) {
        nb_stripes_store(s, true);
    } else {
        clear_unseen(s);
        if (s->dv > 0) nb_softmax_divide(s->count, s->dv, s->out, s->sum);
    }
    double unit = nb_softmax_unit();
    for (int i = 0; lse && i < s->count; i++)
        lse[i] = s->sum[i] > 0 ? (nb_scalar)((double)s->largest[i] * unit + log((double)s->sum[i])) : -INFINITY;
}

/* Returns 2 or e to the power of a - b, 1 where both are -infinity. */
static nb_scalar factor_of(nb_scalar a, nb_scalar b, double unit)
{
    return a == b ? 1 : (nb_scalar)exp(((double)a - (double)b) * unit);
}

void nb_softmax_merge(int count, int dv, nb_scalar *out, nb_scalar *largest, nb_scalar *sum, const nb_scalar *other_out,
                      const nb_scalar *other_largest, const nb_scalar *other_sum)
{
    double unit = nb_softmax_unit();
    for (int i = 0; i < count; i++) {
        nb_scalar most = largest[i] > other_largest[i] ? largest[i] : other_largest[i];
        nb_scalar own = factor_of(largest[i], most, unit), theirs = factor_of(other_largest[i], most, unit);
        nb_scalar *o = out + (size_t)i * (size_t)dv;
        largest[i] = most;
        sum[i] = own * sum[i] + theirs * other_sum[i];
        if (own != 1) nb_scalar_scale((size_t)dv, own, o);
        nb_scalar_add((size_t)dv, theirs, other_out + (size_t)i * (size_t)dv, o);
    }
}

void nb_softmax_divide(int count, int dv, nb_scalar *out, const nb_scalar *sum)
{
    for (int i = 0; i < count; i++)
        nb_scalar_scale((size_t)dv, sum[i] > 0 ? 1 / sum[i] : 0, out + (size_t)i * (size_t)dv);
}

double nb_softmax_work(double queries, double keys, double d, double dv)
{
    return queries * keys * (d + dv);
}
