/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both engines against closed forms and identities. */
#include "scenes.h"

#include "cores/core.h"
#include "linalg/linalg.h"
#include "nystrom/engine.h"

#include <float.h>

static nb_engine_kind engine; /* that the tests run with */

static nb_landmarks pick(nb_ctx *ctx, fixture *f, const char *strategy, int m, nb_pairing pairing)
{
    nb_choice choice = choose(&nb_strategies, strategy, ctx);
    nb_landmarks landmarks = {.select_s = 0};
    nb_stream stream = {.seed = 1, .component = choice.canonical};
    assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f->scene, &choice, m, pairing, stream, f->rng}, &landmarks, ctx));
    return landmarks;
}

/* F X B for any X; x NULL: that of the core. */
static nb_measures measure_x(nb_ctx *ctx, fixture *f, const nb_landmarks *landmarks, nb_factors_kind kind,
                             const char *core, double *x, unsigned wanted)
{
    nb_how how = {.engine = engine, .wanted = wanted};
    nb_engine_times times = {.pass_s = 0};
    nb_pair pair = {.landmarks = landmarks, .kind = kind};
    int m = landmarks->queries.m;
    assert_ok(ctx, nb_engine_prepare(f->scene, &how, 1, &pair, &times, ctx));
    if (pair.failure) fail_msg("%s", pair.failure);
    if (!x) {
        nb_choice choice = choose(&nb_cores, core, ctx);
        x = nb_alloc_reals(ctx, (size_t)m, (size_t)m);
        assert_ok(ctx, ((const nb_core *)choice.component)->compute(pair.factors, choice.options, x, ctx));
    }
    nb_request request = {.pair = &pair, .x = x};
    assert_ok(ctx, nb_engine_measure(f->scene, &how, 1, &request, ctx));
    if (request.failure) fail_msg("%s", request.failure);
    return request.measures;
}

static nb_measures measure(nb_ctx *ctx, fixture *f, const nb_landmarks *landmarks, nb_factors_kind kind,
                           const char *core)
{
    return measure_x(ctx, f, landmarks, kind, core, NULL, NB_WANT_ALL);
}

/* n tokens, r of them distinct, so S has exact rank r (well separated points). */
static nb_head repeated(nb_ctx *ctx, int n, int r)
{
    nb_head source = make_head("gaussian(n=40, d=6)", 0, 0, ctx), out;
    assert_ok(ctx, nb_head_new(n, 6, &out, ctx));
    for (int i = 0; i < n; i++) {
        memcpy(out.q + 6 * i, source.q + 6 * (i % r), 6 * sizeof(double));
        memcpy(out.k + 6 * i, source.k + 6 * (i % r), 6 * sizeof(double));
        memcpy(out.v + 6 * i, source.v + 6 * (i % 40), 6 * sizeof(double));
    }
    return out;
}

static nb_landmarks first_tokens(nb_ctx *ctx, int m)
{
    nb_landmarks landmarks = {.queries = {.ctx = ctx}};
    int *tokens = nb_picks_tokens(&landmarks.queries, m);
    for (int j = 0; j < m; j++) tokens[j] = j;
    landmarks.keys = landmarks.queries;
    return landmarks;
}

/* S of exact rank r from r distinct tokens, m = r: S = F A+ B exactly (CUR of a
 * matrix of the rank of its core). Round-off grows with A's condition. */
static void test_exact_at_the_rank(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, repeated(ctx, 70, 7), "softmax");
    nb_landmarks landmarks = first_tokens(ctx, 7);
    nb_measures got = measure(ctx, &f, &landmarks, NB_CUR, "svd(rcond=machine)");
    double tolerance = 100 * DBL_EPSILON * got.landmark_condition;
    assert_at_most(tolerance, 1e-8);
    assert_at_most(got.error, tolerance);
    assert_at_most(got.error_subspace, tolerance);
    assert_at_most(got.floor_rank, 1e-13);
    assert_int_equal((int)got.landmark_rank, 7);
    assert_close(got.cosine, 1, tolerance);
    assert_at_most(got.output_error, 10 * tolerance);
    assert_at_most(got.spectral_error, 10 * tolerance);
    assert_at_most(got.core_residual, tolerance);
}

/* Each of the r distinct keys stands n/r times in a row, so the repeated S is
 * (1/c) S_r (x) 1 1' with c = n/r, and all errors follow from the r x r matrix:
 * m = r - 1 leaves one Schur complement entry, S_r[r,r] - f A^-1 b, scaled. */
