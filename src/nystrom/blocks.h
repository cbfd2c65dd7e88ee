/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blocks.h - the Q_B of many factor pairs side by side, so that one product
 * serves all. Pairs whose query tokens begin another's share its block: their B
 * is the first rows of the larger one, their Q_B its first columns. */
#ifndef NB_BLOCKS_H
#define NB_BLOCKS_H

#include "nystrom/engine.h"

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

/* Forms B, A (into each pair's factors) and Q_B, which reaches as far as products of the smallest `least` need. Memory is ctx's. */
nb_status nb_blocks_build(const nb_scene *scene, int count, nb_pair *pairs, double least, double smallest,
                          nb_blocks *blocks, nb_engine_times *times, nb_ctx *ctx);

/* out (ld x rows) <- Q' s for the blocks first ... end - 1, s n x rows with `keys` of n entries, in the places of their
 * columns and perhaps some behind them. */
void nb_blocks_product(const nb_blocks *blocks, int first, int end, int rows, int keys, const double *s, int ld_s,
                       double *out, int ld);

/* Columns that a block of m vectors takes, in double and in single precision. */
int nb_block_width(int m);
int nb_block_width_single(int m);

/* Keeps the ctx's error as the failure of a pair (or a request), and clears it. */
nb_status nb_keep_failure(const char **failure, nb_ctx *ctx);

#endif
