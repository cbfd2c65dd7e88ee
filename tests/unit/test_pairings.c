/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points that serve both sides, from Q, from K or from all 2n: whose they are, and what
 * is known where Q = K. */
#include "scenes.h"

#include "base/scratch.h"
#include "cores/core.h"
#include "data/tensor.h"
#include "conformance/conformance.h"
#include "nystrom/engine.h"

#include <math.h>

enum { N = 40, D = 5, M = 7 };

static const char *const strategies[] = {"uniform",    "segment_means",       "kmeans",  "farthest_point",
                                         "orthogonal", "rpcholesky",          "kdpp",    "ridge_leverage",
                                         "leverage",   "leverage(of=points)", "context", "cpqr"};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

static void open_fixture(nb_ctx *ctx, fixture *f, bool same)
{
    nb_head head = make_head("gaussian(n=40, d=5)", 0, 0, ctx);
    if (same) memcpy(head.k, head.q, N * D * sizeof *head.k);
    open_scene(ctx, f, head, "softmax");
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

/* The landmarks of one side (D x m). */
static double *landmarks_of(nb_ctx *ctx, const nb_picks *picks, const double *x)
{
    double *out = nb_alloc_reals(ctx, D, (size_t)picks->m);
    assert_ok(ctx, nb_picks_landmarks(picks, D, N, x, out, ctx));
    return out;
}

static bool is_among(const double *point, int count, const double *x)
{
    for (int i = 0; i < count; i++)
        if (memcmp(point, x + i * D, D * sizeof *x) == 0) return true;
    return false;
}

/* shared_queries takes the very points that `queries` takes of Q, and shared_keys those
 * of K that `keys` takes, for the queries and for the keys. */
static void test_points_of_one_side(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, false);
    for (int s = 0; s < STRATEGIES; s++)
        for (int keys = 0; keys < 2; keys++) {
            nb_landmarks one = pick(ctx, &f, strategies[s], M, keys ? NB_KEYS : NB_QUERIES);
            nb_landmarks both = pick(ctx, &f, strategies[s], M, keys ? NB_SHARED_KEYS : NB_SHARED_QUERIES);
            double *expected = landmarks_of(ctx, keys ? &one.keys : &one.queries, keys ? f.head.k : f.head.q);
            assert_int_equal(both.queries.kind, NB_POINTS);
            assert_int_equal(both.keys.kind, NB_POINTS);
            assert_memory_equal(both.queries.points, expected, D * M * sizeof(double));
            assert_memory_equal(both.keys.points, expected, D * M * sizeof(double));
        }
}

/* Tokens of the 2n points are points of Q or K, and different ones. */
static void test_points_of_both_sides(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, false);
    for (int s = 0; s < STRATEGIES; s++) {
        int of_q = 0, of_k = 0;
        nb_landmarks l = pick(ctx, &f, strategies[s], N, NB_SHARED);
        assert_memory_equal(l.queries.points, l.keys.points, D * N * sizeof(double));
        if (strstr(strategies[s], "means")) continue;
        for (int j = 0; j < N; j++) {
            const double *point = l.queries.points + j * D;
            assert_false(is_among(point, j, l.queries.points));
            of_q += is_among(point, N, f.head.q);
            of_k += is_among(point, N, f.head.k);
        }
        assert_int_equal(of_q + of_k, N);
        if (of_q == 0 || of_k == 0) fail_msg("%s: %d of Q, %d of K", strategies[s], of_q, of_k);
    }
}

/* Two segments of the 2n points are Q and K. */
static void test_segments_of_both_sides(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, false);
    nb_landmarks l = pick(ctx, &f, "segment_means", 2, NB_SHARED);
    for (int i = 0; i < D; i++) {
        double q = 0, k = 0;
        for (int j = 0; j < N; j++) {
            q += f.head.q[j * D + i] / N;
            k += f.head.k[j * D + i] / N;
        }
        assert_close(l.queries.points[i], q, 1e-14);
        assert_close(l.queries.points[D + i], k, 1e-14);
    }
}

/* Greedy ones take first what scores highest among all 2n: a query by its product with
 * the mean key, a key by that with the mean query; by w.x + b, with a b for each side. */