static void test_one_landmark_short_of_the_rank(void **state)
{
    nb_ctx *ctx = *state;
    enum { R = 5, N = 40, M = 4 };
    fixture whole, small;
    open_scene(ctx, &whole, repeated(ctx, N, R), "softmax");
    open_scene(ctx, &small, repeated(ctx, R, R), "softmax");
    nb_landmarks landmarks = first_tokens(ctx, M);
    nb_measures got = measure(ctx, &whole, &landmarks, NB_CUR, "svd(rcond=machine)");
    const double *s;
    assert_ok(ctx, nb_scene_rows(small.scene, &s, ctx));
    double a[M * M], inverse[M * M], u[M * M], values[M], vt[M * M];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) a[i + j * M] = s[i * R + j];
    assert_ok(ctx, nb_svd(M, M, a, u, values, vt, ctx));
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++) u[i + j * M] /= values[j];
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, M, M, M, 1, vt, M, u, M, 0, inverse, M);
    double schur = s[M * R + M], norm = nb_frobenius(R * R, s);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) schur -= s[M * R + i] * inverse[i + j * M] * s[j * R + M];
    assert_close(got.error, fabs(schur) / norm, 1e3 * DBL_EPSILON * got.landmark_condition);
    assert_close(got.mse, schur * schur * R * R / N / N / R / R, 1e-12);
}

/* error^2 = subspace^2 + core^2, floor <= subspace <= error, for every strategy,
 * both factors, both cores; and the norms' order. Relative to the larger part,
 * rounding of the three sums is some eps, of F X B the noise estimate. */
static void check_identities(nb_ctx *ctx, fixture *f, const char *strategy, nb_factors_kind kind, int m,
                             const char *core)
{
    nb_landmarks landmarks = pick(ctx, f, strategy, m, NB_INDEPENDENT);
    if (nb_factors_refusal(kind, landmarks.queries.kind, f->head.causal, NULL)) return;
    nb_measures got = measure(ctx, f, &landmarks, kind, core);
    double sum = hypot(got.error_subspace, got.error_core), slack = 1e-12 + 100 * got.error_noise;
    assert_close(got.error, sum, 1e-10 * sum + slack);
    assert_at_most(got.floor_rank, got.error_subspace + 1e-12);
    assert_at_most(got.error_subspace, got.error + slack);
    if (got.landmark_rank == 0) /* all landmark keys come after the landmark queries: A = 0, X = 0 */
        assert_true(isnan(got.cosine) && fabs(got.error - 1) < 1e-14);
    else
        assert_at_most(fabs(got.cosine), 1 + 1e-12);
    assert_true(got.negative_fraction >= 0 && got.negative_fraction <= 1);
    double frobenius, n = f->head.n;
    const nb_spectrum *spectrum;
    assert_ok(ctx, nb_scene_norm(f->scene, &frobenius, ctx));
    assert_ok(ctx, nb_scene_singular_values(f->scene, 1, &spectrum, ctx));
    double largest = spectrum->values[0], iterated = 1e-5; /* of Lanczos: 1e-6 */
    assert_close(got.mse, pow(got.error * frobenius / n, 2), 1e-10 * got.mse);
    assert_at_most(got.spectral_error * largest, got.error * frobenius * (1 + 1e-10) + slack);
    assert_at_most(got.error * frobenius, got.spectral_error * largest * sqrt(n) * (1 + iterated) + slack);
}

static void test_identities(void **state)
{
    static const char *const problems[] = {
        "gaussian(n=1, d=2)", "gaussian(n=2, d=3)", "gaussian(n=63, d=8)", "clusters(n=257, d=4, count=9)",
        "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, causal=true)"};
    static const char *const strategies[] = {"uniform", "segment_means", "kmeans", "leverage"};
    static const char *const cores[] = {"svd(rcond=1e-10)", "svd(rcond=machine)", "iterative"};
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++)
        for (int s = 0; s < 4; s++)
            for (int c = 0; c < 3; c++)
                for (int kind = 0; kind < NB_FACTORS_COUNT; kind++) {
                    nb_ctx *ctx = *state;
                    nb_mark mark = nb_ctx_mark(ctx);
                    fixture f;
                    open_scene(ctx, &f, make_head(problems[p], 0, 0, ctx), "softmax");
                    check_identities(ctx, &f, strategies[s], (nb_factors_kind)kind, 1, cores[c]);
                    if (f.head.n > 16) check_identities(ctx, &f, strategies[s], (nb_factors_kind)kind, 16, cores[c]);
                    nb_ctx_release(ctx, mark);
                }
}

static bool needs_an_option(const nb_component *c)
{
    for (const nb_option *o = c->options; o->key; o++)
        if (!o->initial) return true;
    return false;
}

