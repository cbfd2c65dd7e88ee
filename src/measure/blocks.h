/* blocks.h - the Q_B of many factor pairs side by side, so that one product
 * serves all. Pairs whose query tokens begin another's share its block: their B
 * is the first rows of the larger one, their Q_B its first columns. */
#ifndef NB_BLOCKS_H
#define NB_BLOCKS_H

#include "measure/engine.h"

typedef struct {
    int m, width, column; /* of its vectors; padded; where it begins */
    double *r;            /* R_B, m x m */
    const nb_pair *largest;
    bool good;            /* it could be had */
} nb_block;

typedef struct {
    int n, pairs, width, count;
    double *q;       /* n x width */
    nb_block *blocks;
    int *block_of;   /* by pair; meaningless where the pair has a failure */
} nb_blocks;

/* Forms B, A (into each pair's factors) and Q_B. Memory is ctx's. */
nb_status nb_blocks_build(const nb_scene *scene, int count, nb_pair *pairs, nb_blocks *blocks, nb_engine_times *times,
                          nb_ctx *ctx);

/* Columns that a block of m vectors takes: whole groups of 8, so that the bits of
 * one do not depend on its neighbours. */
int nb_block_width(int m);

/* Keeps the ctx's error as the failure of a pair (or a request), and clears it. */
nb_status nb_keep_failure(const char **failure, nb_ctx *ctx);

#endif
