/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of S that a core has looked at: what is measured on the others, and what where it
 * keeps them, the streamed engine against the direct one, which forms all of it. */
#include "scenes.h"

#include "cores/core.h"
#include "linalg/linalg.h"
#include "nystrom/engine.h"
#include "nystrom/forward_time.h"

#include <float.h>
#include <gsl/gsl_randist.h>

/* On the heap: the engine keeps its place. */
static nb_pair *pair_of(nb_ctx *ctx, fixture *f, const nb_how *how, const char *strategy, int m, nb_factors_kind kind)
{
    nb_choice choice = choose(&nb_strategies, strategy, ctx);
    nb_landmarks *landmarks = nb_alloc(ctx, 1, sizeof *landmarks);
    nb_stream stream = {.seed = 1, .component = choice.canonical};
    nb_engine_times times;
    assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f->scene, &choice, m,
                                                   ((const nb_strategy *)choice.component)->pairing, stream, f->rng},
                                     landmarks, ctx));
    nb_pair *pair = nb_alloc(ctx, 1, sizeof *pair);
    *pair = (nb_pair){.landmarks = landmarks, .kind = kind};
    assert_ok(ctx, nb_engine_prepare(f->scene, how, 1, pair, &times, ctx));
    if (pair->failure) fail_msg("%s", pair->failure);
    return pair;
}

/* As runner.c makes it. */
static nb_request request_of(nb_ctx *ctx, nb_pair *pair, const char *core)
{
    nb_choice choice = choose(&nb_cores, core, ctx);
    double *x = nb_alloc_reals(ctx, (size_t)pair->factors->m, (size_t)pair->factors->m);
    nb_factors_begin(pair->factors);
    assert_ok(ctx, ((const nb_core *)choice.component)->compute(pair->factors, choice.options, x, ctx));
    return (nb_request){.pair = pair, .x = x, .seen = pair->factors->seen, .keep_rows = pair->factors->keep_rows};
}

static nb_measures measure(nb_ctx *ctx, fixture *f, const nb_how *how, nb_pair *pair, nb_request request)
{
    request.pair = pair;
    assert_ok(ctx, nb_engine_measure(f->scene, how, 1, &request, ctx));
    if (request.failure) fail_msg("%s", request.failure);
    return request.measures;
}

static int *order_of(nb_ctx *ctx, int n)
{
    gsl_rng *rng;
    int *order = nb_alloc(ctx, (size_t)n, sizeof *order);
    assert_ok(ctx, nb_random_new(&rng, ctx));
    gsl_rng_set(rng, 20);
    for (int i = 0; i < n; i++) order[i] = i;
    gsl_ran_shuffle(rng, order, (size_t)n, sizeof *order);
    return order;
}

static const char *now = ""; /* what is compared */

static void both_or_close(const char *what, double a, double b, double tolerance)
{
    if (isnan(a) && isnan(b)) return;
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%s%s: %.17g and %.17g, apart by %g, allowed are %g", now, what, a, b, fabs(a - b), tolerance);
}

/* |S_U| / |S|, U the rows after the first `seen` of the order. */
static double share_unseen(nb_ctx *ctx, fixture *f, const int *order, int seen)
{
    const double *rows;
    double norm, sum = 0;
    int n = f->head.n;
    assert_ok(ctx, nb_scene_rows(f->scene, &rows, ctx));
    assert_ok(ctx, nb_scene_norm(f->scene, &norm, ctx));
    for (int i = seen; i < n; i++) sum += pow(nb_frobenius((size_t)n, rows + (size_t)order[i] * (size_t)n), 2);
    return sqrt(sum) / norm;
}

static double least_unseen = INFINITY, least_share = 1; /* that the comparison has seen */

/* What is subtracted is right to 5e-9 relative, what is summed to the noise of F X B, by
 * 20 as in test_engine.c; on the rows U both are relative to |S_U|. Row sums differ by at
 * most sqrt(n) |D|, D the difference of the two F X B. */
