/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bits do not depend on: the company and the place of a column in products that are made by linalg.h's rule, and
 * the columns that come after in a basis made in order. Under whatever kernels OpenBLAS uses. */
#include "testing.h"

#include "base/random.h"
#include "linalg/basis.h"
#include "linalg/blas.h"
#include "linalg/linalg.h"

#include <float.h>
#include <gsl/gsl_randist.h>
#include <math.h>

static void fill(gsl_rng *rng, size_t count, double *x)
{
    for (size_t i = 0; i < count; i++) x[i] = gsl_ran_ugaussian(rng);
}

/* The sizes of S at which small products end, odd ones, and two stripes. */
static const int sizes[] = {1, 7, 33, 64, 65, 128, 257, 353, 513};

/* group columns q (n x group) at `at` among `width` of others: what they give with the rows s (n x rows). */
static void left(int n, int rows, int width, int at, int group, const double *q, double *all, const double *s,
                 double *out, double *product)
{
    memcpy(all + (size_t)at * (size_t)n, q, (size_t)n * (size_t)group * sizeof *q);
    nb_gemm_left_together(width, rows, n, 1, all, n, s, n, 0, product, width, (double)rows * n);
    for (int i = 0; i < rows; i++) memcpy(out + i * group, product + i * width + at, (size_t)group * sizeof *out);
}

static void right(int n, int rows, int width, int at, int group, const double *q, double *all, const double *s,
                  double *out, double *product)
{
    memcpy(all + (size_t)at * (size_t)n, q, (size_t)n * (size_t)group * sizeof *q);
    nb_gemm_right_together(NB_TRANSPOSED, rows, width, n, s, n, all, n, 0, product, rows, (double)rows * n);
    memcpy(out, product + at * rows, (size_t)rows * (size_t)group * sizeof *out);
}

static void right_single(int n, int rows, int width, int at, int group, const double *q, double *all, const double *s,
                         double *out, double *product)
{
    static float q32[1300000], s32[513 * 513], product32[1300000]; /* n (least + 400), of all sizes */
    memcpy(all + (size_t)at * (size_t)n, q, (size_t)n * (size_t)group * sizeof *q);
    for (int i = 0; i < n * width; i++) q32[i] = (float)all[i];
    for (int i = 0; i < n * rows; i++) s32[i] = (float)s[i];
    nb_gemm_single_together(rows, width, n, s32, n, q32, n, product32, rows, (double)rows * n);
    for (int i = 0; i < rows * group; i++) out[i] = product32[at * rows + i];
    (void)product;
}

typedef void product_fn(int n, int rows, int width, int at, int group, const double *q, double *all, const double *s,
                        double *out, double *product);

static void check_company(nb_ctx *ctx, gsl_rng *rng, int n, int whole, int start, product_fn *multiply)
{
    static const int more[] = {0, 8, 40, 136, 300};
    int rows = n > 512 ? (n + 1) / 2 : n, least = nb_width_together(1, whole, (double)rows * n), widest = least + 400;
    nb_mark mark = nb_ctx_mark(ctx);
    double *all = nb_alloc_reals(ctx, (size_t)n, (size_t)widest), *s = nb_alloc_reals(ctx, (size_t)n, (size_t)rows);
    double *q = nb_alloc_reals(ctx, (size_t)n, (size_t)start),
           *product = nb_alloc_reals(ctx, (size_t)rows, (size_t)widest);
    double *first = nb_alloc_reals(ctx, (size_t)rows, (size_t)start),
           *out = nb_alloc_reals(ctx, (size_t)rows, (size_t)start);
    fill(rng, (size_t)n * (size_t)widest, all);
    fill(rng, (size_t)n * (size_t)rows, s);
    fill(rng, (size_t)n * (size_t)start, q);
    multiply(n, rows, least, 0, start, q, all, s, first, product);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        int width = nb_width_together(least + more[i], whole, (double)rows * n), last = (width - start) / start * start;
        const int places[] = {0, start, last / 2 / start * start, last};
        for (int p = 0; p < 4; p++) {
            if (places[p] + start > width) continue;
            multiply(n, rows, width, places[p], start, q, all, s, out, product);
            if (memcmp(out, first, (size_t)rows * (size_t)start * sizeof *out) != 0)
                fail_msg("n = %d: %d columns at %d of %d differ from those at 0 of %d", n, start, places[p], width,
                         least);
        }
    }
    nb_ctx_release(ctx, mark);
}

static void test_products_side_by_side(void **state)
{
    nb_ctx *ctx = *state;
    gsl_rng *rng;
    assert_ok(ctx, nb_blas_set_threads(1, ctx)); /* as workers have: more divide the columns among them */
    assert_ok(ctx, nb_random_new(&rng, ctx));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_company(ctx, rng, sizes[i], NB_LEFT_GROUP, NB_LEFT_GROUP, left);
        check_company(ctx, rng, sizes[i], NB_RIGHT_GROUP, 1, right);
        check_company(ctx, rng, sizes[i], NB_RIGHT_GROUP, NB_SINGLE_START, right_single);
    }
}

/* m vectors of length n of which those from `dependent` on are sums of the first but for `apart`. */
static double *vectors(nb_ctx *ctx, gsl_rng *rng, int n, int m, int dependent, double apart)
{
    double *a = nb_alloc_reals(ctx, (size_t)n, (size_t)m);
    fill(rng, (size_t)n * (size_t)m, a);
    for (int j = dependent; j < m; j++)
        for (int i = 0; i < n; i++) a[i + j * n] = apart * a[i + j * n] + a[i] + (dependent > 1 ? a[i + n] : 0);
    return a;
}

