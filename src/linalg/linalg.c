/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linalg.c - thin wrappers of CBLAS and LAPACKE. */
#include "linalg/linalg.h"

#include "linalg/vector.h"
#include "linalg/work.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <string.h>

void nb_gemm(nb_op op_a, nb_op op_b, int m, int n, int k, double alpha, const double *a, int lda, const double *b,
             int ldb, double beta, double *c, int ldc)
{
    nb_count_multiplications((double)m * n * k);
    cblas_dgemm(CblasColMajor, op_a == NB_PLAIN ? CblasNoTrans : CblasTrans,
                op_b == NB_PLAIN ? CblasNoTrans : CblasTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void nb_gemm_single(nb_op op_a, nb_op op_b, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                    int ldb, float beta, float *c, int ldc)
{
    nb_count_multiplications((double)m * n * k);
    cblas_sgemm(CblasColMajor, op_a == NB_PLAIN ? CblasNoTrans : CblasTrans,
                op_b == NB_PLAIN ? CblasNoTrans : CblasTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static const double most_small = 1e6; /* multiplications */
enum { WIDEST = 1024 };               /* that columns are padded to */

int nb_width_together(int columns, int group, double other)
{
    int width = columns, enough = (int)fmin(most_small / other + 1, WIDEST);
    if (width < enough) width = enough;
    return (width + group - 1) / group * group;
}

static bool is_large(double other)
{
    return most_small / other + 1 <= WIDEST;
}

void nb_gemm_left_together(int columns, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb,
                           double beta, double *c, int ldc, double other)
{
    int step = is_large(other) ? nb_width_together(columns, NB_LEFT_GROUP, other) : NB_LEFT_GROUP;
    for (int i = 0; i < columns; i += step)
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, step, n, k, alpha, a + (size_t)i * (size_t)lda, lda, b, ldb, beta, c + i, ldc);
}

void nb_gemm_right_together(nb_op op_a, int m, int columns, int k, const double *a, int lda, const double *b, int ldb,
                            double beta, double *c, int ldc, double other)
{
    int step = is_large(other) ? nb_width_together(columns, NB_RIGHT_GROUP, other) : 1;
    for (int i = 0; i < columns; i += step)
        nb_gemm(op_a, NB_PLAIN, m, step, k, 1, a, lda, b + (size_t)i * (size_t)ldb, ldb, beta,
                c + (size_t)i * (size_t)ldc, ldc);
}

void nb_gemm_single_together(int m, int columns, int k, const float *a, int lda, const float *b, int ldb, float *c,
                             int ldc, double other)
{
    int step = is_large(other) ? nb_width_together(columns, NB_RIGHT_GROUP, other) : NB_SINGLE_START;
    for (int i = 0; i < columns; i += step)
        nb_gemm_single(NB_TRANSPOSED, NB_PLAIN, m, step, k, 1, a, lda, b + (size_t)i * (size_t)ldb, ldb, 0,
                       c + (size_t)i * (size_t)ldc, ldc);
}

int nb_panel_width(int start)
{
    return start < 16 ? 8 : 16;
}

void nb_gemv(nb_op op, int rows, int cols, double alpha, const double *a, int lda, const double *x, double beta,
             double *y)
{
    nb_count_multiplications((double)rows * cols);
    cblas_dgemv(CblasColMajor, op == NB_PLAIN ? CblasNoTrans : CblasTrans, rows, cols, alpha, a, lda, x, 1, beta, y, 1);
}

bool nb_is_upper(int m, const double *a)
{
    for (int j = 0; j < m; j++)
        for (int i = j + 1; i < m; i++)
            if (a[i + j * m] != 0) return false;
    return true;
}

/* m^3 flops each. */
void nb_multiply_by_upper(int m, const double *l, double *x, const double *r)
{
    nb_count_multiplications(((l != NULL) + (r != NULL)) * 0.5 * m * m * m);
    if (l) cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, m, m, 1, l, m, x, m);
    if (r) cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasTrans, CblasNonUnit, m, m, 1, r, m, x, m);
}

void nb_transpose(int rows, int cols, const double *a, double *out)
{
    cblas_domatcopy(CblasColMajor, CblasTrans, rows, cols, 1.0, a, rows, out, cols);
}

/* Scales by the largest entry, for squares that overflow or vanish. */
static double scaled_frobenius(size_t count, const double *x)
{
    double scale = 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(x[i])) return NAN;
        scale = fmax(scale, fabs(x[i]));
    }
    if (scale == 0 || isinf(scale)) return scale;
    for (size_t i = 0; i < count; i++) sum += (x[i] / scale) * (x[i] / scale);
    return scale * sqrt(sum);
}