static void compare(nb_ctx *ctx, fixture *f, const nb_how *how, const nb_request *r, const nb_measures *a,
                    const nb_measures *b)
{
    double norm, noise = 20 * (a->error_noise + b->error_noise) + 1e-13,
                 share = share_unseen(ctx, f, how->order, r->seen);
    assert_ok(ctx, nb_scene_norm(f->scene, &norm, ctx));
    both_or_close("error", a->error, b->error, noise + 1e-8 * b->error);
    both_or_close("error_core", a->error_core, b->error_core, noise + 1e-11 * b->error_core);
    both_or_close("error_subspace", a->error_subspace, b->error_subspace,
                  noise + (b->error_subspace < 1e-3 ? 1e-9 * b->error_subspace : 1e-13 / b->error_subspace));
    assert_true(isnan(a->error_core) == r->keep_rows);
    assert_true(isnan(a->error_unseen) == (r->seen == f->head.n) &&
                isnan(a->error_unseen_subspace) == isnan(a->error_unseen));
    both_or_close("error_unseen", a->error_unseen, b->error_unseen, noise / share + 1e-8 * b->error_unseen);
    both_or_close("error_unseen_subspace", a->error_unseen_subspace, b->error_unseen_subspace, 1e-9 + noise / share);
    both_or_close("error_unseen_core", a->error_unseen_core, b->error_unseen_core,
                  1e-9 + noise / share + 1e-9 * b->error_unseen);
    double apart = noise + 1e-8 * b->error,
           square = pow(norm / f->head.n, 2); /* mse is the error's square times that of |S| / n */
    both_or_close("mse", a->mse, b->mse, (2.1 * b->error + apart) * apart * square);
    both_or_close("cosine", a->cosine, b->cosine, 100 * noise);
    both_or_close("rowsum_deviation", a->rowsum_deviation, b->rowsum_deviation,
                  noise * norm * sqrt(f->head.n) + 1e-11 * b->rowsum_deviation);
    both_or_close("output_error", a->output_error, b->output_error,
                  100 * noise * sqrt(f->head.n) + 1e-9 * b->output_error);
    both_or_close("negative_mass", a->negative_mass, b->negative_mass, noise * norm + 1e-11 * b->negative_mass);
    both_or_close("negative_fraction", a->negative_fraction, b->negative_fraction,
                  1e-3); /* entries that are rounding */
    both_or_close("entropy_difference", a->entropy_difference, b->entropy_difference,
                  1e-9 + 1e-9 * b->entropy_difference + 100 * noise);
    both_or_close("spectral_error", a->spectral_error, b->spectral_error, 1e-5 * b->spectral_error + 100 * noise);
    if (r->keep_rows && r->seen == f->head.n) assert_true(a->error == 0 && b->error == 0);
    if (r->keep_rows && r->seen < f->head.n)
        both_or_close("kept", a->error, a->error_unseen * share, 1e-8 * a->error + noise);
    if (!isnan(a->error_unseen)) {
        both_or_close("sum of the parts", hypot(a->error_unseen_subspace, a->error_unseen_core), a->error_unseen,
                      2e-9 + noise / share + 1e-9 * a->error_unseen);
        least_unseen = fmin(least_unseen, a->error_unseen);
    }
    if (r->seen < f->head.n) least_share = fmin(least_share, share);
}

