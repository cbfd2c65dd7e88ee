/* SPDX-License-Identifier: GPL-3.0-or-later */
/* krylov.h - computes the largest singular triplets of a matrix that is used only in products: block Lanczos on S'S
 * with all vectors kept orthogonal (Golub, Luk & Overton 1981; block Krylov from a random start: Musco & Musco, NIPS
 * 2015). */
#ifndef NB_KRYLOV_H
#define NB_KRYLOV_H

#include "base/ctx.h"

/* Computes z <- S v and w <- S' z in one pass over S. v, z and w are n x b, the b numbers of a row side by side. */
typedef nb_status nb_normal_product(void *self, int b, const double *v, double *z, double *w, nb_ctx *ctx);

/* S, n x n, given by its products. */
typedef struct {
    int n;
    nb_normal_product *product;
    void *self; /* passed to `product` */
} nb_operator;

typedef struct {
    double *values;       /* count, descending */
    double *left, *right; /* n x count, orthonormal columns; a left one may be zero if its value is 0 to rounding */
    double residual; /* max over triplets of |S'u - s v| / s_1; for s < s_1/1000 this is multiplied by 1000 s / s_1 */
    /* count: the sum of the first j + 1 squared values is too low by at most missing[j], if no value was missed
     * altogether (a fresh start looks for such) */
    double *missing;
} nb_triplets;

/* Computes `count` triplets of S, 1 <= count <= nb_krylov_order(n, count) - block and block <= n / 4, each with a
 * residual below `tolerance`, or as small as the largest order allows (see `residual`). Each product takes `block`
 * vectors, a multiple of NB_THIN: fewer need more products, but less work in all. The start is random but always the
 * same. ctx owns the memory. */
nb_status nb_krylov(const nb_operator *s, int count, int block, double tolerance, nb_triplets *out, nb_ctx *ctx);

/* Returns the largest dimension of the Krylov space that is tried. */
int nb_krylov_order(int n, int count);

#endif
