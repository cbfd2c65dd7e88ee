/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of the strategies of order and geometry and of those that learn:
 * k-means never gets worse, draws follow their probabilities, clusters are hit. */
#include "scenes.h"

#include "base/scratch.h"

#include "data/tensor.h"
#include "linalg/linalg.h"
#include "linalg/ridge.h"
#include "calls/picking.h"

#include <float.h>

static void open_fixture(nb_ctx *ctx, fixture *f, const char *problem)
{
    open_scene(ctx, f, make_head(problem, 0, 0, ctx), "softmax");
}

/* The same stream for all options of a strategy. */
static nb_landmarks pick(nb_ctx *ctx, const fixture *f, const char *strategy, int m, nb_pairing pairing, int trial)
{
    nb_choice choice = choose(&nb_strategies, strategy, ctx);
    nb_stream stream = {.seed = 7, .trial = trial, .component = choice.component->name};
    nb_landmarks out;
    assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f->scene, &choice, m, pairing, stream, f->rng}, &out, ctx));
    return out;
}

/* Sum of squared distances to the groups' means. */
static double inertia(int d, int n, const double *x, const nb_picks *p, nb_ctx *ctx)
{
    double *means = nb_alloc_reals(ctx, (size_t)d, (size_t)p->m), sum = 0;
    assert_ok(ctx, nb_picks_landmarks(p, d, n, x, means, ctx));
    for (int i = 0; i < n; i++)
        for (int l = 0; l < d; l++) sum += pow(x[i * d + l] - means[p->groups[i] * d + l], 2);
    return sum;
}

/* units: the points' directions; centres: those of the groups' sums of them. Returns
 * the sum of cosines between points and their centres. */
static double sum_of_cosines(int d, int n, const double *x, const nb_picks *p, double *units, double *centres)
{
    double sum = 0;
    nb_normalise_columns(d, n, x, units);
    memset(centres, 0, (size_t)d * (size_t)p->m * sizeof *centres);
    for (int i = 0; i < n; i++)
        for (int l = 0; l < d; l++) centres[p->groups[i] * d + l] += units[i * d + l];
    nb_normalise_columns(d, p->m, centres, centres);
    for (int i = 0; i < n; i++)
        for (int l = 0; l < d; l++) sum += units[i * d + l] * centres[p->groups[i] * d + l];
    return sum;
}

enum { N = 200, D = 6, M = 23 };

/* Tolerance: sums of 1200 squares of order 1 differ by rounding, 1e-12 relative. */
static void test_inertia_never_rises(void **state)
{
    static const char *const inits[] = {"plusplus", "random", "maximin"};
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, "gaussian(n=200, d=6)");
    for (int i = 0; i < 3; i++) {
        double first = 0, before = INFINITY;
        for (int steps = 1; steps <= 15; steps++) {
            const char *spec = nb_format(ctx, "kmeans(init=%s, iterations=%d, tolerance=0)", inits[i], steps);
            nb_landmarks l = pick(ctx, &f, spec, M, NB_QUERIES, 0);
            double now = inertia(D, N, f.head.q, &l.queries, ctx);
            assert_at_most(now, before * (1 + 1e-12));
            if (steps == 1) first = now;
            before = now;
        }
        assert_at_most(before, 0.97 * first); /* and it falls */
    }
}

static void test_cosines_never_fall(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    double units[D * N], centres[D * M], first = 0, before = 0;
    open_fixture(ctx, &f, "gaussian(n=200, d=6)");
    for (int i = 0; i < N; i++)
        for (int l = 0; l < D; l++) f.head.q[i * D + l] *= exp(2 * sin(i)); /* lengths must not matter */
    memset(f.head.q + 5 * D, 0, D * sizeof(double));                        /* nor a zero vector */
    for (int steps = 1; steps <= 15; steps++) {
        const char *spec = nb_format(ctx, "kmeans(metric=cosine, iterations=%d, tolerance=0)", steps);
        nb_landmarks l = pick(ctx, &f, spec, M, NB_QUERIES, 0);
        double now = sum_of_cosines(D, N, f.head.q, &l.queries, units, centres);
        assert_at_most(before * (1 - 1e-12), now);
        if (steps == 1) first = now;
        before = now;
    }
    assert_at_most(1.005 * first, before);
}