/* Cores that look at one row, some, all but one, and all, keeping them or not. */
static void check_agreement(nb_ctx *ctx, const char *kernel, const char *problem, bool causal, int m)
{
    fixture f, whole;
    nb_head head = make_head(problem, 0, 0, ctx);
    int n = head.n, *order = order_of(ctx, n);
    const char *cores[] = {"fitted",
                           "fitted(keep_rows=true)",
                           "chosen(rows=9, keep_rows=true)",
                           "exact_rows(rows=1)",
                           "exact_rows",
                           "exact_rows(of=best, rows=5)",
                           nb_format(ctx, "fitted(rows=%d)", n - 1),
                           nb_format(ctx, "exact_rows(of=svd, rows=%d)", n - 1),
                           nb_format(ctx, "exact_rows(rows=%d)", n)};
    nb_how streamed = {.wanted = NB_WANT_ALL, .order = order},
           direct = {.engine = NB_DIRECT, .wanted = NB_WANT_ALL, .order = order};
    head.causal = causal;
    open_scene(ctx, &f, head, kernel);
    open_scene(ctx, &whole, head, kernel);
    whole.scene->factors.rank = 0;
    for (int kind = causal ? NB_CUR : 0; kind < NB_NOCORE; kind++) { /* whose core looks at no rows */
        nb_pair *a = pair_of(ctx, &f, &streamed, "uniform", m, (nb_factors_kind)kind),
                *b = pair_of(ctx, &whole, &direct, "uniform", m, (nb_factors_kind)kind);
        for (size_t c = 0; c < sizeof cores / sizeof *cores; c++) {
            nb_request r = request_of(ctx, b, cores[c]);
            nb_measures one = measure(ctx, &f, &streamed, a, r), two = measure(ctx, &whole, &direct, b, r);
            assert_true(r.seen >= 1);
            now = nb_format(ctx, "%s %s causal %d m %d kind %d %s: ", kernel, problem, causal, m, kind, cores[c]);
            compare(ctx, &whole, &streamed, &r, &one, &two);
        }
    }
}

static void test_engines_agree(void **state)
{
    static const struct {
        const char *kernel, *problem;
        int m;
    } cases[] = {{"softmax", "gaussian(n=70, d=8)", 9},
                 {"softmax", "gaussian(n=300, d=16)", 20},
                 {"softmax", "gaussian(n=120, d=3, scale=0.3)", 30},        /* errors near rounding */
                 {"softmax", "clusters(n=90, d=4, count=9, spread=0)", 20}, /* F and B of deficient rank */
                 {"softmax", "gaussian(n=66, d=64, scale=3)", 12},          /* rows with one large entry */
                 {"softmax", "sink(n=80, d=8)", 8},
                 {"gram", "gaussian(n=65, d=8)", 5},
                 {"exp", "gaussian(n=65, d=8)", 9},
                 {"gauss", "gaussian(n=600, d=5)", 6}}; /* more than a stripe */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int causal = 0; causal < 2; causal++) {
            nb_mark mark = nb_ctx_mark(*state);
            nb_choice kernel = choose(&nb_kernels, cases[i].kernel, *state);
            if (!causal || !((const nb_kernel *)kernel.component)->causal_refusal)
                check_agreement(*state, cases[i].kernel, cases[i].problem, causal, cases[i].m);
            nb_ctx_release(*state, mark);
        }
    now = "";
    assert_at_most(least_unseen, 1e-5); /* so rows were summed, not subtracted */
    assert_at_most(least_share, 0.1);
}

/* Of peaked rows those not seen may have 1e-9 of a direction of F, which X still reaches. Where they are as many as the
 * landmarks, F_U is square and of full rank: the least is what is outside of the rows of B alone, with or without these
 * directions. */
static void test_thin_directions(void **state)
{
    enum { N = 200, M = 40 };
    nb_ctx *ctx = *state;
    fixture f;
    const double *s;
    int rank;
    double rows[N * M], rest[N * M], *q = nb_alloc_reals(ctx, N, M), inside[M * M];
    open_scene(ctx, &f, make_head("gaussian(n=200, d=128, scale=1.4)", 0, 0, ctx), "softmax(scale=0.3)");
    assert_ok(ctx, nb_scene_rows(f.scene, &s, ctx));
    for (int engine = 0; engine < NB_ENGINE_COUNT; engine++)
        for (int kind = 0; kind < NB_NOCORE; kind++) {
            nb_how how = {.engine = (nb_engine_kind)engine, .order = order_of(ctx, N)};
            nb_pair *pair = pair_of(ctx, &f, &how, "uniform", M, (nb_factors_kind)kind);
            nb_request r = request_of(ctx, pair, nb_format(ctx, "fitted(rows=%d)", N - M));
            nb_measures got = measure(ctx, &f, &how, pair, r);
            assert_ok(ctx, nb_factor_b(f.scene, pair->landmarks, pair->kind, rows, NULL, ctx));
            assert_ok(ctx, nb_range_basis(N, M, rows, q, &rank, ctx));
            for (int i = 0; i < M; i++) memcpy(rest + i * N, s + how.order[N - M + i] * N, N * sizeof *rest);
            double norm = nb_frobenius(N * M, rest);
            nb_gemm(NB_TRANSPOSED, NB_PLAIN, rank, M, N, 1, q, N, rest, N, 0, inside, rank);
            nb_gemm(NB_PLAIN, NB_PLAIN, N, M, rank, -1, q, N, inside, rank, 1, rest, N);
            assert_close(got.error_unseen_subspace, nb_frobenius(N * M, rest) / norm, 1e-9);
            assert_close(hypot(got.error_unseen_subspace, got.error_unseen_core), got.error_unseen,
                         1e-9 * got.error_unseen);
        }
}

