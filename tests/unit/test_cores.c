/* The pseudo-inverses, on matrices built from chosen singular values with random
 * orthogonal factors, so that every singular value of X is known. */
#include "testing.h"

#include "cores/core.h"
#include "linalg/linalg.h"

#include <float.h>
#include <gsl/gsl_randist.h>

typedef struct {
    int m;
    double *u, *v; /* orthogonal, m x m */
    double *s;
    nb_factors factors; /* a = u diag(s) v' */
} made;

static double *orthogonal(nb_ctx *ctx, int m, unsigned long seed)
{
    gsl_rng *rng;
    size_t square = (size_t)m * (size_t)m;
    int rank;
    double *a = nb_alloc_reals(ctx, square, 1), *q = nb_alloc_reals(ctx, square, 1);
    assert_ok(ctx, nb_random_new(&rng, ctx));
    gsl_rng_set(rng, seed);
    for (size_t i = 0; i < square; i++) a[i] = gsl_ran_gaussian(rng, 1);
    assert_ok(ctx, nb_range_basis(m, m, a, q, &rank, ctx));
    assert_int_equal(rank, m);
    return q;
}

/* Singular values from 1 down to `least`, evenly in the logarithm, times `scale`. */
static made make(nb_ctx *ctx, int m, double least, double scale)
{
    size_t square = (size_t)m * (size_t)m;
    made t = {.m = m, .u = orthogonal(ctx, m, 11), .v = orthogonal(ctx, m, 12), .s = nb_alloc_reals(ctx, (size_t)m, 1)};
    double *scaled = nb_alloc_reals(ctx, square, 1), *a = nb_alloc_reals(ctx, square, 1);
    for (int j = 0; j < m; j++) {
        t.s[j] = scale * (m > 1 ? pow(least, (double)j / (m - 1)) : 1);
        for (int i = 0; i < m; i++) scaled[i + j * m] = t.u[i + j * m] * t.s[j];
    }
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, m, 1, scaled, m, t.v, m, 0, a, m);
    t.factors = (nb_factors){.m = m, .a = a, .ctx = nb_ctx_child(ctx)};
    return t;
}

static double *compute(nb_ctx *ctx, const char *core, nb_factors *factors)
{
    nb_choice choice = choose(&nb_cores, core, ctx);
    double *x = nb_alloc_reals(ctx, (size_t)factors->m, (size_t)factors->m);
    assert_ok(ctx, ((const nb_core *)choice.component)->compute(factors, choice.options, x, ctx));
    return x;
}

/* v' X u, which is diagonal if X has the singular vectors that it should. */
static double *in_singular_basis(nb_ctx *ctx, const made *t, const double *x)
{
    int m = t->m;
    double *left = nb_alloc_reals(ctx, (size_t)m, (size_t)m), *out = nb_alloc_reals(ctx, (size_t)m, (size_t)m);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, m, 1, t->v, m, x, m, 0, left, m);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, left, m, t->u, m, 0, out, m);
    return out;
}

/* p <- p (13 - p (15 - p (7 - p))) / 4 */
static double scalar_map(double p, int steps)
{
    while (steps-- > 0) p = p * (13 - p * (15 - p * (7 - p))) / 4;
    return p;
}

/* Rounding: each step multiplies errors by at most 13/4 and adds some eps of
 * |X|, which is at most 3.25^k |X_0|; 100 m covers the products' constants. */
static void check_iterative(nb_ctx *ctx, int m, int steps, bool exact)
{
    char spec[64];
    made t = make(ctx, m, 1e-12, 1.7);
    double divisor = nb_norm_one(m, m, t.factors.a) * (exact ? 1 : nb_norm_infinity(m, m, t.factors.a));
    snprintf(spec, sizeof spec, "iterative(steps=%d, start=%s)", steps, exact ? "exact" : "paper");
    double *d = in_singular_basis(ctx, &t, compute(ctx, spec, &t.factors));
    double tolerance = 100 * m * DBL_EPSILON * pow(3.25, steps) * t.s[0] / divisor;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++)
            assert_close(d[i + j * m], i == j ? scalar_map(t.s[j] * t.s[j] / divisor, steps) / t.s[j] : 0, tolerance);
}

static void test_iterative_follows_the_scalar_map(void **state)
{
    static const int sizes[] = {1, 2, 5, 16, 33}, steps[] = {0, 1, 2, 6, 12};
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++) check_iterative(*state, sizes[i], steps[k], false);
    for (size_t k = 0; k < 5; k++) check_iterative(*state, 16, steps[k], true);
}

