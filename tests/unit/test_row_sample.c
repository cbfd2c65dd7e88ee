/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a sample of rows of S: rows of tokens are rows of S, rows of centres stand for all queries, columns
 * of k tokens are in proportion to S's; and of k-means with weights: a weight of w is the same as the point w times. */
#include "scenes.h"

#include "linalg/kmeans.h"
#include "nystrom/key_fit.h"
#include "nystrom/passes.h"
#include "nystrom/row_sample.h"

#include <math.h>
#include <string.h>

enum { N = 130, D = 16, K = 70 };

static void open_gaussian(nb_ctx *ctx, fixture *f)
{
    open_scene(ctx, f, make_head("gaussian(n=130, d=16)", 0, 0, ctx), "softmax");
}

static void test_an_order_is_that_of_the_trial(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    const int *first, *again, *other;
    bool seen[N] = {false};
    open_gaussian(ctx, &f);
    assert_ok(ctx, nb_scene_order(f.scene, 7, 0, &first, ctx));
    assert_ok(ctx, nb_scene_order(f.scene, 7, 0, &again, ctx));
    assert_ok(ctx, nb_scene_order(f.scene, 7, 1, &other, ctx));
    assert_memory_equal(first, again, N * sizeof *first);
    assert_memory_not_equal(first, other, N * sizeof *first);
    for (int i = 0; i < N; i++) seen[first[i]] = true;
    for (int i = 0; i < N; i++) assert_true(seen[i]);
}

/* Products of 16 terms in panels of another width differ by some eps. */
static void test_rows_of_tokens_are_rows_of_s(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    const int *order;
    const double *s;
    nb_row_sample sample;
    open_gaussian(ctx, &f);
    assert_ok(ctx, nb_scene_order(f.scene, 7, 0, &order, ctx));
    double before = nb_scene_entries(f.scene);
    assert_ok(ctx, nb_row_sample_tokens(f.scene, K, order, &sample, ctx));
    assert_true(nb_scene_entries(f.scene) - before == (double)K * N);
    assert_ok(ctx, nb_scene_rows(f.scene, &s, ctx));
    for (int i = 0; i < K; i++) {
        int token = sample.tokens[i], place = 0;
        if (i > 0) assert_true(token > sample.tokens[i - 1]);
        while (place < K && order[place] != token) place++;
        assert_true(place < K);
        assert_true(sample.weights[i] == 1);
        assert_memory_equal(sample.points + i * D, f.head.q + token * D, D * sizeof(double));
        for (int j = 0; j < N; j++) assert_close(sample.rows[i * N + j], s[token * N + j], 1e-14);
    }
}

static void test_rows_of_centres_stand_for_all_queries(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    nb_row_sample sample;
    double total = 0, *rows = nb_alloc_reals(ctx, N, K);
    open_gaussian(ctx, &f);
    assert_ok(ctx, nb_row_sample_centres(f.scene, K, f.rng, &sample, ctx));
    assert_null(sample.tokens);
    for (int i = 0; i < K; i++) {
        assert_true(sample.weights[i] >= 1 && sample.weights[i] == rint(sample.weights[i]));
        total += sample.weights[i];
    }
    assert_true(total == N);
    for (int l = 0; l < D; l++) { /* groups of these sizes with these means have the queries' sum */
        double of_centres = 0, of_queries = 0;
        for (int i = 0; i < K; i++) of_centres += sample.weights[i] * sample.points[i * D + l];
        for (int i = 0; i < N; i++) of_queries += f.head.q[i * D + l];
        assert_close(of_centres, of_queries, 1e-11); /* of 130 terms of order 1 */
    }
    assert_ok(ctx, nb_scene_kernel(f.scene, K, sample.points, N, f.head.k, rows, ctx));
    assert_memory_equal(rows, sample.rows, N * K * sizeof *rows);
}

static void test_sums_are_those_of_weighted_entries(void **state)
{
    const double rows[] = {1, -2, 3, 0.5, 0.25, 0}, weights[] = {2, 3};
    const nb_row_sample sample = {.count = 2, .rows = rows, .weights = weights};
    double sums[3] = {0}, squares[3] = {0};
    (void)state;
    nb_row_sample_sums(&sample, 3, false, sums);
    nb_row_sample_sums(&sample, 3, true, squares);
    const double expected[] = {3.5, 4.75, 6}, expected_squares[] = {2.75, 8.1875, 18};
    assert_memory_equal(sums, expected, sizeof sums);
    assert_memory_equal(squares, expected_squares, sizeof squares);
}

/* With and without a mask, S_ij / sum over the k of S_ij; none before the first of them. */
static void check_columns(nb_ctx *ctx, bool causal)
{
    static const int tokens[] = {5, 6, 40, 129};
    nb_head head = make_head("gaussian(n=130, d=16)", 0, 0, ctx);
    fixture f;
    const double *s;
    double out[4 * N];
    head.causal = causal;
    open_scene(ctx, &f, head, "softmax");
    assert_ok(ctx, nb_scene_some_columns(f.scene, 4, tokens, out, ctx));
    assert_ok(ctx, nb_scene_rows(f.scene, &s, ctx));
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < 4; j++) sum += s[i * N + tokens[j]];
        assert_true(causal && i < 5 ? sum == 0 : sum > 0);
        for (int j = 0; j < 4; j++) assert_close(out[i * 4 + j], sum > 0 ? s[i * N + tokens[j]] / sum : 0, 1e-13);
    }
}

static void test_columns_are_in_proportion(void **state)
{
    check_columns(*state, false);
    check_columns(*state, true);
}

