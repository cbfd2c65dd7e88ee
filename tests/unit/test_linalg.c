/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linear algebra against identities: A = U S V', Q'Q = I, and a basis that spans
 * the range and nothing else. */
#include "testing.h"

#include "linalg/basis.h"
#include "linalg/distances.h"
#include "linalg/kernel_ridge.h"
#include "linalg/krylov.h"
#include "linalg/linalg.h"
#include "linalg/scalar.h"
#include "linalg/tall_qr.h"
#include "linalg/thin_products.h"
#include "linalg/vector.h"

#include <float.h>
#include <gsl/gsl_randist.h>

static double *random_matrix(nb_ctx *ctx, int rows, int cols, unsigned long seed)
{
    gsl_rng *rng;
    size_t count = (size_t)rows * (size_t)cols;
    double *a = nb_alloc_reals(ctx, count, 1);
    assert_ok(ctx, nb_random_new(&rng, ctx));
    gsl_rng_set(rng, seed);
    for (size_t i = 0; i < count; i++) a[i] = gsl_ran_gaussian(rng, 1);
    return a;
}

static void check_svd(nb_ctx *ctx, int rows, int cols)
{
    int r = rows < cols ? rows : cols;
    size_t count = (size_t)rows * (size_t)cols;
    double *a = random_matrix(ctx, rows, cols, 7), *u = nb_alloc_reals(ctx, (size_t)rows, (size_t)r);
    double *s = nb_alloc_reals(ctx, (size_t)r, 2), *alone = s + r, *vt = nb_alloc_reals(ctx, (size_t)r, (size_t)cols);
    double *difference = nb_alloc_reals(ctx, count, 1);
    assert_ok(ctx, nb_svd(rows, cols, a, u, s, vt, ctx));
    assert_ok(ctx, nb_svd(rows, cols, a, NULL, alone, NULL, ctx));
    memcpy(difference, a, count * sizeof *a);
    for (int j = 0; j < r; j++) {
        assert_true(s[j] >= 0 && (j == 0 || s[j] <= s[j - 1]));
        assert_close(alone[j], s[j], 10 * DBL_EPSILON * s[0] * (rows + cols)); /* backward error of both */
        for (int i = 0; i < rows; i++) u[i + j * rows] *= s[j];
    }
    nb_gemm(NB_PLAIN, NB_PLAIN, rows, cols, r, -1, u, rows, vt, r, 1, difference, rows);
    assert_at_most(nb_frobenius(count, difference), 10 * DBL_EPSILON * (rows + cols) * s[0]);
}

static void test_svd_reconstructs(void **state)
{
    static const int shapes[][2] = {{1, 1}, {2, 1}, {1, 2}, {7, 5}, {5, 7}, {64, 64}, {65, 63}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) check_svd(*state, shapes[i][0], shapes[i][1]);
}

/* s is nb_svd's; of a = v diag(s) w' the rows of v'a are orthogonal and of length s, and v is orthonormal. `scale` is
 * what the last vector is multiplied by: the condition. */
static void check_singular_vectors(nb_ctx *ctx, nb_layout layout, int n, int m, double scale)
{
    int r = n < m ? n : m;
    size_t count = (size_t)n * (size_t)m;
    double *a = random_matrix(ctx, n, m, 8), *given = nb_alloc_reals(ctx, count, 1), *s = nb_alloc_reals(ctx, count, 1);
    double *v = nb_alloc_reals(ctx, (size_t)n, (size_t)r), *known = nb_alloc_reals(ctx, (size_t)r, 1);
    double *products = nb_alloc_reals(ctx, (size_t)r, (size_t)m), *g = nb_alloc_reals(ctx, (size_t)r, (size_t)r);
    for (int i = 0; i < n; i++) a[i + (m - 1) * n] *= scale;
    if (layout == NB_ROWS)
        nb_transpose(n, m, a, given);
    else
        memcpy(given, a, count * sizeof *a);
    assert_ok(ctx, nb_singular_vectors(layout, n, m, given, s, v, ctx));
    assert_ok(ctx, nb_svd(n, m, a, NULL, known, NULL, ctx));
    double rounding = 20 * DBL_EPSILON * (n + m);
    for (int j = 0; j < r; j++) assert_close(s[j], known[j], rounding * known[0]);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, r, m, n, 1, v, n, a, n, 0, products, r);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, r, r, m, 1, products, r, products, r, 0, g, r);
    for (int i = 0; i < r; i++)
        for (int j = 0; j < r; j++) assert_close(g[i + j * r], i == j ? s[i] * s[i] : 0, rounding * s[0] * s[0]);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, r, r, n, 1, v, n, v, n, 0, g, r);
    for (int i = 0; i < r; i++)
        for (int j = 0; j < r; j++) assert_close(g[i + j * r], i == j, rounding);
}