/* Rows that the strategy has read count wherever they stand in the order, with the core's first ones: as if they were
 * the first of an order. Where rows are kept, the strategy must have read no others. */
static void test_rows_that_the_strategy_has_read(void **state)
{
    enum { N = 120 };
    nb_ctx *ctx = *state;
    static const char *const cores[] = {"iterative", "fitted(rows=30)", "fitted(rows=30, keep_rows=true)"};
    bool read[N], more;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=120, d=8)", 0, 0, ctx), "softmax");
    for (int engine = 0; engine < NB_ENGINE_COUNT; engine++)
        for (int c = 0; c < 3; c++) {
            nb_how how = {.engine = (nb_engine_kind)engine, .order = order_of(ctx, N)};
            nb_pair *pair = pair_of(ctx, &f, &how, "uniform", 10, NB_CUR);
            nb_landmarks *landmarks = nb_alloc(ctx, 1, sizeof *landmarks);
            nb_request r = request_of(ctx, pair, cores[c]);
            int first[N], count = 0;
            *landmarks = *pair->landmarks;
            landmarks->read = read;
            pair->landmarks = landmarks;
            for (int i = 0; i < N; i++) read[i] = i % 5 == 2;
            assert_ok(ctx, nb_request_find_seen(&r, how.order, &more, ctx));
            assert_int_equal(more, c == 2);
            assert_int_equal(r.keep_rows, c == 2);
            for (int pass = 0; pass < 2; pass++)
                for (int i = 0; i < N; i++) {
                    bool seen = (c > 0 && i < 30) || (c < 2 && read[how.order[i]]);
                    if (seen == (pass == 0)) first[count++] = how.order[i];
                    if (pass == 0 && i == N - 1) assert_int_equal(r.seen, count);
                }
            nb_how other = how;
            other.order = first;
            nb_pair *again = pair_of(ctx, &f, &other, "uniform", 10, NB_CUR);
            nb_measures a = measure(ctx, &f, &how, pair, r);
            r.order = NULL;
            nb_measures b = measure(ctx, &f, &other, again, r);
            both_or_close("error_unseen", a.error_unseen, b.error_unseen, 1e-12);
            both_or_close("error_unseen_subspace", a.error_unseen_subspace, b.error_unseen_subspace, 1e-12);
            both_or_close("error_unseen_core", a.error_unseen_core, b.error_unseen_core, 1e-10);
            assert_true(c == 2 || fabs(a.error_unseen - a.error) > 1e-3 * a.error);
            for (int i = 0; i < N; i++) read[i] = i == how.order[0] || i == how.order[1]; /* the first of the order */
            assert_ok(ctx, nb_request_find_seen(&r, how.order, &more, ctx));
            assert_true(!more && !r.order && r.seen == (c == 0 ? 2 : 30));
        }
}

/* A core that looks at no rows has seen none: error_unseen is error, its parts are the parts. */
static void test_nothing_seen(void **state)
{
    nb_ctx *ctx = *state;
    for (int engine = 0; engine < NB_ENGINE_COUNT; engine++) {
        fixture f;
        open_scene(ctx, &f, make_head("gaussian(n=100, d=8)", 0, 0, ctx), "softmax");
        nb_how how = {.engine = (nb_engine_kind)engine, .order = order_of(ctx, 100)};
        nb_pair *pair = pair_of(ctx, &f, &how, "uniform", 10, NB_NYSTROMFORMER);
        request_of(ctx, pair, "fitted"); /* another core's rows are not this one's */
        nb_measures got = measure(ctx, &f, &how, pair, request_of(ctx, pair, "iterative"));
        assert_true(got.error > 0 && got.error_unseen == got.error);
        assert_true(got.error_unseen_subspace == got.error_subspace && got.error_unseen_core == got.error_core);
    }
}

