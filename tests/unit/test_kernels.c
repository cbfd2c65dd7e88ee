/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels against their definitions, entry by entry; and the Gram matrix in closed
 * form against itself formed whole. */
#include "scenes.h"

#include "cores/core.h"
#include "linalg/distances.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/engine.h"

#include <float.h>
#include <sys/resource.h>

static double entry(const nb_scene *scene, int i, int j)
{
    return scene->rows[(size_t)i * (size_t)scene->head->n + (size_t)j];
}

static void open_whole(nb_ctx *ctx, fixture *f, const char *kernel, nb_head head)
{
    const double *rows;
    open_scene(ctx, f, head, kernel);
    assert_ok(ctx, nb_scene_rows(f->scene, &rows, ctx));
}

/* Relative errors of entries e^E: about eps (1 + |E|) d. */
static void test_exp(void **state)
{
    nb_ctx *ctx = *state;
    static const struct {
        const char *kernel;
        double temperature;
    } cases[] = {{"exp", 3}, {"exp(temperature=0.7)", 0.7}};
    nb_head h = make_head("gaussian(n=70, d=9)", 0, 0, ctx);
    for (int c = 0; c < 2; c++)
        for (int causal = 0; causal < 2; causal++) {
            fixture f;
            h.causal = causal;
            open_whole(ctx, &f, cases[c].kernel, h);
            for (int i = 0; i < 70; i++)
                for (int j = 0; j < (causal ? i + 1 : 70); j++) {
                    double score = nb_dot(9, h.q + 9 * i, h.k + 9 * j) / cases[c].temperature;
                    assert_close(entry(f.scene, i, j) / exp(score), 1, 1e-14 * (1 + fabs(score)));
                }
        }
}

static void test_exp_that_overflows(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    const double *rows;
    nb_head h = make_head("gaussian(n=20, d=4)", 0, 0, ctx);
    for (int l = 0; l < 4; l++)
        h.q[4 * 7 + l] = h.k[4 * 3 + l] = 12; /* a score of 288, and with the larger below, 342.2 */
    open_whole(ctx, &f, "exp", h);
    assert_close(entry(f.scene, 7, 3) / exp(288), 1, 1e-11);
    h.q[4 * 7] = 12 + 108.4 / 12;
    open_scene(ctx, &f, h, "exp");
    assert_error(ctx, nb_scene_rows(f.scene, &rows, ctx), NB_ENUMERIC);
    h.q[4 * 7] = NAN;
    open_scene(ctx, &f, h, "exp");
    assert_int_equal(nb_scene_rows(f.scene, &rows, ctx), NB_ENUMERIC); /* the score is -inf or NaN */
    assert_non_null(strstr(nb_error_message(ctx), " 7 "));
    nb_error_clear(ctx);
}

/* Points far from 0 lose nothing but what their own rounding loses: 1e4 eps relative
 * to distances of order 1, against (1e4)^2 eps by the squares alone. */
static void test_gauss(void **state)
{
    nb_ctx *ctx = *state;
    double median;
    nb_head h = make_head("gaussian(n=70, d=9)", 0, 0, ctx);
    for (int l = 0; l < 9; l++) h.q[l] = h.k[9 * 5 + l]; /* distance 0 */
    assert_ok(ctx, nb_median_distance(9, 70, h.q, 70, h.k, &median, ctx));
    for (int c = 0; c < 8; c++) {
        fixture f;
        bool given = c & 1, far = c & 2;
        double width = given ? 1.7 : median;
        h.causal = c & 4;
        nb_head shifted = h;
        if (far) {
            shifted.q = nb_alloc_reals(ctx, 9, 70);
            shifted.k = nb_alloc_reals(ctx, 9, 70);
            for (int i = 0; i < 630; i++) {
                shifted.q[i] = h.q[i] + 1e4;
                shifted.k[i] = h.k[i] + 1e4;
            }
        }
        open_whole(ctx, &f, given ? "gauss(bandwidth=1.7)" : "gauss", shifted);
        if (!h.causal) assert_true(entry(f.scene, 0, 5) == 1);
        for (int i = 0; i < 70; i++)
            for (int j = 0; j < (h.causal ? i + 1 : 70); j++) {
                double exponent = nb_squared_distance(9, h.q + 9 * i, h.k + 9 * j) / (2 * width * width);
                assert_close(entry(f.scene, i, j) / exp(-exponent), 1,
                             (far ? 4e4 * DBL_EPSILON * 9 : 1e-14) * (1 + exponent));
            }
    }
}