nb_status nb_require_finite(int rows, int cols, const double *a, nb_ctx *ctx)
{
    size_t count = (size_t)rows * (size_t)cols, at = 0;
    if (nb_all_finite(count, a)) return NB_OK;
    while (isfinite(a[at])) at++;
    NB_FAIL(ctx, NB_ENUMERIC, "NaN or Inf in a %d x %d matrix, first in row %zu, column %zu", rows, cols,
            at % (size_t)rows, at / (size_t)rows);
}

double nb_frobenius(size_t count, const double *x)
{
    double squares = nb_sum_of_squares(count, x);
    return squares > 1e-250 && squares < 1e300 ? sqrt(squares) : scaled_frobenius(count, x);
}

/* For a >= b > 0, whose squares neither overflow nor vanish: the square root, and what its square is too large by,
 * divided by its derivative. */
static double corrected_root(double a, double b)
{
    double root = sqrt(a * a + b * b), rest, excess;
    if (root <= 2 * b) {
        rest = root - b;
        excess = a * (2 * rest - a) + (rest - 2 * (a - b)) * rest;
    } else {
        rest = root - a;
        excess = 2 * rest * (a - 2 * b) + ((4 * rest - b) * b + rest * rest);
    }
    return root - excess / (2 * root);
}

bool nb_is_less(double value, double tie, double *least)
{
    bool less = value < (1 - tie) * *least;
    if (less) *least = value;
    return less;
}

double nb_hypotenuse(double x, double y)
{
    double a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y));
    if (isinf(x) || isinf(y)) return INFINITY;
    if (isnan(x) || isnan(y)) return NAN;
    if (b <= a * 0x1p-54) return a + b;
    if (a > 0x1p511) return corrected_root(a * 0x1p-600, b * 0x1p-600) * 0x1p600;
    if (b < 0x1p-459) return corrected_root(a * 0x1p600, b * 0x1p600) * 0x1p-600;
    return corrected_root(a, b);
}

double nb_norm_one(int rows, int cols, const double *a)
{
    double largest = 0;
    for (int j = 0; j < cols; j++) largest = fmax(largest, cblas_dasum(rows, a + (size_t)j * (size_t)rows, 1));
    return largest;
}

double nb_norm_infinity(int rows, int cols, const double *a)
{
    double largest = 0;
    for (int i = 0; i < rows; i++) largest = fmax(largest, cblas_dasum(cols, a + i, rows));
    return largest;
}

void nb_normalise_columns(int rows, int cols, const double *a, double *out)
{
    nb_count_multiplications(2.0 * rows * cols);
    for (size_t j = 0, length = (size_t)rows; j < (size_t)cols; j++) {
        double norm = nb_frobenius(length, a + j * length);
        for (size_t i = j * length; i < (j + 1) * length; i++) out[i] = norm > 0 ? a[i] / norm : 0;
    }
}

typedef struct { /* a thin singular value decomposition; `a` is overwritten */
    char job;    /* 'S', or 'N' for the values alone */
    int rows, cols;
    double *a, *u, *s, *vt;
} thin_svd;

/* LAPACK's info of divide and conquer; it may be positive on a matrix of deficient rank whose other
 * singular values are rounding, however good its condition otherwise. */
static nb_status gesdd(const thin_svd *t, lapack_int *info, nb_ctx *ctx)
{
    int r = t->rows < t->cols ? t->rows : t->cols;
    double size = 0, *work;
    lapack_int *iwork;
    LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, t->job, t->rows, t->cols, t->a, t->rows, t->s, t->u, t->rows, t->vt, r, &size,
                        -1, NULL);
    NB_NEED(work, nb_alloc_reals(ctx, (size_t)size, 1));
    NB_NEED(iwork, nb_alloc(ctx, 8 * (size_t)r, sizeof *iwork));
    *info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, t->job, t->rows, t->cols, t->a, t->rows, t->s, t->u, t->rows, t->vt,
                                r, work, (lapack_int)size, iwork);
    NB_REQUIRE(ctx, *info >= 0, NB_EBUG, "dgesdd: argument %d is illegal", -*info);
    return NB_OK;
}

