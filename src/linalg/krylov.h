/* SPDX-License-Identifier: GPL-3.0-or-later */
/* krylov.h - the largest singular triplets of a matrix that is only multiplied:
 * block Lanczos on S'S, all vectors kept orthogonal (Golub, Luk & Overton 1981;
 * block Krylov from a random start: Musco & Musco, NIPS 2015). */
#ifndef NB_KRYLOV_H
#define NB_KRYLOV_H

#include "base/ctx.h"

/* z <- S v and w <- S' z: one pass over S. A row of v, z and w, n x b, is b numbers side by side. */
typedef nb_status nb_normal_product(void *self, int b, const double *v, double *z, double *w, nb_ctx *ctx);

/* S, n x n, which is only multiplied. */
typedef struct {
    int n;
    nb_normal_product *product;
    void *self; /* the product's own */
} nb_operator;

typedef struct {
    double *values;       /* count, descending */
    double *left, *right; /* n x count, orthonormal columns; a left one may be zero where its value is, to rounding */
    double residual; /* of |S' u - s v| / s_1 over the triplets the largest; where s < s_1 / 1000, times 1000 s / s_1 */
    double *missing; /* count: the sum of the first j + 1 squared values is too low by at most missing[j], given
                          * that no value is missing altogether, for which a fresh start looks */
} nb_triplets;

/* `count` triplets of S, 1 <= count <= nb_krylov_order(n, count) - block and block
 * <= n / 4, each with a residual below `tolerance`, or with what the largest order
 * allows: see `residual`. `block` vectors, a multiple of NB_THIN, go through each
 * product: fewer take more products and less work in all. The start is random but
 * always the same. Memory is ctx's. */
nb_status nb_krylov(const nb_operator *s, int count, int block, double tolerance, nb_triplets *out, nb_ctx *ctx);

/* The largest dimension of the Krylov space that is tried. */
int nb_krylov_order(int n, int count);

#endif
