/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random.h - one stream of random numbers for each (seed, trial, role, component); each source may have a seed of its
 * own.
 *
 * A stream depends on nothing else, so adding a strategy or a source to an experiment, or a worker to a run, changes no
 * other draw. */
#ifndef NB_RANDOM_H
#define NB_RANDOM_H

#include "base/ctx.h"

#include <stdint.h>

typedef struct {
    uint64_t seed;
    int trial;
    const char *role;      /* what the numbers are for: "problem", "queries", "keys", "joint" */
    const char *component; /* canonical text */
    int m;                 /* number of landmarks if the draws depend on it (not nested); else 0 */
} nb_stream;

/* Makes a generator owned by ctx, not yet seeded (GSL's mt19937). */
nb_status nb_random_new(gsl_rng **rng, nb_ctx *ctx);

/* Sets the generator to the start of a stream. mt19937 takes 32 bits of seed,
 * so two of 10^4 streams coincide with a probability of about 1 %; streams of
 * the same role and component in 100 trials, with about 10^-6. */
void nb_random_seed(gsl_rng *rng, const nb_stream *stream);

/* Returns the seed of a source of a model (NULL: none is named), from an experiment's: at most 2^63 - 1. */
uint64_t nb_source_seed(uint64_t seed, const char *model, const char *source);

/* Draws `count` indices below `below`: the same as gsl_rng_uniform_int from this generator, in half the time. */
void nb_draw_indices(gsl_rng *rng, int below, int count, int *drawn);

/* Draws an index in proportion to the weights (>= 0); uniformly if all are 0. */
int nb_draw(gsl_rng *rng, int n, const double *weight);

/* Draws m distinct indices of n, in order, each in proportion to the weights of those left; indices of weight 0 come
 * last, lowest first (Efraimidis & Spirakis 2006). */
nb_status nb_draw_distinct(gsl_rng *rng, int n, const double *weight, int m, int *drawn, nb_ctx *ctx);

#endif