/* Landmarks that are free points of one side's dimension use the head's bandwidth. */
static void test_gauss_of_landmarks(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    double point[2] = {0.3, -2}, median, row[40];
    nb_head h = make_head("gaussian(n=40, d=2)", 0, 0, ctx);
    assert_ok(ctx, nb_median_distance(2, 40, h.q, 40, h.k, &median, ctx));
    open_scene(ctx, &f, h, "gauss");
    assert_ok(ctx, nb_scene_kernel(f.scene, 1, point, 40, h.k, row, ctx));
    for (int j = 0; j < 40; j++)
        assert_close(row[j], exp(-nb_squared_distance(2, point, h.k + 2 * j) / (2 * median * median)), 1e-14);
}

static void test_gram(void **state)
{
    nb_ctx *ctx = *state;
    nb_head h = make_head("gaussian(n=70, d=9)", 0, 0, ctx);
    for (int c = 0; c < 2; c++) {
        fixture f;
        const double *x = c ? h.k : h.q;
        open_whole(ctx, &f, c ? "gram(of=keys)" : "gram(of=queries)", h);
        assert_true(f.scene->head->q == x && f.scene->head->k == x && f.scene->head->v == h.v);
        for (int i = 0; i < 70; i++)
            for (int j = 0; j < 70; j++) assert_close(entry(f.scene, i, j), nb_dot(9, x + 9 * i, x + 9 * j), 1e-13);
    }
}

/* Whatever pairing is asked for, the picks are those of the one set of points. */
static void test_pairing_of_one_point_set(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    static const char *const strategies[] = {"uniform", "kmeans", "leverage"};
    open_scene(ctx, &f, make_head("gaussian(n=70, d=9)", 0, 0, ctx), "gram(of=keys)");
    for (int s = 0; s < 3; s++) {
        nb_choice choice = choose(&nb_strategies, strategies[s], ctx);
        nb_stream stream = {.seed = 1, .component = choice.canonical};
        nb_landmarks expected, got;
        assert_ok(ctx,
                  nb_landmarks_pick(&(nb_picking){f.scene, &choice, 6, NB_QUERIES, stream, f.rng}, &expected, ctx));
        for (int pairing = 0; pairing < NB_BOTH; pairing++) {
            assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f.scene, &choice, 6, (nb_pairing)pairing, stream, f.rng},
                                             &got, ctx));
            const nb_picks *sides[] = {&got.queries, &got.keys};
            for (int i = 0; i < 2; i++) {
                assert_int_equal(sides[i]->kind, expected.queries.kind);
                if (sides[i]->kind == NB_TOKENS)
                    assert_memory_equal(sides[i]->tokens, expected.queries.tokens, 6 * sizeof(int));
                if (sides[i]->kind == NB_GROUPS)
                    assert_memory_equal(sides[i]->groups, expected.queries.groups, 70 * sizeof(int));
            }
        }
    }
}

static nb_landmarks pick(nb_ctx *ctx, fixture *f, const char *strategy, int m)
{
    nb_choice choice = choose(&nb_strategies, strategy, ctx);
    nb_landmarks landmarks;
    assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f->scene, &choice, m, NB_QUERIES,
                                                   (nb_stream){.seed = 1, .component = choice.canonical}, f->rng},
                                     &landmarks, ctx));
    return landmarks;
}

