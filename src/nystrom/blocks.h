/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blocks.h - the Q_B of many factor pairs side by side, so that one product
 * serves all. Pairs whose query tokens begin another's share its block: their B
 * is the first rows of the larger one, their Q_B its first columns. */
#ifndef NB_BLOCKS_H
#define NB_BLOCKS_H

#include "nystrom/request.h"

typedef struct {
    int m, width, column; /* number of vectors; the same with padding; first column */
    double *r;            /* R_B, m x m */
    const nb_pair *largest;
    bool alone; /* belongs to one pair, whose B is rank-deficient: Householder QR */
    bool good;  /* it was computed */
} nb_block;

typedef struct {
    int n, pairs, width, count;
    int reach;    /* columns that products may reach: those past `width` are zero */
    double least; /* least product of the rows of S in a product and their length, for nb_width_together */
    double *q;    /* n x reach */
    nb_block *blocks;
    int *block_of; /* by pair; meaningless where the pair has a failure */
    int *by_size;  /* the pairs, largest first */
} nb_blocks;

/* Sizes of products with rows of S: their number times their length. The bits of a product must not depend on what
 * stands beside it. */
typedef struct {
    double least;    /* least of the pass */
    double smallest; /* least of all, also of products with some rows alone */
} nb_product_sizes;

/* Forms B, A (into each pair's factors) and Q_B, wide enough for the smallest products. ctx owns the memory. */
nb_status nb_blocks_build(const nb_scene *scene, int count, nb_pair *pairs, nb_product_sizes sizes, nb_blocks *blocks,
                          nb_engine_times *times, nb_ctx *ctx);

/* out (ld x s->count) <- Q' s for the blocks first ... end - 1, in the places of their columns, and perhaps for some
 * columns past them. */
void nb_blocks_product(const nb_blocks *blocks, int first, int end, const nb_stripe *s, double *out, int ld);

/* r (m x m) <- R_B of a pair of m landmarks. */
void nb_blocks_triangle(const nb_blocks *blocks, int pair, int m, double *r);

/* Return how many columns a block of m vectors takes in double and in single precision. */
int nb_block_width(int m);
int nb_block_width_single(int m);

#endif
