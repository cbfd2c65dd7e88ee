/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each random problem promises, by its statistics or exactly; the permuted
 * tokens and the windows of all. Standard errors are of means over the stated
 * numbers of draws; 4 of them fail by chance once in 16,000 seeds, and the seed is
 * fixed. */
#include "safetensors.h"
#include "testing.h"

#include "base/scratch.h"
#include "data/tensor.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "calls/picking.h"
#include "nystrom/engine.h"
#include "nystrom/make_scene.h"

#include <gsl/gsl_statistics_double.h>

#define VIT "experiments/data/vit_astronaut_n257_L6.safetensors"

/* The number of token i of `permuted` in `plain`, by its query; keys and values must go with it. */
static int origin(const nb_head *plain, const nb_head *permuted, int i)
{
    size_t d = (size_t)plain->d, dv = (size_t)plain->dv, at = (size_t)i;
    for (size_t j = 0; j < (size_t)plain->n; j++) {
        if (memcmp(plain->q + j * d, permuted->q + at * d, d * sizeof(double))) continue;
        assert_memory_equal(plain->k + j * d, permuted->k + at * d, d * sizeof(double));
        assert_memory_equal(plain->v + j * dv, permuted->v + at * dv, dv * sizeof(double));
        return (int)j;
    }
    fail_msg("token %d of the permuted head is none of the head's", i);
    return -1;
}

static void order_of(const nb_head *plain, const nb_head *permuted, int *order)
{
    bool seen[1000] = {false};
    assert_true(plain->n == permuted->n && plain->n <= 1000);
    for (int i = 0; i < plain->n; i++) {
        order[i] = origin(plain, permuted, i);
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
}

/* The same points in another order; another one in each trial where the points
 * are, the same where they are not. */
static void test_permuted_tokens(void **state)
{
    nb_ctx *ctx = *state;
    static const struct {
        const char *plain, *permuted;
        bool random;
    } cases[] = {
        {"gaussian(n=90, d=3)", "gaussian(n=90, d=3, permute=true)", true},
        {"smooth(n=90, d=3)", "smooth(n=90, d=3, permute=true)", true},
        {"heads(file=" VIT ")", "heads(file=" VIT ", permute=true)", false},
        {"heads(file=" VIT ", max_n=90, first=50)", "heads(file=" VIT ", max_n=90, first=50, permute=true)", false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int order[2][1000];
        for (int trial = 0; trial < 2; trial++) {
            nb_head plain = make_head(cases[c].plain, 1 - cases[c].random, trial, ctx);
            nb_head permuted = make_head(cases[c].permuted, 1 - cases[c].random, trial, ctx);
            int fixed = 0;
            order_of(&plain, &permuted, order[trial]);
            for (int i = 0; i < plain.n; i++) fixed += order[trial][i] == i;
            assert_true(fixed < 10); /* the number of fixed points is Poisson with mean 1 */
        }
        assert_true((memcmp(order[0], order[1], 90 * sizeof(int)) != 0) == cases[c].random);
    }
}

static nb_measures measure_tokens(nb_ctx *ctx, nb_scene *scene, const int *tokens, int m)
{
    nb_landmarks landmarks = {.queries = {.ctx = ctx}};
    nb_how how = {.wanted = 0};
    nb_engine_times times;
    double *x = nb_alloc_reals(ctx, (size_t)m, (size_t)m);
    memcpy(nb_picks_tokens(&landmarks.queries, m), tokens, (size_t)m * sizeof *tokens);
    landmarks.keys = landmarks.queries;
    nb_pair pair = {.landmarks = &landmarks, .kind = NB_CUR};
    assert_ok(ctx, nb_engine_prepare(scene, &how, 1, &pair, &times, ctx));
    for (int j = 0; j < m; j++) x[j + j * m] = 1.5;
    nb_request request = {.pair = &pair, .x = x};
    assert_ok(ctx, nb_engine_measure(scene, &how, 1, &request, ctx));
    return request.measures;
}

/* S' = P S P': the same singular values, and landmarks i give on the permuted head
 * what order[i] give on the plain one, so that the error of m random tokens has one
 * distribution. Rounding of sums in another order. */
static void test_permuted_s(void **state)
{
    nb_ctx *ctx = *state;
    static const char *const problems[2] = {"heads(file=" VIT ")", "heads(file=" VIT ", permute=true)"};
    nb_choice kernel = choose(&nb_kernels, "softmax", ctx);
    nb_head heads[2];
    nb_scene *scenes[2];
    const double *rows[2];
    const nb_spectrum *spectra[2];
    int order[1000], tokens[9], n;
    for (int i = 0; i < 2; i++) {
        heads[i] = make_head(problems[i], 2, 0, ctx);
        assert_ok(ctx, nb_scene_new(&heads[i], &kernel, &scenes[i], ctx));
        assert_ok(ctx, nb_scene_rows(scenes[i], &rows[i], ctx));
        assert_ok(ctx, nb_scene_singular_values(scenes[i], 1, &spectra[i], ctx));
    }
    n = heads[0].n;
    order_of(&heads[0], &heads[1], order);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) assert_close(rows[1][i * n + j], rows[0][order[i] * n + order[j]], 1e-14);
    for (int i = 0; i < n; i++)
        assert_close(spectra[1]->values[i], spectra[0]->values[i], 1e-13 * spectra[0]->values[0]);
    for (int j = 0; j < 9; j++) tokens[j] = 3 + 20 * j;
    nb_measures permuted = measure_tokens(ctx, scenes[1], tokens, 9);
    for (int j = 0; j < 9; j++) tokens[j] = order[tokens[j]];
    nb_measures plain = measure_tokens(ctx, scenes[0], tokens, 9);
    assert_close(permuted.error / plain.error, 1, 1e-12);
    assert_close(permuted.error_subspace / plain.error_subspace, 1, 1e-12);
}

/* The subspace error of one strategy in one trial. */
static double subspace_error(nb_ctx *ctx, const char *problem, const char *strategy, int trial)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_choice kernel = choose(&nb_kernels, "softmax", ctx), choice = choose(&nb_strategies, strategy, ctx);
    nb_head head = make_head(problem, 0, trial, ctx);
    nb_scene *scene;
    nb_landmarks landmarks;
    gsl_rng *rng;
    nb_how how = {.wanted = 0};
    nb_engine_times times;
    double x[16 * 16] = {0};
    assert_ok(ctx, nb_random_new(&rng, ctx));
    assert_ok(ctx, nb_scene_new(&head, &kernel, &scene, ctx));
    assert_ok(ctx, nb_landmarks_pick(
                       &(nb_picking){scene, &choice, 16, NB_JOINT,
                                     (nb_stream){.seed = 1, .trial = trial, .component = choice.canonical}, rng},
                       &landmarks, ctx));
    nb_pair pair = {.landmarks = &landmarks};
    assert_ok(ctx, nb_engine_prepare(scene, &how, 1, &pair, &times, ctx));
    nb_request request = {.pair = &pair, .x = x};
    assert_ok(ctx, nb_engine_measure(scene, &how, 1, &request, ctx));
    nb_ctx_release(ctx, mark);
    return request.measures.error_subspace;
}