/* Rows that a core looks at: 4m by default, those of `of` where it looks at some, as many
 * as are asked for where that is more; and only who says so keeps them. */
static void test_rows_of_cores(void **state)
{
    static const struct {
        const char *core;
        int seen;
        bool keep;
    } cases[] = {{"iterative", 0, false},
                 {"best", 0, false},
                 {"fitted", 40, false},
                 {"fitted(rows=7)", 7, false},
                 {"fitted(rows=100000, keep_rows=true)", 200, true},
                 {"chosen", 128, false},
                 {"chosen(of=iterative, rows=12, keep_rows=true)", 12, true},
                 {"exact_rows", 40, true},
                 {"exact_rows(rows=3)", 3, true},
                 {"exact_rows(of=fitted(rows=30))", 30, true},
                 {"exact_rows(of=fitted(rows=30), rows=50)", 50, true},
                 {"exact_rows(of=fitted(rows=30), rows=10)", 30, true},
                 {"exact_rows(of=svd, rows=100000)", 200, true}};
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=200, d=8)", 0, 0, ctx), "softmax");
    nb_how how = {.order = order_of(ctx, 200)};
    nb_pair *pair = pair_of(ctx, &f, &how, "uniform", 10, NB_NYSTROMFORMER);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_request got = request_of(ctx, pair, cases[i].core);
        assert_int_equal(got.seen, cases[i].seen);
        assert_int_equal(got.keep_rows, cases[i].keep);
    }
    nb_measures a = measure(ctx, &f, &how, pair, request_of(ctx, pair, "fitted(keep_rows=true)"));
    nb_measures b = measure(ctx, &f, &how, pair, request_of(ctx, pair, "exact_rows(of=fitted)"));
    assert_memory_equal(&a, &b, sizeof a);
    nb_choice of_best = choose(&nb_cores, "exact_rows(of=best)", ctx), plain = choose(&nb_cores, "exact_rows", ctx);
    assert_int_equal(nb_core_traits(&of_best), NB_CORE_RANDOM | NB_CORE_ORACLE);
    assert_int_equal(nb_core_traits(&plain), NB_CORE_RANDOM);
}

/* On all rows as a sample, those that were seen and those that were not are told apart as on
 * all rows; sampled, kept rows are exact, and the mean over samples is that of all rows. */
static void test_sampled_rows(void **state)
{
    enum { N = 200, REPEATS = 300, K = 50 };
    nb_ctx *ctx = *state;
    int all[N], tokens[N];
    double mean = 0;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=200, d=8)", 0, 0, ctx), "softmax");
    for (int i = 0; i < N; i++) all[i] = tokens[i] = i;
    nb_how whole = {.wanted = NB_WANT_OUTPUT, .order = order_of(ctx, N)}, sampled = whole;
    sampled.tokens = tokens;
    sampled.sample = N;
    nb_pair *a = pair_of(ctx, &f, &whole, "uniform", 10, NB_NYSTROMFORMER),
            *b = pair_of(ctx, &f, &sampled, "uniform", 10, NB_NYSTROMFORMER);
    static const char *const cores[] = {"iterative", "fitted", "fitted(keep_rows=true)", "exact_rows(rows=199)",
                                        "exact_rows(rows=200)"};
    nb_request kept = {.seen = 0};
    for (int c = 0; c < 5; c++) {
        nb_request r = request_of(ctx, a, cores[c]);
        nb_measures one = measure(ctx, &f, &whole, a, r), two = measure(ctx, &f, &sampled, b, r);
        both_or_close("error", one.error, two.error, 1e-12 * one.error);
        both_or_close("error_unseen", one.error_unseen, two.error_unseen, 1e-11 * one.error_unseen);
        both_or_close("output_error", one.output_error, two.output_error, 1e-12 * one.output_error);
        both_or_close("mse", one.mse, two.mse, 1e-12 * one.mse);
        assert_true(isnan(two.error_unseen_subspace) && isnan(two.error_unseen_core));
        if (c == 2) kept = r;
    }
    double exact = measure(ctx, &f, &whole, a, kept).mse;
    sampled.sample = K;
    for (int i = 0; i < REPEATS; i++) {
        nb_mark mark = nb_ctx_mark(ctx);
        gsl_rng_set(f.rng, (unsigned long)i); /* picking has set it */
        gsl_ran_choose(f.rng, tokens, K, all, N, sizeof *all);
        nb_pair *again = pair_of(ctx, &f, &sampled, "uniform", 10, NB_NYSTROMFORMER);
        mean += measure(ctx, &f, &sampled, again, kept).mse / REPEATS;
        nb_ctx_release(ctx, mark);
    }
    assert_close(mean / exact, 1, 0.03); /* 50 rows spread by some 20 %, the mean of 300 by 1 % */
}

