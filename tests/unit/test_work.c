/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counted multiplications against closed forms: of products m n k, of decompositions half of the flops that Golub & Van
 * Loan, Matrix Computations, 4th ed. 2013, have for them (R-SVD: fig. 8.6.1; symmetric QR: sec. 8.3.5; QR and its Q:
 * sec. 5.2.2 and 5.1.6), of strategies by their algorithms, written down here for n points of dimension p. */
#include "scenes.h"

#include "linalg/basis.h"
#include "linalg/distances.h"
#include "linalg/linalg.h"
#include "linalg/pivoting.h"
#include "linalg/work.h"
#include "nystrom/row_sample.h"

#include <gsl/gsl_randist.h>

enum { N = 40, D = 5, M = 7, P = 2 * D }; /* joint: a token's [q; k] */

static double *random_matrix(nb_ctx *ctx, int rows, int cols)
{
    gsl_rng *rng;
    double *a = nb_alloc_reals(ctx, (size_t)rows, (size_t)cols);
    assert_non_null(a);
    assert_ok(ctx, nb_random_new(&rng, ctx));
    gsl_rng_set(rng, 11);
    for (int i = 0; i < rows * cols; i++) a[i] = gsl_ran_gaussian(rng, 1);
    return a;
}

static double counted(uint64_t *since)
{
    double count = (double)(nb_multiplications() - *since);
    *since = nb_multiplications();
    return count;
}

static void test_products(void **state)
{
    nb_ctx *ctx = *state;
    double *a = random_matrix(ctx, 9, 9), *b = random_matrix(ctx, 9, 9), *c = random_matrix(ctx, 9, 9);
    float x[12] = {1}, y[12] = {1}, z[12] = {0};
    uint64_t since = nb_multiplications();
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, 3, 4, 5, 1, a, 9, b, 9, 0, c, 9);
    assert_close(counted(&since), 3 * 4 * 5, 0);
    nb_gemm_single(NB_PLAIN, NB_PLAIN, 2, 3, 4, 1, x, 2, y, 4, 0, z, 2);
    assert_close(counted(&since), 2 * 3 * 4, 0);
    nb_gemv(NB_TRANSPOSED, 3, 7, 1, a, 9, b, 0, c);
    assert_close(counted(&since), 3 * 7, 0);
    nb_multiply_by_upper(4, a, c, b);
    assert_close(counted(&since), 4 * 4 * 4, 0);
    nb_multiply_by_upper(4, a, c, NULL);
    assert_close(counted(&since), 4 * 4 * 4 / 2, 0);
    nb_normalise_columns(3, 5, a, c);
    assert_close(counted(&since), 2 * 3 * 5, 0);
}

static void test_decompositions(void **state)
{
    enum { ROWS = 30, COLS = 6 };
    nb_ctx *ctx = *state;
    double *a = random_matrix(ctx, ROWS, COLS), *u = random_matrix(ctx, ROWS, ROWS),
           *q = random_matrix(ctx, ROWS, ROWS), *r = random_matrix(ctx, ROWS, ROWS), s[ROWS], median, m = COLS,
           n = ROWS;
    int rank;
    uint64_t since = nb_multiplications();
    assert_ok(ctx, nb_svd(ROWS, COLS, a, u, s, r, ctx));
    assert_close(counted(&since), 3 * n * m * m + 10 * m * m * m, 0);
    assert_ok(ctx, nb_svd(COLS, ROWS, a, u, s, r, ctx));
    assert_close(counted(&since), 3 * n * m * m + 10 * m * m * m, 0);
    assert_ok(ctx, nb_svd(ROWS, COLS, a, NULL, s, NULL, ctx));
    assert_close(counted(&since), n * m * m + m * m * m, 0);
    assert_ok(ctx, nb_symmetric_eigen(COLS, q, s, ctx));
    assert_close(counted(&since), 4.5 * m * m * m, 0);
    assert_ok(ctx, nb_median_distance(COLS, ROWS, a, ROWS, a, &median, ctx));
    assert_close(counted(&since), n * (n - 1) * m, 0);
    assert_ok(ctx, nb_range_basis(ROWS, COLS, a, q, &rank, ctx)); /* QR with Q, the SVD of R, and their product */
    assert_int_equal(rank, COLS);
    assert_close(counted(&since), 2 * (n - m / 3) * m * m + 13 * m * m * m + n * m * m, 0);
    assert_ok(ctx, nb_orthonormalise(NB_COLUMNS, ROWS, COLS, a, r, &rank, ctx)); /* two rounds, and triangles */
    assert_close(counted(&since), 2 * n * m * m + 4 * m * m * m / 6, 0);
    double positive[4] = {2, 1, 1, 2}, x[6] = {1, 2, 3, 4, 5, 6};
    assert_ok(ctx, nb_solve_positive(2, positive, 3, x, ctx));
    assert_close(counted(&since), round(8 / 6.0 + 4 * 3), 0);
    assert_ok(ctx, nb_invert_positive(2, (double[]){2, 1, 1, 2}, ctx));
    assert_close(counted(&since), 4, 0);
}

