/* SPDX-License-Identifier: GPL-3.0-or-later */
/* low_rank.h - computes from factors S = X'Y, X and Y r x n, r <= n, what otherwise takes passes over S: O(n r^2), and
 * nothing of size n^2. R_x, R_y are the triangles of thin QR factorisations of X' and Y'. Norms of products are
 * computed as norms of products of triangles, without cancellation. */
#ifndef NB_LOW_RANK_H
#define NB_LOW_RANK_H

#include "kernels/kernel.h"

/* t (r x r) <- R of x' = Q R, x r x n; q (r x n, may be x) <- Q by rows. */
nb_status nb_low_rank_triangle(int r, int n, const double *x, double *q, double *t, nb_ctx *ctx);

/* *squares <- |S|_F^2; *distances <- |S - mean of S|_F^2; row_sums and column_sums have n numbers each. */
nb_status nb_low_rank_sums(const nb_low_rank *s, int n, double *squares, double *distances, double *row_sums,
                           double *column_sums, nb_ctx *ctx);

/* out (n x b) <- S v, or S'v, v n x b. */
nb_status nb_low_rank_multiply(const nb_low_rank *s, bool transposed, int n, int b, const double *v, double *out,
                               nb_ctx *ctx);

/* out (dv x n) <- V S', v dv x n: the outputs by rows. */
nb_status nb_low_rank_output(const nb_low_rank *s, int n, int dv, const double *v, double *out, nb_ctx *ctx);

/* f (m x n) <- columns tokens[0] ... tokens[m - 1] of S, by rows. */
nb_status nb_low_rank_columns(const nb_low_rank *s, int n, int m, const int *tokens, double *f, nb_ctx *ctx);

/* Computes the r singular values, descending, and, if left is not NULL, the vectors, n x r each; those of values that
 * are 0 to rounding may be 0. */
nb_status nb_low_rank_svd(const nb_low_rank *s, int n, double *values, double *left, double *right, nb_ctx *ctx);

typedef struct { /* orthonormal bases of range(F) and range(B') */
    int m;
    const double *q_f, *q_b; /* m x n, by rows; n x m */
} nb_bases;

/* mid (m x m) <- M = Q_F' S Q_B; *residual <- |S - Q_F M Q_B'|_F; t_y is the triangle of y. */
nb_status nb_low_rank_project(const nb_low_rank *s, int n, const nb_bases *bases, const double *t_y, double *mid,
                              double *residual, nb_ctx *ctx);

#endif
