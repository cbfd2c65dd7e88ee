/* Linear algebra against identities: A = U S V', Q'Q = I, and a basis that spans
 * the range and nothing else. */
#include "testing.h"

#include "linalg/linalg.h"

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

static void test_svd_refuses_nan(void **state)
{
    double a[4] = {1, 2, NAN, 4}, s[2];
    assert_error(*state, nb_svd(2, 2, a, NULL, s, NULL, *state), NB_ENUMERIC, "NaN or Inf in a 2 x 2 matrix");
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
    assert_at_most(nb_frobenius((size_t)rank * (size_t)rank, g), 20 * DBL_EPSILON * cols); /* Householder: a few eps a column */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, rank, cols, rows, 1, q, rows, a, rows, 0, g, cols);
    nb_gemm(NB_PLAIN, NB_PLAIN, rows, cols, rank, -1, q, rows, g, cols, 1, a, rows);
    assert_at_most(nb_frobenius((size_t)rows * (size_t)cols, a), 20 * DBL_EPSILON * cols * norm);
}

static void test_basis_spans_the_range_alone(void **state)
{
    static const int cases[][3] = {{1, 1, 1}, {2, 2, 1}, {50, 8, 8}, {50, 8, 3}, {200, 64, 40}, {64, 64, 64}, {65, 64, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_basis(*state, cases[i][0], cases[i][1], cases[i][2]);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_svd_reconstructs),           test_with_ctx(test_svd_refuses_nan),
        test_with_ctx(test_basis_spans_the_range_alone), test_with_ctx(test_basis_of_zero_is_empty),
        test_with_ctx(test_norms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