/* The columns' norms; for each pivot but the last what is left of it, in two rounds, its norm and the division by that,
 * and the products with all columns and their squares. These are not needed where the pivots are a basis. */
static void test_pivots(void **state)
{
    enum { ROWS = 30, COLS = 9, PIVOTS = 3 };
    nb_ctx *ctx = *state;
    nb_pivoting p;
    int pivots[COLS];
    double *a = random_matrix(ctx, ROWS, COLS), rank = 0 + 1;
    uint64_t since = nb_multiplications();
    assert_ok(ctx, nb_pivoting_init(&p, ROWS, COLS, a, false, PIVOTS, ctx));
    assert_int_equal(nb_pivoting_run(&p, PIVOTS, pivots), PIVOTS);
    assert_close(counted(&since), ROWS * COLS + 4 * ROWS * rank + (PIVOTS - 1) * (2 * ROWS + ROWS * COLS + COLS), 0);
    assert_ok(ctx, nb_pivoting_init(&p, PIVOTS, COLS, a, false, COLS, ctx));
    assert_int_equal(nb_pivoting_run(&p, COLS, pivots), PIVOTS);
    rank = 0 + 1 + 2;
    assert_close(counted(&since),
                 PIVOTS * COLS + 4 * PIVOTS * rank + PIVOTS * 2 * PIVOTS + (PIVOTS - 1) * (PIVOTS * COLS + COLS), 0);
    for (int j = 0; j < COLS; j++) assert_true(p.residual[j] == 0);
}

/* A count does not depend on what was counted before, as it would to rounding among reals. */
static void test_history(void **state)
{
    (void)state;
    uint64_t since = nb_multiplications();
    nb_count_multiplications(3e18);
    nb_count_multiplications(3.4);
    assert_true(nb_multiplications() - since == 3000000000000000003);
    since = nb_multiplications();
    nb_count_multiplications(2.5);
    nb_count_multiplications(0);
    assert_true(nb_multiplications() - since == 3);
}

static nb_landmarks pick(nb_ctx *ctx, const fixture *f, const char *strategy, int m, nb_pairing pairing)
{
    nb_choice choice = choose(&nb_strategies, strategy, ctx);
    nb_stream stream = {.seed = 7, .component = choice.canonical};
    nb_landmarks out;
    assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f->scene, &choice, m, pairing, stream, f->rng}, &out, ctx));
    assert_null(out.refusal);
    return out;
}

enum { ROWS = 8 }; /* of S, and as many columns: two sides */

/* Of m vectors of length N: Cholesky QR in two rounds, the SVD of its triangle, and a product. `triangles`: two
 * Cholesky factors, their product and, for vectors by columns, an inverse. */
static double singular_vectors(int m, int triangles)
{
    return 2.0 * N * m * m + triangles * round(m * m * m / 6.0) + 13.0 * m * m * m + N * m * m;
}

static double sum_below(int m) /* 0 + 1 + ... + m - 1 */
{
    return m * (m - 1) / 2.0;
}

/* So many points are chosen by distance: the norms of all about their mean, of each but the first its own, and a
 * distance, or a bound of it, from all to each. */
static double cover(int chosen)
{
    return N * P + chosen * N * P + (chosen > 1 ? chosen - 1 : 0) * P;
}

/* Lloyd's iteration once: bounds of all distances and the centres' norms, if the groups are not known from drawing
 * these apart; the means. */
static double lloyd(bool known)
{
    return (known ? 0 : M * N * P + M * P) + M * P;
}