/* A core has looked at judged rows where error_unseen is not error: they are the same to the last bit where none of the
 * sampled rows is among those that it has looked at, and differ where one is. */
static void test_samples_without_a_seen_row(void **state)
{
    enum { N = 200, REPEATS = 20, K = 50, SEEN = 16 };
    nb_ctx *ctx = *state;
    int tokens[K];
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=200, d=8)", 0, 0, ctx), "softmax");
    nb_how how = {.order = order_of(ctx, N), .tokens = tokens, .sample = K};
    for (int i = 0; i < REPEATS; i++) {
        nb_mark mark = nb_ctx_mark(ctx);
        gsl_rng_set(f.rng, (unsigned long)i); /* picking has set it */
        gsl_ran_choose(f.rng, tokens, K, (void *)(how.order + SEEN), N - SEEN, sizeof *tokens);
        for (int seen = 0; seen < 2; seen++) {
            if (seen) tokens[0] = how.order[0];
            nb_pair *pair = pair_of(ctx, &f, &how, "uniform", 10, NB_NYSTROMFORMER);
            nb_measures one = measure(ctx, &f, &how, pair, request_of(ctx, pair, "fitted(rows=16)"));
            assert_true((one.error_unseen == one.error) == !seen);
        }
        nb_ctx_release(ctx, mark);
    }
}

/* In mixed precision what is subtracted comes from products in double, and so is that of double. */
static void test_mixed_precision(void **state)
{
    nb_ctx *ctx = *state;
    static const char *const cores[] = {"iterative", "exact_rows(of=svd(rcond=1e-3))", "exact_rows(rows=250)",
                                        "fitted(keep_rows=true)", "fitted"};
    bool coarse = false;
    fixture f;
    open_scene(ctx, &f, make_head("heads(file=experiments/data/vit_astronaut_n257_L6.safetensors)", 0, 0, ctx),
               "softmax");
    nb_how mixed = {.precision = NB_MIXED, .order = order_of(ctx, 257)}, exact = {.order = mixed.order};
    for (int m = 8; m <= 64; m *= 2) {
        nb_pair *a = pair_of(ctx, &f, &mixed, "uniform", m, NB_NYSTROMFORMER),
                *b = pair_of(ctx, &f, &exact, "uniform", m, NB_NYSTROMFORMER);
        for (int c = 0; c < 5; c++) {
            nb_request r = request_of(ctx, b, cores[c]);
            nb_measures one = measure(ctx, &f, &mixed, a, r), two = measure(ctx, &f, &exact, b, r);
            if (c > 0) both_or_close("error_unseen", one.error_unseen, two.error_unseen, 1e-10 * two.error_unseen);
            if (c > 0)
                both_or_close("error_unseen_subspace", one.error_unseen_subspace, two.error_unseen_subspace,
                              1e-10 * two.error_unseen_subspace);
            if (r.keep_rows) both_or_close("error", one.error, two.error, 1e-10 * two.error);
            coarse = coarse || (c == 0 && one.error_noise > 1e-8);
        }
    }
    assert_true(coarse); /* where nothing is seen single precision stays */
}

static double length_of_row(const double *s, int n, int i)
{
    return nb_frobenius((size_t)n, s + (size_t)i * (size_t)n);
}

