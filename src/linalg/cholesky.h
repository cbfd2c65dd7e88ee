/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cholesky.h - pivoted Cholesky factorisation of a positive semi-definite n x n matrix K, which needs only the diagonal
 * and the columns of the pivots; the caller chooses these. After r pivots K ~ L L', L n x r, exact in the pivots' rows
 * and columns. A pivot costs O(n r) and one column. */
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

/* Prepares for at most `most` pivots; `diagonal` is copied. ctx owns the memory.
 *
 * A residual is a difference of sums of up to n terms, all at most K_ii, so rounding leaves about eps n K_ii of it
 * (LAPACK's dpstrf stops at eps n max K_ii). Since each token is measured by its own K_ii, none is lost because another
 * one is much longer. */
nb_status nb_cholesky_init(nb_cholesky *c, int n, int most, const double *diagonal, nb_column_fn *column,
                           const void *self, nb_ctx *ctx);

/* Eliminates the next pivot, whose residual must be above 0 and becomes 0. */
void nb_cholesky_eliminate(nb_cholesky *c, int pivot);

/* Eliminates pivots in this order, but subtracts those before all of them by one product. A pivot whose residual is 0
 * when its turn comes is left out, but `most` has room for all of them. `rows` is scratch, most x count. */
void nb_cholesky_eliminate_block(nb_cholesky *c, int count, const int *pivots, double *rows);

/* rows (rank x count) <- rows of L, as columns. */
void nb_cholesky_rows(const nb_cholesky *c, int count, const int *tokens, double *rows);

#endif
