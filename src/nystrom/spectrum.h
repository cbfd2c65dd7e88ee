/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectrum.h - singular values and vectors of S. */
#ifndef NB_SPECTRUM_H
#define NB_SPECTRUM_H

#include "nystrom/scene.h"

typedef struct {
    int count;             /* the number of largest triplets of S */
    double *values;        /* descending */
    double *left, *right;  /* n x count, columns: over queries, over keys; NULL: values only */
    double *tail;          /* count + 1: tail[m] is the sum of the squared values after the first m ... */
    double *tail_accuracy; /* ... which is too large by at most this, rounding aside */
    double residual;       /* largest |S'u - s v| / s_1 of the triplets */
} nb_spectrum;

/* Compute at least the `count` <= n largest singular triplets of S, in numbers 64, 128, 256 ..., so that a row's values
 * depend neither on the order of questions nor on other rows. LAPACK computes them all if that is more than an eighth
 * of n; else block Krylov, with residuals below 1e-7. LAPACK computes values without vectors in another way, with other
 * last bits: so values alone never come from a decomposition with vectors, and left and right may be NULL. */
nb_status nb_scene_singular_values(nb_scene *scene, int count, const nb_spectrum **spectrum, nb_ctx *ctx);
nb_status nb_scene_singular_vectors(nb_scene *scene, int count, const nb_spectrum **spectrum, nb_ctx *ctx);

/* Computes |S - S_m|_F / |S|_F, S_m the best matrix of rank m (Eckart & Young 1936), and its accuracy. By block Krylov
 * it is at least 1e-8. */
nb_status nb_scene_floor_rank(nb_scene *scene, int m, double *floor, double *accuracy, nb_ctx *ctx);

#endif