static void test_singular_vectors(void **state)
{
    static const int shapes[][2] = {{1, 1}, {1, 3}, {3, 1}, {6, 9}, {9, 6}, {90, 17}, {17, 17}};
    static const double scales[] = {1, 1e-4, 1e-9, 0};
    double a[4] = {1, 2, NAN, 4}, s[2], v[4];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
            check_singular_vectors(*state, NB_COLUMNS, shapes[i][0], shapes[i][1], scales[k]);
            check_singular_vectors(*state, NB_ROWS, shapes[i][0], shapes[i][1], scales[k]);
        }
    assert_error(*state, nb_singular_vectors(NB_COLUMNS, 2, 2, a, s, v, *state), NB_ENUMERIC);
}

static void test_svd_refuses_nan(void **state)
{
    double a[4] = {1, 2, NAN, 4}, s[2];
    assert_error(*state, nb_svd(2, 2, a, NULL, s, NULL, *state), NB_ENUMERIC);
}

/* Of a square, 3 r^2 + 8 r numbers: with r = 26753 they fit an int, with 26754 they do not. A long one has 4 r^2. There
 * is no matrix, so nothing may be read. */
static void test_svd_refuses_what_lapack_cannot_count(void **state)
{
    double nothing[1] = {0};
    assert_error(*state, nb_svd(26754, 26754, NULL, nothing, NULL, NULL, *state), NB_EDIM);
    assert_error(*state, nb_svd(23171, 60000, NULL, nothing, NULL, NULL, *state), NB_EDIM);
}

/* 1 + 6 n + 2 n^2 <= 2^31 - 1 up to n = 32766. */
static void test_eigenvectors_that_lapack_cannot_count(void **state)
{
    assert_error(*state, nb_symmetric_eigen(32767, NULL, NULL, *state), NB_EDIM);
}

/* a = left right of rank r: the basis has r columns, is orthonormal, and a - QQ'a = 0. */
static void check_basis(nb_ctx *ctx, int rows, int cols, int rank)
{
    double *left = random_matrix(ctx, rows, rank, 1), *right = random_matrix(ctx, rank, cols, 2);
    double *a = nb_alloc_reals(ctx, (size_t)rows, (size_t)cols), *q = nb_alloc_reals(ctx, (size_t)rows, (size_t)cols);
    double *g = nb_alloc_reals(ctx, (size_t)cols, (size_t)cols);
    int found;
    nb_gemm(NB_PLAIN, NB_PLAIN, rows, cols, rank, 1, left, rows, right, rank, 0, a, rows);
    double norm = nb_frobenius((size_t)rows * (size_t)cols, a);
    assert_ok(ctx, nb_range_basis(rows, cols, a, q, &found, ctx));
    assert_int_equal(found, rank);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, rank, rank, rows, 1, q, rows, q, rows, 0, g, rank);
    for (int i = 0; i < rank; i++) g[i + i * rank] -= 1;
    assert_at_most(nb_frobenius((size_t)rank * (size_t)rank, g),
                   20 * DBL_EPSILON * cols); /* Householder: a few eps a column */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, rank, cols, rows, 1, q, rows, a, rows, 0, g, cols);
    nb_gemm(NB_PLAIN, NB_PLAIN, rows, cols, rank, -1, q, rows, g, cols, 1, a, rows);
    assert_at_most(nb_frobenius((size_t)rows * (size_t)cols, a), 20 * DBL_EPSILON * cols * norm);
}

static void test_basis_spans_the_range_alone(void **state)
{
    static const int cases[][3] = {{1, 1, 1},     {2, 2, 1},    {50, 8, 8}, {50, 8, 3},
                                   {200, 64, 40}, {64, 64, 64}, {65, 64, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_basis(*state, cases[i][0], cases[i][1], cases[i][2]);
}

static void test_basis_of_zero_is_empty(void **state)
{
    double a[12] = {0}, q[12];
    int rank;
    assert_ok(*state, nb_range_basis(4, 3, a, q, &rank, *state));
    assert_int_equal(rank, 0);
}

static void test_norms(void **state)
{
    const double a[6] = {1, -2, 3, -4, 5, 0.5}; /* columns (1,-2), (3,-4), (5,0.5) */
    const double huge[2] = {3e200, 4e200}, tiny[2] = {3e-200, 4e-200};
    (void)state;
    assert_close(nb_norm_one(2, 3, a), 7, 0);
    assert_close(nb_norm_infinity(2, 3, a), 9, 0);
    assert_close(nb_frobenius(2, huge) / 5e200, 1, 4 * DBL_EPSILON);
    assert_close(nb_frobenius(2, tiny) / 5e-200, 1, 4 * DBL_EPSILON);
    assert_true(isnan(nb_frobenius(2, (double[]){1, NAN})));
    assert_true(isinf(nb_frobenius(2, (double[]){1, INFINITY})));
    assert_close(nb_frobenius(0, a), 0, 0);
}

static void test_positive_inverse(void **state)
{
    nb_ctx *ctx = *state;
    static const int sizes[] = {1, 2, 65, 130};
    for (int t = 0; t < 4; t++) {
        int m = sizes[t];
        size_t size = (size_t)m;
        double *x = random_matrix(ctx, m, 2 * m, 9), *a = nb_alloc_reals(ctx, size, size),
               *inverse = nb_alloc_reals(ctx, size, size), *product = nb_alloc_reals(ctx, size, size);
        nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, 2 * m, 1, x, m, x, m, 0, a, m);
        memcpy(inverse, a, size * size * sizeof *a);
        for (int j = 0; j < m; j++)
            for (int i = j + 1; i < m; i++) inverse[i + j * m] = NAN; /* the upper triangle alone is read */
        assert_ok(ctx, nb_invert_positive(m, inverse, ctx));
        nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, a, m, inverse, m, 0, product, m);
        for (int i = 0; i < m * m; i++) assert_close(product[i], i % (m + 1) == 0, 1e-10);
        double *u = nb_alloc_reals(ctx, size, size), *halves = nb_alloc_reals(ctx, size, size);
        for (int j = 0; j < m; j++) halves[j * (m + 1)] = 1;
        for (int i = 0; i < m * m; i++) u[i] = NAN;
        nb_gram_upper(m, 2 * m, x, u);
        assert_ok(ctx, nb_factor_positive(m, u, ctx));
        nb_solve_upper(NB_TRANSPOSED, m, m, u, halves);
        nb_solve_upper(NB_PLAIN, m, m, u, halves);
        for (int i = 0; i < m * m; i++) assert_close(halves[i], inverse[i], 1e-10);
    }
    double indefinite[] = {1, 2, 2, 1};
    assert_error(ctx, nb_invert_positive(2, indefinite, ctx), NB_ENUMERIC);
}

