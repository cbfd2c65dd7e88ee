/* random.c - FNV-1a over the stream's text, then the finalizer of MurmurHash3
 * (both public domain), folded to the 32 bits that mt19937 takes. */
#include "base/random.h"

#include <inttypes.h>
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
