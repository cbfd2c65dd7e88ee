/* SPDX-License-Identifier: GPL-3.0-or-later */
/* basis.h - computes orthonormal bases of the span of a few long vectors. */
#ifndef NB_BASIS_H
#define NB_BASIS_H

#include "base/ctx.h"

/* Memory layout of m vectors of length n: the columns of an n x m matrix, or the rows of an m x n one. */
typedef enum { NB_COLUMNS, NB_ROWS } nb_layout;

/* Replaces the m <= n vectors `a` by orthonormal q with exactly the same span, and sets r (m x m) so that a = q r
 * (vectors as columns). Directions whose singular value is at most eps n times the largest do not count: then *rank <
 * m, and the last m - *rank vectors of q and rows of r are zero. If *rank = m, r is upper triangular, so the first k
 * vectors of q span the first k of a.
 *
 * Repeats Cholesky QR until q is orthonormal to rounding if the vectors' estimated condition number allows it; else
 * uses Householder QR and the SVD of R. Cost 4 n m^2. NB_ENUMERIC for NaN or Inf. */
nb_status nb_orthonormalise(nb_layout layout, int n, int m, double *a, double *r, int *rank, nb_ctx *ctx);

/* Orthonormalises the first *good of the m <= n columns `a` in place; r (m x m) is upper triangular. Column j of both
 * depends on the first j columns of `a` alone, to the bit, however many follow. Column *good < m is, within eps n of
 * its length, a combination of those before it, or not finite; it and all later columns are unusable. Runs Gram-Schmidt
 * twice by panels; Cholesky QR orthonormalises each panel, and ends before a column that it is not safe for. Cost 4 n
 * m^2. */
nb_status nb_orthonormalise_in_order(int n, int m, double *a, double *r, int *good, nb_ctx *ctx);

/* Computes the r = min(n, m) singular values, in descending order, and left singular vectors, v n x r, of the matrix
 * with these m vectors as columns. `a` is kept. For m <= n by the SVD of R of a QR as in nb_orthonormalise, cost 6 n
 * m^2. NB_ENUMERIC for NaN or Inf. */
nb_status nb_singular_vectors(nb_layout layout, int n, int m, const double *a, double *s, double *v, nb_ctx *ctx);

/* The fallback of nb_orthonormalise for vectors by columns: Householder QR and the SVD of R. */
nb_status nb_orthonormalise_any(int n, int m, double *a, double *r, int *rank, nb_ctx *ctx);

/* *full: whether m vectors of length n have rank m by nb_orthonormalise's rule, given their upper triangular factor r,
 * the leading part of a matrix of ld rows. */
nb_status nb_has_full_rank(int n, int m, const double *r, int ld, bool *full, nb_ctx *ctx);

#endif