static void test_strategies(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    const double column = N * P, svd = singular_vectors(P, 3);
    const struct {
        const char *spec;
        double count;
    } known[] = {
        {"uniform", 0},
        {"uniform(strided=true)", 0},
        {"segment_means", 0},
        {"group_means", 0},
        {"context", 2 * N * D}, /* a product with the mean for each side */
        {"farthest_point", cover(M - 1)},
        {"farthest_point(start=central)", column + cover(M - 1)},
        {"dsquared", cover(M - 1)},
        {"orthogonal", (2 + M) * column},     /* unit vectors, their norms, and the cosines to those before */
        {"leverage(of=points)", svd + N * P}, /* and the squares of P vectors */
        {"leverage(of=gram)", svd + N * M},
        {"ridge_leverage(of=gram)", svd + 2 * N * P},
        {"kmeans(init=random, iterations=1)", cover(0) + lloyd(false)},
        /* and the distances from the means of each run, and the means of the best one */
        {"kmeans(init=random, iterations=1, restarts=3)", cover(0) + 3 * (lloyd(false) + N * P) + M * P},
        {"kmeans(iterations=1)", cover(M) + lloyd(true)},
        {"kmeans(iterations=1, snap=nearest)", cover(M) + lloyd(true) + column + M * (column + P)},
        /* the longest point, the diagonal, a column for each pivot, less what is known, and its scale and squares */
        /* entries; norms, shares and pivots (test_pivots); singular vectors and their squares */
        {"cpqr(rows=16)",
         2 * (16 * N * D + 16 * N + M * N + 4 * 16 * sum_below(M - 1) + (M - 1) * (2 * 16 + 16 * N + N))},
        /* columns of S lie side by side, its rows not */
        {"leverage(rows=8)", 2 * (ROWS * N * D + N * M) + singular_vectors(ROWS, 3) + singular_vectors(ROWS, 4)},
        {"ridge_leverage(of=kernel, rows=8)",
         2 * (ROWS * N * D + 2 * N * ROWS) + singular_vectors(ROWS, 3) + singular_vectors(ROWS, 4)},
        {"pilot(rows=8)", 8 * N * D + 2 * 8 * N}, /* rows of S, and their entries' squares, weighted */
        {"pilot(rows=8, of=sum, values=true)", 8 * N * D + 8 * N + N * D},
        /* the last pivot is not eliminated */
        {"rpcholesky", 2 * column + (M - 1) * column + N * sum_below(M - 1) + 2 * N * (M - 1)},
        {"greedy_cholesky(of=gram)", column + M * column + N * sum_below(M) + 2 * N * M},
        {"greedy_cholesky(of=gauss)", N * (N - 1) * P + column + M * column + N * sum_below(M) + 2 * N * M},
        /* K, its eigenvectors, the diagonal of V V', and its Cholesky factorization */
        {"kdpp(of=gram)", N * column + 4.5 * N * N * N + N * M + M * N * M + N * sum_below(M) + 2 * N * M},
    };
    open_scene(ctx, &f, make_head("gaussian(n=40, d=5)", 0, 0, ctx), "softmax");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        nb_landmarks all = pick(ctx, &f, known[i].spec, M, NB_JOINT), l = nb_landmarks_first(&all, M);
        if (l.multiplications != known[i].count)
            fail_msg("%s: %.17g multiplications, expected %.17g", known[i].spec, l.multiplications, known[i].count);
        assert_true(all.multiplications >= l.multiplications);
    }
}

/* Both sides are added up, and the first m of a nested strategy's have the count of m alone, on any scene. */
static void test_sides_and_nesting(void **state)
{
    static const char *const nested[] = {
        "farthest_point", "dsquared",        "orthogonal",    "rpcholesky(block=3)",
        "uniform",        "greedy_cholesky", "cpqr(rows=16)", "rpcholesky(block=5, accelerated=true)"};
    nb_ctx *ctx = *state;
    fixture f, fresh;
    open_scene(ctx, &f, make_head("gaussian(n=40, d=5)", 0, 0, ctx), "softmax");
    nb_landmarks both = pick(ctx, &f, "farthest_point", M, NB_INDEPENDENT);
    assert_close(nb_landmarks_first(&both, M).multiplications, 2 * (M * N * D + (M - 2) * D), 0);
    both = pick(ctx, &f, "farthest_point", M, NB_SHARED);
    assert_close(nb_landmarks_first(&both, M).multiplications, M * 2 * N * D + (M - 2) * D, 0);
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
        nb_landmarks all = pick(ctx, &f, nested[i], N, NB_JOINT);
        for (int m = 1; m <= N; m += 3) {
            open_scene(ctx, &fresh, f.head, "softmax");
            nb_landmarks some = pick(ctx, &fresh, nested[i], m, NB_JOINT);
            assert_close(nb_landmarks_first(&all, m).multiplications, nb_landmarks_first(&some, m).multiplications, 0);
        }
    }
}