static nb_measures measure(nb_ctx *ctx, fixture *f, const nb_how *how, const nb_landmarks *landmarks,
                           nb_factors_kind kind, const char *core)
{
    nb_pair pair = {.landmarks = landmarks, .kind = kind};
    nb_engine_times times;
    nb_choice choice = choose(&nb_cores, core, ctx);
    size_t m = (size_t)landmarks->queries.m;
    assert_ok(ctx, nb_engine_prepare(f->scene, how, 1, &pair, &times, ctx));
    if (pair.failure) fail_msg("%s", pair.failure);
    nb_request request = {.pair = &pair, .x = nb_alloc_reals(ctx, m, m)};
    assert_ok(ctx, ((const nb_core *)choice.component)
                       ->compute(pair.factors, choice.options, (double *)(uintptr_t)request.x, ctx));
    assert_ok(ctx, nb_engine_measure(f->scene, how, 1, &request, ctx));
    if (request.failure) fail_msg("%s", request.failure);
    return request.measures;
}

/* What the scene itself says, from factors and from S formed. Projectors on the
 * singular vectors, which are free in their signs: as leverage scores. */
static void check_scene(nb_ctx *ctx, fixture *a, fixture *b)
{
    const double *rows_a, *rows_b, *columns_a, *columns_b, *output_a, *output_b;
    const nb_spectrum *spectrum_a, *spectrum_b;
    double norm_a, norm_b, mean_a, mean_b;
    int n = a->head.n, d = a->head.d;
    assert_ok(ctx, nb_scene_norm(a->scene, &norm_a, ctx));
    assert_ok(ctx, nb_scene_norm(b->scene, &norm_b, ctx));
    assert_close(norm_a / norm_b, 1, 1e-13);
    assert_ok(ctx, nb_scene_baseline_mean(a->scene, &mean_a, ctx));
    assert_ok(ctx, nb_scene_baseline_mean(b->scene, &mean_b, ctx));
    assert_close(mean_a, mean_b, 1e-13);
    assert_ok(ctx, nb_scene_sums(a->scene, &rows_a, &columns_a, ctx));
    assert_ok(ctx, nb_scene_sums(b->scene, &rows_b, &columns_b, ctx));
    assert_ok(ctx, nb_scene_output(a->scene, &output_a, ctx));
    assert_ok(ctx, nb_scene_output(b->scene, &output_b, ctx));
    for (int i = 0; i < n; i++) {
        assert_close(rows_a[i], rows_b[i], 1e-13 * norm_a);
        assert_close(columns_a[i], columns_b[i], 1e-13 * norm_a);
    }
    for (int i = 0; i < n * d; i++) assert_close(output_a[i], output_b[i], 1e-13 * norm_a);
    assert_ok(ctx, nb_scene_singular_vectors(a->scene, n, &spectrum_a, ctx));
    assert_ok(ctx, nb_scene_singular_vectors(b->scene, n, &spectrum_b, ctx));
    assert_null(a->scene->rows); /* nothing above has formed S */
    for (int i = 0; i < n; i++)
        assert_close(spectrum_a->values[i], spectrum_b->values[i], 1e-14 * n * spectrum_b->values[0]);
    for (int i = 0; i < n; i++) {
        double left[2] = {0, 0}, right[2] = {0, 0};
        for (int j = 0; j < 5; j++) {
            left[0] += pow(spectrum_a->left[i + j * n], 2);
            left[1] += pow(spectrum_b->left[i + j * n], 2);
            right[0] += pow(spectrum_a->right[i + j * n], 2);
            right[1] += pow(spectrum_b->right[i + j * n], 2);
        }
        assert_close(left[0], left[1], 1e-11); /* eps |S| / gap between the 5th and 6th value */
        assert_close(right[0], right[1], 1e-11);
    }
    for (int m = 1; m <= n; m += 3) {
        double floor_a, floor_b, accuracy_a, accuracy_b;
        assert_ok(ctx, nb_scene_floor_rank(a->scene, m, &floor_a, &accuracy_a, ctx));
        assert_ok(ctx, nb_scene_floor_rank(b->scene, m, &floor_b, &accuracy_b, ctx));
        assert_close(floor_a, floor_b, 1e-12);
        if (m >= d) assert_true(floor_a == 0);
    }
}

