/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pseudo-inverses, on matrices built from chosen singular values with random
 * orthogonal factors, so that every singular value of X is known. */
#include "testing.h"

#include "cores/core.h"
#include "data/tensor.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/factors_record.h"

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
    x = compute(*state, "svd(rcond=machine)", &f);
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

/* A X A = A, X A X = X, (A X)' = A X, (X A)' = X A. eps times the condition; the
 * second is of the size of X, 1/least. */
static void check_penrose(nb_ctx *ctx, const char *core, const double *a, int m, double least)
{
    const double tolerance = 1000 * DBL_EPSILON / least;
    nb_factors factors = {.m = m, .a = (double *)a, .ctx = nb_ctx_child(ctx)};
    double *x = compute(ctx, core, &factors), *p = nb_alloc_reals(ctx, (size_t)m, (size_t)m),
           *r = nb_alloc_reals(ctx, (size_t)m, (size_t)m);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, a, m, x, m, 0, p, m);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, p, m, a, m, 0, r, m);
    for (int i = 0; i < m * m; i++) assert_close(r[i], a[i], tolerance);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) assert_close(p[i + j * m], p[j + i * m], tolerance);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, x, m, p, m, 0, r, m);
    for (int i = 0; i < m * m; i++) assert_close(r[i], x[i], tolerance / least);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, x, m, a, m, 0, p, m);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) assert_close(p[i + j * m], p[j + i * m], tolerance);
}

/* All that end in the pseudo-inverse of a well conditioned A, and of one of rank 12 of 20
 * the one that is exact there: the iterations let rounding outside of the range grow. */
static void test_exact_cores_fulfil_penrose(void **state)
{
    static const char *const exact[] = {"svd(rcond=machine)",
                                        "svd(rcond=machine, rank=20)",
                                        "truncated_qr(rcond=machine)",
                                        "tikhonov(lambda=0)",
                                        "iterative(steps=30)",
                                        "newton_schulz(steps=40)",
                                        "hyperpower(order=2, steps=40)",
                                        "hyperpower(order=9, steps=15)",
                                        "chebyshev(steps=30)"};
    enum { M = 20, RANK = 12 };
    nb_ctx *ctx = *state;
    made t = make(ctx, M, 0.01, 1);
    double *a = nb_alloc_reals(ctx, M, M);
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) check_penrose(ctx, exact[i], t.factors.a, M, 0.01);
    for (int r = 0; r < RANK; r++)
        for (int j = 0; j < M; j++)
            for (int i = 0; i < M; i++) a[i + j * M] += t.s[r] * t.u[i + r * M] * t.v[j + r * M];
    check_penrose(ctx, "svd(rcond=1e-10)", a, M, t.s[RANK - 1]);
    check_penrose(ctx, "svd(rcond=machine, rank=12)", a, M, t.s[RANK - 1]);
}

/* What each iteration is on y = s x, how far a small y grows in a step, and where it
 * converges. */
typedef struct {
    const char *spec;
    double (*map)(double y, double growth);
    double growth, region, eps;
} variant;

static double newton(double y, double growth)
{
    (void)growth;
    return y * (2 - y);
}
static double power(double y, double growth)
{
    return -expm1(growth * log1p(-y)); /* 1 - (1 - y)^p without cancellation, y <= 1 */
}
static double damped(double y, double growth)
{
    (void)growth;
    return y * (3 - y) / 2;
}
static double one_step(double y, double growth)
{
    (void)growth;
    return scalar_map(y, 1);
}

#define HYPERPOWER(p) \
    { \
        "hyperpower(order=" #p ", ", power, p, 2, DBL_EPSILON \
    }
enum { OF_ORDER = 10 }; /* those whose order is their growth come first */
static const variant variants[] = {{"newton_schulz(", newton, 2, 2, DBL_EPSILON},
                                   {"chebyshev(", power, 3, 2, DBL_EPSILON},
                                   HYPERPOWER(2),
                                   HYPERPOWER(3),
                                   HYPERPOWER(4),
                                   HYPERPOWER(5),
                                   HYPERPOWER(6),
                                   HYPERPOWER(7),
                                   HYPERPOWER(8),
                                   HYPERPOWER(9),
                                   {"damped_newton(", damped, 1.5, 3, DBL_EPSILON},
                                   {"iterative(", one_step, 3.25, 3, DBL_EPSILON},
                                   {"iterative(precision=float, ", one_step, 3.25, 3, FLT_EPSILON}};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Rounding as in check_iterative. */