/* At the end each token is with the centre of largest cosine: to 1e-12, for 6 products. */
static void test_cosine_converges(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    double units[D * N], centres[D * M];
    open_fixture(ctx, &f, "gaussian(n=200, d=6)");
    nb_landmarks l = pick(ctx, &f, "kmeans(metric=cosine, iterations=300, tolerance=0)", M, NB_KEYS, 0);
    sum_of_cosines(D, N, f.head.k, &l.keys, units, centres);
    for (int i = 0; i < N; i++) {
        double cosine[M] = {0};
        for (int j = 0; j < M; j++)
            for (int a = 0; a < D; a++) cosine[j] += units[i * D + a] * centres[j * D + a];
        for (int j = 0; j < M; j++) assert_at_most(cosine[j], cosine[l.keys.groups[i]] + 1e-12);
    }
}

/* Opposite directions, and points that lie on one ray: the metrics differ. */
static void test_cosine_groups_rays(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, "gaussian(n=40, d=3, scale=0)");
    for (int i = 0; i < 40; i++) f.head.q[3 * i + i % 4 % 3] = (i % 4 == 3 ? -1 : 1) * pow(3, i % 7);
    nb_landmarks l = pick(ctx, &f, "kmeans(metric=cosine, init=maximin)", 4, NB_QUERIES, 0);
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++) assert_int_equal(l.queries.groups[i] == l.queries.groups[j], i % 4 == j % 4);
}

/* Unit vectors a and b with cosine 0.4, and a zero vector z: from the centres {a, z}
 * or {b, z} the groups are {a, b} and {z}, since 0.4 is more than z's 0; from {a, b}
 * they are apart. Both happen, a and b together in two thirds of the starts. */
static void test_cosine_of_a_zero_centre(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    int together = 0;
    open_fixture(ctx, &f, "gaussian(n=3, d=2, scale=0)");
    f.head.q[0] = 1;
    f.head.q[2] = 0.4;
    f.head.q[3] = sqrt(1 - 0.16);
    for (int trial = 0; trial < 60; trial++) {
        nb_landmarks l = pick(ctx, &f, "kmeans(metric=cosine, init=random)", 2, NB_QUERIES, trial);
        together += l.queries.groups[0] == l.queries.groups[1];
    }
    assert_in_range(together, 25, 55); /* 40, standard deviation 3.7 */
}

/* `count` clusters of equal points: m = count picks hit each once. */
static void test_clusters_are_hit(void **state)
{
    static const char *const strategies[] = {"farthest_point", "farthest_point(start=central)", "dsquared"};
    static const char *const inits[] = {"plusplus", "maximin"};
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, "clusters(n=90, d=4, count=9, spread=0, order=contiguous)");
    for (int s = 0; s < 3; s++)
        for (int trial = 0; trial < 20; trial++) {
            int hits[9] = {0};
            nb_landmarks l = pick(ctx, &f, strategies[s], 9, NB_INDEPENDENT, trial);
            for (int j = 0; j < 9; j++) hits[l.keys.tokens[j] / 10]++;
            for (int c = 0; c < 9; c++) assert_int_equal(hits[c], 1);
        }
    for (int s = 0; s < 2; s++)
        for (int trial = 0; trial < 20; trial++) {
            nb_landmarks l = pick(ctx, &f, nb_format(ctx, "kmeans(init=%s)", inits[s]), 9, NB_INDEPENDENT, trial);
            for (int i = 0; i < 90; i++) assert_int_equal(l.keys.groups[i], l.keys.groups[i / 10 * 10]);
        }
}

/* Points that repeat: the rest comes in order of index, and of zero vectors too. */
static void test_what_is_left_over(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, "gaussian(n=6, d=2, scale=0)");
    nb_landmarks l = pick(ctx, &f, "farthest_point(start=central)", 6, NB_INDEPENDENT, 0);
    for (int j = 0; j < 6; j++) assert_int_equal(l.queries.tokens[j], j);
    f.head.q[2 * 4] = 2.385; /* the only ones with a direction: 4, 1 */
    f.head.q[2 * 1 + 1] = -0.7;
    for (int trial = 0; trial < 8; trial++) {
        static const int rest[4] = {0, 2, 3, 5};
        l = pick(ctx, &f, "orthogonal", 6, NB_QUERIES, trial);
        assert_int_equal(l.queries.tokens[0] + l.queries.tokens[1], 5);
        assert_memory_equal(l.queries.tokens + 2, rest, sizeof rest);
    }
}