/* Everything at n = 300 to 1e-12: the closed form, and engine `direct` on S formed. */
static void test_closed_form(void **state)
{
    nb_ctx *ctx = *state;
    static const char *const problems[] = {"gaussian(n=300, d=16)", "low_rank(n=300, d=16, rank=4, noise=0.01)",
                                           "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, max_n=300)"};
    static const char *const strategies[] = {"uniform", "kmeans", "segment_means"};
    nb_how closed = {.wanted = NB_WANT_ALL}, direct = {.engine = NB_DIRECT, .wanted = NB_WANT_ALL};
    int exact = 0;
    for (int p = 0; p < 3; p++) {
        fixture a, b;
        open_scene(ctx, &a, make_head(problems[p], 0, 0, ctx), "gram");
        open_scene(ctx, &b, make_head(problems[p], 0, 0, ctx), "gram");
        assert_int_equal(a.scene->factors.rank, a.head.d);
        b.scene->factors.rank = 0;
        check_scene(ctx, &a, &b);
        for (int s = 0; s < 3; s++)
            for (int m = 3; m <= 24; m += 7)
                for (int kind = 0; kind < NB_FACTORS_COUNT; kind++) {
                    nb_landmarks landmarks = pick(ctx, &a, strategies[s], m);
                    if (nb_factors_refusal((nb_factors_kind)kind, landmarks.queries.kind, false,
                                           nb_scene_kernel_choice(a.scene)))
                        continue;
                    nb_measures x = measure(ctx, &a, &closed, &landmarks, (nb_factors_kind)kind, "svd(rcond=1e-6)");
                    nb_measures y = measure(ctx, &b, &direct, &landmarks, (nb_factors_kind)kind, "svd(rcond=1e-6)");
                    double tolerance = 1e-12 + 10 * y.error_noise; /* rounding in F X B */
                    exact += tolerance < 2e-12;
                    assert_close(x.error, y.error, tolerance);
                    assert_close(x.error_subspace, y.error_subspace, tolerance);
                    assert_close(x.error_core, y.error_core, tolerance);
                    assert_close(x.output_error, y.output_error, tolerance);
                    assert_close(x.spectral_error, y.spectral_error,
                                 tolerance + 1e-6 * y.spectral_error); /* Lanczos ends at 1e-6 */
                    assert_close(x.cosine, y.cosine, tolerance);
                    assert_close(x.mse, y.mse, tolerance * (1 + y.mse));
                    assert_close(x.floor_rank, y.floor_rank, tolerance);
                    assert_close(x.baseline_mean, y.baseline_mean, tolerance);
                    assert_close(x.negative_mass, y.negative_mass, tolerance * (1 + y.negative_mass));
                    assert_true(isnan(x.rowsum_deviation) && isnan(y.rowsum_deviation));
                }
    }
    assert_true(exact >= 24); /* of 48: landmarks beyond the rank make |X| large */
}

/* A subspace part of 1e-12 to 1e-9, which a difference of squares would lose. */
static void test_small_parts(void **state)
{
    nb_ctx *ctx = *state;
    fixture a, b;
    nb_head h = make_head("low_rank(n=200, d=8, rank=3, noise=1e-6)", 0, 0, ctx);
    nb_how closed = {.wanted = 0}, direct = {.engine = NB_DIRECT};
    open_scene(ctx, &a, h, "gram");
    open_scene(ctx, &b, h, "gram");
    b.scene->factors.rank = 0;
    nb_landmarks landmarks = pick(ctx, &a, "uniform", 3);
    nb_measures x = measure(ctx, &a, &closed, &landmarks, NB_CUR, "svd(rcond=machine)"),
                y = measure(ctx, &b, &direct, &landmarks, NB_CUR, "svd(rcond=machine)");
    assert_true(x.error_subspace > 1e-13 && x.error_subspace < 1e-9);
    assert_close(x.error_subspace / y.error_subspace, 1, 1e-4);
    h = make_head("low_rank(n=200, d=8, rank=3, noise=1e-3)", 0, 0, ctx);
    open_scene(ctx, &a, h, "gram");
    landmarks = pick(ctx, &a, "uniform",
                     8); /* all of range(S), whose values are 1 and 1e-6: eps / 1e-6 in the directions of the latter */
    assert_at_most(measure(ctx, &a, &closed, &landmarks, NB_CUR, "svd(rcond=machine)").error_subspace, 1e-14);
}

