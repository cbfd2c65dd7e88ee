/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random.c - FNV-1a over the stream's text, then the finalizer of MurmurHash3
 * (both public domain), folded to the 32 bits that mt19937 takes. */
#include "base/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static void free_rng(void *rng)
{
    gsl_rng_free(rng);
}

nb_status nb_random_new(gsl_rng **rng, nb_ctx *ctx)
{
    *rng = gsl_rng_alloc(gsl_rng_mt19937);
    NB_REQUIRE(ctx, *rng, NB_ENOMEM, "out of memory: a random number generator");
    return nb_defer(ctx, free_rng, *rng);
}

static uint64_t fnv1a(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (hash ^ 0xff) * 0x100000001b3u; /* a separator that no UTF-8 text contains */
}

static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

void nb_random_seed(gsl_rng *rng, const nb_stream *stream)
{
    char numbers[96];
    snprintf(numbers, sizeof numbers, "%" PRIu64 " %d %d", stream->seed, stream->trial, stream->m);
    uint64_t hash = fnv1a(0xcbf29ce484222325u, numbers);
    hash = mix(fnv1a(fnv1a(hash, stream->role), stream->component));
    gsl_rng_set(rng, (unsigned long)((hash ^ (hash >> 32)) & 0xffffffffu));
}

uint64_t nb_source_seed(uint64_t seed, const char *model, const char *source)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64, seed);
    return mix(fnv1a(fnv1a(fnv1a(0xcbf29ce484222325u, number), model ? model : ""), source)) >> 1;
}

/* mt19937 gives all of 32 bits, so that a division of 32 bits is enough. */
void nb_draw_indices(gsl_rng *rng, int below, int count, int *drawn)
{
    unsigned long (*const next)(void *) = rng->type->get;
    const uint32_t width = UINT32_MAX / (uint32_t)below;
    for (int i = 0; i < count;) {
        uint32_t at = (uint32_t)next(rng->state) / width;
        if (at < (uint32_t)below) drawn[i++] = (int)at;
    }
}

int nb_draw(gsl_rng *rng, int n, const double *weight)
{
    double total = 0, sum = 0;
    int last = -1;
    for (int i = 0; i < n; i++) total += weight[i];
    if (!(total > 0)) return (int)gsl_rng_uniform_int(rng, (unsigned long)n);
    double at = total * gsl_rng_uniform(rng);
    for (int i = 0; i < n; i++) {
        if (weight[i] > 0) last = i;
        sum += weight[i];
        if (sum > at && weight[i] > 0) return i;
    }
    return last;
}

/* The m largest of log(u)/w, u uniform, are such a draw. Most logarithms are not needed: log(u) < u - 1, by more than
 * rounding, as u has 32 bits. */
nb_status nb_draw_distinct(gsl_rng *rng, int n, const double *weight, int m, int *drawn, nb_ctx *ctx)
{
    double *largest;
    int count = 0;
    NB_NEED(largest, nb_alloc_reals(ctx, (size_t)m, 1));
    for (int i = 0; i < n; i++) {
        double u = gsl_rng_uniform_pos(rng);
        bool full = count == m;
        if (full && !(u - 1 > largest[m - 1] * weight[i])) continue;
        double key = weight[i] > 0 ? log(u) / weight[i] : -INFINITY;
        if (full && key <= largest[m - 1]) continue;
        int at = full ? m - 1 : count++;
        for (; at > 0 && key > largest[at - 1]; at--) {
            largest[at] = largest[at - 1];
            drawn[at] = drawn[at - 1];
        }
        largest[at] = key;
        drawn[at] = i;
    }
    return NB_OK;
}