/* Against full products, which round differently: m terms each, twice. */
static void test_triangles(void **state)
{
    nb_ctx *ctx = *state;
    for (int m = 1; m <= 70; m += 23) {
        size_t square = (size_t)m * (size_t)m;
        double *l = random_matrix(ctx, m, m, 1), *r = random_matrix(ctx, m, m, 2), *x = random_matrix(ctx, m, m, 3);
        double *left = nb_alloc_reals(ctx, square, 2), *both = left + square;
        assert_int_equal(nb_is_upper(m, l), m == 1);
        for (int j = 0; j < m; j++)
            for (int i = j + 1; i < m; i++) l[i + j * m] = r[i + j * m] = 0;
        assert_true(nb_is_upper(m, l) && nb_is_upper(m, r));
        nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, l, m, x, m, 0, left, m);
        nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, m, 1, left, m, r, m, 0, both, m);
        nb_multiply_by_upper(m, l, x, r);
        double norm = nb_frobenius(square, both);
        for (size_t i = 0; i < square; i++) both[i] -= x[i];
        assert_at_most(nb_frobenius(square, both), 2 * DBL_EPSILON * m * norm);
        l[m - 1] = NAN;
        assert_int_equal(nb_is_upper(m, l), m == 1);
    }
}

/* `vectors` (n x m, columns) in the layout, orthonormalised: q r = a, q'q = 1 on
 * `rank` vectors and 0 elsewhere, r upper triangular where the rank is full. The
 * bound: a few eps a column for Householder; Cholesky QR in two rounds likewise
 * (Yamamoto et al. 2015). */
static void check_orthonormal(nb_ctx *ctx, int n, int m, const double *vectors, int expected)
{
    size_t count = (size_t)n * (size_t)m, square = (size_t)m * (size_t)m;
    double *a = nb_alloc_reals(ctx, count, 3), *q = a + count, *g = nb_alloc_reals(ctx, square, 2), *r = g + square;
    for (int layout = NB_COLUMNS; layout <= NB_ROWS; layout++) {
        int rank;
        memcpy(q, vectors, count * sizeof *q);
        if (layout == NB_ROWS) nb_transpose(n, m, vectors, q);
        assert_ok(ctx, nb_orthonormalise((nb_layout)layout, n, m, q, r, &rank, ctx));
        assert_int_equal(rank, expected);
        if (layout == NB_ROWS) {
            nb_transpose(m, n, q, a);
            memcpy(q, a, count * sizeof *q);
        }
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, n, 1, q, n, q, n, 0, g, m);
        for (int i = 0; i < rank; i++) g[i + i * m] -= 1;
        assert_at_most(nb_frobenius(square, g), 20 * DBL_EPSILON * m);
        memcpy(a, vectors, count * sizeof *a);
        double norm = nb_frobenius(count, a);
        nb_gemm(NB_PLAIN, NB_PLAIN, n, m, m, -1, q, n, r, m, 1, a, n);
        assert_at_most(nb_frobenius(count, a), 30 * DBL_EPSILON * m * norm + DBL_EPSILON * n * norm * (rank < m));
        for (int j = 0; j < m && rank == m; j++)
            for (int i = j + 1; i < m; i++) assert_true(r[i + j * m] == 0);
    }
}

/* Well conditioned vectors; pairs as near as 1e-8 (their condition 1e8 is too much
 * for Cholesky); repeated ones and zero, where the rank is less. */