/* On smooth tokens segment means live from the order, and random tokens do not. */
static void test_what_segment_means_live_from(void **state)
{
    enum { TRIALS = 24 };
    double uniform[TRIALS], segments[TRIALS]; /* log(permuted / plain) */
    for (int t = 0; t < TRIALS; t++) {
        static const char *const plain = "smooth(n=192, d=8)", *const permuted = "smooth(n=192, d=8, permute=true)";
        uniform[t] = log(subspace_error(*state, permuted, "uniform", t) / subspace_error(*state, plain, "uniform", t));
        segments[t] = log(subspace_error(*state, permuted, "segment_means", t) /
                          subspace_error(*state, plain, "segment_means", t));
    }
    double se = gsl_stats_sd(uniform, 1, TRIALS) / sqrt(TRIALS);
    assert_close(gsl_stats_mean(uniform, 1, TRIALS), 0, 4 * se);
    assert_at_most(se, 0.03);
    assert_at_most(0.1, gsl_stats_mean(segments, 1, TRIALS));
    assert_at_most(4 * gsl_stats_sd(segments, 1, TRIALS) / sqrt(TRIALS), gsl_stats_mean(segments, 1, TRIALS));
}

static void test_refused(void **state)
{
    nb_ctx *ctx = *state;
    static const char *const cases[] = {
        "heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors, permute=true)",
        "heads(file=" VIT ", causal=true, permute=true)",
        "heads(file=" VIT ", first=257)",
        "low_rank(d=4, rank=5)",
        "sink(n=3)",
        "rotated(n=15)"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_choice choice = choose(&nb_problems, cases[i], ctx);
        nb_problem_shape shape;
        assert_error_of(cases[i], ctx, nb_heads_shape(&choice, &shape, ctx), NB_EINVAL);
    }
    nb_choice allowed =
        choose(&nb_problems,
               "heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors, permute=true, causal=false)", ctx);
    nb_problem_shape shape;
    assert_ok(ctx, nb_heads_shape(&allowed, &shape, ctx));
    assert_false(shape.causal);
}