static void test_order(void **state)
{
    static const int expected[4] = {1, 3, 6, 8}; /* floor((j + 1/2) 10 / 4) */
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, "gaussian(n=10, d=2)");
    nb_landmarks l = pick(ctx, &f, "uniform(strided=true)", 4, NB_JOINT, 0);
    assert_memory_equal(l.queries.tokens, expected, sizeof expected);
    int size[4] = {0}, unlike = 0;
    l = pick(ctx, &f, "group_means", 4, NB_JOINT, 0);
    for (int i = 0; i < 10; i++) {
        size[l.queries.groups[i]]++;
        unlike += l.queries.groups[i] != i % 4;
    }
    for (int j = 0; j < 4; j++) assert_int_equal(size[j], j < 2 ? 3 : 2);
    assert_true(unlike > 0);
}

/* counts of 11 + 1 outcomes against probabilities, at a level of 1e-6 for a fixed
 * seed. */
enum { POINTS = 12, DRAWS = 6000 };

static void check_chi_square(const double *counts, const double *probability)
{
    double chi = 0, total = 0;
    for (int i = 0; i < POINTS; i++) {
        assert_true(DRAWS * probability[i] > 5); /* else the chi-square distribution does not hold */
        chi += pow(counts[i] - DRAWS * probability[i], 2) / (DRAWS * probability[i]);
        total += probability[i];
    }
    assert_close(total, 1, 1e-12);
    assert_at_most(chi, 48.87); /* the 1 - 1e-6 quantile for 11 degrees of freedom */
}

/* Counts of the first and the second pick. */
static void draw_pairs(nb_ctx *ctx, const fixture *f, const char *strategy, nb_pairing pairing, double *first,
                       double *second)
{
    for (int t = 0; t < DRAWS; t++) {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_landmarks l = pick(ctx, f, strategy, 2, pairing, t);
        first[l.keys.tokens[0]]++;
        second[l.keys.tokens[1]]++;
        nb_ctx_release(ctx, mark);
    }
}

/* mean over the other side of q.k, written out. */
static void context_scores(const nb_head *h, nb_pairing pairing, double *score)
{
    for (int i = 0; i < h->n; i++) {
        double as_query = 0, as_key = 0;
        for (int j = 0; j < h->n; j++)
            for (int l = 0; l < h->d; l++) {
                as_query += h->q[i * h->d + l] * h->k[j * h->d + l] / h->n;
                as_key += h->q[j * h->d + l] * h->k[i * h->d + l] / h->n;
            }
        score[i] = pairing == NB_QUERIES ? as_query : pairing == NB_KEYS ? as_key : (as_query + as_key) / 2;
    }
}

static void check_context(nb_ctx *ctx, nb_pairing pairing)
{
    fixture f;
    double p[POINTS], q[POINTS] = {0}, first[POINTS] = {0}, second[POINTS] = {0}, sum = 0, spread = 0;
    open_fixture(ctx, &f, "gaussian(n=12, d=6, scale=1.3)");
    context_scores(&f.head, pairing, p);
    for (int i = 0; i < POINTS; i++) sum += p[i] = exp(p[i]);
    for (int i = 0; i < POINTS; i++) spread = fmax(spread, fabs((p[i] /= sum) - 1.0 / POINTS));
    assert_true(spread > 0.05); /* a test against uniform draws too */
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < POINTS; j++)
            if (i != j) q[j] += p[i] * p[j] / (1 - p[i]);
    draw_pairs(ctx, &f, "context(take=sample)", pairing, first, second);
    check_chi_square(first, p);
    check_chi_square(second, q);
}

static void test_context_frequencies(void **state)
{
    check_context(*state, NB_QUERIES);
    check_context(*state, NB_KEYS);
    check_context(*state, NB_JOINT);
}

/* Scores thousands apart, where exp would vanish: the draw is the order. */
static void test_context_of_large_scores(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    double score[POINTS];
    open_fixture(ctx, &f, "gaussian(n=12, d=6)");
    for (int i = 0; i < POINTS * 6; i++) f.head.q[i] *= 1e5;
    context_scores(&f.head, NB_QUERIES, score);
    nb_landmarks top = pick(ctx, &f, "context", POINTS, NB_QUERIES, 0);
    nb_landmarks sample = pick(ctx, &f, "context(take=sample)", POINTS, NB_QUERIES, 0);
    for (int j = 0; j < POINTS - 1; j++)
        assert_at_most(score[top.queries.tokens[j + 1]] + 40, score[top.queries.tokens[j]]); /* e^-40 */
    assert_memory_equal(top.queries.tokens, sample.queries.tokens, POINTS * sizeof(int));
}

