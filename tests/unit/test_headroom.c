/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two oracles that tell how much there is to win, judged by the engine, which
 * knows nothing of their algebra. */
#include "scenes.h"

#include "kernels/kernel.h"
#include "linalg/linalg.h"
#include "nystrom/engine.h"
#include "nystrom/subspace.h"

#include <gsl/gsl_randist.h>

static void open_fixture(nb_ctx *ctx, fixture *f, const char *problem, int trial)
{
    open_scene(ctx, f, make_head(problem, 0, trial, ctx), "softmax");
}

static nb_status try_pick(nb_ctx *ctx, fixture *f, const char *strategy, int m, int trial, nb_landmarks *out)
{
    nb_choice choice = choose(&nb_strategies, strategy, ctx);
    nb_stream stream = {.seed = 1, .trial = trial, .component = choice.canonical};
    return nb_landmarks_pick(
        &(nb_picking){f->scene, &choice, m, ((const nb_strategy *)choice.component)->pairing, stream, f->rng}, out,
        ctx);
}

static nb_landmarks pick(nb_ctx *ctx, fixture *f, const char *strategy, int m, int trial)
{
    nb_landmarks out;
    assert_ok(ctx, try_pick(ctx, f, strategy, m, trial, &out));
    if (out.refusal) fail_msg("%s: %s", strategy, out.refusal);
    return out;
}

/* error_subspace, with no core but zero. */
static double subspace(nb_ctx *ctx, fixture *f, const nb_landmarks *landmarks, nb_factors_kind kind)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_how how = {.wanted = 0};
    nb_pair pair = {.landmarks = landmarks, .kind = kind};
    nb_engine_times times = {.pass_s = 0};
    size_t m = (size_t)landmarks->queries.m;
    nb_request request = {.pair = &pair, .x = nb_alloc_reals(ctx, m, m)};
    assert_ok(ctx, nb_engine_prepare(f->scene, &how, 1, &pair, &times, ctx));
    if (pair.failure) fail_msg("%s", pair.failure);
    assert_ok(ctx, nb_engine_measure(f->scene, &how, 1, &request, ctx));
    double error = request.measures.error_subspace;
    nb_ctx_release(ctx, mark);
    return error;
}

static double subspace_of_tokens(nb_ctx *ctx, fixture *f, int m, int *queries, int *keys)
{
    nb_landmarks l = {.queries = {.kind = NB_TOKENS, .m = m, .n = f->head.n, .tokens = queries},
                      .keys = {.kind = NB_TOKENS, .m = m, .n = f->head.n, .tokens = keys}};
    return subspace(ctx, f, &l, NB_CUR);
}

static bool among(int m, const int *tokens, int c)
{
    for (int j = 0; j < m; j++)
        if (tokens[j] == c) return true;
    return false;
}

/* The least error that one swap reaches. */
static double best_swap(nb_ctx *ctx, fixture *f, nb_landmarks *l)
{
    double least = INFINITY;
    int m = l->queries.m, *sides[] = {l->queries.tokens, l->keys.tokens};
    for (int side = 0; side < 2; side++)
        for (int j = 0; j < m; j++)
            for (int c = 0, kept = sides[side][j]; c < f->head.n; c++) {
                if (among(m, sides[side], c)) continue;
                sides[side][j] = c;
                least = fmin(least, subspace_of_tokens(ctx, f, m, sides[0], sides[1]));
                sides[side][j] = kept;
            }
    return least;
}

static double best_of_all(nb_ctx *ctx, fixture *f)
{
    double least = INFINITY;
    int n = f->head.n, i[2], j[2];
    for (i[0] = 0; i[0] < n; i[0]++)
        for (i[1] = i[0] + 1; i[1] < n; i[1]++)
            for (j[0] = 0; j[0] < n; j[0]++)
                for (j[1] = j[0] + 1; j[1] < n; j[1]++) least = fmin(least, subspace_of_tokens(ctx, f, 2, i, j));
    return least;
}

/* n = 8, m = 2: with sweeps to the end no swap is better, and in most trials no
 * choice at all is. A swap counts from 1e-12 |S|^2 on, so errors agree to
 * sqrt(1e-12 + e^2) - e, at most 1e-11 / e, here e > 0.05. */