static void test_iterations_follow_their_maps(void **state)
{
    static const char *const starts[] = {"paper", "exact", "worst", "given, scale=7.5"};
    nb_ctx *ctx = *state;
    for (int v = 0; v < VARIANTS; v++)
        for (int s = 0; s < 4; s++)
            for (int steps = 0; steps <= 8; steps += 4) {
                enum { M = 9 };
                made t = make(ctx, M, 1e-12, 1.3);
                double one = nb_norm_one(M, M, t.factors.a),
                       divisors[] = {one * nb_norm_infinity(M, M, t.factors.a), one, M, 7.5};
                const char *spec = nb_format(ctx, "%ssteps=%d, start=%s)", variants[v].spec, steps, starts[s]);
                double *d = in_singular_basis(ctx, &t, compute(ctx, spec, &t.factors));
                double tolerance = 100 * M * variants[v].eps * pow(variants[v].growth, steps) * t.s[0] / divisors[s];
                for (int j = 0; j < M; j++) {
                    double y = t.s[j] * t.s[j] / divisors[s];
                    for (int k = 0; k < steps; k++) y = variants[v].map(y, variants[v].growth);
                    for (int i = 0; i < M; i++) assert_close(d[i + j * M], i == j ? y / t.s[j] : 0, tolerance);
                }
            }
}

/* e = 1 - s x of a 1 x 1 matrix after `steps` steps from e = 0.4. */
static double left(nb_ctx *ctx, const char *spec, int steps)
{
    double a[1] = {0.6};
    nb_factors f = {.m = 1, .a = a, .ctx = nb_ctx_child(ctx)};
    return 1 - 0.6 * compute(ctx, nb_format(ctx, "%ssteps=%d, start=given, scale=0.6)", spec, steps), &f)[0];
}

/* y_0 = 0.6: e <- e^p for orders 2 to 9, e/2 + e^2/2 for the slip, 3/4 e^3 + e^4/4
 * for Nystromformer's. */
static void test_orders_of_convergence(void **state)
{
    nb_ctx *ctx = *state;
    for (int v = 0; v < OF_ORDER; v++)
        assert_close(log(left(ctx, variants[v].spec, 1)) / log(0.4), variants[v].growth, 1e-11);
    assert_close(log(left(ctx, "newton_schulz(", 3)) / log(0.4), 8, 1e-9);
    double e = left(ctx, "damped_newton(", 12), next = left(ctx, "damped_newton(", 13);
    assert_close(next / e, 0.5 + e / 2, 1e-10);
    e = left(ctx, "iterative(", 1);
    assert_close(left(ctx, "iterative(", 2), 0.75 * pow(e, 3) + 0.25 * pow(e, 4), 1e-15);
}

/* Just inside of the region all converge, just outside none, and it is said at once. */
static void test_divergence_is_told(void **state)
{
    nb_ctx *ctx = *state;
    for (int v = 0; v < VARIANTS; v++)
        for (int outside = 0; outside < 2; outside++) {
            made t = make(ctx, 4, 0.5, 10);
            double scale = t.s[0] * t.s[0] / variants[v].region * (outside ? 1 - 1e-6 : 1.01);
            const char *spec =
                nb_format(ctx, "%ssteps=%d, start=given, scale=%.17g)", variants[v].spec, outside ? 1 : 2000, scale);
            double *x = compute(ctx, spec, &t.factors);
            assert_int_equal(nb_all_finite(16, x), !outside);
            assert_int_equal(!t.factors.notes.diverged, !outside);
            if (outside) tell(variants[v].spec, t.factors.notes.diverged);
            if (outside) continue;
            double *d = in_singular_basis(ctx, &t, x);
            for (int j = 0; j < 4; j++) assert_close(d[j + 4 * j] * t.s[j], 1, 1e6 * variants[v].eps);
        }
}

