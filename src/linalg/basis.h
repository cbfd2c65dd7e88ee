/* SPDX-License-Identifier: GPL-3.0-or-later */
/* basis.h - orthonormal bases of the span of a few long vectors. */
#ifndef NB_BASIS_H
#define NB_BASIS_H

#include "base/ctx.h"

/* How m vectors of length n lie in memory: as the columns of an n x m matrix, or
 * as the rows of an m x n one. */
typedef enum { NB_COLUMNS, NB_ROWS } nb_layout;

/* In place: the m <= n vectors `a` become q, orthonormal, which spans exactly what
 * they spanned, and r (m x m) holds a = q r (vectors as columns). Directions
 * whose singular value is at most eps n times the largest are not in the span:
 * then *rank < m, and the last m - *rank vectors of q and rows of r are zero.
 * Where *rank = m, r is upper triangular, so the first k vectors of q span the
 * first k of a.
 *
 * Cholesky QR, repeated until it is orthonormal to rounding, where the vectors'
 * condition number (estimated) allows it; Householder QR and the SVD of R
 * elsewhere. Cost 4 n m^2. NB_ENUMERIC for NaN or Inf. */
nb_status nb_orthonormalise(nb_layout layout, int n, int m, double *a, double *r, int *rank, nb_ctx *ctx);

/* In place: the first *good of the m <= n columns `a` become orthonormal, as does r, upper triangular and m x m, where
 * column j of both follows from the first j of `a` alone, to the bit: as many more as may come after it change nothing.
 * Column *good < m is within eps n of its length a combination of those before it, or not finite; nothing from it on is
 * of use. Gram-Schmidt twice by panels, each orthonormal by Cholesky QR, which ends before a column that it is not safe
 * for. Cost 4 n m^2. */
nb_status nb_orthonormalise_in_order(int n, int m, double *a, double *r, int *good, nb_ctx *ctx);

/* Of m vectors of length n, as the columns of a matrix, its r = min(n, m) singular values, in descending order, and its
 * left singular vectors, v n x r. `a` is kept. For m <= n by the SVD of R of a QR as nb_orthonormalise's, cost 6 n m^2.
 * NB_ENUMERIC for NaN or Inf. */
nb_status nb_singular_vectors(nb_layout layout, int n, int m, const double *a, double *s, double *v, nb_ctx *ctx);

/* What nb_orthonormalise does where its Cholesky QR does not serve: by columns, Householder QR and the SVD of R. */
nb_status nb_orthonormalise_any(int n, int m, double *a, double *r, int *rank, nb_ctx *ctx);

/* Whether m vectors of length n have rank m by nb_orthonormalise's rule, from their upper triangular factor r, the
 * leading part of a matrix of ld rows. */
nb_status nb_has_full_rank(int n, int m, const double *r, int ld, bool *full, nb_ctx *ctx);

#endif