static void test_exchange_ends_where_no_swap_helps(void **state)
{
    nb_ctx *ctx = *state;
    int optimal = 0, better = 0;
    enum { TRIALS = 10 };
    for (int trial = 0; trial < TRIALS; trial++) {
        nb_mark mark = nb_ctx_mark(ctx);
        fixture f;
        open_fixture(ctx, &f, "gaussian(n=8, d=3, scale=1.385)", trial);
        nb_landmarks start = pick(ctx, &f, "uniform", 2, trial), end = pick(ctx, &f, "exchange(sweeps=100)", 2, trial);
        double before = subspace(ctx, &f, &start, NB_CUR), error = subspace(ctx, &f, &end, NB_CUR),
               best = best_of_all(ctx, &f);
        assert_true(best > 0.05);
        assert_at_most(error, best_swap(ctx, &f, &end) + 1e-10);
        assert_at_most(error, before + 1e-10);
        assert_at_most(best, error + 1e-10);
        optimal += error <= best + 1e-10;
        better += error < before - 1e-6;
        nb_ctx_release(ctx, mark);
    }
    assert_in_range(optimal, 1, TRIALS); /* a local optimum is the best of all now and then */
    assert_in_range(better, TRIALS / 2 + 1, TRIALS);
}

/* Larger ones, and more landmarks, where each turn adds many changes of rank one. */
static void test_exchange_of_many_is_a_local_optimum(void **state)
{
    nb_ctx *ctx = *state;
    static const struct {
        const char *problem;
        int m;
    } cases[] = {{"gaussian(n=30, d=6, scale=1.385)", 6}, {"clusters(n=24, d=4, count=5)", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        open_fixture(ctx, &f, cases[i].problem, 0);
        nb_landmarks end = pick(ctx, &f, "exchange(sweeps=100)", cases[i].m, 3);
        assert_at_most(subspace(ctx, &f, &end, NB_CUR), best_swap(ctx, &f, &end) + 1e-10);
    }
}

/* One pass over the positions of tokens[], which is one of the two sides; each takes
 * the token that the engine finds best. */
static void swap_by_engine(nb_ctx *ctx, fixture *f, int m, int *tokens, int *queries, int *keys)
{
    for (int j = 0; j < m; j++) {
        double least = subspace_of_tokens(ctx, f, m, queries, keys);
        int best = tokens[j], kept = tokens[j];
        for (int c = 0; c < f->head.n; c++) {
            tokens[j] = kept;
            if (among(m, tokens, c)) continue;
            tokens[j] = c;
            double error = subspace_of_tokens(ctx, f, m, queries, keys);
            if (error * error > least * least - 1e-12) continue;
            least = error;
            best = c;
        }
        tokens[j] = best;
    }
}

/* One sweep takes the same tokens as one that asks the engine for each candidate. */
static void test_exchange_is_the_plain_algorithm(void **state)
{
    nb_ctx *ctx = *state;
    for (int trial = 0; trial < 3; trial++) {
        nb_mark mark = nb_ctx_mark(ctx);
        fixture f;
        enum { M = 6 };
        open_fixture(ctx, &f, "gaussian(n=30, d=6, scale=1.385)", trial);
        nb_landmarks start = pick(ctx, &f, "uniform", M, trial), end = pick(ctx, &f, "exchange(sweeps=1)", M, trial);
        int queries[M], keys[M];
        memcpy(queries, start.queries.tokens, sizeof queries);
        memcpy(keys, start.keys.tokens, sizeof keys);
        swap_by_engine(ctx, &f, M, keys, queries, keys);
        swap_by_engine(ctx, &f, M, queries, queries, keys);
        assert_memory_equal(end.keys.tokens, keys, sizeof keys);
        assert_memory_equal(end.queries.tokens, queries, sizeof queries);
        nb_ctx_release(ctx, mark);
    }
}

static const char *const heads[] = {"gaussian(n=130, d=5)", /* S is of low rank to rounding */
                                    "gaussian(n=96, d=16, scale=2)",
                                    "clusters(n=64, d=4, count=3, spread=0)", /* 3 different columns */
                                    "gaussian(n=40, d=3, scale=0)",           /* 1 */
                                    "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=2)",
                                    "heads(file=experiments/data/minilm_us-constitution_n512_L3.safetensors, head=1)",
                                    NULL};

/* Never worse than its start. Both errors are rounded: 1e-14 in the square, so 1e-7
 * where it vanishes. */
static void test_exchange_is_never_worse(void **state)
{
    nb_ctx *ctx = *state;
    for (int h = 0; heads[h]; h++)
        for (int m = 1; m <= 27; m += 13) {
            nb_mark mark = nb_ctx_mark(ctx);
            fixture f;
            open_fixture(ctx, &f, heads[h], 0);
            nb_landmarks start = pick(ctx, &f, "kmeans(snap=nearest)", m, 2),
                         end = pick(ctx, &f, "exchange(start=kmeans(snap=nearest), sweeps=1)", m, 2);
            nb_landmarks none = pick(ctx, &f, "exchange(start=kmeans(snap=nearest), sweeps=0)", m, 2);
            double before = subspace(ctx, &f, &start, NB_CUR), after = subspace(ctx, &f, &end, NB_CUR);
            assert_at_most(after * after, before * before + 1e-14);
            if (before > 0.2 && m > 1) assert_true(after < before - 1e-3); /* one token may be a local optimum */
            assert_memory_equal(none.queries.tokens, start.queries.tokens, (size_t)m * sizeof(int));
            assert_memory_equal(none.keys.tokens, start.keys.tokens, (size_t)m * sizeof(int));
            nb_ctx_release(ctx, mark);
        }
}

/* As many tokens as there are different columns reach all of S, wherever they start. */
static void test_exchange_repairs_repeated_tokens(void **state)
{
    nb_ctx *ctx = *state;
    for (int trial = 0; trial < 5; trial++) {
        fixture f;
        open_fixture(ctx, &f, "clusters(n=64, d=4, count=3, spread=0)", trial);
        nb_landmarks end = pick(ctx, &f, "exchange", 3, trial);
        assert_at_most(subspace(ctx, &f, &end, NB_CUR), 1e-7); /* the square is rounded to 1e-14 */
    }
}

static void test_exchange_needs_tokens(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    nb_landmarks out;
    open_fixture(ctx, &f, "gaussian(n=20, d=3)", 0);
    assert_ok(ctx, try_pick(ctx, &f, "exchange(start=segment_means)", 4, 0, &out));
    tell("exchange(start=segment_means)", out.refusal);
}

static const char *refusal(nb_ctx *ctx, const char *strategy, fixture *f, int n)
{
    nb_choice choice = choose(&nb_strategies, strategy, ctx);
    const char *text = ((const nb_strategy *)choice.component)
                           ->refusal(&(nb_points){.n = n, .d = 3, .scene = f->scene}, 4, choice.options);
    return text ? text : "";
}

/* What is too large, and what the start refuses. */
static void test_refusals(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_fixture(ctx, &f, "gaussian(n=20, d=3)", 0);
    assert_string_equal(refusal(ctx, "exchange", &f, 4096), "");
    tell("exchange, n = 4097", refusal(ctx, "exchange", &f, 4097));
    assert_string_equal(refusal(ctx, "optimized", &f, 2048), "");
    tell("optimized, n = 2049", refusal(ctx, "optimized", &f, 2049));
    f.head.causal = true;
    tell("exchange(start=optimized), causal", refusal(ctx, "exchange(start=optimized)", &f, 20));
}

/* Of all rows of S, or of so many centres', the gradient against central differences with a step h along random
 * directions and along coordinates: f is of order 1, its derivatives of order |gradient|, so the
 * difference is off by some 1e-16 / h + h^2, 1e-9 here, on a gradient of 1e-2 or more. */
static void check_gradient(nb_ctx *ctx, const char *problem, int centres, int m)
{
    const double h = 1e-5;
    fixture f;
    nb_subspace *s;
    nb_row_sample sample;
    open_fixture(ctx, &f, problem, 0);
    if (centres > 0) assert_ok(ctx, nb_row_sample_centres(f.scene, centres, f.rng, &sample, ctx));
    int count = 2 * m * f.head.d;
    size_t size = (size_t)count;
    double *x = nb_alloc_reals(ctx, size, 1), *direction = nb_alloc_reals(ctx, size, 1),
           *moved = nb_alloc_reals(ctx, size, 1), *gradient = nb_alloc_reals(ctx, size, 1);
    double value, up, down;
    for (int i = 0; i < count; i++) x[i] = gsl_ran_ugaussian(f.rng);
    assert_ok(ctx, nb_subspace_new(f.scene, centres > 0 ? &sample : NULL, m, &s, ctx));
    assert_ok(ctx, nb_subspace_value(s, x, &value, ctx));
    assert_ok(ctx, nb_subspace_gradient(s, gradient, ctx));
    assert_true(value > 0.01 && value < 1);
    double length = nb_frobenius(size, gradient);
    assert_true(length > 1e-2);
    for (int trial = 0; trial < 60; trial++) {
        double slope = 0;
        for (int i = 0; i < count; i++)
            direction[i] = trial < 20 ? gsl_ran_ugaussian(f.rng) / sqrt(count) : i == trial * 7 % count;
        for (int i = 0; i < count; i++) slope += gradient[i] * direction[i];
        for (int i = 0; i < count; i++) moved[i] = x[i] + h * direction[i];
        assert_ok(ctx, nb_subspace_value(s, moved, &up, ctx));
        for (int i = 0; i < count; i++) moved[i] = x[i] - h * direction[i];
        assert_ok(ctx, nb_subspace_value(s, moved, &down, ctx));
        assert_close((up - down) / (2 * h), slope, 1e-7 * length);
    }
}

static void test_gradient(void **state)
{
    check_gradient(*state, "gaussian(n=40, d=6, scale=1.385)", 0, 5);
    check_gradient(*state, "gaussian(n=33, d=4, scale=2)", 0, 7);
    check_gradient(*state, "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=2)", 0, 6);
    check_gradient(*state, "gaussian(n=40, d=6, scale=1.385)", 13, 5); /* their weights differ */
    check_gradient(*state, "gaussian(n=33, d=4, scale=2)", 7, 7);
}

/* The value and the error are the engine's, at the tokens' own points and at means;
 * the value up to the singular values that it leaves out. */
static void test_subspace_is_the_engines(void **state)
{
    nb_ctx *ctx = *state;
    static const char *const strategies[] = {"uniform", "segment_means"};
    for (int h = 0; heads[h]; h++)
        for (int i = 0; i < 2; i++) {
            nb_mark mark = nb_ctx_mark(ctx);
            fixture f;
            nb_subspace *s;
            double value, error;
            open_fixture(ctx, &f, heads[h], 0);
            nb_landmarks l = pick(ctx, &f, strategies[i], 8, 0);
            size_t half = 8 * (size_t)f.head.d;
            double *x = nb_alloc_reals(ctx, half, 2), expected = subspace(ctx, &f, &l, NB_NYSTROMFORMER);
            assert_ok(ctx, nb_picks_landmarks(&l.keys, f.head.d, f.head.n, f.head.k, x, ctx));
            assert_ok(ctx, nb_picks_landmarks(&l.queries, f.head.d, f.head.n, f.head.q, x + half, ctx));
            assert_ok(ctx, nb_subspace_new(f.scene, NULL, 8, &s, ctx));
            assert_ok(ctx, nb_subspace_value(s, x, &value, ctx));
            assert_ok(ctx, nb_subspace_error(s, x, &error, ctx));
            assert_close(value, expected * expected, 1e-13); /* rounding of sums of n^2 squares */
            assert_close(error * error, expected * expected, 1e-13);
            nb_ctx_release(ctx, mark);
        }
}

/* By entries and by bases f is the same, and a row of weight 2 is two rows. */
static void test_subspace_of_a_sample(void **state)
{
    nb_ctx *ctx = *state;
    enum { M = 4, D = 5 };
    fixture f;
    nb_row_sample sample, twice;
    nb_subspace *s, *t;
    const int *order;
    double value, error, other, x[2 * M * D];
    open_fixture(ctx, &f, "gaussian(n=50, d=5, scale=1.385)", 0);
    for (int i = 0; i < 2 * M * D; i++) x[i] = gsl_ran_ugaussian(f.rng);
    assert_ok(ctx, nb_scene_order(f.scene, 1, 0, &order, ctx));
    assert_ok(ctx, nb_row_sample_tokens(f.scene, 11, order, &sample, ctx));
    assert_ok(ctx, nb_subspace_new(f.scene, &sample, M, &s, ctx));
    assert_ok(ctx, nb_subspace_value(s, x, &value, ctx));
    assert_ok(ctx, nb_subspace_error(s, x, &error, ctx));
    assert_close(error * error, value, 1e-13);
    assert_true(value > 0.01);
    double *rows = nb_alloc_reals(ctx, 50, 12), *points = nb_alloc_reals(ctx, D, 12), weights[12];
    memcpy(rows, sample.rows, 50 * 11 * sizeof *rows);
    memcpy(rows + 50 * 11, sample.rows, 50 * sizeof *rows);
    memcpy(points, sample.points, D * 11 * sizeof *points);
    memcpy(points + D * 11, sample.points, D * sizeof *points);
    for (int i = 0; i < 12; i++) weights[i] = 1;
    twice = (nb_row_sample){.count = 12, .rows = rows, .points = points, .weights = weights};
    assert_ok(ctx, nb_subspace_new(f.scene, &twice, M, &t, ctx));
    assert_ok(ctx, nb_subspace_value(t, x, &other, ctx));
    weights[0] = 2;
    twice.count = 11;
    assert_ok(ctx, nb_subspace_new(f.scene, &twice, M, &s, ctx));
    assert_ok(ctx, nb_subspace_value(s, x, &value, ctx));
    assert_ok(ctx, nb_subspace_error(s, x, &error, ctx));
    assert_close(value, other, 1e-13);
    assert_close(error * error, other, 1e-13);
    twice.count = M - 1;
    assert_error(ctx, nb_subspace_new(f.scene, &twice, M, &s, ctx), NB_EINVAL);
}

/* Never worse than its start, means or tokens, and better by far where there is room. */
static void test_optimized_is_never_worse(void **state)
{
    nb_ctx *ctx = *state;
    static const char *const starts[] = {"segment_means", "uniform", "kmeans"};
    for (int h = 0; heads[h]; h++)
        for (int i = 0; i < 3; i++) {
            nb_mark mark = nb_ctx_mark(ctx);
            fixture f;
            open_fixture(ctx, &f, heads[h], 0);
            nb_landmarks start = pick(ctx, &f, starts[i], 9, 2),
                         end = pick(ctx, &f, nb_format(ctx, "optimized(start=%s, steps=20)", starts[i]), 9, 2);
            nb_landmarks none = pick(ctx, &f, nb_format(ctx, "optimized(start=%s, steps=0)", starts[i]), 9, 2);
            double before = subspace(ctx, &f, &start, NB_NYSTROMFORMER),
                   after = subspace(ctx, &f, &end, NB_NYSTROMFORMER);
            assert_int_equal(end.queries.kind, NB_POINTS);
            assert_at_most(after * after, before * before + 1e-14); /* its rounding */
            if (before > 0.2) assert_at_most(after, 0.97 * before);
            assert_close(subspace(ctx, &f, &none, NB_NYSTROMFORMER), before, 1e-12);
            nb_ctx_release(ctx, mark);
        }
}

static void test_optimized_refuses(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    nb_landmarks out;
    open_fixture(ctx, &f, "gaussian(n=20, d=3)", 0);
    f.head.causal = true;
    assert_ok(ctx, try_pick(ctx, &f, "optimized", 4, 0, &out));
    tell("optimized, causal", out.refusal);
    f.head.causal = false;
    nb_kernel flat = *(const nb_kernel *)f.kernel.component;
    flat.pull_back = NULL;
    f.kernel.component = &flat.component;
    assert_ok(ctx, try_pick(ctx, &f, "optimized", 4, 0, &out));
    tell("optimized, of a kernel without gradient", out.refusal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_exchange_ends_where_no_swap_helps),
        test_with_ctx(test_exchange_of_many_is_a_local_optimum),
        test_with_ctx(test_exchange_is_the_plain_algorithm),
        test_with_ctx(test_exchange_is_never_worse),
        test_with_ctx(test_exchange_repairs_repeated_tokens),
        test_with_ctx(test_exchange_needs_tokens),
        test_with_ctx(test_refusals),
        test_with_ctx(test_gradient),
        test_with_ctx(test_subspace_is_the_engines),
        test_with_ctx(test_subspace_of_a_sample),
        test_with_ctx(test_optimized_is_never_worse),
        test_with_ctx(test_optimized_refuses),
    };
    return run_all(tests);
}