static void test_orthonormalise(void **state)
{
    static const int shapes[][2] = {{1, 1}, {5, 1}, {9, 9}, {63, 7}, {400, 64}, {1000, 33}};
    nb_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int n = shapes[i][0], m = shapes[i][1];
        double *a = random_matrix(ctx, n, m, 3), *noise = random_matrix(ctx, n, m, 4);
        check_orthonormal(ctx, n, m, a, m);
        for (int j = 1; j < m; j += 2)
            for (int k = 0; k < n; k++) a[k + j * n] = a[k + (j - 1) * n] + 1e-8 * noise[k + j * n];
        check_orthonormal(ctx, n, m, a, m);
        for (int j = 1; j < m; j += 2)
            memcpy(a + (size_t)j * (size_t)n, a + (size_t)(j - 1) * (size_t)n, (size_t)n * sizeof *a);
        check_orthonormal(ctx, n, m, a, (m + 1) / 2);
        memset(a, 0, (size_t)n * (size_t)m * sizeof *a);
        check_orthonormal(ctx, n, m, a, 0);
    }
    double bad[4] = {1, NAN, 2, 3}, r[4];
    int rank;
    assert_error(ctx, nb_orthonormalise(NB_COLUMNS, 2, 2, bad, r, &rank, ctx), NB_ENUMERIC);
    assert_error(ctx, nb_orthonormalise(NB_COLUMNS, 2, 3, bad, r, &rank, ctx), NB_EDIM);
}

typedef struct {
    int n;
    const double *s;
} dense;

static nb_status multiply_dense(void *self, int b, const double *v, double *z, double *w, nb_ctx *ctx)
{
    const dense *d = self;
    (void)ctx;
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, b, d->n, d->n, 1, v, b, d->s, d->n, 0, z, b);
    nb_gemm(NB_PLAIN, NB_PLAIN, b, d->n, d->n, 1, z, b, d->s, d->n, 0, w, b);
    return NB_OK;
}

/* S = U diag(values) V' with random orthonormal U and V, so that all is known. */
static void check_krylov(nb_ctx *ctx, int n, int count, int block, const double *values, double tolerance)
{
    size_t length = (size_t)n;
    double *u = random_matrix(ctx, n, n, 5), *v = random_matrix(ctx, n, n, 6), *r = nb_alloc_reals(ctx, length, length);
    double *s = nb_alloc_reals(ctx, length, length), *g = nb_alloc_reals(ctx, length, (size_t)count);
    int rank;
    nb_triplets t;
    assert_ok(ctx, nb_orthonormalise(NB_COLUMNS, n, n, u, r, &rank, ctx));
    assert_ok(ctx, nb_orthonormalise(NB_COLUMNS, n, n, v, r, &rank, ctx));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) r[i + j * n] = u[i + j * n] * values[j];
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, n, n, n, 1, r, n, v, n, 0, s, n);
    dense d = {n, s};
    assert_ok(ctx, nb_krylov(&(nb_operator){n, multiply_dense, &d}, count, block, tolerance, &t, ctx));
    double sum = 0, rounding = 1e-12 * values[0];
    for (int j = 0; j < count; j++) {
        sum += values[j] * values[j] - t.values[j] * t.values[j];
        assert_at_most(t.values[j], values[j] + rounding);
        assert_at_most(sum, t.missing[j] + rounding * values[0]);
    }
    /* S v = s u, |S'u - s v| <= residual s_1, both orthonormal */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, n, count, n, 1, s, n, t.left, n, 0, g, n);
    for (int j = 0; j < count; j++) {
        for (int i = 0; i < n; i++) g[i + j * n] -= t.values[j] * t.right[i + j * n];
        assert_at_most(nb_frobenius(length, g + (size_t)j * length), 1.5 * t.residual * values[0] + 1e-11 * values[0]);
    }
    for (int side = 0; side < 2; side++) {
        const double *q = side ? t.left : t.right;
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, count, count, n, 1, q, n, q, n, 0, g, count);
        for (int j = 0; j < count; j++) /* a left vector may be zero where its value is */
            if (!(side && g[j + j * count] == 0 && t.values[j] <= 1e-11 * values[0])) g[j + j * count] -= 1;
        assert_at_most(nb_frobenius((size_t)count * (size_t)count, g), 1e-12);
    }
}

/* Spectra that fall fast, slowly, in a step, of rank 10, and not at all: where the
 * order ends the iteration, residual and missing[] say how near it came. */
static void test_krylov_on_known_spectra(void **state)
{
    enum { N = 400, COUNT = 20 };
    double values[N];
    for (int kind = 0; kind < 6; kind++) {
        nb_mark mark = nb_ctx_mark(*state);
        for (int j = 0; j < N; j++)
            values[j] = kind == 0   ? exp(-0.3 * j)
                        : kind == 1 ? 1 / (1 + 0.05 * j)
                        : kind == 2 ? (j < 12 ? 5 : 1)
                        : kind == 3 ? (j < 10 ? 3 - 0.1 * j : 0)
                        : kind == 4 ? 2.385
                                    : 0;
        check_krylov(*state, N, COUNT, 8, values, 1e-7);
        check_krylov(*state, N, COUNT, 8, values, 0.03); /* ends early, and has to say so */
        nb_ctx_release(*state, mark);
    }
}