/* The same of QR iteration: slower, and another algorithm. */
static nb_status gesvd(const thin_svd *t, lapack_int *info, nb_ctx *ctx)
{
    int r = t->rows < t->cols ? t->rows : t->cols;
    double size = 0, *work;
    LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, t->job, t->job, t->rows, t->cols, t->a, t->rows, t->s, t->u, t->rows, t->vt,
                        r, &size, -1);
    NB_NEED(work, nb_alloc_reals(ctx, (size_t)size, 1));
    *info = LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, t->job, t->job, t->rows, t->cols, t->a, t->rows, t->s, t->u, t->rows,
                                t->vt, r, work, (lapack_int)size);
    NB_REQUIRE(ctx, *info >= 0, NB_EBUG, "dgesvd: argument %d is illegal", -*info);
    return NB_OK;
}

static nb_status svd(int rows, int cols, const double *a, double *u, double *s, double *vt, nb_ctx *ctx)
{
    size_t count = (size_t)rows * (size_t)cols;
    thin_svd t = {u ? 'S' : 'N', rows, cols, NULL, u, s, vt};
    lapack_int first, second;
    NB_NEED(t.a, nb_alloc_raw(ctx, count));
    memcpy(t.a, a, count * sizeof *a);
    NB_TRY(ctx, gesdd(&t, &first, ctx));
    if (first == 0) return NB_OK;
    memcpy(t.a, a, count * sizeof *a);
    NB_TRY(ctx, gesvd(&t, &second, ctx));
    NB_REQUIRE(ctx, second == 0, NB_ENUMERIC,
               "the singular values of a %d x %d matrix converge by neither of two algorithms (dgesdd: %d, dgesvd: %d)",
               rows, cols, first, second);
    return NB_OK;
}

/* Returns the R-SVD's flops, of k = max(rows, cols) and r the other: 6 k r^2 + 20 r^3, and 2 k r^2 + 2 r^3 for the
 * values alone (fig. 8.6.1). */
static double svd_multiplications(int rows, int cols, bool vectors)
{
    double k = rows > cols ? rows : cols, r = rows > cols ? cols : rows;
    return vectors ? (3 * k + 10 * r) * r * r : (k + r) * r * r;
}

/* dgesdd's workspace with vectors: 3 r^2 + 7 r numbers, one r^2 more where a side is much longer. It counts them in an
 * int, and where that overflows asks for too few, and writes behind them. */
static bool is_countable(int rows, int cols)
{
    double k = rows > cols ? rows : cols, r = rows > cols ? cols : rows;
    return ((k > 1.5 * r ? 4 : 3) * r + 7) * r + k <= INT_MAX;
}

nb_status nb_svd(int rows, int cols, const double *a, double *u, double *s, double *vt, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, !u || is_countable(rows, cols), NB_EDIM,
               "a %d x %d matrix is too large for LAPACK's singular vectors, whose workspace has at most %d numbers",
               rows, cols, INT_MAX);
    nb_count_multiplications(svd_multiplications(rows, cols, u != NULL));
    NB_TRY(ctx, nb_require_finite(rows, cols, a, ctx));
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = svd(rows, cols, a, u, s, vt, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

/* LAPACK's info of divide and conquer, and of QR iteration, on the upper triangle of `a`. */
static nb_status syevd(int n, double *a, double *values, lapack_int *info, nb_ctx *ctx)
{
    double size = 0, *work;
    lapack_int isize = 0, *iwork;
    LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, values, &size, -1, &isize, -1);
    NB_NEED(work, nb_alloc_raw(ctx, (size_t)size));
    NB_NEED(iwork, nb_alloc(ctx, (size_t)isize, sizeof *iwork));
    *info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, values, work, (lapack_int)size, iwork, isize);
    NB_REQUIRE(ctx, *info >= 0, NB_EBUG, "dsyevd: argument %d is illegal", -*info);
    return NB_OK;
}