/* With all n tokens, F, A and B are S: F A+ B = S S+ S = S on a well conditioned S. The prior of kernel_ridge is then
 * I, which leaves nothing to regress. */
static void test_all_tokens_are_exact(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=30, d=40, scale=1.5)", 0, 0, ctx), "softmax");
    for (const nb_entry *e = nb_strategies.entries; e->component; e++) {
        if (needs_an_option(e->component)) continue;
        nb_landmarks landmarks = pick(ctx, &f, e->component->name, 30, ((const nb_strategy *)e->component)->pairing);
        for (int kind = 0; kind < NB_FACTORS_COUNT && landmarks.queries.kind != NB_POINTS; kind++) {
            if (kind == NB_NOCORE || nb_factors_refusal((nb_factors_kind)kind, landmarks.queries.kind, false, NULL))
                continue;
            nb_measures got = measure(ctx, &f, &landmarks, (nb_factors_kind)kind, "svd(rcond=machine)");
            if (nb_factors_have_middle((nb_factors_kind)kind)) assert_at_most(got.landmark_condition, 1e6);
            assert_at_most(got.error, 1e-9);
        }
    }
}

/* Without a middle: with all n tokens in the same order F and B are S, and F B is S S.
 * With one landmark, the mean of all, every row of F B is that of the mean query. The
 * differences are of order 1, their entries rounded to some eps. */
static void test_no_middle(void **state)
{
    enum { N = 30 };
    nb_ctx *ctx = *state;
    fixture f;
    const double *rows; /* column i is row i of S */
    double *product = nb_alloc_reals(ctx, N, N), one[N], norm, squares = 0;
    open_scene(ctx, &f, make_head("gaussian(n=30, d=4, scale=1.5)", 0, 0, ctx), "softmax");
    assert_ok(ctx, nb_scene_rows(f.scene, &rows, ctx));
    assert_ok(ctx, nb_scene_norm(f.scene, &norm, ctx));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            for (int k = 0; k < N; k++) product[i * N + j] += rows[i * N + k] * rows[k * N + j];
            squares += pow(rows[i * N + j] - product[i * N + j], 2);
        }
    nb_landmarks landmarks = first_tokens(ctx, N);
    nb_measures got = measure(ctx, &f, &landmarks, NB_NOCORE, "identity");
    assert_close(got.error, sqrt(squares) / norm, 1e-13);
    assert_at_most(got.error_subspace, 1e-7); /* S itself is in the ranges; the square is rounded to 1e-14 */

    landmarks = pick(ctx, &f, "segment_means", 1, NB_JOINT);
    got = measure(ctx, &f, &landmarks, NB_NOCORE, "identity");
    double mean[4] = {0};
    for (int i = 0; i < N * 4; i++) mean[i % 4] += f.head.q[i] / N;
    assert_ok(ctx, nb_scene_kernel(f.scene, 1, mean, N, f.head.k, one, ctx));
    squares = 0;
    for (int i = 0; i < N * N; i++) squares += pow(rows[i] - one[i % N], 2);
    assert_close(got.error, sqrt(squares) / norm, 1e-13);
}

/* F B is nystromformer's F X B with X = I, a product of two matrices whose entries are
 * positive and whose rows sum to 1; of A there is none to tell. */
static void test_no_middle_is_the_identity(void **state)
{
    enum { M = 7 };
    nb_ctx *ctx = *state;
    fixture f;
    double identity[M * M] = {0};
    for (int i = 0; i < M; i++) identity[i * (M + 1)] = 1;
    open_scene(ctx, &f, make_head("gaussian(n=100, d=16)", 0, 0, ctx), "softmax");
    nb_landmarks landmarks = pick(ctx, &f, "kmeans", M, NB_SHARED);
    nb_measures got = measure(ctx, &f, &landmarks, NB_NOCORE, "identity");
    nb_measures with = measure_x(ctx, &f, &landmarks, NB_NYSTROMFORMER, NULL, identity, NB_WANT_ALL);
    assert_true(got.error == with.error && got.error_core == with.error_core && got.output_error == with.output_error);
    assert_at_most(got.rowsum_deviation, 1e-14);
    assert_true(got.negative_fraction == 0);
    assert_true(isnan(got.landmark_rank) && isnan(got.landmark_condition) && isnan(got.core_residual));
    assert_true(!isnan(with.landmark_rank) && !isnan(with.core_residual));
}

