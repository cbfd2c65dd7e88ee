/* basis.h - orthonormal bases of what a few long vectors span. */
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

#endif