/* Iterates that are there already are gone on from, with the bits of a fresh start. */
static void test_iterates_are_shared(void **state)
{
    static const int asked[] = {3, 7, 7, 5, 12, 0};
    nb_ctx *ctx = *state;
    made t = make(ctx, 10, 1e-3, 1);
    for (int i = 0; i < 6; i++) {
        made fresh = make(ctx, 10, 1e-3, 1);
        const char *spec = nb_format(ctx, "iterative(steps=%d)", asked[i]);
        double *x = compute(ctx, spec, &t.factors), *expected = compute(ctx, spec, &fresh.factors);
        assert_memory_equal(x, expected, 100 * sizeof *x);
        x = compute(ctx, nb_format(ctx, "iterative(steps=%d, precision=float)", asked[i]), &t.factors);
        assert_close(x[0], expected[0], 1e-5 * nb_frobenius(100, expected)); /* eps of float, some ten products */
        assert_true(asked[i] == 0 || x[0] != expected[0]);
    }
    double *ended = compute(ctx, "iterative(steps=100, tolerance=1e-6)", &t.factors),
           *exact = compute(ctx, "svd(rcond=machine)", &t.factors);
    for (int i = 0; i < 100; i++) assert_close(ended[i], exact[i], 1e-6 * nb_frobenius(100, exact));
}

static void test_tikhonov(void **state)
{
    nb_ctx *ctx = *state;
    made t = make(ctx, 13, 1e-12, 2.385);
    double *d = in_singular_basis(ctx, &t, compute(ctx, "tikhonov(lambda=1e-8)", &t.factors));
    double lambda = 1e-8 * t.s[0] * t.s[0];
    for (int j = 0; j < 13; j++) /* |X| is at most 1 / (2 sqrt(lambda)), rounding of A moves it by eps s_1 |X|^2 */
        assert_close(d[j + j * 13], t.s[j] / (t.s[j] * t.s[j] + lambda), 100 * DBL_EPSILON * t.s[0] / (4 * lambda));
}

/* out = a x, m x m. */
static double *product(nb_ctx *ctx, int m, const double *a, const double *x)
{
    double *out = nb_alloc_reals(ctx, (size_t)m, (size_t)m);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, a, m, x, m, 0, out, m);
    return out;
}

/* Regular: the inverse. Of rank 5: A X A = A and X A X = X, though X is no pseudo-inverse. */
static void test_truncated_qr(void **state)
{
    enum { M = 12 };
    nb_ctx *ctx = *state;
    made t = make(ctx, M, 0.01, 1);
    double *ax = product(ctx, M, t.factors.a, compute(ctx, "truncated_qr(rcond=machine)", &t.factors));
    for (int i = 0; i < M * M; i++) assert_close(ax[i], i % (M + 1) == 0, 1000 * DBL_EPSILON / 0.01);
    for (int j = 5; j < M; j++) memcpy(t.factors.a + j * M, t.factors.a + (j - 5) * M, M * sizeof(double));
    double *x = compute(ctx, "truncated_qr(rcond=1e-10)", &t.factors);
    double *axa = product(ctx, M, product(ctx, M, t.factors.a, x), t.factors.a),
           *xax = product(ctx, M, product(ctx, M, x, t.factors.a), x);
    for (int i = 0; i < M * M; i++) {
        assert_close(axa[i], t.factors.a[i], 1000 * DBL_EPSILON / 0.01);
        assert_close(xax[i], x[i], 1e5 * DBL_EPSILON / 0.01);
    }
}

/* A row-stochastic with positive eigenvalues: (A + gamma I) X = I, and the iteration comes to it. */
static void test_shifted(void **state)
{
    nb_ctx *ctx = *state;
    double a[9] = {0.8, 0.1, 0.2, 0.1, 0.7, 0.1, 0.1, 0.2, 0.7}, shifted[9];
    nb_factors f = {.m = 3, .a = a, .ctx = nb_ctx_child(ctx)};
    memcpy(shifted, a, sizeof a);
    for (int i = 0; i < 3; i++) shifted[4 * i] += 0.1;
    double *x = compute(ctx, "shifted(gamma=0.1)", &f), *iterated = compute(ctx, "shifted(gamma=0.1, steps=30)", &f),
           *p = product(ctx, 3, shifted, x);
    for (int i = 0; i < 9; i++) {
        assert_close(p[i], i % 4 == 0, 1e-14);
        assert_close(iterated[i], x[i], 1e-13);
    }
    for (int i = 0; i < 9; i++) a[i] = i % 4 == 0 ? 1 : 0;
    x = compute(ctx, "shifted(gamma=0)", &f);
    for (int i = 0; i < 9; i++) assert_close(x[i], i % 4 == 0, 0);
    a[0] = -1; /* a row sum that is not positive */
    nb_choice exact = choose(&nb_cores, "shifted(gamma=0.1)", ctx),
              steps = choose(&nb_cores, "shifted(gamma=0.1, steps=6)", ctx);
    assert_null(((const nb_core *)exact.component)->refusal(&f, exact.options));
    tell("steps=6, a row sum of -1", ((const nb_core *)steps.component)->refusal(&f, steps.options));
    x = compute(ctx, "shifted(gamma=0.1)", &f);
    for (int i = 0; i < 9; i++) assert_close(x[i], i == 0 ? -1 / 0.9 : i % 4 == 0 ? 1 / 1.1 : 0, 1e-15);
    x = compute(ctx, "shifted(gamma=1)", &f);
    assert_false(nb_all_finite(9, x));
    tell("gamma=1, an eigenvalue of -1", f.notes.diverged);
}