static nb_status syev(int n, double *a, double *values, lapack_int *info, nb_ctx *ctx)
{
    double size = 0, *work;
    LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, values, &size, -1);
    NB_NEED(work, nb_alloc_raw(ctx, (size_t)size));
    *info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, values, work, (lapack_int)size);
    NB_REQUIRE(ctx, *info >= 0, NB_EBUG, "dsyev: argument %d is illegal", -*info);
    return NB_OK;
}

static nb_status symmetric_eigen(int n, double *a, double *values, nb_ctx *ctx)
{
    size_t square = (size_t)n * (size_t)n;
    lapack_int first, second;
    double *copy;
    NB_NEED(copy, nb_alloc_raw(ctx, square));
    memcpy(copy, a, square * sizeof *a);
    NB_TRY(ctx, syevd(n, a, values, &first, ctx));
    if (first != 0) {
        memcpy(a, copy, square * sizeof *a);
        NB_TRY(ctx, syev(n, a, values, &second, ctx));
        NB_REQUIRE(
            ctx, second == 0, NB_ENUMERIC,
            "the eigenvalues of a matrix of order %d converge by neither of two algorithms (dsyevd: %d, dsyev: %d)", n,
            first, second);
    }
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        cblas_dswap(1, values + i, 1, values + j, 1);
        cblas_dswap(n, a + (size_t)i * (size_t)n, 1, a + (size_t)j * (size_t)n, 1);
    }
    return NB_OK;
}

/* The symmetric QR algorithm's 9 n^3 flops (sec. 8.3.5), with vectors. dsyevd's workspace has 1 + 6 n + 2 n^2 numbers,
 * which it counts in an int. */
nb_status nb_symmetric_eigen(int n, double *a, double *values, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, 1 + (6 + 2.0 * n) * n <= INT_MAX, NB_EDIM,
               "a matrix of order %d is too large for LAPACK's eigenvectors, whose workspace has at most %d numbers", n,
               INT_MAX);
    nb_count_multiplications(4.5 * n * n * n);
    NB_REQUIRE(ctx, nb_all_finite((size_t)n * (size_t)n, a), NB_ENUMERIC, "NaN or Inf in a %d x %d matrix", n, n);
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = symmetric_eigen(n, a, values, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

/* 2 cols^2 (rows - cols / 3) flops for R, and as many for Q (sec. 5.2.2 and 5.1.6). */
nb_status nb_qr(int rows, int cols, double *q, double *r, nb_ctx *ctx)
{
    double *tau, size[2], *work;
    nb_count_multiplications(2 * (rows - cols / 3.0) * cols * cols);
    NB_NEED(tau, nb_alloc_reals(ctx, (size_t)cols, 1));
    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, cols, q, rows, tau, &size[0], -1);
    LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, rows, cols, cols, q, rows, tau, &size[1], -1);
    int lwork = (int)fmax(size[0], size[1]);
    NB_NEED(work, nb_alloc_reals(ctx, (size_t)lwork, 1));
    lapack_int info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, cols, q, rows, tau, work, lwork);
    NB_REQUIRE(ctx, info == 0, NB_EBUG, "dgeqrf: argument %d is illegal", -info);
    memset(r, 0, (size_t)cols * (size_t)cols * sizeof *r);
    for (int j = 0; j < cols; j++)
        memcpy(r + (size_t)j * (size_t)cols, q + (size_t)j * (size_t)rows, (size_t)(j + 1) * sizeof *r);
    info = LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, rows, cols, cols, q, rows, tau, work, lwork);
    NB_REQUIRE(ctx, info == 0, NB_EBUG, "dorgqr: argument %d is illegal", -info);
    return NB_OK;
}

void nb_gram_upper(int m, int n, const double *a, double *g)
{
    nb_count_multiplications(0.5 * m * m * n);
    cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, m, n, 1, a, m, 0, g, m);
}

/* The upper triangle of a <- its Cholesky factor. */
static nb_status factor_positive(int m, double *a, nb_ctx *ctx)
{
    lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', m, a, m);
    NB_REQUIRE(ctx, info >= 0, NB_EBUG, "dpotrf: argument %d is illegal", -info);
    NB_REQUIRE(ctx, info == 0, NB_ENUMERIC, "the leading %d x %d part of a matrix is not positive definite", info,
               info);
    return NB_OK;
}

/* m^3 / 3 flops (sec. 4.2.5). */
nb_status nb_factor_positive(int m, double *a, nb_ctx *ctx)
{
    nb_count_multiplications(m / 6.0 * m * m);
    return factor_positive(m, a, ctx);
}

