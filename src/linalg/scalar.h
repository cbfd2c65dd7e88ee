/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scalar.h - the number type of forward passes: single precision, as models run, or double (-DNB_DOUBLE_SCALAR) for
 * comparison with other programs' results in double (tests/oracle). */
#ifndef NB_SCALAR_H
#define NB_SCALAR_H

#include "linalg/linalg.h"

#include <float.h>

#ifdef NB_DOUBLE_SCALAR
typedef double nb_scalar;
#define NB_SCALAR_EPSILON DBL_EPSILON
#define NB_SCALAR_MIN DBL_MIN
#else
typedef float nb_scalar;
#define NB_SCALAR_EPSILON FLT_EPSILON
#define NB_SCALAR_MIN FLT_MIN
#endif

/* nb_gemm for scalars. */
void nb_scalar_gemm(nb_op op_a, nb_op op_b, int m, int n, int k, double alpha, const nb_scalar *a, int lda,
                    const nb_scalar *b, int ldb, double beta, nb_scalar *c, int ldc);

nb_scalar *nb_alloc_scalars(nb_ctx *ctx, size_t count); /* not zeroed */

bool nb_scalars_finite(size_t count, const nb_scalar *x);
nb_scalar nb_scalar_largest(size_t count, const nb_scalar *x); /* -infinity for none, no NaN */
/* indices (count) <- those of the largest of x (n), in descending order; among equals the first come first. */
void nb_scalar_largest_indices(size_t count, size_t n, const nb_scalar *x, size_t *indices);
nb_scalar nb_scalar_sum(size_t count, const nb_scalar *x);
nb_scalar nb_scalar_dot(size_t count, const nb_scalar *x, const nb_scalar *y);

/* x[j] <- exp(x[j] - shift); returns their sum. Relative error of an entry below 4 eps. */
nb_scalar nb_scalar_exp_sum(size_t count, nb_scalar *x, nb_scalar shift);

void nb_scalar_scale(size_t count, nb_scalar factor, nb_scalar *x);
void nb_scalar_add(size_t count, nb_scalar factor, const nb_scalar *x, nb_scalar *y);          /* y <- y + factor x */
void nb_scalar_multiply(size_t count, const nb_scalar *x, const nb_scalar *y, nb_scalar *out); /* out <- x y */
/* y <- y + factor x, in double precision. */
void nb_scalar_add_to_double(size_t count, double factor, const nb_scalar *x, double *y);
/* sum <- sum + x, square <- square + x squared, entry by entry, in double precision. */
void nb_scalar_add_moments(size_t count, const nb_scalar *x, double *sum, double *square);

/* out (d x count) <- the columns from[i] of x. */
void nb_scalar_gather(int d, const nb_scalar *x, int count, const int *from, nb_scalar *out);
void nb_scalar_gather_to_double(int d, const nb_scalar *x, int count, const int *from, double *out);

/* y (d) <- y + the columns of x, d x count. */
void nb_scalar_add_columns(int d, int count, const nb_scalar *x, nb_scalar *y);

/* out (d x n) <- out + w * v, a convolution: column i gets the sum over t = 0 ... width - 1 of w[t] times column i + t
 * - width / 2 of v, which is 0 outside of v. Only for columns first ... first + count - 1. */
void nb_scalar_convolve(int d, int n, const nb_scalar *v, int width, const nb_scalar *w, int first, int count,
                        nb_scalar *out);

void nb_scalar_of(size_t count, const double *x, nb_scalar *out);
void nb_scalar_to_double(size_t count, const nb_scalar *x, double *out);

#endif