/* Each input of a file has a source; of one head it is that head's. */
static void test_sources_of_heads(void **state)
{
    nb_ctx *ctx = *state;
    static const double values[6] = {0.25, -1, 2.5, 0.125, 3, -0.75};
    static const char *const sources[] = {"brick", "kjv", "grass"};
    const tensor_out q = {"q", NB_F32, 4, {3, 2, 1, 1}, values};
    const char *folder, *path;
    json_t *metadata = json_pack("{s:s}", "sources", "brick kjv grass");
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    path = nb_format(ctx, "%s/head.safetensors", folder);
    assert_ok(ctx, save_safetensors(path, 1, &q, metadata, ctx));
    json_decref(metadata);
    for (int head = -1; head < 6; head++) {
        const char *one = head < 0 ? "" : nb_format(ctx, ", head=%d", head);
        nb_choice choice = choose(&nb_problems, nb_format(ctx, "heads(file=\"%s\"%s)", path, one), ctx);
        nb_problem_shape shape;
        assert_ok(ctx, nb_heads_shape(&choice, &shape, ctx));
        assert_int_equal(shape.count, head < 0 ? 6 : 1);
        for (int i = 0; i < shape.count; i++)
            assert_string_equal(shape.origins.sources[i], sources[(head < 0 ? i : head) / 2]);
    }
}

static void test_windows(void **state)
{
    nb_ctx *ctx = *state;
    static const struct {
        const char *problem;
        int first, n;
    } cases[] = {{"heads(file=" VIT ", max_n=40)", 0, 40},
                 {"heads(file=" VIT ", max_n=40, first=7)", 7, 40},
                 {"heads(file=" VIT ", max_n=40, first=230)", 230, 27},
                 {"heads(file=" VIT ", first=256)", 256, 1},
                 {"heads(file=" VIT ", max_n=1000)", 0, 257}};
    nb_head whole = make_head("heads(file=" VIT ")", 1, 0, ctx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_head part = make_head(cases[i].problem, 1, 0, ctx);
        size_t at = (size_t)cases[i].first, n = (size_t)cases[i].n;
        assert_int_equal(part.n, cases[i].n);
        assert_memory_equal(part.q, whole.q + at * (size_t)whole.d, n * (size_t)whole.d * sizeof(double));
        assert_memory_equal(part.k, whole.k + at * (size_t)whole.d, n * (size_t)whole.d * sizeof(double));
        assert_memory_equal(part.v, whole.v + at * (size_t)whole.dv, n * (size_t)whole.dv * sizeof(double));
    }
}

/* Lag-h correlation of the d coordinates of x, mean 0 known. */
static double lagged(int d, int n, const double *x, int h)
{
    size_t count = (size_t)d * (size_t)(n - h), lag = (size_t)d * (size_t)h;
    return nb_dot(count, x, x + lag) / nb_sum_of_squares(count, x);
}

/* AR(1): the estimate of r has variance (1 - r^2)/N, of any other moment at most
 * about 2 (1 + r^2)/(1 - r^2)/N (Brockwell & Davis, chapter 7). */
static void test_smooth(void **state)
{
    enum { N = 20000, D = 2 };
    nb_ctx *ctx = *state;
    nb_head h = make_head("smooth(n=20000, d=2, correlation=0.9, scale=2)", 0, 0, ctx);
    const double *points[] = {h.q, h.k, h.v};
    double count = N * D, r = 0.9, spread = sqrt(2 * (1 + r * r) / (1 - r * r) / count);
    for (int i = 0; i < 3; i++) {
        assert_close(lagged(D, N, points[i], 1), r, 4 * sqrt((1 - r * r) / count));
        assert_close(lagged(D, N, points[i], 2), r * r, 4 * spread);
        assert_close(nb_sum_of_squares(N * D, points[i]) / count, 4, 4 * 4 * spread);
        assert_close(nb_dot(N * D, points[i], points[(i + 1) % 3]) / count, 0, 4 * 4 * spread);
    }
    nb_head wide =
        make_head("smooth(n=3, d=5000, correlation=0.9)", 0, 0, ctx); /* stationary from the first token on */
    for (int i = 0; i < 3; i++)
        assert_close(nb_sum_of_squares(5000, wide.q + 5000 * i) / 5000, 1, 4 * sqrt(2.0 / 5000));
    nb_head same = make_head("smooth(n=9, d=3, correlation=1)", 0, 0, ctx);
    for (int i = 3; i < 27; i++) assert_true(same.q[i] == same.q[i - 3]);
}

