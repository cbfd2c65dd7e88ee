/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blocks.h - the Q_B of many factor pairs side by side, so that one product
 * serves all. Pairs whose query tokens begin another's share its block: their B
 * is the first rows of the larger one, their Q_B its first columns. */
#ifndef NB_BLOCKS_H
#define NB_BLOCKS_H

#include "nystrom/request.h"

typedef struct {
    int m, width, column; /* of its vectors; padded; where it begins */
    double *r;            /* R_B, m x m */
    const nb_pair *largest;
    bool alone; /* of one pair, whose B is not of full rank: Householder QR */
    bool good;  /* it could be had */
} nb_block;

typedef struct {
    int n, pairs, width, count;
    int reach;    /* columns that products may reach: behind `width` there are zeros */
    double least; /* of the rows of S in a product times their length: nb_width_together's */
    double *q;    /* n x reach */
    nb_block *blocks;
    int *block_of; /* by pair; meaningless where the pair has a failure */
    int *by_size;  /* the pairs, largest first */
} nb_blocks;

/* Of products with rows of S: these times their length, of which the bits must not depend on what stands beside them. */
typedef struct {
    double least;    /* of the pass */
    double smallest; /* of all, also of some of its rows alone */
} nb_product_sizes;

/* Forms B, A (into each pair's factors) and Q_B, which reaches as far as the smallest products need. Memory is ctx's. */
nb_status nb_blocks_build(const nb_scene *scene, int count, nb_pair *pairs, nb_product_sizes sizes, nb_blocks *blocks,
                          nb_engine_times *times, nb_ctx *ctx);

/* out (ld x s->count) <- Q' s for the blocks first ... end - 1, in the places of their columns and perhaps some behind them. */
void nb_blocks_product(const nb_blocks *blocks, int first, int end, const nb_stripe *s, double *out, int ld);

/* r (m x m) <- R_B of a pair of m landmarks. */
void nb_blocks_triangle(const nb_blocks *blocks, int pair, int m, double *r);

/* Columns that a block of m vectors takes, in double and in single precision. */
int nb_block_width(int m);
int nb_block_width_single(int m);

#endif