/* N = H diag(s) H, H a reflection whose first column h is positive and s_1 = 1, so N h = h:
 * A + gamma I = D^1/2 N D^1/2 with D = diag(h)^2 has the row sums D. The steps act on N. */
static void test_shifted_steps_follow_the_map(void **state)
{
    enum { M = 6 };
    static const double s[M] = {1, 0.7, 0.3, 0.1, 0.01, 1e-4};
    nb_ctx *ctx = *state;
    double h[M * M], n[M * M] = {0}, shifted[M * M], norm = 0, inner, c;
    for (int i = 0; i < M; i++) norm += (i + 1) * (i + 1);
    for (int i = 0; i < M; i++) h[i] = (i + 1) / sqrt(norm); /* the first column */
    inner = 1 - h[0];
    for (int j = 1; j < M; j++) /* I - w w' / inner, w = e_1 - h */
        for (int i = 0; i < M; i++) h[i + j * M] = (i == j) - (i == 0 ? h[0] - 1 : h[i]) * h[j] / inner;
    for (int k = 0; k < M; k++)
        for (int j = 0; j < M; j++)
            for (int i = 0; i < M; i++) n[i + j * M] += h[i + k * M] * s[k] * h[j + k * M];
    c = nb_norm_one(M, M, n);
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++) shifted[i + j * M] = h[i] * n[i + j * M] * h[j] - 0.2 * (i == j);
    for (int steps = 0; steps <= 9; steps += 3) {
        nb_factors f = {.m = M, .a = shifted, .ctx = nb_ctx_child(ctx)};
        double *x = compute(ctx, nb_format(ctx, "shifted(gamma=0.2, steps=%d)", steps), &f), left[M * M], d[M * M];
        for (int j = 0; j < M; j++)
            for (int i = 0; i < M; i++) x[i + j * M] *= h[i] * h[j];
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, M, M, M, 1, h, M, x, M, 0, left, M);
        nb_gemm(NB_PLAIN, NB_PLAIN, M, M, M, 1, left, M, h, M, 0, d, M);
        for (int j = 0; j < M; j++) /* rounding as in check_iterative; D's condition is 36 */
            for (int i = 0; i < M; i++)
                assert_close(d[i + j * M], i == j ? scalar_map(s[j] * s[j] / c, steps) / s[j] : 0,
                             36 * 100 * M * DBL_EPSILON * pow(3.25, steps) / c);
    }
}

/* Of a matrix of rank 4 and noise of 1e-6, the four are kept: trace(A X) = 4. */
static void test_gcv_finds_the_rank(void **state)
{
    enum { M = 20 };
    nb_ctx *ctx = *state;
    made t = make(ctx, M, 0.5, 1);
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++) {
            double sum = 0;
            for (int k = 0; k < M; k++) sum += t.u[i + k * M] * (k < 4 ? 1 : 1e-6) * t.v[j + k * M];
            t.factors.a[i + j * M] = sum;
        }
    double *ax = product(ctx, M, t.factors.a, compute(ctx, "gcv", &t.factors)), trace = 0;
    for (int i = 0; i < M; i++) trace += ax[i + i * M];
    assert_close(trace, 4, 1e-12);
}

/* Every core of A alone: zero gives zero (but for what is shifted), a number its
 * inverse where it is one, repeated and single rows nothing that is not finite, NaN
 * is refused with its place. */