/* A, B, F have rows that sum to 1, so for a nonsingular A the rows of F A^-1 B do too. */
static void test_row_sums_with_the_inverse(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=100, d=16)", 0, 0, ctx), "softmax");
    nb_landmarks landmarks = pick(ctx, &f, "uniform", 8, NB_INDEPENDENT);
    nb_measures got = measure(ctx, &f, &landmarks, NB_NYSTROMFORMER, "svd(rcond=machine)");
    assert_at_most(got.rowsum_deviation, 1e3 * DBL_EPSILON * got.landmark_condition);
}

/* A zero core gives F X B = 0: error 1, cosine undefined, the subspace part unmoved. */
static void test_zero_core(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=50, d=4)", 0, 0, ctx), "softmax");
    nb_landmarks landmarks = pick(ctx, &f, "segment_means", 5, NB_JOINT);
    double x[25] = {0};
    nb_measures out = measure_x(ctx, &f, &landmarks, NB_NYSTROMFORMER, NULL, x, NB_WANT_ALL);
    assert_close(out.error, 1, 1e-14);
    assert_close(out.output_error, 1, 1e-14);
    assert_close(out.spectral_error, 1, 1e-6); /* Lanczos' accuracy */
    assert_close(out.core_residual, sqrt(5), 1e-15);
    assert_close(out.negative_fraction, 0, 0);
    assert_at_most(out.error_noise, 1e-14);
    assert_true(isnan(out.cosine));
    for (int i = 0; i < 25; i += 6) x[i] = 1e-170; /* squares of F X B vanish */
    out = measure_x(ctx, &f, &landmarks, NB_NYSTROMFORMER, NULL, x, NB_WANT_ALL);
    assert_true(!isinf(out.cosine));
}

static void test_what_is_not_wanted_stays_nan(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=20, d=4)", 0, 0, ctx), "softmax");
    nb_landmarks landmarks = pick(ctx, &f, "uniform", 2, NB_JOINT);
    double x[4] = {1, 0, 0, 1};
    nb_measures out = measure_x(ctx, &f, &landmarks, NB_CUR, NULL, x, 0);
    assert_true(isfinite(out.error) && isfinite(out.mse) && isfinite(out.rowsum_deviation) && isfinite(out.cosine));
    assert_true(isnan(out.output_error) && isnan(out.spectral_error) && isnan(out.entropy_difference) &&
                isnan(out.negative_mass));
}

/* Uniform attention, all points zero: S = 1/n, of rank 1; any one landmark is exact,
 * 1/n too; more landmarks make A singular, which the pseudo-inverse handles. */
static void test_all_points_zero(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=12, d=3, scale=0)", 0, 0, ctx), "softmax");
    for (int m = 1; m <= 12; m += 5) {
        nb_landmarks landmarks = pick(ctx, &f, "kmeans", m, NB_INDEPENDENT);
        nb_measures got = measure(ctx, &f, &landmarks, NB_NYSTROMFORMER, "svd(rcond=machine)");
        assert_at_most(got.error, 1e-13);
        assert_at_most(got.error_subspace, 1e-13);
        assert_at_most(got.baseline_mean, 1e-13);
        assert_int_equal((int)got.landmark_rank, 1);
    }
}

/* Row i of a causal S is the softmax over the keys 0 ... i alone; row 0 is (1, 0, ...). */
static void test_causal_rows(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    const double *s;
    nb_head head = make_head("gaussian(n=300, d=4)", 0, 0, ctx);
    head.causal = true;
    open_scene(ctx, &f, head, "softmax");
    assert_ok(ctx, nb_scene_rows(f.scene, &s, ctx));
    double baseline, norm = nb_frobenius(300 * 300, s), distance = 0;
    for (int i = 0; i < 300 * 300; i++) distance += pow(s[i] - 1.0 / 300, 2);
    assert_ok(ctx, nb_scene_baseline_mean(f.scene, &baseline, ctx));
    assert_close(baseline, sqrt(distance) / norm, 1e-11); /* 90000 terms summed one after the other here */
    for (int i = 0; i < 300; i += 13) {
        double sum = 0, all = 0;
        for (int j = 0; j < 300; j++) {
            double score = 0;
            for (int l = 0; l < 4; l++) score += head.q[4 * i + l] * head.k[4 * j + l];
            if (j <= i) all += exp(score / 2);
            if (j > i) assert_true(s[300 * i + j] == 0);
            sum += s[300 * i + j];
        }
        double last = 0;
        for (int l = 0; l < 4; l++) last += head.q[4 * i + l] * head.k[4 * i + l];
        assert_close(sum, 1, 1e-14 * 300);
        assert_close(s[300 * i + i], exp(last / 2) / all, 1e-13);
    }
}