static void test_dsquared_frequencies(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    double p[POINTS], q[POINTS] = {0}, first[POINTS] = {0}, second[POINTS] = {0};
    open_fixture(ctx, &f, "gaussian(n=12, d=2)");
    for (int i = 0; i < POINTS; i++) {
        double distance[POINTS], total = 0;
        for (int j = 0; j < POINTS; j++)
            total += distance[j] =
                pow(f.head.k[2 * i] - f.head.k[2 * j], 2) + pow(f.head.k[2 * i + 1] - f.head.k[2 * j + 1], 2);
        for (int j = 0; j < POINTS; j++) q[j] += distance[j] / total / POINTS;
        p[i] = 1.0 / POINTS;
    }
    draw_pairs(ctx, &f, "dsquared", NB_KEYS, first, second);
    check_chi_square(first, p);
    check_chi_square(second, q);
}

/* Weights (rows of d + 1) in a new file. */
static const char *save(nb_ctx *ctx, int rank, const int64_t *shape, const double *w)
{
    const char *made;
    assert_ok(ctx, nb_temporary_folder(&made, ctx));
    const char *path = nb_format(ctx, "%s/weights.npy", made);
    assert_ok(ctx, nb_npy_save_reals(path, rank, shape, w, ctx));
    return path;
}

static void check_refused(nb_ctx *ctx, const fixture *f, const char *path, nb_status status)
{
    nb_choice choice = choose(&nb_strategies, nb_format(ctx, "learned(weights=\"%s\")", path), ctx);
    nb_stream stream = {.component = choice.canonical};
    nb_landmarks out;
    nb_status got = nb_landmarks_pick(&(nb_picking){f->scene, &choice, 3, NB_INDEPENDENT, stream, f->rng}, &out, ctx);
    if (!strstr(nb_error_message(ctx), path)) fail_msg("'%s' does not name the file", nb_error_message(ctx));
    assert_error_of(choice.canonical, ctx, got, status);
}

static void test_weights_files(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    double w[10] = {1, 2, 3, 4, 5, -1, 0.5, 2.385, 0, 1};
    int64_t integers[5] = {1, 2, 3, 4, 5};
    open_fixture(ctx, &f, "gaussian(n=20, d=4)");
    check_refused(ctx, &f, "no-such-file.npy", NB_EIO);
    check_refused(ctx, &f, save(ctx, 2, (int64_t[]){5, 2}, w), NB_EDIM);
    check_refused(ctx, &f, save(ctx, 3, (int64_t[]){1, 2, 5}, w), NB_EDIM);
    check_refused(ctx, &f, save(ctx, 2, (int64_t[]){2, 4}, w), NB_EDIM);
    const char *path = save(ctx, 2, (int64_t[]){2, 5}, w);
    assert_ok(ctx, nb_npy_save_integers(path, 1, (int64_t[]){5}, integers, ctx));
    check_refused(ctx, &f, path, NB_EIO);
    w[7] = NAN;
    check_refused(ctx, &f, save(ctx, 2, (int64_t[]){2, 5}, w), NB_ENUMERIC);
}

/* One row of weights serves both sides; the picks are the largest scores. */
static void test_one_row_of_weights(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    double w[5] = {1, -2, 0.3, 0.4, 7};
    open_fixture(ctx, &f, "gaussian(n=20, d=4)");
    const char *path = save(ctx, 1, (int64_t[]){5}, w);
    nb_landmarks l = pick(ctx, &f, nb_format(ctx, "learned(weights=\"%s\")", path), 20, NB_INDEPENDENT, 0);
    for (int side = 0; side < 2; side++) {
        const double *x = side ? f.head.k : f.head.q;
        const int *t = side ? l.keys.tokens : l.queries.tokens;
        for (int j = 0; j < 19; j++) {
            double step = 0;
            for (int a = 0; a < 4; a++) step += w[a] * (x[4 * t[j] + a] - x[4 * t[j + 1] + a]);
            assert_at_most(-1e-13, step); /* descending, but for rounding */
        }
    }
}

/* y = x.w + b has R^2 = 1 and gives w and b back, from three parts of which one is
 * shorter than its triangle. Tolerance: eps times the condition number, below 10. */
