/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectrum_private.h - what a scene keeps of singular triplets, and what they cost: for the library alone. */
#ifndef NB_SPECTRUM_PRIVATE_H
#define NB_SPECTRUM_PRIVATE_H

#include "nystrom/spectrum.h"

typedef struct nb_kept_spectrum {
    nb_spectrum of;
    const char *failure;          /* why there is none, reported again without a new attempt; NULL: there is */
    int asked;                    /* the number of triplets that it was made for; n: all */
    bool values_too, vectors_too; /* whom it serves; block Krylov's triplets serve both */
    bool summed;                  /* the tail is a sum of small values, not what is left of |S|_F^2 */
    double time_s;                /* what it took */
} nb_kept_spectrum;

/* How many triplets are made where `count` are asked for and S has no factors, and whether by LAPACK. */
int nb_spectrum_triplets(int n, int count, bool *lapack);

/* Bytes of the spectrum of S (n x n; of factors n x d, or d = 0 without) that serves `count` triplets: those that stay,
 * and those on the way to it. */
void nb_spectrum_bytes(int n, int d, int count, bool vectors, double *kept, double *working);

/* Vectors in a block of Krylov's, each of which takes a pass: more where a pass forms S anew. */
int nb_spectrum_block(bool kept);

#endif
