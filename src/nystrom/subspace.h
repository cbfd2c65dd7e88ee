/* SPDX-License-Identifier: GPL-3.0-or-later */
/* subspace.h - the least error that any core reaches with `nystromformer` factors, as a function of free landmarks, and
 * its gradient.
 *
 *     f = 1 - |Q_F' S Q_B|_F^2 / |S|_F^2,   F = k(Q, K~), B' = k(Q~, K)',
 *
 * Q_F and Q_B orthonormal bases of range(F) and range(B'). With a sample of k rows of S, of weights W, W^(1/2) S_I
 * takes the place of S and W^(1/2) F_I that of F: k rows, n columns. Singular values of F and B below 1e-10 of the
 * largest are left out; if none is, the gradient is exact. */
#ifndef NB_SUBSPACE_H
#define NB_SUBSPACE_H

#include "nystrom/row_sample.h"

typedef struct nb_subspace nb_subspace;

/* Prepares for m landmarks a side; needs a kernel with pull_back and a head without a mask. `sample`: at least m rows,
 * kept by the caller; NULL: all rows. */
nb_status nb_subspace_new(nb_scene *scene, const nb_row_sample *sample, int m, nb_subspace **out, nb_ctx *ctx);

/* Computes f at `points`, d x 2m: the key landmarks K~, then the query landmarks Q~. Its rounding is about 1e-15. 2 k n
 * m flops (k = n: all rows) and O(n m (m + d)). */
nb_status nb_subspace_value(nb_subspace *s, const double *points, double *value, nb_ctx *ctx);

/* Computes df/d(points), d x 2m, where the value was last computed, at the same cost. */
nb_status nb_subspace_gradient(nb_subspace *s, double *gradient, nb_ctx *ctx);

/* Computes the root of f from the entries of the difference and without the cut: with all rows, the error_subspace of a
 * row. 4 k n m flops. */
nb_status nb_subspace_error(nb_subspace *s, const double *points, double *error, nb_ctx *ctx);

#endif