/* The exact start may leave the region of convergence where rows do not sum to
 * 1: p0 = s^2/|A|_1 above 2 or so grows without bound, and must not look finite. */
static void test_iterative_diverges_openly(void **state)
{
    made t = make(*state, 4, 0.5, 100);
    double *x = compute(*state, "iterative(steps=60, start=exact)", &t.factors);
    assert_false(nb_all_finite(16, x));
}

static void test_iterative_of_zero_is_zero(void **state)
{
    double a[9] = {0};
    nb_factors f = {.m = 3, .a = a, .ctx = nb_ctx_child(*state)};
    double *x = compute(*state, "iterative", &f);
    for (int i = 0; i < 9; i++) assert_true(x[i] == 0);
    x = compute(*state, "svd", &f);
    for (int i = 0; i < 9; i++) assert_true(x[i] == 0);
}

/* Convergence is of third order: |1 - p| falls to 3/4 of its cube, (1/4) e^4 more. */
static void test_iterative_converges_to_the_inverse(void **state)
{
    nb_ctx *ctx = *state;
    made t = make(ctx, 12, 0.05, 1);
    double *d = in_singular_basis(ctx, &t, compute(ctx, "iterative(steps=25)", &t.factors));
    for (int j = 0; j < 12; j++)
        for (int i = 0; i < 12; i++) assert_close(d[i + j * 12], i == j ? 1 / t.s[j] : 0, 1e4 * DBL_EPSILON / 0.05);
}

/* One singular value a decade, the cut between two: 1/s above it, 0 below. A's
 * rounding, some eps s_1, moves X by that times |X|^2 = 1/(least s kept)^2. */
static void test_svd_cuts_hard(void **state)
{
    static const double cuts[] = {6e-7, 1.7e-7, 0.6, 6e-12};
    nb_ctx *ctx = *state;
    for (size_t c = 0; c < 4; c++) {
        char spec[64];
        made t = make(ctx, 13, 1e-12, 2.385);
        snprintf(spec, sizeof spec, "svd(rcond=%g)", cuts[c]);
        double *d = in_singular_basis(ctx, &t, compute(ctx, spec, &t.factors));
        double least = t.s[0];
        for (int j = 0; j < 13 && t.s[j] > cuts[c] * t.s[0]; j++) least = t.s[j];
        for (int j = 0; j < 13; j++) {
            double expected = t.s[j] > cuts[c] * t.s[0] ? 1 / t.s[j] : 0;
            assert_close(d[j + j * 13], expected, 100 * DBL_EPSILON * t.s[0] / (least * least));
        }
    }
}

/* A X A = A, X A X = X, (A X)' = A X, (X A)' = X A for a well conditioned A. */
static void test_svd_fulfils_penrose(void **state)
{
    nb_ctx *ctx = *state;
    enum { M = 20 };
    made t = make(ctx, M, 0.01, 1);
    double *a = t.factors.a, *x = compute(ctx, "svd", &t.factors), *p = nb_alloc_reals(ctx, M, M), *r = nb_alloc_reals(ctx, M, M);
    const double tolerance = 1000 * DBL_EPSILON / 0.01; /* eps times the condition */
    nb_gemm(NB_PLAIN, NB_PLAIN, M, M, M, 1, a, M, x, M, 0, p, M);
    nb_gemm(NB_PLAIN, NB_PLAIN, M, M, M, 1, p, M, a, M, 0, r, M);
    for (int i = 0; i < M * M; i++) assert_close(r[i], a[i], tolerance);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) assert_close(p[i + j * M], p[j + i * M], tolerance);
    nb_gemm(NB_PLAIN, NB_PLAIN, M, M, M, 1, x, M, p, M, 0, r, M);
    for (int i = 0; i < M * M; i++) assert_close(r[i], x[i], tolerance / 0.01);
    nb_gemm(NB_PLAIN, NB_PLAIN, M, M, M, 1, x, M, a, M, 0, p, M);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) assert_close(p[i + j * M], p[j + i * M], tolerance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_iterative_follows_the_scalar_map), test_with_ctx(test_iterative_diverges_openly),
        test_with_ctx(test_iterative_of_zero_is_zero),        test_with_ctx(test_iterative_converges_to_the_inverse),
        test_with_ctx(test_svd_cuts_hard),                    test_with_ctx(test_svd_fulfils_penrose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