/* Where the largest rows are kept, the others' squares are what is left of a difference of much larger ones:
 * error_noise knows, which of |S|^2 alone is eps / error. */
static void test_noise_of_kept_rows(void **state)
{
    enum { N = 200 };
    nb_ctx *ctx = *state;
    fixture f;
    const double *s;
    int order[N], small = 0;
    open_scene(ctx, &f, make_head("gaussian(n=200, d=8, scale=1.5)", 0, 0, ctx), "exp");
    assert_ok(ctx, nb_scene_rows(f.scene, &s, ctx));
    for (int i = 0; i < N; i++) { /* the largest first */
        int at = i;
        for (; at > 0 && length_of_row(s, N, order[at - 1]) < length_of_row(s, N, i); at--) order[at] = order[at - 1];
        order[at] = i;
    }
    nb_how streamed = {.order = order}, direct = {.engine = NB_DIRECT, .order = order};
    nb_pair *a = pair_of(ctx, &f, &streamed, "uniform", 10, NB_NYSTROMFORMER),
            *b = pair_of(ctx, &f, &direct, "uniform", 10, NB_NYSTROMFORMER);
    for (int rows = 100; rows < N; rows += 9) {
        nb_request r = request_of(ctx, b, nb_format(ctx, "exact_rows(of=svd(rcond=0.1), rows=%d)", rows));
        nb_measures one = measure(ctx, &f, &streamed, a, r), two = measure(ctx, &f, &direct, b, r);
        both_or_close("error", one.error, two.error, one.error_noise + two.error_noise);
        if (one.error < 0.01 || one.error > 0.05) continue; /* less is summed directly */
        assert_at_most(DBL_EPSILON / one.error, one.error_noise);
        small++;
    }
    assert_true(small > 2);
}

/* What stands beside a request changes none of its bits. */
static void test_company_changes_nothing(void **state)
{
    enum { COUNT = 6 };
    static const char *const cores[COUNT] = {
        "iterative", "exact_rows(rows=40)", "fitted", "fitted(keep_rows=true)", "exact_rows(rows=41)", "best"};
    nb_ctx *ctx = *state;
    fixture f;
    nb_request requests[COUNT];
    open_scene(ctx, &f, make_head("gaussian(n=300, d=16)", 0, 0, ctx), "softmax");
    nb_how how = {.wanted = NB_WANT_ALL, .order = order_of(ctx, 300)};
    nb_pair *pair = pair_of(ctx, &f, &how, "uniform", 10, NB_NYSTROMFORMER);
    for (int i = 0; i < COUNT; i++) requests[i] = request_of(ctx, pair, cores[i]);
    assert_ok(ctx, nb_engine_measure(f.scene, &how, COUNT, requests, ctx));
    for (int i = 0; i < COUNT; i++) {
        nb_measures alone = measure(ctx, &f, &how, pair, requests[i]);
        assert_null(requests[i].failure);
        assert_memory_equal(&alone, &requests[i].measures, sizeof alone);
    }
    assert_memory_equal(requests[0].x, requests[1].x, 100 * sizeof(double)); /* one X, two results */
    assert_true(requests[0].measures.error != requests[1].measures.error &&
                requests[1].measures.error != requests[4].measures.error);
}

/* Whatever allocation fails, there is an error or a failure, and nothing is lost. */
static void check_allocation_failures(nb_ctx *ctx, nb_how how)
{
    int tokens[5] = {1, 7, 20, 21, 39};
    bool done = false;
    how.wanted = NB_WANT_ALL;
    if (how.sample) how.tokens = tokens;
    for (long k = 1; !done; k++) {
        nb_mark mark = nb_ctx_mark(ctx);
        fixture f;
        double x[9] = {0.5};
        open_scene(ctx, &f, make_head("gaussian(n=40, d=4)", 0, 0, ctx), "softmax");
        how.order = order_of(ctx, 40);
        nb_pair *pair = pair_of(ctx, &f, &how, "uniform", 3, NB_NYSTROMFORMER);
        nb_request r = {.pair = pair, .x = x, .seen = 39, .keep_rows = true};
        assert_true(k < 10000);
        nb_ctx_fail_alloc(ctx, k);
        bool good = nb_engine_measure(f.scene, &how, 1, &r, ctx) == NB_OK && !r.failure;
        /* NOLINT(wording): a failure of a pair is a message alone */
        if (r.failure && !strstr(r.failure, "out of memory")) fail_msg("'%s'", r.failure);
        nb_error_clear(ctx);
        nb_ctx_fail_alloc(ctx, 1); /* if the k-th was never reached, nothing has failed yet */
        done = good && nb_alloc(ctx, 1, 1) == NULL;
        if (good) assert_true(isfinite(r.measures.error));
        nb_ctx_fail_alloc(ctx, 0);
        nb_error_clear(ctx);
        nb_ctx_release(ctx, mark);
        assert_int_equal(nb_ctx_blocks(ctx), mark);
    }
}