/* A block of 8 finds of more equal values 8 at most, with residuals of zero: of 30 in a slow spectrum, where
 * rounding brings in the rest, and of 12 in one that ends the iteration before. */
static void test_krylov_on_ties(void **state)
{
    enum { N = 800, COUNT = 64, FEW = 16 };
    double values[N];
    for (int first = 0; first < 3; first++) {
        nb_mark mark = nb_ctx_mark(*state);
        for (int j = 0; j < N; j++) values[j] = j < 10 * first ? 5 : j < 10 * first + 30 ? 3 : 1 / (1 + 0.01 * j);
        check_krylov(*state, N, COUNT, 8, values, 1e-7);
        for (int j = 0; j < N; j++) values[j] = j < first ? 5 - j : j < first + 12 ? 3 : 3 * pow(0.8, j - first - 11);
        check_krylov(*state, N, FEW, 8, values, 1e-7);
        nb_ctx_release(*state, mark);
    }
}

/* exp and log to 4 eps over the whole range, in vectors and in what is left over. */
static void test_vector_exp_and_log(void **state)
{
    (void)state;
    double worst = 0, x[11], from[11];
    for (double at = -708; at < 705; at += 0.0137 * 11) {
        for (int j = 0; j < 11; j++) x[j] = from[j] = at + 0.0137 * j;
        double sum = nb_exp_sum(11, x, 0), expected = 0;
        for (int j = 0; j < 11; j++) {
            worst = fmax(worst, fabs((double)((x[j] - expl(from[j])) / expl(from[j]))));
            expected += x[j];
        }
        assert_close(sum / expected, 1, 11 * DBL_EPSILON);
    }
    assert_at_most(worst, 4 * DBL_EPSILON);
    double edges[8] = {-INFINITY, -1e308, -746, 0, 1, 709.7, -1, -20};
    nb_exp_sum(8, edges, 0);
    assert_true(edges[0] == 0 && edges[1] == 0 && edges[2] == 0 && edges[3] == 1 && isfinite(edges[5]));
    for (double p = 1e-300; p < 1e6; p *= 1.37) {
        double ps[5] = {p, 0, -p, 0.5 * p, p / 3}, expected = 0;
        for (int j = 0; j < 5; j++) expected -= ps[j] > 0 ? ps[j] * log(ps[j] + 1e-9) : 0;
        assert_close(nb_entropy(5, ps), expected, 1e-14 * (p + fabs(expected)));
    }
}

static void test_vector_sums(void **state)
{
    (void)state;
    double x[7] = {1, -2, 3.5, 0, -0.25, 7, -1}, y[7] = {2, 1, -1, 4, 8, 0.5, 3}, totals[7] = {1, 1, 1, 1, 1, 1, 1};
    double number, mass, sum, squares, distances;
    nb_negatives(7, x, 0, &number, &mass);
    assert_true(number == 3 && mass == 3.25);
    nb_negatives(7, x, -0.25, &number, &mass);
    assert_true(number == 2 && mass == 3);
    nb_row_sums(7, x, 1, totals, &sum, &squares, &distances);
    assert_true(sum == 8.25 && squares == 67.3125 && distances == 67.3125 - 2 * 8.25 + 7 && totals[5] == 8 &&
                totals[1] == -1);
    assert_true(nb_sum(7, x) == 8.25 && nb_dot(7, x, y) == -5 && nb_sum_of_squares(7, x) == 67.3125);
    assert_true(nb_squared_distance(7, x, y) == 67.3125 + 95.25 + 10 && nb_largest(7, x) == 7);
    nb_add(7, x, y);
    assert_true(y[0] == 3 && y[6] == 2);
    assert_true(nb_largest_distance(7, x, 1) == 6 && nb_largest_distance(5, x, 2) == 4 &&
                nb_largest_distance(0, x, 1) == 0);
}

/* Wherever it stands, and whatever the sums would do. */
static void test_all_finite(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    double x[13];
    for (size_t j = 0; j < 13; j++) x[j] = j % 2 ? DBL_MAX : -DBL_MAX;
    for (size_t count = 0; count <= 13; count++) assert_true(nb_all_finite(count, x));
    for (size_t at = 0; at < 13; at++)
        for (size_t b = 0; b < 3; b++) {
            double good = x[at];
            x[at] = bad[b];
            assert_false(nb_all_finite(13, x));
            assert_true(nb_all_finite(at, x));
            x[at] = good;
        }
}

/* Of 0, 1, 3 on a line: 1, 2, 3. Against itself, each pair counts twice. */
static void test_median_distance(void **state)
{
    double x[3] = {0, 1, 3}, y[1] = {7}, median;
    assert_ok(*state, nb_median_distance(1, 3, x, 3, x, &median, *state));
    assert_close(median, 2, 0);
    assert_ok(*state, nb_median_distance(1, 3, x, 1, y, &median, *state));
    assert_close(median, 6, 0);
    assert_ok(*state, nb_median_distance(1, 1, y, 1, y, &median, *state));
    assert_close(median, 1, 0);
}