static void test_odd_matrices(void **state)
{
    nb_ctx *ctx = *state;
    for (const nb_entry *e = nb_cores.entries; e->component; e++) {
        const nb_core *core = (const nb_core *)e->component;
        double zero[9] = {0}, number[1] = {4}, same[9] = {0.2, 0.2, 0.2, 0.3, 0.3, 0.3, 0.5, 0.5, 0.5},
               bad[4] = {1, 2, 3, NAN}, x[9];
        if (core->traits & (NB_CORE_RANDOM | NB_CORE_ORACLE | NB_CORE_IDENTITY)) continue;
        nb_choice choice = choose(&nb_cores, e->component->name, ctx);
        nb_factors f = {.m = 3, .a = zero, .ctx = nb_ctx_child(ctx)};
        bool shifts = strcmp(e->component->name, "shifted") == 0;
        assert_ok(ctx, core->compute(&f, choice.options, x, ctx));
        for (int i = 0; i < 9; i++) assert_true(shifts ? isfinite(x[i]) : x[i] == 0);
        f = (nb_factors){.m = 1, .a = number, .ctx = nb_ctx_child(ctx)};
        assert_ok(ctx, core->compute(&f, choice.options, x, ctx));
        assert_close(x[0], shifts ? 1 / 4.1 : 0.25, 0.25e-3); /* Tikhonov's lambda */
        f = (nb_factors){.m = 3, .a = same, .ctx = nb_ctx_child(ctx)};
        assert_ok(ctx, core->compute(&f, choice.options, x, ctx));
        double *axa = product(ctx, 3, product(ctx, 3, same, x), same);
        for (int i = 0; i < 9 && !shifts; i++) assert_close(axa[i], same[i], 0.05); /* six steps are no inverse yet */
        f = (nb_factors){.m = 2, .a = bad, .ctx = nb_ctx_child(ctx)};
        assert_int_equal(core->compute(&f, choice.options, x, ctx), NB_ENUMERIC);
        if (strcmp(e->component->name, "svd") == 0) tell("svd", nb_error_message(ctx));
        nb_error_clear(ctx);
    }
}

/* What is said to be inverted by half is: a 2 x 2 matrix with that singular value. */
static void test_cutoffs(void **state)
{
    static const char *const specs[] = {"iterative(steps=6)",
                                        "iterative(steps=20)",
                                        "iterative(steps=0, start=worst)",
                                        "newton_schulz(steps=9)",
                                        "chebyshev(steps=4, start=exact)",
                                        "hyperpower(order=7, steps=3)",
                                        "damped_newton(steps=12)",
                                        "tikhonov(lambda=1e-5)"};
    nb_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        double a[4] = {1, 0, 0, 1e-3}, at;
        for (int again = 0; again < 3; again++) { /* the norms, and so the divisor, depend on a little */
            nb_factors f = {.m = 2, .a = a, .ctx = nb_ctx_child(ctx)};
            compute(ctx, specs[i], &f);
            at = f.notes.cutoff;
            if (at <= 1) a[3] = at;
        }
        nb_factors f = {.m = 2, .a = a, .ctx = nb_ctx_child(ctx)};
        double *x = compute(ctx, specs[i], &f);
        if (at <= 1)
            assert_close(a[3] * x[3], 0.5, 1e-9);
        else
            assert_at_most(x[0], 0.5); /* not even the largest */
    }
    made t = make(ctx, 13, 1e-12, 2.385);
    compute(ctx, "svd(rcond=machine, rank=4)", &t.factors);
    assert_close(t.factors.notes.cutoff / 1e-4, 1, 1e-9);
    compute(ctx, "svd(rank=4, rcond=1e-3)", &t.factors);
    assert_close(t.factors.notes.cutoff, 1e-3, 0);
    compute(ctx, "svd(rcond=machine)", &t.factors);
    assert_close(t.factors.notes.cutoff, 13 * DBL_EPSILON, 0);
    compute(ctx, "svd(rank=13)", &t.factors);
    assert_close(t.factors.notes.cutoff, 0.03, 0);
    compute(ctx, "tikhonov", &t.factors);
    assert_close(t.factors.notes.cutoff, sqrt(0.001), 0);
    double *d = in_singular_basis(ctx, &t, compute(ctx, "gcv", &t.factors));
    int kept = 0;
    while (kept < 13 && fabs(d[kept + 13 * kept] * t.s[kept] - 1) < 1e-3)
        kept++; /* else 0; rounding of A is 1e-16 of s_1 */
    assert_in_range(kept, 1, 12);
    assert_close(t.factors.notes.cutoff / (t.s[kept] / t.s[0]), 1, 1e-3);
}

/* Where a tolerance ends the steps, X and its cut-off are those of the steps that were
 * made; asked again, too, and with another tolerance. */
