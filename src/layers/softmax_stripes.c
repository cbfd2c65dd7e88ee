/* SPDX-License-Identifier: GPL-3.0-or-later */
/* softmax_stripes.c - the online softmax by stripes of queries (softmax_simd.h). Logits are kept as powers of 2: c
 * = scale log2(e) times q'k. A tile of keys stays in the cache while all stripes of the block pass over it. */
#include "layers/softmax_private.h"
#include "layers/softmax_simd.h"
#include "linalg/work.h"

#include <math.h>
#include <string.h>

#ifdef NB_DOUBLE_SCALAR

int nb_stripe_lanes(void)
{
    return 0;
}

void nb_stripes_begin(nb_softmax *s)
{
    (void)s;
}

void nb_stripes_add(nb_softmax *s, int keys, const nb_scalar *k, const nb_scalar *v, const nb_mask *mask)
{
    (void)s, (void)keys, (void)k, (void)v, (void)mask;
}

void nb_stripes_store(nb_softmax *s, bool divide)
{
    (void)s, (void)divide;
}

#else

enum { MOST_LANES = 32 };

int nb_stripe_lanes(void)
{
    const nb_softmax_simd *stripe = nb_softmax_simd_best();
    return stripe ? stripe->lanes : 0;
}

/* q of the stripe that begins with query `first`, and its sums. */
static float *queries_of(const nb_softmax *s, int first)
{
    return s->stripes + (size_t)first * (size_t)s->d;
}

static float *sums_of(const nb_softmax *s, int first)
{
    return s->stripes + (size_t)NB_BLOCK_QUERIES * (size_t)s->d + (size_t)first * (size_t)s->dv;
}

void nb_stripes_begin(nb_softmax *s)
{
    const nb_softmax_simd *stripe = nb_softmax_simd_best();
    for (int first = 0; first < s->count; first += s->lanes)
        stripe->pack(s->d, s->count - first < s->lanes ? s->count - first : s->lanes,
                     s->q + (size_t)first * (size_t)s->d, queries_of(s, first));
}

/* Positions of the stripe's queries and the tile's keys. */
typedef struct {
    int64_t first_query, last_query, first_key, last_key;
} extent;

static extent extent_of(const nb_softmax *s, const nb_mask *mask, int first, int keys)
{
    int last = first + s->lanes < s->count ? first + s->lanes - 1 : s->count - 1;
    extent e = {nb_mask_query(mask, first), nb_mask_query(mask, last), nb_mask_key(mask, 0),
                nb_mask_key(mask, keys - 1)};
    for (int i = first; mask->queries && i <= last; i++) {
        if (mask->queries[i] < e.first_query) e.first_query = mask->queries[i];
        if (mask->queries[i] > e.last_query) e.last_query = mask->queries[i];
    }
    for (int j = 0; mask->keys && j < keys; j++) {
        if (mask->keys[j] < e.first_key) e.first_key = mask->keys[j];
        if (mask->keys[j] > e.last_key) e.last_key = mask->keys[j];
    }
    return e;
}

static bool sees_none(const nb_mask *mask, const extent *e)
{
    return e->last_key < e->first_query - mask->before || e->first_key > e->last_query + mask->after;
}

static bool sees_all(const nb_mask *mask, const extent *e)
{
    return e->first_key >= e->last_query - mask->before && e->last_key <= e->first_query + mask->after;
}

static void hide(const nb_softmax *s, const nb_mask *mask, int first, int keys)
{
    for (int lane = 0; lane < s->lanes; lane++) {
        int i = first + lane < s->count ? first + lane : s->count - 1;
        int64_t at = nb_mask_query(mask, i), from = at - mask->before, to = at + mask->after;
        for (int j = 0; j < keys; j++) {
            int key = nb_mask_key(mask, j);
            if (key < from || key > to) s->tile[j * s->lanes + lane] = -INFINITY;
        }
    }
}