/* n = 20,000, where S would take 3.2 GB: as many landmarks as dimensions give it
 * exactly, fewer are not below the floor; in well under 400 MB more than before. */
static void test_many_tokens(void **state)
{
    nb_ctx *ctx = *state;
    struct rusage before, after;
    nb_how how = {.wanted = NB_WANT_OUTPUT | NB_WANT_SPECTRAL};
    fixture f;
    getrusage(RUSAGE_SELF, &before);
    open_scene(ctx, &f, make_head("gaussian(n=20000, d=16)", 0, 0, ctx), "gram(of=keys)");
    for (int kind = 0; kind < NB_NOCORE; kind++) { /* without a middle nothing is exact */
        nb_landmarks few = pick(ctx, &f, "uniform", 10), all = pick(ctx, &f, "leverage(take=top)", 16);
        nb_measures some = measure(ctx, &f, &how, &few, (nb_factors_kind)kind, "svd(rcond=machine)"),
                    none = measure(ctx, &f, &how, &all, (nb_factors_kind)kind, "svd(rcond=machine)");
        assert_true(some.floor_rank <= some.error_subspace && some.error_subspace <= some.error &&
                    some.error < some.baseline_mean);
        assert_close(some.floor_rank, sqrt(6.0 / 16), 0.02); /* singular values n (1 +- 2 sqrt(d/n)) */
        assert_at_most(some.spectral_error, 1.001);
        assert_true(none.floor_rank == 0);
        assert_at_most(none.error, 1e-12);
        assert_at_most(none.output_error, 1e-11);
    }
    getrusage(RUSAGE_SELF, &after);
    assert_at_most((double)(after.ru_maxrss - before.ru_maxrss) * 1024, 4e8);
}

static void test_no_mask_for_gram(void **state)
{
    nb_ctx *ctx = *state;
    nb_choice kernel = choose(&nb_kernels, "gram", ctx);
    nb_head h = make_head("gaussian(n=9, d=2)", 0, 0, ctx);
    nb_scene *scene;
    h.causal = true;
    assert_error(ctx, nb_scene_new(&h, &kernel, &scene, ctx), NB_EINVAL);
}

/* The baseline is the best constant matrix, whatever its mean. */
static void test_baseline(void **state)
{
    nb_ctx *ctx = *state;
    static const char *const kernels[] = {"softmax", "exp", "gauss", "gram"};
    for (int k = 0; k < 4; k++)
        for (int causal = 0; causal < (k < 3 ? 2 : 1); causal++)
            for (int factors = 0; factors < 2; factors++) {
                fixture f;
                double mean = 0, distance = 0, norm = 0, got;
                nb_head h = make_head("gaussian(n=50, d=3)", 0, 0, ctx);
                for (int i = 0; i < 150; i++) h.q[i] += 4; /* far from mean 0: gram is nearly constant */
                h.causal = causal;
                open_scene(ctx, &f, h, kernels[k]);
                if (!factors) f.scene->factors.rank = 0;
                assert_ok(ctx, nb_scene_baseline_mean(f.scene, &got, ctx));
                double row[50];
                for (int pass = 0; pass < 2; pass++)
                    for (int i = 0; i < 50; i++) {
                        assert_ok(ctx, nb_scene_some_rows(f.scene, 1, &i, row, ctx));
                        for (int j = 0; j < 50; j++) {
                            if (pass == 0) mean += row[j] / 2500;
                            if (pass == 1) distance += pow(row[j] - mean, 2);
                            if (pass == 1) norm += row[j] * row[j];
                        }
                    }
                assert_close(got, sqrt(distance / norm), 1e-13);
                if (k == 0) assert_close(mean, 1.0 / 50, 1e-15);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_exp),         test_with_ctx(test_exp_that_overflows),
        test_with_ctx(test_gauss),       test_with_ctx(test_gauss_of_landmarks),
        test_with_ctx(test_gram),        test_with_ctx(test_pairing_of_one_point_set),
        test_with_ctx(test_closed_form), test_with_ctx(test_small_parts),
        test_with_ctx(test_many_tokens), test_with_ctx(test_no_mask_for_gram),
        test_with_ctx(test_baseline),
    };
    return run_all(tests);
}