/* S V and W + S' (S V) by every product that this CPU runs, against sums in long double. Each rounds once a term: so
 * within eps times the number of terms of the sum of their absolute values. What stands beside S is not read. */
static void check_thin(nb_ctx *ctx, gsl_rng *rng, int rows, int columns, int b)
{
    nb_mark mark = nb_ctx_mark(ctx);
    int ld = columns + 3;
    size_t wide = (size_t)b;
    double *s = nb_alloc_reals(ctx, (size_t)ld, (size_t)rows), *v = nb_alloc_reals(ctx, wide, (size_t)columns);
    double *z = nb_alloc_reals(ctx, wide, (size_t)rows), *w = nb_alloc_reals(ctx, wide, (size_t)columns);
    for (int i = 0; i < rows * ld; i++) s[i] = i % ld < columns ? gsl_ran_ugaussian(rng) : NAN;
    for (int i = 0; i < columns * b; i++) v[i] = gsl_ran_ugaussian(rng);
    for (int index = 0; nb_thin_at(index); index++) {
        for (int i = 0; i < columns * b; i++) w[i] = i % 7;
        nb_thin_at(index)(rows, columns, s, ld, b, v, z, w);
        for (int i = 0; i < rows; i++)
            for (int c = 0; c < b; c++) {
                long double sum = 0, size = 0;
                for (int j = 0; j < columns; j++) {
                    sum += (long double)s[i * ld + j] * v[j * b + c];
                    size += fabsl((long double)s[i * ld + j] * v[j * b + c]);
                }
                assert_true(fabsl(z[i * b + c] - sum) <= columns * DBL_EPSILON * size);
            }
        for (int j = 0; j < columns; j++)
            for (int c = 0; c < b; c++) {
                long double sum = (j * b + c) % 7, size = sum;
                for (int i = 0; i < rows; i++) {
                    sum += (long double)s[i * ld + j] * z[i * b + c];
                    size += fabsl((long double)s[i * ld + j] * z[i * b + c]);
                }
                assert_true(fabsl(w[j * b + c] - sum) <= (rows + 1) * DBL_EPSILON * size);
            }
    }
    nb_ctx_release(ctx, mark);
}

static void test_thin_products(void **state)
{
    static const int rows[] = {1, 5, 6, 13, 48, 101}, columns[] = {1, 6, 17, 257, 300}, widths[] = {8, 16, 40, 64};
    gsl_rng *rng;
    assert_ok(*state, nb_random_new(&rng, *state));
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 5; j++)
            for (size_t k = 0; k < 4; k++) check_thin(*state, rng, rows[i], columns[j], widths[k]);
}

/* Each sum and each substitution against long double, whose bounds are those of Higham, Accuracy and Stability of
 * Numerical Algorithms, sec. 3.1 and 8.1; rows are close to dependent, and what is below the triangle is not read. */
static void check_tall(nb_ctx *ctx, gsl_rng *rng, int n, int m)
{
    nb_mark mark = nb_ctx_mark(ctx);
    size_t columns = (size_t)m, rows = (size_t)n;
    double *a = nb_alloc_reals(ctx, columns, rows + 1), *q = nb_alloc_reals(ctx, columns, rows + 1);
    double *g = nb_alloc_reals(ctx, columns, columns), *scratch = nb_alloc_raw(ctx, nb_tall_scratch(m));
    for (size_t i = 0; i < rows * columns; i++) a[i] = 1 + 1e-3 * gsl_ran_ugaussian(rng);
    for (size_t i = 0; i < columns; i++) a[rows * columns + i] = NAN;
    for (int index = 0; nb_tall_at(index); index++) {
        for (size_t i = 0; i < nb_tall_scratch(m); i++) scratch[i] = NAN;
        nb_tall_at(index)->gram(n, m, a, g, scratch);
        for (size_t j = 0; j < columns; j++)
            for (size_t i = 0; i <= j; i++) {
                long double sum = 0, size = 0;
                for (size_t t = 0; t < rows; t++) {
                    sum += (long double)a[t * columns + i] * a[t * columns + j];
                    size += fabsl((long double)a[t * columns + i] * a[t * columns + j]);
                }
                assert_true(fabsl(g[i + j * columns] - sum) <= n * DBL_EPSILON * size);
            }
        for (size_t j = 0; j < columns; j++)
            for (size_t i = 0; i < columns; i++)
                g[i + j * columns] = i > j ? NAN : i == j ? 1e-3 * (1 + (double)j) : gsl_ran_ugaussian(rng) / m;
        memcpy(q, a, (rows + 1) * columns * sizeof *q);
        nb_tall_at(index)->divide(n, m, q, g, scratch);
        for (size_t t = 0; t < rows; t++)
            for (size_t j = 0; j < columns; j++) {
                long double sum = 0, size = fabs(a[t * columns + j]);
                for (size_t i = 0; i <= j; i++) {
                    sum += (long double)q[t * columns + i] * g[i + j * columns];
                    size += fabsl((long double)q[t * columns + i] * g[i + j * columns]);
                }
                assert_true(fabsl(a[t * columns + j] - sum) <= (m + 3) * DBL_EPSILON * size);
            }
        for (size_t i = 0; i < columns; i++) assert_true(isnan(q[rows * columns + i]));
    }
    nb_ctx_release(ctx, mark);
}