/* The tile holds q'k without the scale. */
static void add_bias(const nb_softmax_simd *stripe, const nb_softmax *s, const nb_mask *mask, int first, int keys)
{
    const float factor = (float)(1 / s->scale);
    int count = s->count - first;
    if (count >= s->lanes) {
        stripe->add(keys, factor, mask->bias + first, mask->bias_stride, s->tile);
        return;
    }
    for (int j = 0; j < keys; j++) {
        const float *bias = mask->bias + (size_t)j * (size_t)mask->bias_stride + first;
        for (int lane = 0; lane < count; lane++) s->tile[j * s->lanes + lane] += factor * bias[lane];
    }
}

/* Rescales what was summed so far where `before` is not the largest any more. */
static void rescale(const nb_softmax_simd *stripe, nb_softmax *s, int first, const float *before)
{
    float factor[MOST_LANES];
    bool changed = false;
    for (int lane = 0; lane < s->lanes; lane++) {
        bool same = s->largest[first + lane] == before[lane];
        factor[lane] = same ? 1 : exp2f(before[lane] - s->largest[first + lane]);
        s->sum[first + lane] *= factor[lane];
        changed = changed || !same;
    }
    if (changed && s->dv > 0) stripe->scale(s->dv, factor, sums_of(s, first));
}

static void add_to_stripe(const nb_softmax_simd *stripe, nb_softmax *s, int first, int keys, const float *k,
                          const float *v, const nb_mask *mask)
{
    const float c = (float)(s->scale * 1.4426950408889634);
    bool *seen = &s->seen[first / s->lanes];
    extent e = {0, 0, 0, 0};
    if (mask->on) e = extent_of(s, mask, first, keys);
    if (mask->on && sees_none(mask, &e)) return;
    stripe->dots(s->d, keys, queries_of(s, first), k, s->tile);
    if (mask->on && !sees_all(mask, &e)) hide(s, mask, first, keys);
    if (mask->bias) add_bias(stripe, s, mask, first, keys);
    if (!s->given) {
        float before[MOST_LANES];
        memcpy(before, s->largest + first, (size_t)s->lanes * sizeof *before);
        stripe->raise(keys, c, s->tile, s->largest + first);
        if (*seen) rescale(stripe, s, first, before);
    }
    stripe->powers(keys, c, s->largest + first, s->tile, s->sum + first);
    if (s->dv > 0) stripe->values(s->dv, keys, s->tile, v, *seen, sums_of(s, first));
    *seen = true;
}

void nb_stripes_add(nb_softmax *s, int keys, const nb_scalar *k, const nb_scalar *v, const nb_mask *mask)
{
    const nb_softmax_simd *stripe = nb_softmax_simd_best();
    nb_count_multiplications(nb_softmax_work(s->count, keys, s->d, s->dv));
    for (int first = 0; first < s->count; first += s->lanes) add_to_stripe(stripe, s, first, keys, k, v, mask);
}

void nb_stripes_store(nb_softmax *s, bool divide)
{
    const nb_softmax_simd *stripe = nb_softmax_simd_best();
    for (int first = 0; first < s->count && s->dv > 0; first += s->lanes) {
        float factor[MOST_LANES], *to = s->out + (size_t)first * (size_t)s->dv;
        int count = s->count - first < s->lanes ? s->count - first : s->lanes;
        for (int i = 0; i < s->lanes; i++) {
            float sum = s->sum[first + i];
            bool none = s->largest[first + i] == -INFINITY;
            factor[i] = !divide ? 1 : sum > 0 ? 1 / sum : none ? 0 : NAN; /* a logit that is infinite gives no sum */
        }
        if (s->seen[first / s->lanes])
            stripe->unpack(s->dv, count, sums_of(s, first), factor, to);
        else
            memset(to, 0, (size_t)count * (size_t)s->dv * sizeof *to);
    }
}

#endif