/* m^2 flops for each column (sec. 3.1). */
void nb_solve_upper(nb_op op, int m, int columns, const double *u, double *b)
{
    nb_count_multiplications(0.5 * columns * m * m);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, op == NB_PLAIN ? CblasNoTrans : CblasTrans, CblasNonUnit, m,
                columns, 1, u, m, b, m);
}

/* m^3 / 3 flops for the triangle and 2 m^2 for each column (sec. 4.2.5 and 3.1). */
nb_status nb_solve_positive(int m, double *a, int columns, double *b, nb_ctx *ctx)
{
    nb_count_multiplications((m / 6.0 + columns) * m * m);
    NB_TRY(ctx, factor_positive(m, a, ctx));
    lapack_int info = LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', m, columns, a, m, b, m);
    NB_REQUIRE(ctx, info == 0, NB_EBUG, "dpotrs: argument %d is illegal", -info);
    return NB_OK;
}

/* m^3 / 3 flops for the triangle, 2 m^3 / 3 for its inverse and the product of that with itself. */
nb_status nb_invert_positive(int m, double *a, nb_ctx *ctx)
{
    nb_count_multiplications(0.5 * m * m * m);
    NB_TRY(ctx, factor_positive(m, a, ctx));
    lapack_int info = LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', m, a, m);
    NB_REQUIRE(ctx, info >= 0, NB_EBUG, "dpotri: argument %d is illegal", -info);
    NB_REQUIRE(ctx, info == 0, NB_ENUMERIC, "a triangle of order %d is singular at column %d", m, info);
    for (size_t j = 0; j < (size_t)m; j++)
        for (size_t i = 0; i < j; i++) a[j + i * (size_t)m] = a[i + j * (size_t)m];
    return NB_OK;
}

nb_status nb_pseudo_inverse(int rows, int cols, const double *a, double rcond, double *out, nb_ctx *ctx)
{
    size_t r = (size_t)(rows < cols ? rows : cols);
    int kept = 0;
    double *u, *s, *vt;
    NB_NEED(u, nb_alloc_raw(ctx, (size_t)rows * r));
    NB_NEED(s, nb_alloc_raw(ctx, r));
    NB_NEED(vt, nb_alloc_raw(ctx, r * (size_t)cols));
    NB_TRY(ctx, nb_svd(rows, cols, a, u, s, vt, ctx));
    for (; kept < (int)r && s[kept] > rcond * s[0]; kept++)
        for (int i = 0; i < rows; i++) u[i + kept * rows] /= s[kept];
    nb_count_multiplications((double)kept * rows);
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, cols, rows, kept, 1, vt, (int)r, u, rows, 0, out, cols);
    return NB_OK;
}

static nb_status range_basis(int rows, int cols, const double *a, double *q, int *rank, nb_ctx *ctx)
{
    size_t square = (size_t)cols * (size_t)cols;
    double *copy, *r, *u, *s, *vt;
    NB_NEED(copy, nb_alloc_reals(ctx, (size_t)rows, (size_t)cols));
    NB_NEED(r, nb_alloc_reals(ctx, square, 3));
    NB_NEED(s, nb_alloc_reals(ctx, (size_t)cols, 1));
    u = r + square;
    vt = u + square;
    memcpy(copy, a, (size_t)rows * (size_t)cols * sizeof *copy);
    NB_TRY(ctx, nb_qr(rows, cols, copy, r, ctx));
    NB_TRY(ctx, nb_svd(cols, cols, r, u, s, vt, ctx));
    for (*rank = 0; *rank < cols && s[*rank] > DBL_EPSILON * rows * s[0];) ++*rank;
    nb_gemm(NB_PLAIN, NB_PLAIN, rows, *rank, cols, 1, copy, rows, u, cols, 0, q, rows);
    return NB_OK;
}

nb_status nb_range_basis(int rows, int cols, const double *a, double *q, int *rank, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, rows >= cols && cols >= 1, NB_EDIM, "range basis of a %d x %d matrix: needs rows >= columns >= 1",
               rows, cols);
    NB_TRY(ctx, nb_require_finite(rows, cols, a, ctx));
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = range_basis(rows, cols, a, q, rank, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