static void test_tall(void **state)
{
    static const int rows[] = {1, 5, 48, 53, 96, 200}, columns[] = {1, 2, 7, 8, 9, 16, 24, 31, 40, 129};
    gsl_rng *rng;
    assert_ok(*state, nb_random_new(&rng, *state));
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 10; j++) check_tall(*state, rng, rows[i], columns[j]);
}

/* BLAS, AVX2 with FMA and AVX-512: those that this CPU has. */
static void test_which_simd(void **state)
{
    int count = 1;
    (void)state;
#if defined __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) count++;
    if (__builtin_cpu_supports("avx512f")) count++;
#endif
    assert_true(nb_thin_at(count - 1) && !nb_thin_at(count));
    assert_true(nb_tall_at(count - 1) && !nb_tall_at(count));
}

/* Of numbers of all sizes: against long double, and bit by bit against a C library that has the same algorithm. */
/* Row i of T, as the other rows predict it, is off by this, squared. */
static double left_out(nb_ctx *ctx, int i, int k, const double *gram, const double *w, double penalty, int columns,
                       const double *t)
{
    int rest = k - 1;
    double *m = nb_alloc_reals(ctx, (size_t)rest, (size_t)rest),
           *x = nb_alloc_reals(ctx, (size_t)rest, (size_t)columns), sum = 0;
    for (int a = 0; a < rest; a++) {
        int row = a < i ? a : a + 1;
        for (int b = 0; b < rest; b++) m[a + b * rest] = gram[row + (b < i ? b : b + 1) * k];
        m[a + a * rest] += penalty / w[row];
        for (int l = 0; l < columns; l++) x[a + l * rest] = t[row + l * k];
    }
    assert_ok(ctx, nb_solve_positive(rest, m, columns, x, ctx));
    for (int l = 0; l < columns; l++) {
        double predicted = 0;
        for (int a = 0; a < rest; a++) predicted += gram[i + (a < i ? a : a + 1) * k] * x[a + l * rest];
        sum += pow(t[i + l * k] - predicted, 2);
    }
    return sum;
}

/* The formula of leave-one-out against fits without each row, for targets whose best penalties differ. Rounding: some
 * 1e-16 times the condition, 1e5. */
static void test_kernel_ridge(void **state)
{
    enum { K = 9, M = 5, COLUMNS = 3, COUNT = 4 };
    static const double noise[] = {1e-4, 0.3, 30}, penalties[COUNT] = {10, 0.1, 1e-3, 1e-5};
    nb_ctx *ctx = *state;
    double *f = random_matrix(ctx, M, K, 3), *of_t = random_matrix(ctx, K, COLUMNS, 4), w[K], gram[K * K],
           t[K * COLUMNS];
    double *slopes = random_matrix(ctx, M, COLUMNS, 5), inverse[K * K], dual[K * COLUMNS], product[K * K], unit = 0;
    bool taken[COUNT] = {false};
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, K, K, M, 1, f, M, f, M, 0, gram, K);
    for (int i = 0; i < K; i++) w[i] = (i + 1) / 5.0;
    for (int i = 0; i < K; i++) unit += w[i] * gram[i * K + i] / K;
    for (int trial = 0; trial < 3; trial++) {
        int best = 0;
        double least = INFINITY, error;
        for (int i = 0; i < K * COLUMNS; i++) t[i] = noise[trial] * of_t[i];
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, K, COLUMNS, M, 1, f, M, slopes, M, 1, t, K);
        for (int p = 0; p < COUNT; p++) {
            double sum = 0;
            for (int i = 0; i < K; i++) sum += w[i] * left_out(ctx, i, K, gram, w, unit * penalties[p], COLUMNS, t);
            if (sum < least) best = p;
            if (sum < least) least = sum;
        }
        taken[best] = true;
        assert_ok(ctx, nb_kernel_ridge(K, gram, w, COLUMNS, t, COUNT, penalties, inverse, dual, &error, ctx));
        assert_close(error, least, 1e-9 * least);
        for (int i = 0; i < K * K; i++)
            product[i] = gram[i] + (i % (K + 1) == 0 ? unit * penalties[best] / w[i / K] : 0);
        double *m = nb_alloc_reals(ctx, K, K), *x = nb_alloc_reals(ctx, K, COLUMNS);
        memcpy(m, product, sizeof product);
        nb_gemm(NB_PLAIN, NB_PLAIN, K, K, K, 1, m, K, inverse, K, 0, product, K);
        for (int i = 0; i < K * K; i++) assert_close(product[i], i % (K + 1) == 0, 1e-10);
        nb_gemm(NB_PLAIN, NB_PLAIN, K, COLUMNS, K, 1, m, K, dual, K, 0, x, K);
        for (int i = 0; i < K * COLUMNS; i++) assert_close(x[i], t[i], 1e-9 * (1 + fabs(t[i])));
    }
    assert_true(taken[0] + taken[1] + taken[2] + taken[3] >= 2);
}