static void test_the_cutoff_after_a_tolerance(void **state)
{
    static const char *const precisions[] = {"double", "float"};
    static const double tolerances[] = {0.1, 0.001, 0.1};
    nb_ctx *ctx = *state;
    for (int p = 0; p < 2; p++) {
        made t = make(ctx, 10, 0.1, 1);
        int before[3];
        compute(ctx, nb_format(ctx, "iterative(steps=2, tolerance=0.1, precision=%s)", precisions[p]),
                &t.factors); /* not in the others' way */
        for (int k = 0; k < 3; k++) {
            double *ended = compute(
                ctx, nb_format(ctx, "iterative(steps=50, tolerance=%g, precision=%s)", tolerances[k], precisions[p]),
                &t.factors);
            double cutoff = t.factors.notes.cutoff;
            int steps = 0;
            while (steps < 50 &&
                   memcmp(ended,
                          compute(ctx, nb_format(ctx, "iterative(steps=%d, precision=%s)", steps, precisions[p]),
                                  &t.factors),
                          100 * sizeof *ended) != 0)
                steps++;
            assert_in_range(steps, 1, 49);
            assert_close(t.factors.notes.cutoff, cutoff, 0);
            before[k] = steps;
        }
        assert_true(2 < before[0] && before[0] < before[1] && before[0] == before[2]);
        compute(ctx, nb_format(ctx, "iterative(steps=2, tolerance=0.1, precision=%s)", precisions[p]), &t.factors);
        double two = t.factors.notes.cutoff;
        compute(ctx, nb_format(ctx, "iterative(steps=2, precision=%s)", precisions[p]), &t.factors);
        assert_close(t.factors.notes.cutoff, two, 0);
    }
}

/* tests/golden/huggingface-NAME.npy, whose origin is tests/oracle/golden/huggingface.py. */
static double *golden(nb_ctx *ctx, const char *name, int count)
{
    nb_tensor tensor;
    const char *path = nb_format(ctx, "tests/golden/huggingface-%s.npy", name);
    double *values = nb_alloc_reals(ctx, (size_t)count, 1);
    assert_ok(ctx, nb_npy_open(path, &tensor, ctx));
    assert_ok(ctx, nb_tensor_read_reals(path, &tensor, 0, count, values, ctx));
    return values;
}

/* Three heads of one layer, whose start the largest column sum of all of them
 * divides: Hugging Face's X to the last digits. Arrays there are row-major: A' here. */
static void test_the_official_start(void **state)
{
    enum { HEADS = 3, M = 12 };
    nb_ctx *ctx = *state;
    double *a = golden(ctx, "a", HEADS * M * M), *x = golden(ctx, "x", HEADS * M * M),
           scale = golden(ctx, "scale", 1)[0];
    const char *spec = nb_format(ctx, "iterative(steps=6, start=given, scale=%.17g)", scale);
    for (int h = 0; h < HEADS; h++) {
        double by_columns[M * M];
        nb_transpose(M, M, a + h * M * M, by_columns);
        nb_factors f = {.m = M, .a = by_columns, .ctx = nb_ctx_child(ctx)};
        double *got = compute(ctx, spec, &f);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < M; j++)
                assert_close(got[i + j * M], x[(h * M + i) * M + j], 1e-12 * nb_frobenius(M * M, got));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_iterative_follows_the_scalar_map),
        test_with_ctx(test_iterative_diverges_openly),
        test_with_ctx(test_iterative_of_zero_is_zero),
        test_with_ctx(test_iterative_converges_to_the_inverse),
        test_with_ctx(test_svd_cuts_hard),
        test_with_ctx(test_exact_cores_fulfil_penrose),
        test_with_ctx(test_iterations_follow_their_maps),
        test_with_ctx(test_orders_of_convergence),
        test_with_ctx(test_divergence_is_told),
        test_with_ctx(test_iterates_are_shared),
        test_with_ctx(test_tikhonov),
        test_with_ctx(test_truncated_qr),
        test_with_ctx(test_shifted),
        test_with_ctx(test_gcv_finds_the_rank),
        test_with_ctx(test_shifted_steps_follow_the_map),
        test_with_ctx(test_odd_matrices),
        test_with_ctx(test_the_official_start),
        test_with_ctx(test_cutoffs),
        test_with_ctx(test_the_cutoff_after_a_tolerance),
    };
    return run_all(tests);
}