static const char *with_options(nb_ctx *ctx, const nb_component *c)
{
    return strcmp(c->name, "command") == 0   ? "command(run=true)"
           : strcmp(c->name, "learned") == 0 ? "learned(weights=w.npy)"
           : strcmp(c->name, "kept") == 0    ? "kept(landmarks_from=w.npy)"
           : nb_component_of_caller(c)       ? nb_format(ctx, "%s(id=1)", c->name)
                                             : spec_of(c);
}

/* Of the strategies in the tree all are counted but oracles, and what works elsewhere; also within others. */
static void test_who_counts(void **state)
{
    static const struct {
        const char *spec;
        bool counts;
    } known[] = {{"leverage", false},
                 {"leverage(of=points)", true},
                 {"ridge_leverage(of=kernel)", false},
                 {"command(run=true)", false},
                 {"command(run=true, deterministic=true)", false},
                 {"exchange(start=kmeans)", false},
                 {"exchange(start=kmeans, rows=auto)", true},
                 {"exchange(start=cpqr, rows=auto)", false},
                 {"optimized(rows=auto)", true},
                 {"leverage(rows=auto)", true},
                 {"subsample(of=leverage)", true}, /* on a scene of its own */
                 {"subsample(of=exchange(start=cpqr))", true},
                 {"subsample(of=\"command(run=true)\")", false},
                 {"exchange(start=\"subsample(of=cpqr)\", rows=auto)", true}};
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=40, d=5)", 0, 0, ctx), "softmax");
    for (const nb_entry *e = nb_strategies.entries; e->component; e++) {
        const char *spec = with_options(ctx, e->component);
        nb_choice choice = choose(&nb_strategies, spec, ctx);
        bool oracle = nb_strategy_traits(&choice) & NB_ORACLE;
        assert_int_equal(nb_strategy_counts(&choice), !oracle && !(nb_strategy_traits(&choice) & NB_ELSEWHERE));
        if (strcmp(spec, spec_of(e->component)) != 0) continue; /* it needs a file, a program or a function */
        nb_pairing pairing = ((const nb_strategy *)e->component)->pairing;
        nb_landmarks l = pick(ctx, &f, spec, M, pairing);
        assert_int_equal(!isnan(l.multiplications), !oracle);
        assert_int_equal(!isnan(nb_landmarks_first(&l, M).multiplications), !oracle);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        nb_choice choice = choose(&nb_strategies, known[i].spec, ctx);
        if (nb_strategy_counts(&choice) != known[i].counts) fail_msg("%s", known[i].spec);
    }
}

/* What is predicted of a pick is what it counts, within a factor of 5 both ways: decompositions are weighted by up to
 * four, and when an iteration ends is guessed. */
static void test_predicted(void **state)
{
    enum { TOKENS = 300, SIZE = 16, DIMENSION = 16, LANDMARKS = 12, MOST = 5 };
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=300, d=16)", 0, 0, ctx), "softmax");
    for (const nb_entry *e = nb_strategies.entries; e->component; e++) {
        const nb_strategy *s = (const nb_strategy *)e->component;
        if (!s->multiplications) continue;
        nb_choice choice = choose(&nb_strategies, s->component.name, ctx);
        if (!nb_strategy_counts(&choice)) /* an oracle counts where it looks at some rows */
            choice = choose(&nb_strategies, nb_format(ctx, "%s(rows=auto)", s->component.name), ctx);
        int d = s->pairing == NB_JOINT ? 2 * DIMENSION : DIMENSION;
        double predicted = s->multiplications(choice.options, TOKENS, d, LANDMARKS);
        nb_landmarks picked = pick(ctx, &f, choice.canonical, LANDMARKS, s->pairing);
        double count = nb_landmarks_first(&picked, LANDMARKS).multiplications;
        if (!(predicted <= MOST * count && count <= MOST * predicted))
            fail_msg("%s: %g multiplications predicted, %g counted", s->component.name, predicted, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_products),          test_with_ctx(test_decompositions),
                                       test_with_ctx(test_history),           test_with_ctx(test_pivots),
                                       test_with_ctx(test_strategies),        test_with_ctx(test_who_counts),
                                       test_with_ctx(test_sides_and_nesting), test_with_ctx(test_predicted)};
    return run_all(tests);
}
