/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectrum.h - singular values and vectors of S. */
#ifndef NB_SPECTRUM_H
#define NB_SPECTRUM_H

#include "nystrom/scene.h"

typedef struct {
    int count;             /* triplets, the largest of S */
    double *values;        /* descending */
    double *left, *right;  /* n x count, columns: over queries, over keys; NULL: values only */
    double *tail;          /* count + 1: tail[m] is the sum of the squared values after the first m ... */
    double *tail_accuracy; /* ... and too large by at most that, rounding left out */
    double residual;       /* |S'u - s v| / s_1 of the triplets, at most */
} nb_spectrum;

/* At least the `count` <= n largest singular triplets of S: 64, 128, 256 ..., so
 * that what a row shows depends neither on the order of questions nor on other
 * rows. LAPACK's, all of them, where that is more than an eighth of n; else block
 * Krylov's, whose residuals are below 1e-7. Asked for values alone, LAPACK computes
 * them in another way, whose last bits differ: so they never come from a
 * decomposition with vectors, and left and right may be NULL. */
nb_status nb_scene_singular_values(nb_scene *scene, int count, const nb_spectrum **spectrum, nb_ctx *ctx);
nb_status nb_scene_singular_vectors(nb_scene *scene, int count, const nb_spectrum **spectrum, nb_ctx *ctx);

/* |S - S_m|_F / |S|_F, S_m the best matrix of rank m (Eckart & Young 1936), and
 * by how much that may be off: it is not below 1e-8 by block Krylov. */
nb_status nb_scene_floor_rank(nb_scene *scene, int m, double *floor, double *accuracy, nb_ctx *ctx);

#endif