static void test_allocation_failures(void **state)
{
    check_allocation_failures(*state, (nb_how){.engine = NB_STREAMED});
    check_allocation_failures(*state, (nb_how){.engine = NB_DIRECT});
    check_allocation_failures(*state, (nb_how){.sample = 5});
}

/* The time of exact attention is that of the scene, whoever asks. */
static void test_exact_attention(void **state)
{
    nb_ctx *ctx = *state;
    static const char *const problems[] = {"gaussian(n=1, d=2)", "gaussian(n=700, d=8)", "gaussian(n=3000, d=4)"};
    for (int i = 0; i < 6; i++) {
        fixture f;
        double first, again;
        nb_head head = make_head(problems[i / 2], 0, 0, ctx);
        head.causal = i % 2;
        if (i == 2) head.v = NULL;
        open_scene(ctx, &f, head, "softmax");
        assert_ok(ctx, nb_scene_exact_s(f.scene, &first, ctx));
        assert_ok(ctx, nb_scene_exact_s(f.scene, &again, ctx));
        assert_true(first > 0 && again == first);
    }
}

/* The time of a forward pass is that of the scene and m, whoever asks, and grows with m. */
static void test_forward_pass(void **state)
{
    nb_ctx *ctx = *state;
    static const struct {
        const char *problem;
        int m, more;
    } sizes[] = {{"gaussian(n=1, d=2)", 1, 1}, {"gaussian(n=700, d=8)", 7, 700}, {"gaussian(n=20000, d=4)", 3, 200}};
    for (int i = 0; i < 6; i++) {
        fixture f;
        double few, many, again;
        nb_head head = make_head(sizes[i / 2].problem, 0, 0, ctx);
        if (i % 2) head.v = NULL;
        open_scene(ctx, &f, head, i == 2 ? "gauss" : "softmax");
        assert_ok(ctx, nb_scene_forward_s(f.scene, sizes[i / 2].m, &few, ctx));
        assert_ok(ctx, nb_scene_forward_s(f.scene, sizes[i / 2].more, &many, ctx));
        assert_true(few > 0 && (i < 2 || many > few));
        assert_ok(ctx, nb_scene_forward_s(f.scene, sizes[i / 2].m, &again, ctx));
        assert_true(again == few);
        assert_ok(ctx, nb_scene_forward_s(f.scene, sizes[i / 2].more, &again, ctx));
        assert_true(again == many);
    }
    assert_close(nb_forward_entries(100, 7), 2 * 7 * 100 + 7 * 7, 0);
    assert_close(nb_forward_entries(1 << 20, 200), 64.0 * (1 << 20) + ceil((1 << 16) / 200.0) * 200 + 200 * 200, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_engines_agree),
        test_with_ctx(test_thin_directions),
        test_with_ctx(test_rows_that_the_strategy_has_read),
        test_with_ctx(test_nothing_seen),
        test_with_ctx(test_rows_of_cores),
        test_with_ctx(test_sampled_rows),
        test_with_ctx(test_samples_without_a_seen_row),
        test_with_ctx(test_mixed_precision),
        test_with_ctx(test_company_changes_nothing),
        test_with_ctx(test_allocation_failures),
        test_with_ctx(test_exact_attention),
        test_with_ctx(test_noise_of_kept_rows),
        test_with_ctx(test_forward_pass),
    };
    return run_all(tests);
}