#define tell_refusal(...) tell(#__VA_ARGS__, nb_factors_refusal(__VA_ARGS__, NULL))

static void test_refusals(void **state)
{
    (void)state;
    assert_null(nb_factors_refusal(NB_NYSTROMFORMER, NB_GROUPS, false, NULL));
    assert_null(nb_factors_refusal(NB_NOCORE, NB_POINTS, false, NULL));
    tell_refusal(NB_NOCORE, NB_POINTS, true);
    assert_null(nb_factors_refusal(NB_CUR, NB_TOKENS, true, NULL));
    tell_refusal(NB_CUR, NB_GROUPS, false);
    tell_refusal(NB_NYSTROMFORMER, NB_GROUPS, true);
    tell_refusal(NB_NYSTROMFORMER, NB_TOKENS, true);
}

/* n = 10 in 4: segments of 2, 2, 3, 3. */
static void test_segments_of_unequal_length(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    static const int expected[10] = {0, 0, 1, 1, 2, 2, 2, 3, 3, 3};
    open_scene(ctx, &f, make_head("gaussian(n=10, d=2)", 0, 0, ctx), "softmax");
    nb_landmarks landmarks = pick(ctx, &f, "segment_means", 4, NB_JOINT);
    assert_memory_equal(landmarks.queries.groups, expected, sizeof expected);
}

/* Well separated clusters are found, whatever the order. */
static void test_kmeans_finds_clusters(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("clusters(n=60, d=8, count=5, spread=0.01)", 0, 0, ctx), "softmax");
    nb_landmarks landmarks = pick(ctx, &f, "kmeans(restarts=5)", 5, NB_INDEPENDENT);
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++)
            assert_int_equal(landmarks.keys.groups[i] == landmarks.keys.groups[j], i * 5 / 60 == j * 5 / 60);
}

/* Frequencies of a draw of one token against the scores, computed here from S
 * with a dense SVD, whose u belongs to the keys since S is held by rows:
 * chi-square at a level of 1e-6 for a fixed seed. */
static void check_leverage_frequencies(nb_ctx *ctx, nb_pairing side)
{
    enum { N = 12, DRAWS = 6000, RANK = 3 };
    fixture f;
    const double *s;
    double u[N * N], values[N], vt[N * N], expected[N] = {0}, counts[N] = {0}, chi = 0;
    open_scene(ctx, &f, make_head("gaussian(n=12, d=6, scale=1.5)", 0, 0, ctx), "softmax");
    assert_ok(ctx, nb_scene_rows(f.scene, &s, ctx));
    assert_ok(ctx, nb_svd(N, N, s, u, values, vt, ctx));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < RANK; j++) expected[i] += pow(side == NB_KEYS ? u[i + j * N] : vt[j + i * N], 2) / RANK;
    nb_choice choice = choose(&nb_strategies, "leverage(rank=3)", ctx);
    for (int t = 0; t < DRAWS; t++) {
        nb_landmarks landmarks;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_stream stream = {.seed = 3, .trial = t, .component = choice.canonical};
        assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f.scene, &choice, 1, side, stream, f.rng}, &landmarks, ctx));
        counts[landmarks.keys.tokens[0]]++;
        nb_ctx_release(ctx, mark);
    }
    for (int i = 0; i < N; i++) chi += pow(counts[i] - DRAWS * expected[i], 2) / (DRAWS * expected[i]);
    assert_at_most(chi, 48.87); /* the 1 - 1e-6 quantile for 11 degrees of freedom */
}

static void test_leverage_frequencies(void **state)
{
    check_leverage_frequencies(*state, NB_KEYS);
    check_leverage_frequencies(*state, NB_QUERIES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_exact_at_the_rank),
        test_with_ctx(test_one_landmark_short_of_the_rank),
        test_with_ctx(test_identities),
        test_with_ctx(test_all_tokens_are_exact),
        test_with_ctx(test_no_middle),
        test_with_ctx(test_no_middle_is_the_identity),
        test_with_ctx(test_row_sums_with_the_inverse),
        test_with_ctx(test_zero_core),
        test_with_ctx(test_what_is_not_wanted_stays_nan),
        test_with_ctx(test_all_points_zero),
        test_with_ctx(test_causal_rows),
        test_with_ctx(test_refusals),
        test_with_ctx(test_segments_of_unequal_length),
        test_with_ctx(test_kmeans_finds_clusters),
        test_with_ctx(test_leverage_frequencies),
    };
    int failures = 0;
    for (int e = 0; e < NB_ENGINE_COUNT; e++) {
        engine = (nb_engine_kind)e;
        failures += run_all(tests);
    }
    return failures;
}