static void test_scores_of_both_sides(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    const char *made;
    double score[2 * N], w[2][D + 1] = {{1, 0, -0.5, 2, 0.25, 0.7}, {-1, 3, 0.5, 0, 1, -0.4}};
    open_fixture(ctx, &f, false);
    assert_ok(ctx, nb_temporary_folder(&made, ctx));
    const char *path = nb_format(ctx, "%s/weights.npy", made);
    assert_ok(ctx, nb_npy_save_reals(path, 2, (int64_t[]){2, D + 1}, w[0], ctx));
    const char *specs[] = {"context", nb_format(ctx, "learned(weights=\"%s\")", path)};
    for (int s = 0; s < 2; s++) {
        memset(score, 0, sizeof score);
        for (int i = 0; i < N; i++)
            for (int l = 0; l < D; l++)
                for (int j = 0; j < N; j++) {
                    score[i] += f.head.q[i * D + l] * (s == 0 ? f.head.k[j * D + l] : w[0][l]) / N;
                    score[N + i] += f.head.k[i * D + l] * (s == 0 ? f.head.q[j * D + l] : w[1][l]) / N;
                }
        for (int i = 0; i < N && s == 1; i++) {
            score[i] += w[0][D];
            score[N + i] += w[1][D];
        }
        nb_landmarks l = pick(ctx, &f, specs[s], N, NB_SHARED);
        for (int j = 0; j < N; j++) {
            int best = 0;
            for (int i = 1; i < 2 * N; i++)
                if (score[i] > score[best]) best = i;
            const double *expected = best < N ? f.head.q + best * D : f.head.k + (best - N) * D;
            assert_memory_equal(l.queries.points + j * D, expected, D * sizeof *expected);
            score[best] = -INFINITY;
        }
    }
}

static double error_of(nb_ctx *ctx, const fixture *f, const nb_landmarks *landmarks)
{
    nb_choice core = choose(&nb_cores, "iterative", ctx);
    nb_how how = {.wanted = 0};
    nb_engine_times times = {.pass_s = 0};
    nb_pair pair = {.landmarks = landmarks};
    double *x = nb_alloc_reals(ctx, M, M);
    assert_ok(ctx, nb_engine_prepare(f->scene, &how, 1, &pair, &times, ctx));
    assert_ok(ctx, ((const nb_core *)core.component)->compute(pair.factors, core.options, x, ctx));
    nb_request request = {.pair = &pair, .x = x};
    assert_ok(ctx, nb_engine_measure(f->scene, &how, 1, &request, ctx));
    return request.measures.error;
}

/* Where Q = K a token's query and key are one point: sharing the queries is the pairing
 * `queries`, which picks the same; and what looks at no point or at distances alone picks
 * the same as jointly. */
static void test_where_queries_are_keys(void **state)
{
    const double same = 1e-12; /* bases of tokens and of points are made in two ways, which round in their own */
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, true);
    for (int s = 0; s < STRATEGIES; s++) {
        nb_landmarks tokens = pick(ctx, &f, strategies[s], M, NB_QUERIES),
                     shared = pick(ctx, &f, strategies[s], M, NB_SHARED_QUERIES);
        assert_close(error_of(ctx, &f, &tokens), error_of(ctx, &f, &shared), same);
    }
    nb_landmarks joint = pick(ctx, &f, "farthest_point(start=central)", M, NB_JOINT),
                 shared = pick(ctx, &f, "farthest_point(start=central)", M, NB_SHARED);
    assert_close(error_of(ctx, &f, &joint), error_of(ctx, &f, &shared), same);
}

/* The first m of a nested strategy's are its picks for m; means of 2n points need no cur. */
static void test_first_of_shared(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, false);
    nb_landmarks all = pick(ctx, &f, "farthest_point", N, NB_SHARED),
                 some = pick(ctx, &f, "farthest_point", M, NB_SHARED);
    nb_landmarks first = nb_landmarks_first(&all, M);
    assert_int_equal(first.keys.m, M);
    assert_memory_equal(first.keys.points, some.keys.points, D * M * sizeof(double));
    assert_true(first.select_s > 0 && first.select_s < all.select_s);
    tell("cur", nb_factors_refusal(NB_CUR, all.queries.kind, false, NULL));
}