static void test_regression_of_a_linear_function(void **state)
{
    enum { P = 3, ROWS = 40 };
    nb_ctx *ctx = *state;
    static const double truth[P + 1] = {0.5, -2.385, 3, 11};
    nb_head h = make_head("gaussian(n=40, d=3)", 0, 0, ctx);
    double y[ROWS], w[P + 1];
    nb_ridge_part parts[3], joined;
    for (int i = 0; i < ROWS; i++)
        y[i] = truth[0] * h.q[3 * i] + truth[1] * h.q[3 * i + 1] + truth[2] * h.q[3 * i + 2] + truth[3];
    assert_ok(ctx, nb_ridge_part_new(P, 2, h.q, y, &parts[0], ctx));
    assert_ok(ctx, nb_ridge_part_new(P, 20, h.q + 6, y + 2, &parts[1], ctx));
    assert_ok(ctx, nb_ridge_part_new(P, 18, h.q + 66, y + 22, &parts[2], ctx));
    for (int without = -1; without < 3; without++) {
        assert_ok(ctx, nb_ridge_part_join(3, parts, without, &joined, ctx));
        assert_int_equal(joined.rows, ROWS - (without < 0 ? 0 : parts[without].rows));
        assert_ok(ctx, nb_ridge_fit(&joined, 0, w, ctx));
        for (int j = 0; j <= P; j++) assert_close(w[j], truth[j], 1e-13);
        assert_close(nb_r_squared(&joined, w), 1, 1e-13);
        if (without >= 0) assert_close(nb_r_squared(&parts[without], w), 1, 1e-13);
    }
    double zero[P + 1] = {0};
    for (int i = 0; i < ROWS; i++) zero[P] += y[i] / ROWS; /* the mean explains nothing */
    assert_ok(ctx, nb_ridge_part_join(3, parts, -1, &joined, ctx));
    assert_close(nb_r_squared(&joined, zero), 0, 1e-13);
}

/* Equal regressors share the weight, the least norm; a huge ridge leaves the mean;
 * a constant has no R^2. */
static void test_regression_at_its_edges(void **state)
{
    nb_ctx *ctx = *state;
    double x[16], y[8], w[3], mean = 0;
    nb_ridge_part part;
    for (int i = 0; i < 8; i++) {
        x[2 * i] = x[2 * i + 1] = sin(2.385 * i);
        y[i] = 3 * x[2 * i];
        mean += y[i] / 8;
    }
    assert_ok(ctx, nb_ridge_part_new(2, 8, x, y, &part, ctx));
    assert_ok(ctx, nb_ridge_fit(&part, 0, w, ctx));
    assert_close(w[0], 1.5, 1e-13);
    assert_close(w[1], 1.5, 1e-13);
    assert_ok(ctx, nb_ridge_fit(&part, 1e20, w, ctx));
    assert_close(w[0], 0, 1e-19);
    assert_close(w[2], mean, 1e-13);
    for (int i = 0; i < 8; i++) y[i] = 2.385;
    assert_ok(ctx, nb_ridge_part_new(2, 8, x, y, &part, ctx));
    assert_true(isnan(nb_r_squared(&part, w)));
    y[3] = INFINITY;
    assert_error(ctx, nb_ridge_part_new(2, 8, x, y, &part, ctx), NB_ENUMERIC);
}

static void test_regression_without_memory(void **state)
{
    nb_ctx *ctx = *state;
    double x[8] = {1, 2, 3, 5, 8, 13, 21, 34}, y[8] = {1, 0, 2, 0, 3, 0, 4, 1}, w[2];
    nb_status status = NB_ENOMEM;
    for (long k = 1; status != NB_OK; k++) {
        nb_ridge_part parts[1], joined;
        nb_mark mark = nb_ctx_mark(ctx);
        assert_true(k < 100);
        nb_ctx_fail_alloc(ctx, k);
        status = nb_ridge_part_new(1, 8, x, y, parts, ctx);
        if (status == NB_OK) status = nb_ridge_part_join(1, parts, -1, &joined, ctx);
        if (status == NB_OK) status = nb_ridge_fit(&joined, 0.1, w, ctx);
        nb_ctx_fail_alloc(ctx, 0);
        if (status != NB_OK) assert_int_equal(status, NB_ENOMEM);
        nb_error_clear(ctx);
        nb_ctx_release(ctx, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_inertia_never_rises),     test_with_ctx(test_cosines_never_fall),
        test_with_ctx(test_cosine_converges),        test_with_ctx(test_cosine_groups_rays),
        test_with_ctx(test_cosine_of_a_zero_centre), test_with_ctx(test_clusters_are_hit),
        test_with_ctx(test_what_is_left_over),       test_with_ctx(test_order),
        test_with_ctx(test_context_frequencies),     test_with_ctx(test_context_of_large_scores),
        test_with_ctx(test_dsquared_frequencies),    test_with_ctx(test_weights_files),
        test_with_ctx(test_one_row_of_weights),      test_with_ctx(test_regression_of_a_linear_function),
        test_with_ctx(test_regression_at_its_edges), test_with_ctx(test_regression_without_memory),
    };
    return run_all(tests);
}