static void test_less(void **state)
{
    double least = INFINITY;
    (void)state;
    assert_false(nb_is_less(NAN, 0, &least) || nb_is_less(INFINITY, 0, &least) || least < INFINITY);
    assert_true(nb_is_less(2.385, 0, &least) && least == 2.385);
    assert_false(nb_is_less(NAN, 0, &least) || nb_is_less(2.385, 0, &least) || nb_is_less(2.384, 1e-2, &least));
    assert_true(least == 2.385 && nb_is_less(2.3, 1e-2, &least) && least == 2.3);
}

/* Of two penalties the first leaves an error that overflows, the second, with a larger inverse, one of inf - inf. */
static void test_kernel_ridge_of_nan(void **state)
{
    enum { K = 3 };
    static const double gram[K * K] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, w[K] = {1, 1, 1}, penalties[] = {1, 1e-12};
    static const double t[K] = {1e300, -1e300, 1e300};
    double inverse[K * K], dual[K];
    assert_ok(*state, nb_kernel_ridge(K, gram, w, 1, t, 2, penalties, inverse, dual, NULL, *state));
    for (int i = 0; i < K; i++) assert_close(dual[i], (i % 2 ? -1.25 : 0.75) * 1e300, 1e286);
}

static void test_hypotenuse(void **state)
{
    static const double units[] = {0x1p-1074, 0x1p-1000, 0x1p-460, 1.25, 0x1p510, 0x1p1000};
    static const double odd[][3] = {
        {0, 0, 0}, {-0.0, -7, 7}, {3, -4, 5}, {INFINITY, NAN, INFINITY}, {1, -INFINITY, INFINITY}};
    gsl_rng *rng;
    assert_ok(*state, nb_random_new(&rng, *state));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) assert_true(nb_hypotenuse(odd[i][0], odd[i][1]) == odd[i][2]);
    assert_true(isnan(nb_hypotenuse(NAN, 1)) && isnan(nb_hypotenuse(1, NAN)));
    assert_true(isinf(nb_hypotenuse(DBL_MAX, DBL_MAX)));
    for (int i = 0; i < 200000; i++) {
        double unit = units[i % 6], x = unit * gsl_rng_uniform_pos(rng);
        double y = unit * gsl_rng_uniform_pos(rng) * pow(2, -(i / 6) % 60), found = nb_hypotenuse(x, -y);
        double known = (double)sqrtl((long double)x * x + (long double)y * y);
        assert_close(found, known, nextafter(known, INFINITY) - known);
        assert_true(found == nb_hypotenuse(y, x));
#if defined __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 35)
        assert_true(found == hypot(x, y));
#endif
#endif
    }
}

/* Descending; of equal entries the first come first, and the last are left out. */
static void test_largest_indices(void **state)
{
    static const nb_scalar x[] = {5, 5, 7, 5, 2, 9, 9, 5};
    static const size_t order[] = {5, 6, 2, 0, 1, 3, 7, 4};
    enum { N = sizeof x / sizeof *x };
    (void)state;
    for (size_t count = 0; count <= N; count++) {
        size_t found[N + 1];
        for (size_t i = 0; i <= N; i++) found[i] = 99;
        nb_scalar_largest_indices(count, N, x, found);
        for (size_t i = 0; i <= N; i++) assert_int_equal(found[i], i < count ? order[i] : 99);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_largest_indices),
        test_with_ctx(test_svd_reconstructs),
        test_with_ctx(test_svd_refuses_nan),
        test_with_ctx(test_svd_refuses_what_lapack_cannot_count),
        test_with_ctx(test_eigenvectors_that_lapack_cannot_count),
        test_with_ctx(test_singular_vectors),
        test_with_ctx(test_basis_spans_the_range_alone),
        test_with_ctx(test_basis_of_zero_is_empty),
        test_with_ctx(test_norms),
        test_with_ctx(test_kernel_ridge),
        test_with_ctx(test_kernel_ridge_of_nan),
        test_with_ctx(test_less),
        test_with_ctx(test_hypotenuse),
        test_with_ctx(test_positive_inverse),
        test_with_ctx(test_triangles),
        test_with_ctx(test_orthonormalise),
        test_with_ctx(test_krylov_on_known_spectra),
        test_with_ctx(test_krylov_on_ties),
        test_with_ctx(test_thin_products),
        test_with_ctx(test_tall),
        test_with_ctx(test_which_simd),
        test_with_ctx(test_median_distance),
        test_with_ctx(test_vector_exp_and_log),
        test_with_ctx(test_vector_sums),
        test_with_ctx(test_all_finite),
    };
    return run_all(tests);
}
