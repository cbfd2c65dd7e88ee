/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_pass.h - attention from landmarks, F (X (B V)), for all heads of a layer.
 *
 *     B V = softmax(Q~ K') V           in tiles, keys divided among tasks
 *     W = X (B V)                      m x dv
 *     out = softmax(Q K~') W           in blocks of queries
 *
 * so nothing of size n x m is stored. Landmarks are those of any strategy, X that of any core; both are computed in
 * double precision, head by head. 4 n m d multiplications a head, and what they take. */
#ifndef NB_LANDMARK_PASS_H
#define NB_LANDMARK_PASS_H

#include "attentions/attention.h"
#include "nystrom/approximation.h"
#include "strategies/strategy.h"

typedef struct {
    const nb_choice *strategy, *core;
    int m;
    nb_pairing pairing;
    nb_factors_kind kind;
    int chunk;      /* queries that a task takes; a multiple of NB_BLOCK_QUERIES is taken */
    int refresh;    /* passes with the same landmarks; 1: each has its own */
    bool keep_place; /* what is kept is which tokens they are; else where they are, and so X too */
} nb_landmark_how;

nb_status nb_landmark_open(const nb_landmark_how *how, const nb_layer_shape *shape, int threads, void **state,
                           nb_ctx *ctx);
nb_status nb_landmark_forward(nb_pass *pass, const nb_landmark_how *how, nb_ctx *ctx);
nb_attention_cost nb_landmark_cost(const nb_landmark_how *how, const nb_layer_shape *shape, int threads);

/* m of an option `landmarks`, a number or `log2`. */
int nb_landmark_count(int option, int n);

/* NB_ATTENTION_* of such attention, but for CAUSAL. */
unsigned nb_landmark_traits(const nb_choice *strategy, const nb_choice *core);

/* Finds what is wrong whatever the layer is: a pairing that the strategy does not have, what its own check finds. */
nb_status nb_landmark_check(const nb_landmark_how *how, nb_ctx *ctx);

/* Why there is no such pass; NULL: there may be. */
nb_status nb_landmark_refusal(const nb_landmark_how *how, const nb_layer_shape *shape, const char **why, nb_ctx *ctx);

#endif
