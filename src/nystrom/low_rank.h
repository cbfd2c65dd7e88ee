/* SPDX-License-Identifier: GPL-3.0-or-later */
/* low_rank.h - what passes over S give elsewhere, from its factors S = X'Y, X and
 * Y r x n, r <= n: O(n r^2), and nothing of size n^2. R_x, R_y are the triangles
 * of thin QR factorisations of X' and Y'; norms of products are norms of products
 * of triangles, which no subtraction spoils. */
#ifndef NB_LOW_RANK_H
#define NB_LOW_RANK_H

#include "kernels/kernel.h"

/* t (r x r): R of x' = Q R, x r x n; q (r x n, may be x) becomes Q by rows. */
nb_status nb_low_rank_triangle(int r, int n, const double *x, double *q, double *t, nb_ctx *ctx);

/* *squares = |S|_F^2; *distances = |S - mean of S|_F^2; the sums of rows and columns, n each. */
nb_status nb_low_rank_sums(const nb_low_rank *s, int n, double *squares, double *distances, double *row_sums,
                           double *column_sums, nb_ctx *ctx);

/* out (n x b) <- S v, or S'v, v n x b. */
nb_status nb_low_rank_multiply(const nb_low_rank *s, bool transposed, int n, int b, const double *v, double *out,
                               nb_ctx *ctx);

/* out (dv x n) <- V S', v dv x n: the outputs by rows. */
nb_status nb_low_rank_output(const nb_low_rank *s, int n, int dv, const double *v, double *out, nb_ctx *ctx);

/* f (m x n) <- columns tokens[0] ... of S by rows. */
nb_status nb_low_rank_columns(const nb_low_rank *s, int n, int m, const int *tokens, double *f, nb_ctx *ctx);

/* The r singular values, descending, and where left is not NULL the vectors, n x r
 * each; those of values that are 0 to rounding may be 0. */
nb_status nb_low_rank_svd(const nb_low_rank *s, int n, double *values, double *left, double *right, nb_ctx *ctx);

typedef struct { /* orthonormal, of range(F) and range(B') */
    int m;
    const double *q_f, *q_b; /* m x n, by rows; n x m */
} nb_bases;

/* mid (m x m) <- M = Q_F' S Q_B and *residual = |S - Q_F M Q_B'|_F, t_y the triangle of y. */
nb_status nb_low_rank_project(const nb_low_rank *s, int n, const nb_bases *bases, const double *t_y, double *mid,
                              double *residual, nb_ctx *ctx);

#endif