/* q'q = 1 and q r = a for the first `good` columns, to rounding. */
static void check_basis(int n, int m, int good, const double *a, const double *q, const double *r)
{
    for (int j = 0; j < good; j++) {
        for (int k = 0; k <= j; k++) {
            double dot = 0;
            for (int i = 0; i < n; i++) dot += q[i + j * n] * q[i + k * n];
            if (fabs(dot - (j == k)) > 50 * m * DBL_EPSILON)
                fail_msg("q%d'q%d - %d = %g", k, j, j == k, dot - (j == k));
        }
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int k = 0; k <= j; k++) sum += q[i + k * n] * r[k + j * m];
            if (fabs(sum - a[i + j * n]) > 100 * m * DBL_EPSILON)
                fail_msg("q r - a = %g at %d, %d", sum - a[i + j * n], i, j);
        }
        for (int k = j + 1; k < m; k++) assert_true(r[k + j * m] == 0);
    }
}

/* Every beginning of the vectors gives the beginning of the basis, to the bit. */
static void check_order(nb_ctx *ctx, int n, int m, const double *a, int expected)
{
    size_t tall = (size_t)n * (size_t)m;
    double *q = nb_alloc_reals(ctx, (size_t)n, (size_t)m), *r = nb_alloc_reals(ctx, (size_t)m, (size_t)m);
    double *own = nb_alloc_reals(ctx, (size_t)n, (size_t)m), *own_r = nb_alloc_reals(ctx, (size_t)m, (size_t)m);
    int good, own_good;
    memcpy(q, a, tall * sizeof *q);
    assert_ok(ctx, nb_orthonormalise_in_order(n, m, q, r, &good, ctx));
    assert_int_equal(good, expected);
    check_basis(n, m, good, a, q, r);
    for (int k = 1; k <= m; k++) {
        memcpy(own, a, (size_t)n * (size_t)k * sizeof *own);
        assert_ok(ctx, nb_orthonormalise_in_order(n, k, own, own_r, &own_good, ctx));
        assert_int_equal(own_good, k < good ? k : good);
        assert_memory_equal(own, q, (size_t)n * (size_t)own_good * sizeof *own);
        for (int j = 0; j < own_good; j++) assert_memory_equal(own_r + j * k, r + j * m, (size_t)own_good * sizeof *r);
    }
}

static void test_bases_in_order(void **state)
{
    nb_ctx *ctx = *state;
    gsl_rng *rng;
    bool full;
    assert_ok(ctx, nb_blas_set_threads(1, ctx));
    assert_ok(ctx, nb_random_new(&rng, ctx));
    check_order(ctx, 353, 40, vectors(ctx, rng, 353, 40, 40, 0), 40);
    check_order(ctx, 65, 65, vectors(ctx, rng, 65, 65, 65, 0), 65);
    check_order(ctx, 5, 3, vectors(ctx, rng, 5, 3, 3, 0), 3);
    check_order(ctx, 128, 33, vectors(ctx, rng, 128, 33, 10, 1e-9), 33); /* a condition of 1e9: panels end early */
    check_order(ctx, 128, 33, vectors(ctx, rng, 128, 33, 10, 0), 10);
    const double r[] = {1, 0, 0, 0, 1, 0, 0, 0, 1e-15};
    assert_ok(ctx, nb_has_full_rank(100, 2, r, 3, &full, ctx));
    assert_true(full);
    assert_ok(ctx, nb_has_full_rank(100, 3, r, 3, &full, ctx));
    assert_false(full);
}

/* Nearly dependent and of very different lengths: whatever columns there are are as orthonormal as any. */
static void test_bases_of_hard_vectors(void **state)
{
    enum { LONGEST = 400, MOST = 40, KINDS = 5 };
    static const int lengths[] = {8, 12, 20, 40, 100, LONGEST};
    nb_ctx *ctx = *state;
    int good;
    double *a = nb_alloc_reals(ctx, LONGEST, MOST), *q = nb_alloc_reals(ctx, LONGEST, MOST),
           *r = nb_alloc_reals(ctx, MOST, MOST);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int kind = 0; kind < KINDS; kind++) {
            int n = lengths[l], m = n < MOST ? n : MOST;
            for (int j = 0; j < m; j++)
                for (int i = 0; i < n; i++) {
                    const double kinds[KINDS] = {1.0 / (i + j + 1), pow((double)i / n, j),
                                                 exp(-pow(3 * (i / (double)n - j / (double)m), 2)),
                                                 j == 0       ? 1
                                                 : i == j - 1 ? 1e-9
                                                              : 0,
                                                 sin(i * j + 1.0) * pow(10, -200.0 * j / m)};
                    a[i + j * n] = kinds[kind];
                }
            memcpy(q, a, (size_t)n * (size_t)m * sizeof *q);
            assert_ok(ctx, nb_orthonormalise_in_order(n, m, q, r, &good, ctx));
            assert_true(good >= 7); /* the Hilbert matrix of order 8 has a condition of 1e10 */
            check_basis(n, m, good, a, q, r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_products_side_by_side), test_with_ctx(test_bases_in_order),
                                       test_with_ctx(test_bases_of_hard_vectors)};
    return run_all(tests);
}