static void test_centres_have_no_place_under_a_mask(void **state)
{
    nb_ctx *ctx = *state;
    nb_head head = make_head("gaussian(n=130, d=16)", 0, 0, ctx);
    nb_row_sample sample;
    fixture f;
    head.causal = true;
    open_scene(ctx, &f, head, "softmax");
    assert_error(ctx, nb_row_sample_centres(f.scene, K, f.rng, &sample, ctx), NB_EINVAL);
}

/* Both runs begin at the same centres and see the same means, so that all steps agree. Sums in another order: eps. */
static void test_a_weight_is_a_repetition(void **state)
{
    enum { MANY = 20, DIM = 3, GROUPS = 4 };
    nb_ctx *ctx = *state;
    double x[MANY * DIM], weights[MANY], start[GROUPS * DIM], repeated[4 * MANY * DIM];
    int of[4 * MANY], count = 0;
    gsl_rng *rng;
    nb_clusters a, b;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    nb_random_seed(rng, &(nb_stream){.seed = 7, .role = "test", .component = ""});
    for (int i = 0; i < MANY * DIM; i++) x[i] = gsl_rng_uniform(rng);
    memcpy(start, x, sizeof start);
    for (int i = 0; i < MANY; i++) {
        weights[i] = 1 + i % 4;
        for (int r = 0; r < 1 + i % 4; r++) {
            memcpy(repeated + count * DIM, x + i * DIM, DIM * sizeof *x);
            of[count++] = i;
        }
    }
    nb_kmeans_how how = {.restarts = 1, .iterations = 100, .start = start};
    assert_ok(ctx, nb_kmeans(DIM, count, repeated, GROUPS, &how, NULL, &b, ctx));
    how.weights = weights;
    assert_ok(ctx, nb_kmeans(DIM, MANY, x, GROUPS, &how, NULL, &a, ctx));
    for (int i = 0; i < count; i++) assert_int_equal(b.group[i], a.group[of[i]]);
    for (int i = 0; i < GROUPS * DIM; i++) assert_close(a.centres[i], b.centres[i], 1e-14);
}

/* Of two points at 0 and two far away the second centre is far away; which of those by their weights, 1 to 9. */
static void test_weights_draw_first_centres(void **state)
{
    enum { TIMES = 2000 };
    static const double x[] = {0, 0, 100, 100.5}, weights[] = {1, 1, 1, 9};
    nb_ctx *ctx = *state;
    gsl_rng *rng;
    int first = 0;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    nb_random_seed(rng, &(nb_stream){.seed = 8, .role = "test", .component = ""});
    for (int i = 0; i < TIMES; i++) {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_clusters c;
        nb_kmeans_how how = {.restarts = 1, .iterations = 1, .weights = weights};
        assert_ok(ctx, nb_kmeans(1, 4, x, 2, &how, rng, &c, ctx));
        first += c.group[2] == 0; /* the first centre was one of the far ones: 10 of 12 */
        nb_ctx_release(ctx, mark);
    }
    assert_true(fabs(first - TIMES * 10.0 / 12) < 5 * sqrt(TIMES * 10.0 / 12 * 2.0 / 12)); /* 5 standard deviations */
}

/* The first half of the rows of weight 2, or there twice: the same sums, in another order. Three steps down and their
 * line searches magnify rounding of 1e-15 to 1e-10, seen so; without the weights the keys differ by over 1e-3. */
static void test_keys_are_fitted_to_weighted_rows(void **state)
{
    enum { M = 5, MANY = K + K / 2 };
    nb_ctx *ctx = *state;
    fixture f;
    const int *order;
    nb_row_sample once;
    double a[M * D], b[M * D], c[M * D], rows[MANY * N], points[MANY * D], ones[MANY], weights[K], far = 0;
    open_gaussian(ctx, &f);
    assert_ok(ctx, nb_scene_order(f.scene, 7, 0, &order, ctx));
    assert_ok(ctx, nb_row_sample_tokens(f.scene, K, order, &once, ctx));
    for (int i = 0; i < MANY; i++) {
        int from = i < K ? i : i - K;
        ones[i] = 1;
        memcpy(rows + i * N, once.rows + from * N, N * sizeof *rows);
        memcpy(points + i * D, once.points + from * D, D * sizeof *points);
    }
    for (int i = 0; i < K; i++) weights[i] = i < K / 2 ? 2 : 1;
    nb_row_sample weighted = {.count = K, .rows = once.rows, .points = once.points, .weights = weights};
    nb_row_sample twice = {.count = MANY, .rows = rows, .points = points, .weights = ones};
    memcpy(a, f.head.k, sizeof a);
    memcpy(b, f.head.k, sizeof b);
    memcpy(c, f.head.k, sizeof c);
    assert_ok(ctx, nb_key_fit(f.scene, &weighted, M, 1e-4, 3, a, ctx));
    assert_ok(ctx, nb_key_fit(f.scene, &twice, M, 1e-4, 3, b, ctx));
    assert_ok(ctx, nb_key_fit(f.scene, &once, M, 1e-4, 3, c, ctx));
    for (int i = 0; i < M * D; i++) {
        assert_close(a[i], b[i], 1e-8);
        far = fmax(far, fabs(a[i] - c[i]));
    }
    assert_true(far > 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_an_order_is_that_of_the_trial),
        test_with_ctx(test_rows_of_tokens_are_rows_of_s),
        test_with_ctx(test_rows_of_centres_stand_for_all_queries),
        test_with_ctx(test_sums_are_those_of_weighted_entries),
        test_with_ctx(test_columns_are_in_proportion),
        test_with_ctx(test_centres_have_no_place_under_a_mask),
        test_with_ctx(test_a_weight_is_a_repetition),
        test_with_ctx(test_keys_are_fitted_to_weighted_rows),
        test_with_ctx(test_weights_draw_first_centres),
    };
    return run_all(tests);
}