/* As many allocations as there are may fail: no memory, nothing left behind. */
static void test_without_memory(void **state)
{
    nb_ctx *ctx = *state;
    nb_choice choice = choose(&nb_strategies, "kmeans", ctx);
    nb_stream stream = {.seed = 7, .component = choice.canonical};
    nb_status status = NB_ENOMEM;
    for (long k = 1; status != NB_OK; k++) {
        nb_mark mark = nb_ctx_mark(ctx);
        fixture f;
        nb_landmarks out;
        assert_true(k < 1000);
        open_fixture(ctx, &f, false);
        nb_ctx_fail_alloc(ctx, k);
        status = nb_landmarks_pick(&(nb_picking){f.scene, &choice, M, NB_SHARED, stream, f.rng}, &out, ctx);
        nb_ctx_fail_alloc(ctx, 0);
        if (status != NB_OK) assert_int_equal(status, NB_ENOMEM);
        nb_error_clear(ctx);
        nb_ctx_release(ctx, mark);
        assert_int_equal(nb_ctx_blocks(ctx), mark);
    }
}

/* The first m points that it is given, each coordinate 1 more: points that no token has. */
static nb_status pick_free(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx)
{
    double *x;
    (void)options;
    (void)ctx;
    NB_NEED(x, nb_picks_points(picks, points->d, m));
    for (int i = 0; i < points->d * m; i++) x[i] = points->x[i] + 1;
    return NB_OK;
}

static const nb_option no_options[] = {NB_OPTION_END};
static const nb_strategy free_points = {
    .component = {"free_points", "points that no token has, for a test", NULL, no_options, 0},
    .pairing = NB_JOINT,
    .pick = pick_free};
static const nb_choice chosen = {
    .component = &free_points.component, .canonical = "free_points", .label = "free_points"};

static double sum_of_differences(int count, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += a[i] - b[i];
    return sum;
}

/* Jointly a free point is [q; k]; Q's alone are none of K. The conformance check asks for
 * what can be had. */
static void test_free_points(void **state)
{
    nb_ctx *ctx = *state;
    nb_stream stream = {.seed = 7, .component = "free_points"};
    nb_landmarks l;
    fixture f;
    open_fixture(ctx, &f, false);
    const nb_pairing of_both[] = {NB_JOINT, NB_INDEPENDENT};
    for (int p = 0; p < 2; p++) {
        assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f.scene, &chosen, M, of_both[p], stream, f.rng}, &l, ctx));
        for (int i = 0; i < D * M; i++) {
            assert_close(l.queries.points[i], f.head.q[i] + 1, 0);
            assert_close(l.keys.points[i], f.head.k[i] + 1, 0);
        }
    }
    assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f.scene, &chosen, M, NB_SHARED_KEYS, stream, f.rng}, &l, ctx));
    assert_close(sum_of_differences(D * M, l.queries.points, f.head.k), D * M, 1e-12);
    assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f.scene, &chosen, M, NB_QUERIES, stream, f.rng}, &l, ctx));
    tell("free points, pairing queries", l.refusal);
    for (const nb_check *check = nb_strategy_checks; check->name; check++) {
        nb_trial_run run = {.choice = &chosen, .kernel = &f.kernel, .head = &f.head};
        assert_ok(ctx, check->run(&run, ctx));
    }
}

/* Free points have the head's dimension, neither more nor less. */
static void test_points_of_another_dimension(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    double out[2 * D], *points;
    open_fixture(ctx, &f, false);
    for (int d = D - 1; d <= D + 1; d += 2) {
        nb_picks picks = {.ctx = ctx};
        assert_non_null(points = nb_picks_points(&picks, d, 2));
        memset(points, 0, 2 * (size_t)d * sizeof *points);
        assert_error(ctx, nb_picks_landmarks(&picks, D, N, f.head.q, out, ctx), NB_EDIM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_points_of_one_side),
        test_with_ctx(test_points_of_both_sides),
        test_with_ctx(test_segments_of_both_sides),
        test_with_ctx(test_scores_of_both_sides),
        test_with_ctx(test_where_queries_are_keys),
        test_with_ctx(test_first_of_shared),
        test_with_ctx(test_without_memory),
        test_with_ctx(test_free_points),
        test_with_ctx(test_points_of_another_dimension),
    };
    return run_all(tests);
}
