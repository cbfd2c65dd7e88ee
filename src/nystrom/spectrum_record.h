/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectrum_record.h - a scene's cached singular triplets, and their cost: for the library alone. */
#ifndef NB_SPECTRUM_RECORD_H
#define NB_SPECTRUM_RECORD_H

#include "nystrom/spectrum.h"

typedef struct nb_kept_spectrum {
    nb_spectrum of;
    const char *failure;          /* why there is none, reported again without another attempt; NULL: there is */
    int asked;                    /* the number of triplets it was made for; n: all */
    bool values_too, vectors_too; /* which questions it answers; block Krylov's triplets answer both */
    bool summed;                  /* the tail is a sum of small values, not the rest of |S|_F^2 */
    double time_s;                /* seconds it took */
} nb_kept_spectrum;

/* Returns how many triplets are computed when `count` are asked for and S has no factors, and whether by LAPACK. */
int nb_spectrum_triplets(int n, int count, bool *lapack);

/* Computes the bytes of the spectrum of S (n x n; d: rank of its factors, 0 without) that serves `count` triplets:
 * those that stay, and those used on the way. */
void nb_spectrum_bytes(int n, int d, int count, bool vectors, double *kept, double *working);

/* Returns the vectors in a block of the Krylov iteration, each block taking a pass: more if a pass forms S anew. */
int nb_spectrum_block(bool kept);

#endif
