/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cholesky.h - pivoted Cholesky of a positive semi-definite K, n x n, of which only the diagonal and the pivots'
 * columns are needed; the caller chooses the pivots. After r pivots K is near L L', L n x r, exact in the pivots'
 * rows and columns. Cost O(n r) a pivot and the column. */
#ifndef NB_CHOLESKY_H
#define NB_CHOLESKY_H

#include "base/ctx.h"

typedef void nb_column_fn(const void *self, int j, double *column); /* K(:, j), n */

typedef struct {
    int n, rank;      /* pivots so far */
    double *residual; /* n: the diagonal of K - L L', >= 0, and 0 if it is not above `rounding` */
    double *rounding; /* n: 10 eps n K_ii */
    double *factor;   /* L, n x most */
    double *row;      /* most */
    nb_column_fn *column;
    const void *self;
} nb_cholesky;

/* `most` pivots at most; `diagonal` is copied. Memory is ctx's.
 *
 * A residual is a difference of sums of up to n terms, all at most K_ii: rounding
 * leaves some eps n K_ii of it (LAPACK's dpstrf stops at eps n max K_ii). Measured
 * by its own K_ii, a token is not lost because another one is much longer. */
nb_status nb_cholesky_init(nb_cholesky *c, int n, int most, const double *diagonal, nb_column_fn *column,
                           const void *self, nb_ctx *ctx);

/* The next pivot, whose residual must be above 0; it is 0 afterwards. */
void nb_cholesky_eliminate(nb_cholesky *c, int pivot);

#endif
