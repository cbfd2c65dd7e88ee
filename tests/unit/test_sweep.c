/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What forty settings of X cost beside one on the same landmarks, counted: the linker
 * leads the calls through this file. Seconds, which the machine decides, are the bench's. */
#include "planning.h"

#include "linalg/linalg.h"
#include "config/config.h"

enum { N = 300 };

static double multiplications; /* of matrix products */
static int svds, passes;       /* over S */

/* The names are the linker's. */
__typeof__(nb_gemm) __real_nb_gemm, __wrap_nb_gemm;
__typeof__(nb_multiply_by_upper) __real_nb_multiply_by_upper, __wrap_nb_multiply_by_upper;
__typeof__(nb_svd) __real_nb_svd, __wrap_nb_svd;
__typeof__(nb_scene_pass) __real_nb_scene_pass, __wrap_nb_scene_pass;

void __wrap_nb_gemm(nb_op op_a, nb_op op_b, int m, int n, int k, double alpha, const double *a, int lda,
                    const double *b, int ldb, double beta, double *c, int ldc)
{
    multiplications += (double)m * n * k;
    __real_nb_gemm(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void __wrap_nb_multiply_by_upper(int m, const double *l, double *x, const double *r)
{
    multiplications += 0.5 * m * m * m * ((l != NULL) + (r != NULL)); /* triangles */
    __real_nb_multiply_by_upper(m, l, x, r);
}

nb_status __wrap_nb_svd(int rows, int cols, const double *a, double *u, double *s, double *vt, nb_ctx *ctx)
{
    svds++;
    return __real_nb_svd(rows, cols, a, u, s, vt, ctx);
}

nb_status __wrap_nb_scene_pass(nb_scene *scene, nb_stripe_fn *each, void *self, nb_ctx *ctx)
{
    passes++;
    return __real_nb_scene_pass(scene, each, self, ctx);
}

/* Runs `cores` on one factor pair of each of two m; the number of rows, all of which must be ok. */
static int run(const char *cores, nb_ctx *ctx)
{
    int done;
    nb_override overrides[] = {{"problems", nb_format(ctx, "gaussian(n=%d, d=8)", N)},
                               {"landmarks", "[16, 48]"},
                               {"strategies", "uniform"},
                               {"factors", "nystromformer"},
                               {"metrics", "[error]"},
                               {"trials", "1"},
                               {"plots", "[]"},
                               {"cores", cores}};
    nb_plan plan = plan_with(sizeof overrides / sizeof *overrides, overrides, ctx);
    multiplications = svds = passes = 0;
    assert_ok(ctx, run_first_scene(&plan, &done, ctx));
    assert_int_equal(done, plan.row_count);
    return done;
}

/* A is decomposed once, M measured once, and a sequence of iterations run through once.
 * The products that forty settings may need more, 20 of them steps: 4 a step, one for
 * each X of a filter, 2.5 to measure each X, and row sums, eight of which are always
 * computed at once. Less, where a cut-off leaves singular values out or X is equal. */
static void test_what_forty_settings_share(void **state)
{
    nb_ctx *ctx = *state;
    double most = 0;
    assert_int_equal(run("svd", ctx), 2);
    double multiplications_of_one = multiplications;
    int svds_of_one = svds;
    assert_true(svds_of_one >= 2);
    assert_int_equal(passes, 1);
    assert_int_equal(
        run("[\"iterative(steps=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20])\", "
            "\"tikhonov(lambda=[1e-2, 1e-4, 1e-6, 1e-8, 1e-10])\","
            "\"svd(rcond=[1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, "
            "1e-15])\"]",
            ctx),
        80);
    for (int m = 16; m <= 48; m += 32) most += (20 * 4 + 19 + 39 * 2.5) * pow(m, 3) + 32.0 * N * m;
    assert_int_equal(svds, svds_of_one);
    assert_int_equal(passes, 1);
    assert_at_most(multiplications - multiplications_of_one, most);
    assert_at_most(0.8 * most, multiplications - multiplications_of_one); /* they are counted */
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_what_forty_settings_share)};
    return run_all(tests);
}