/* [Q K] has rank r; mean squares are chi-square, 2/(rn) and 2/(dn) their variances. */
static void test_low_rank(void **state)
{
    enum { N = 400, D = 20, R = 5 };
    nb_ctx *ctx = *state;
    double stacked[2 * N * D], values[D];
    nb_head h = make_head("low_rank(n=400, d=20, rank=5, noise=0)", 0, 0, ctx);
    memcpy(stacked, h.q, sizeof stacked / 2);
    memcpy(stacked + N * D, h.k, sizeof stacked / 2);
    assert_ok(ctx, nb_svd(D, 2 * N, stacked, NULL, values, NULL, ctx));
    assert_at_most(0.5 * values[0], values[R - 1]);
    assert_at_most(values[R], 1e-14 * values[0] * D);
    assert_close(nb_sum_of_squares(N * D, h.q) / (N * D), 1, 4 * sqrt(2.0 / (N * R)));
    assert_close(nb_dot(N * D, h.q, h.k) / (N * D), 0, 4 * sqrt(1.0 / (N * R)));
    nb_head noisy = make_head("low_rank(n=400, d=20, rank=5, noise=2)", 0, 0, ctx);
    assert_close(nb_sum_of_squares(N * D, noisy.k) / (N * D), 1 + 4,
                 4 * sqrt(2.0 / (N * R) + 16 * 2.0 / (N * D) + 16.0 / (N * D)));
    assert_ok(ctx, nb_svd(D, N, noisy.q, NULL, values, NULL, ctx));
    assert_at_most(1.5 * sqrt(N),
                   values[D - 1]); /* full rank: the noise's least singular value is about 2 (sqrt(N) - sqrt(D)) */
}

/* Quartiles and tails. Closed forms for 1 and 2 degrees of freedom: t has the upper
 * quartile 1 and sqrt(2/3), P(|t| > x) = 1 - 2 atan(x)/pi and 1 - x/sqrt(2 + x^2). */
static void test_heavy_tail(void **state)
{
    enum { N = 40000 };
    static const char *const problems[] = {"heavy_tail(n=10000, d=4, dof=1)", "heavy_tail(n=10000, d=4, dof=2)"};
    const double normal = 0.67448975019608171, quartiles[] = {1, sqrt(2.0 / 3)};
    for (int i = 0; i < 2; i++) {
        nb_head h = make_head(problems[i], 0, 0, *state);
        for (double x = normal; x < 40; x *= 3) {
            double t = x / normal * quartiles[i], p = i ? 1 - t / sqrt(2 + t * t) : 1 - 2 * atan(t) / M_PI;
            int beyond = 0;
            for (int j = 0; j < N; j++) beyond += fabs(h.k[j]) > x;
            assert_close((double)beyond / N, p, 4 * sqrt(p * (1 - p) / N));
        }
    }
    nb_head light = make_head("heavy_tail(n=10000, d=4, dof=1e6)", 0, 0, *state); /* is normal */
    assert_close(nb_sum_of_squares(N, light.q) / N, 1, 4 * sqrt(2.0 / N));
}

/* The head of these options from the same random numbers. */
static nb_head with_same_numbers(nb_ctx *ctx, const char *problem)
{
    nb_choice choice = choose(&nb_problems, problem, ctx);
    nb_head h;
    gsl_rng *rng;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    gsl_rng_set(rng, 17);
    nb_ctx_set_rng(ctx, rng);
    assert_ok(ctx, ((const nb_problem *)choice.component)->make(choice.options, 0, &h, ctx));
    nb_ctx_set_rng(ctx, NULL);
    return h;
}

static double score(const nb_head *h, int i, int j)
{
    return nb_dot((size_t)h->d, h->q + i * h->d, h->k + j * h->d) / sqrt(h->d);
}

