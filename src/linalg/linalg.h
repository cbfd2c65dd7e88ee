/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linalg.h - dense matrix operations by BLAS and LAPACK, column-major, with one thread. Shapes are rows x cols; leading
 * dimensions are the rows unless an argument says otherwise. */
#ifndef NB_LINALG_H
#define NB_LINALG_H

#include "base/ctx.h"

typedef enum { NB_PLAIN, NB_TRANSPOSED } nb_op;

/* C (m x n) <- alpha op(A) op(B) + beta C, inner dimension k. */
void nb_gemm(nb_op op_a, nb_op op_b, int m, int n, int k, double alpha, const double *a, int lda, const double *b,
             int ldb, double beta, double *c, int ldc);

/* One product may hold the columns of many owners. So that the bits of a column depend neither on the number of columns
 * nor on its place, the width must be a whole multiple and the product not small (up to a million multiplications), for
 * which OpenBLAS has other kernels. The columns are either those of op(A)' or those of op(B).
 *     double, columns of A, transposed: a multiple of 8
 *     double, columns of B:             a multiple of 24
 *     single, columns of B:             a multiple of 24, and each owner begins at a multiple of 12
 * Found by trial with OpenBLAS's kernels; tests/unit/test_together.c checks it. */
enum { NB_LEFT_GROUP = 8, NB_RIGHT_GROUP = 24, NB_SINGLE_START = 12 };

/* Returns the width of such a product: at least `columns`, and enough for a product that is not small if the other two
 * dimensions have a product of at least `other`. It does not grow with `other`. */
int nb_width_together(int columns, int group, double other);

/* Such products, which may write columns past those asked for, up to that width. If a product that is not small needs
 * too many columns, each group (for B in double: each column) gets its own product.
 *     left:   C <- alpha A' B + beta C, columns of A, whole groups of 8
 *     right:  C <- op(A) B + beta C, columns of B
 *     single: C <- A' B, columns of B, whole groups of 12 */
void nb_gemm_left_together(int columns, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb,
                           double beta, double *c, int ldc, double other);
void nb_gemm_right_together(nb_op op_a, int m, int columns, int k, const double *a, int lda, const double *b, int ldb,
                            double beta, double *c, int ldc, double other);
void nb_gemm_single_together(int m, int columns, int k, const float *a, int lda, const float *b, int ldb, float *c,
                             int ldc, double other);

/* Returns the width of the panel that begins at `start`, for columns computed one after another, each from those before
 * it. Panels begin at fixed places, so a column's bits do not depend on how many follow. */
int nb_panel_width(int start);

/* nb_gemm in single precision. */
void nb_gemm_single(nb_op op_a, nb_op op_b, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                    int ldb, float beta, float *c, int ldc);

bool nb_is_upper(int m, const double *a); /* true if a (m x m) is 0 below the diagonal */

/* x <- l x r' for upper triangular l and r, all m x m: faster than full products. Either may be NULL: the
 * identity. */
void nb_multiply_by_upper(int m, const double *l, double *x, const double *r);

/* y <- alpha op(A) x + beta y, A rows x cols. */
void nb_gemv(nb_op op, int rows, int cols, double alpha, const double *a, int lda, const double *x, double beta,
             double *y);

/* out (cols x rows) <- a' */
void nb_transpose(int rows, int cols, const double *a, double *out);

nb_status nb_require_finite(int rows, int cols, const double *a, nb_ctx *ctx); /* else NB_ENUMERIC, with the place */
double nb_frobenius(size_t count, const double *x);                            /* without overflow */
double nb_norm_one(int rows, int cols, const double *a);                       /* largest column sum of |a| */
double nb_norm_infinity(int rows, int cols, const double *a);                  /* largest row sum of |a| */

/* Returns sqrt(x^2 + y^2) without overflow, at most one unit in the last place off, and with the same bits everywhere;
 * hypot has these bits only in glibc from 2.35 on. C. F. Borges, An improved algorithm for hypot(a, b), ACM
 * Transactions on Mathematical Software 47, 2020. */
double nb_hypotenuse(double x, double y);

/* Returns whether the value is below (1 - tie) *least, which it then becomes. NaN is below nothing. */
bool nb_is_less(double value, double tie, double *least);

/* out <- the columns of a, each divided by its Euclidean norm; a zero column stays
 * zero. out = a is allowed. */
void nb_normalise_columns(int rows, int cols, const double *a, double *out);

/* Computes the thin singular value decomposition a = u diag(s) vt, r = min(rows, cols): u rows x r, s r values in
 * descending order, vt r x cols. u = vt = NULL: values only. `a` is kept. Uses dgesdd, and dgesvd if that does not
 * converge. NB_ENUMERIC for NaN or Inf in `a`, or if neither converges; NB_EDIM, before anything is read, if u is given
 * and r is more than 23,000 or so. */
nb_status nb_svd(int rows, int cols, const double *a, double *u, double *s, double *vt, nb_ctx *ctx);

/* out (cols x rows) <- the Moore-Penrose inverse of a (rows x cols); singular values up to rcond times the largest
 * count as 0. */
nb_status nb_pseudo_inverse(int rows, int cols, const double *a, double rcond, double *out, nb_ctx *ctx);

/* Computes the eigenvalues of a symmetric n x n matrix in descending order; `a`, of which the upper triangle is read,
 * becomes the eigenvectors, as columns. Uses dsyevd, and dsyev if that does not converge. NB_ENUMERIC as nb_svd;
 * NB_EDIM, before anything is read, if n is more than 32,766. */
nb_status nb_symmetric_eigen(int n, double *a, double *values, nb_ctx *ctx);

/* The upper triangle of g (m x m) <- that of a a', a m x n. */
void nb_gram_upper(int m, int n, const double *a, double *g);

/* The upper triangle of a symmetric positive definite a (m x m) <- U with a = U'U. dpotrf; NB_ENUMERIC as
 * nb_solve_positive. */
nb_status nb_factor_positive(int m, double *a, nb_ctx *ctx);

/* b (m x columns) <- op(U)^-1 b for an upper triangle U. */
void nb_solve_upper(nb_op op, int m, int columns, const double *u, double *b);

/* b (m x columns) <- a^-1 b for a symmetric positive definite a (m x m), whose upper triangle is read and overwritten.
 * dpotrf; NB_ENUMERIC if `a` is not positive definite to rounding. */
nb_status nb_solve_positive(int m, double *a, int columns, double *b, nb_ctx *ctx);

/* a <- a^-1, both triangles, for such an a. dpotrf, dpotri. */
nb_status nb_invert_positive(int m, double *a, nb_ctx *ctx);

/* q (rows x cols, rows >= cols) <- Q of its Householder QR decomposition, r (cols x cols) <- R. Its workspace stays
 * allocated until ctx is released. */
nb_status nb_qr(int rows, int cols, double *q, double *r, nb_ctx *ctx);

/* Computes an orthonormal basis of range(a), rows >= cols: q is rows x cols, allocated by the caller; *rank columns are
 * used. Directions whose singular value is at most eps * rows * the largest do not count. Householder QR, then the SVD
 * of R. */
nb_status nb_range_basis(int rows, int cols, const double *a, double *q, int *rank, nb_ctx *ctx);

#endif
