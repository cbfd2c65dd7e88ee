/* SPDX-License-Identifier: GPL-3.0-or-later */
/* features.h - attention by features: phi(q)'phi(k) in the place of exp(q'k/sqrt d),
 *
 *     out_i = sum_j phi(q_i)'phi(k_j) v_j / sum_j phi(q_i)'phi(k_j),
 *
 * in the order that needs no n x n matrix: first the sums over keys, phi(k_j) v_j' and phi(k_j), then phi(q_i) of each
 * query (Katharopoulos et al. 2020, arXiv:2006.16236). 2 n r dv multiplications a head, besides phi.
 *
 * Where a map gives logarithms, exp neither overflows nor loses all: the sums of feature l are kept as multiples of
 * exp(c_l), c_l the largest logarithm of that feature among the keys summed, and those of a query are taken after c is
 * added, less their largest. Both factors cancel in the quotient, and no denominator is below 1.
 *
 * Causal: steps of NB_FEATURE_STEP tokens, one after another; within a step phi(q)'phi(k) is formed and masked, which
 * is 2 n NB_FEATURE_STEP (r + dv) / 2 more, and what came before is in the sums. Logarithms are there taken less the
 * largest of the token's own, so that nothing depends on a later token, and a product that underflows counts as
 * NB_FEATURE_LEAST. */
#ifndef NB_FEATURES_H
#define NB_FEATURES_H

#include "layers/team.h"
#include "layers/layer.h"

enum { NB_FEATURE_BLOCK = 256, NB_FEATURE_STEP = 64 }; /* tokens of a product; under a causal mask */
#define NB_FEATURE_LEAST 1e-37

typedef struct {
    int features;
    bool logs; /* `map` gives ln phi, of any size; else phi >= 0 itself */
    /* out (features x count) <- phi of the points x (d x count) of the tokens at, at + 1, ... */
    void (*map)(const void *self, int at, int count, const nb_scalar *x, nb_scalar *out);
    const void *self;
} nb_feature_map;

/* The workspace of passes. */
typedef struct {
    nb_layer_shape shape;
    int features, parts; /* in which the keys of a head are summed */
    nb_scalar *sums;     /* of each key head and part; causal: of each thread */
    nb_scalar *room;     /* of each thread */
} nb_features;

double nb_features_bytes(const nb_layer_shape *shape, int features, int threads);
nb_status nb_features_new(const nb_layer_shape *shape, int features, int threads, nb_features *out, nb_ctx *ctx);

/* The sums over keys (causal: nothing), then the outputs. */
void nb_features_keys(const nb_features *f, const nb_feature_map *map, const nb_layer *layer, nb_team *team);
void nb_features_queries(const nb_features *f, const nb_feature_map *map, const nb_layer *layer, nb_scalar *out,
                         nb_team *team);

/* Multiplications of both, if those of a token's phi are so many. */
double nb_features_work(const nb_layer_shape *shape, int features, bool logs, double each);

#endif