/* Of attention, what goes to the first `sinks` keys, mean over the queries. */
static double mass_on_sinks(const nb_head *h, int sinks)
{
    double share = 0;
    for (int i = 0; i < h->n; i++) {
        double on = 0, all = 0;
        for (int j = 0; j < h->n; j++) {
            all += exp(score(h, i, j));
            if (j < sinks) on += exp(score(h, i, j));
        }
        share += on / all / h->n;
    }
    return share;
}

/* Exactly `strength` more on the sinks' scores; and the mass that follows from that,
 * where 64 sinks of scores with deviation 1 (exp of it: 1.3 of its mean) make it
 * vary by 0.16/4 = 0.04 at most. */
static void test_sink(void **state)
{
    enum { N = 256, SINKS = 64 };
    nb_ctx *ctx = *state;
    nb_head without = with_same_numbers(ctx, "sink(n=256, d=64, sinks=64, strength=0)");
    nb_head with = with_same_numbers(ctx, "sink(n=256, d=64, sinks=64, strength=2.385)");
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            assert_close(score(&with, i, j) - score(&without, i, j), j < SINKS ? 2.385 : 0, 1e-12);
    double factor = SINKS * exp(2.385);
    assert_close(mass_on_sinks(&without, SINKS), (double)SINKS / N, 0.04);
    assert_close(mass_on_sinks(&with, SINKS), factor / (factor + N - SINKS), 0.04);
    assert_close(nb_sum_of_squares(N * 64, without.q) / (N * 63), 1,
                 4 * sqrt(2.0 / (N * 63))); /* the part along u is gone */
}

/* How many tokens are of another cluster than the one before, clusters being points (spread 0). */
static int changes(const nb_head *h)
{
    int count = 0;
    for (int i = 1; i < h->n; i++)
        count += memcmp(h->q + (i - 1) * h->d, h->q + i * h->d, (size_t)h->d * sizeof(double)) != 0;
    return count;
}

/* K = R Q: equal inner products, hence the same clusters, but elsewhere: the cosine
 * of a query and its key is of variance 1/d. With noise, distances within clusters
 * are 2 spread^2 d on average. */
static void test_rotated(void **state)
{
    enum { N = 60, D = 40, COUNT = 10 };
    nb_ctx *ctx = *state;
    nb_head h = make_head("rotated(n=60, d=40, count=10, spread=0)", 0, 0, ctx);
    double cosine = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            assert_close(nb_dot(D, h.q + i * D, h.q + j * D), nb_dot(D, h.k + i * D, h.k + j * D), 1e-12);
        cosine += nb_dot(D, h.q + i * D, h.k + i * D) / nb_sum_of_squares(D, h.q + i * D) / N;
    }
    assert_close(cosine, 0, 4 / sqrt((double)D * COUNT));
    assert_int_equal(changes(&h), COUNT - 1);
    nb_head shuffled = make_head("rotated(n=60, d=40, count=10, spread=0, order=shuffled)", 0, 0, ctx);
    assert_true(changes(&shuffled) > 40); /* of 59, 9/10 on average */
    nb_head noisy = make_head("rotated(n=60, d=40, count=10, spread=0.3)", 0, 0, ctx);
    double within = 0, between = 0;
    for (int i = 0; i < N; i += 2) {
        within += nb_squared_distance(D, noisy.k + i * D, noisy.k + (i + 1) * D) / (N / 2);
        between += nb_squared_distance(D, noisy.k + i * D, noisy.k + (i + 30) % N * D) / (N / 2);
    }
    assert_close(within, 2 * 0.09 * D, 4 * 2 * 0.09 * sqrt(2.0 * D / (N / 2)));
    assert_close(between, 2 * 1.09 * D,
                 4 * 2 * 1.09 * sqrt(2.0 * D / COUNT)); /* pairs of centres repeat: 10 that differ */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_permuted_tokens),
        test_with_ctx(test_permuted_s),
        test_with_ctx(test_what_segment_means_live_from),
        test_with_ctx(test_refused),
        test_with_ctx(test_sources_of_heads),
        test_with_ctx(test_windows),
        test_with_ctx(test_smooth),
        test_with_ctx(test_low_rank),
        test_with_ctx(test_heavy_tail),
        test_with_ctx(test_sink),
        test_with_ctx(test_rotated),
    };
    return run_all(tests);
}
