/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library: results are those of the functions within, bit for bit, or known in closed form; every error says what
 * is wrong; calls leave nothing behind and may run in many threads. */
#include "scenes.h"

#include "api/handle.h"
#include "base/scratch.h"
#include "components/study.h"
#include "data/tensor.h"
#include "linalg/linalg.h"
#include "nystrom/make_scene.h"

#include <cblas.h>
#include <gsl/gsl_errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 40, D = 6, M = 7 };

static nysbench *new_handle(void)
{
    nysbench *h = NULL;
    assert_int_equal(nysbench_new(&h), NYSBENCH_OK);
    return h;
}

#define assert_done(h, call) \
    do { \
        if ((call) != NYSBENCH_OK) fail_msg("%s: %s", #call, nysbench_message(h)); \
        assert_string_equal(nysbench_message(h), ""); \
    } while (0)

static void expect_of(const char *asked, nysbench_status status, nysbench_status expected, const char *message)
{
    assert_int_equal(status, expected);
    tell(asked, message);
}

#define expect(call, status, message) expect_of(#call, call, status, message)

static nysbench_request request_of(const nb_head *head, const char *strategy, int m)
{
    nysbench_request r;
    nysbench_request_init(&r);
    r.n = head->n, r.d = head->d, r.dv = head->dv;
    r.q = head->q, r.k = head->k, r.v = head->v;
    r.strategy = strategy;
    r.landmarks = m;
    return r;
}

static nb_head some_head(nb_ctx *ctx)
{
    return make_head("gaussian(n=40, d=6)", 0, 0, ctx);
}

/* What a run picks in this trial, for a problem of this name. */
static nb_landmarks pick_within(const nb_head *head, const char *kernel_spec, const char *strategy, const char *problem,
                                uint64_t seed, int trial, nb_ctx *ctx)
{
    nb_choice kernel = choose(&nb_kernels, kernel_spec, ctx), choice = choose(&nb_strategies, strategy, ctx);
    nb_pairing pairing = ((const nb_strategy *)choice.component)->pairing;
    nb_stream stream = {.seed = seed, .trial = trial, .component = choice.canonical};
    nb_landmarks landmarks;
    nb_scene *scene;
    gsl_rng *rng;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    assert_ok(ctx, nb_scene_new(head, &kernel, &scene, ctx));
    nb_scene_name(scene, problem, 3);
    assert_ok(ctx, nb_landmarks_pick(&(nb_picking){scene, &choice, M, pairing, stream, rng}, &landmarks, ctx));
    return landmarks;
}

static void assert_side(const nysbench_side *side, const nb_picks *picks, const nb_head *head, const double *x,
                        nb_ctx *ctx)
{
    double *points = nb_alloc_reals(ctx, D, M);
    assert_ok(ctx, nb_picks_landmarks(picks, D, head->n, x, points, ctx));
    assert_memory_equal(side->points, points, sizeof *points * D * M);
    assert_true((side->tokens != NULL) == (picks->kind == NB_TOKENS));
    assert_true((side->groups != NULL) == (picks->kind == NB_GROUPS));
    for (int j = 0; side->tokens && j < M; j++) assert_int_equal(side->tokens[j], picks->tokens[j]);
    for (int i = 0; side->groups && i < head->n; i++) assert_int_equal(side->groups[i], picks->groups[i]);
}

/* Tokens, groups and points, of one side and of both; random and not; with rows of S in the trial's order. */
static void test_select_is_what_a_run_picks(void **state)
{
    static const char *const strategies[] = {"uniform",
                                             "kmeans",
                                             "kmeans(snap=nearest)",
                                             "segment_means",
                                             "kdpp",
                                             "cpqr",
                                             "leverage(rows=9, sample=tokens)",
                                             "exchange(rows=9)"};
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nysbench_landmarks l;
    nb_head head = some_head(ctx);
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        nysbench_request r = request_of(&head, strategies[i], M);
        r.seed = 5, r.trial = 2, r.problem = "of(mine)", r.head = 3;
        assert_done(h, nysbench_select(h, &r, &l));
        nb_landmarks within = pick_within(&head, "softmax", strategies[i], "of(mine)", 5, 2, ctx);
        assert_int_equal(l.m, M);
        assert_int_equal(l.n, N);
        assert_int_equal(l.d, D);
        assert_true(l.select_s >= 0);
        assert_side(&l.queries, &within.queries, &head, head.q, ctx);
        assert_side(&l.keys, &within.keys, &head, head.k, ctx);
    }
    nysbench_free(h);
}

/* The order in which rows of S are looked at is that of the problem's name. */
static void test_a_name_leads_to_a_run(void **state)
{
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nysbench_landmarks l;
    int64_t first[M];
    nb_head head = some_head(ctx);
    nysbench_request r = request_of(&head, "leverage(rows=9, sample=tokens)", M);
    assert_done(h, nysbench_select(h, &r, &l));
    memcpy(first, l.keys.tokens, sizeof first);
    assert_done(h, nysbench_select(h, &r, &l));
    assert_memory_equal(first, l.keys.tokens, sizeof first);
    r.problem = "another";
    assert_done(h, nysbench_select(h, &r, &l));
    assert_memory_not_equal(first, l.keys.tokens, sizeof first);
    nysbench_free(h);
}

/* Of 8 points on a line, 4 segments of two have the midpoints as means. */
static void test_select_of_points_alone(void **state)
{
    static const double points[] = {0, 1, 2, 4, 8, 16, 32, 64.5};
    static const double means[] = {0.5, 3, 12, 48.25};
    nysbench *h = new_handle();
    nysbench_request r;
    nysbench_landmarks l;
    (void)state;
    nysbench_request_init(&r);
    r.n = 8, r.d = 1, r.q = points, r.strategy = "segment_means", r.landmarks = 4;
    assert_done(h, nysbench_select(h, &r, &l));
    assert_int_equal(l.kind, NYSBENCH_GROUPS);
    for (int i = 0; i < 8; i++) assert_int_equal(l.queries.groups[i], i / 2);
    for (int j = 0; j < 4; j++) assert_true(l.queries.points[j] == means[j]);
    assert_ptr_equal(l.queries.points, l.keys.points);
    nysbench_free(h);
}

static double real_of(nysbench *h, int row, const char *column)
{
    double value = 0;
    assert_done(h, nysbench_row_real(h, row, column, &value));
    return value;
}

static const char *text_of(nysbench *h, int row, const char *column)
{
    const char *value = NULL;
    assert_done(h, nysbench_row_text(h, row, column, &value));
    return value;
}

/* Q Q' has rank d: from m = d landmarks on X = A+ leaves no error but rounding, some eps cond(A), and cond(A) of 6
 * random points of dimension 6 is far below 1e4. */
static void test_measure_of_low_rank(void **state)
{
    static const char *const cores[] = {"svd(rcond=machine)", NULL};
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nb_head head = some_head(ctx);
    nysbench_request r = request_of(&head, "uniform", M);
    int rows = 0;
    r.k = r.v = NULL, r.dv = 0, r.cores = cores, r.metrics = "error";
    assert_done(h, nysbench_measure(h, &r, &rows));
    assert_int_equal(rows, 1);
    assert_string_equal(text_of(h, 0, "status"), "ok");
    assert_string_equal(text_of(h, 0, "kernel"), "gram(of=queries)");
    assert_at_most(real_of(h, 0, "error"), 1e-11);
    r.landmarks = D - 1;
    assert_done(h, nysbench_measure(h, &r, &rows));
    assert_true(real_of(h, 0, "error") > 1e-3);
    nysbench_free(h);
}

/* A strategy's landmarks, handed over as tokens, have the error that they have as the strategy's, bit for bit. As
 * points they are no tokens any more: F, A and B come from products of other shapes, and differ by some eps (1e-12 is
 * 5000 of them). */
static void test_measure_of_given_landmarks(void **state)
{
    nb_ctx *ctx = *state;
    nysbench *h = new_handle(), *other = new_handle();
    nb_head head = some_head(ctx);
    nysbench_request r = request_of(&head, "uniform", M), given = request_of(&head, NULL, M);
    nysbench_landmarks l;
    int rows = 0, again = 0;
    assert_done(other, nysbench_select(other, &r, &l));
    assert_done(h, nysbench_measure(h, &r, &rows));
    assert_true(rows > 5);
    double *errors = nb_alloc_reals(ctx, (size_t)rows, 1);
    for (int i = 0; i < rows; i++) errors[i] = real_of(h, i, "error");
    for (int how = 0; how < 4; how++) {
        given.query_tokens = how == 0 || how == 2 ? l.queries.tokens : NULL;
        given.key_tokens = how == 1 || how == 2 ? l.keys.tokens : NULL;
        given.query_points = how == 3 ? l.queries.points : NULL;
        given.key_points = how == 3 ? l.keys.points : NULL;
        assert_done(h, nysbench_measure(h, &given, &again));
        assert_int_equal(again, rows);
        assert_string_equal(text_of(h, 0, "strategy"), "given");
        for (int i = 0; i < rows; i++) {
            double error = real_of(h, i, "error");
            if (how == 3)
                assert_true(isnan(error) == isnan(errors[i]) && !(fabs(error - errors[i]) > 1e-12 * errors[i]));
            else
                assert_true(error == errors[i] || (isnan(error) && isnan(errors[i])));
        }
    }
    nysbench_free(other);
    nysbench_free(h);
}

/* All tokens are landmarks: A is S, and S is met within 1e-16 times its condition. */
static void test_measure_of_all_tokens(void **state)
{
    static const char *const cores[] = {"svd(rcond=machine)", NULL};
    nysbench *h = new_handle();
    nb_head head = some_head(*state);
    nysbench_request given = request_of(&head, NULL, head.n);
    int64_t all[40];
    int rows = 0;
    assert_int_equal(head.n, 40);
    for (int i = 0; i < 40; i++) all[i] = i;
    given.query_tokens = all, given.cores = cores;
    assert_done(h, nysbench_measure(h, &given, &rows));
    assert_int_equal(rows, 1);
    assert_true(real_of(h, 0, "error") < 1e-9);
    nysbench_free(h);
}

/* What is odd about a file is told after the call that has read it, and not after the next. */
static void test_warning(void **state)
{
    static const char *const names[] = {"q", "k", "v"};
    static double x[6 * 3 * 2];
    nysbench *h = new_handle();
    nb_head head = some_head(*state);
    nysbench_request other = request_of(&head, "uniform", 2), r;
    nysbench_landmarks l;
    const char *folder;
    assert_ok(*state, nb_temporary_folder(&folder, *state));
    for (int i = 0; i < 3; i++) { /* 6 heads of 3 tokens, or the other way around */
        const int64_t shape[] = {6, 3, 2};
        assert_ok(*state, nb_npy_save_reals(nb_format(*state, "%s/%s.npy", folder, names[i]), 3, shape, x, *state));
    }
    nysbench_request_init(&r);
    r.file = nb_format(*state, "%s:0", folder), r.strategy = "uniform", r.landmarks = 2;
    assert_done(h, nysbench_select(h, &r, &l));
    assert_string_not_equal(nysbench_warning(h), "");
    assert_done(h, nysbench_select(h, &other, &l));
    assert_string_equal(nysbench_warning(h), "");
    nysbench_free(h);
}

static void test_rows(void **state)
{
    static const char *const cores[] = {"svd", "iterative(steps=[1, 2])", NULL};
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nb_head head = some_head(ctx);
    nysbench_request r = request_of(&head, "uniform", M);
    const char *json, *text;
    double value;
    int rows = 0;
    r.cores = cores, r.seed = 77, r.trial = 4, r.problem = "p\"q", r.head = 3;
    assert_done(h, nysbench_measure(h, &r, &rows));
    assert_int_equal(rows, 3);
    assert_non_null(strstr(text_of(h, 1, "core"), "iterative(steps=1,"));
    assert_true(real_of(h, 2, "seed") == 77 && real_of(h, 2, "trial") == 4 && real_of(h, 2, "n") == N);
    assert_done(h, nysbench_row_json(h, 2, &json));
    if (!strstr(json, "\"problem\": \"p\\\"q\", \"head\": 3,")) fail_msg("%s", json);
    assert_done(h, nysbench_row_text(h, 0, "reason", &text));
    assert_string_equal(text, "");
    expect(nysbench_row_json(h, 3, &json), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_row_json(h, -1, &json), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_row_json(h, 0, NULL), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_row_real(h, 0, "eror", &value), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_row_real(h, 0, NULL, &value), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_row_real(h, 0, "core", &value), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_row_text(h, 0, "error", &text), NYSBENCH_EINVAL, nysbench_message(h));
    assert_non_null(strstr(text_of(h, 1, "core"), "iterative(steps=1,")); /* they are still there */
    r.metrics = "eror";
    expect(nysbench_measure(h, &r, &rows), NYSBENCH_EINVAL, nysbench_message(h));
    assert_int_equal(rows, 0);
    expect(nysbench_row_json(h, 0, &json), NYSBENCH_EINVAL, nysbench_message(h));
    nysbench_free(h);
}

typedef struct { /* a request that is wrong */
    const char *name;
    void (*spoil)(nysbench_request *r);
    nysbench_status status;
} mistake;

#define MISTAKE(name, status) \
    { \
#name, name, status \
    }

static const double unfinite[] = {1, 2, NAN, 4};
static const int64_t far[] = {0, 1, 2, 3, 4, 5, N}, twice[] = {0, 1, 2, 3, 4, 5, 0};
static const char *const no_core[] = {"svt", NULL};
#define SPOIL(name, ...) \
    static void name(nysbench_request *r) \
    { \
        __VA_ARGS__; \
    }
SPOIL(no_head, r->q = r->k = r->v = NULL)
SPOIL(no_queries, r->q = NULL)
SPOIL(no_keys, r->k = NULL)
SPOIL(two_heads, r->file = "x.safetensors")
SPOIL(no_file, no_head(r), r->file = "there/is/none.safetensors")
SPOIL(no_tokens, r->n = 0)
SPOIL(no_values, r->dv = 0)
SPOIL(negative_head, r->head = -1)
SPOIL(odd_mask, r->causal = 2)
SPOIL(odd_file_mask, no_head(r), r->file = "x", r->causal = -2)
SPOIL(bad_number, r->q = unfinite, r->n = r->d = 2)
SPOIL(no_strategy, r->strategy = NULL)
SPOIL(no_landmarks, r->landmarks = 0)
SPOIL(many_landmarks, r->landmarks = N + 1)
SPOIL(bad_strategy, r->strategy = "kmean")
SPOIL(two_strategies, r->strategy = "kmeans(iterations=[1, 2])")
SPOIL(elsewhere, r->strategy = "command(run=true)")
SPOIL(elsewhere_within, r->strategy = "kept(strategy=command(run=true), landmarks_from=x.npy)")
SPOIL(no_function, r->strategy = "callback(id=2147483647)")
SPOIL(bad_kernel, r->kernel = "softmaxx")
SPOIL(bad_pairing, r->pairing = "jiont")
SPOIL(no_both, r->pairing = "both")
SPOIL(bad_seed, r->seed = -1)
SPOIL(bad_trial, r->trial = 1000000)
SPOIL(refused, r->causal = 1, r->strategy = "leverage(rows=9, sample=centres)")
SPOIL(needs_keys, r->k = r->v = NULL, r->dv = 0, r->kernel = "softmax")
SPOIL(large, r->size = sizeof *r + 1)
SPOIL(not_set, r->size = 0)

static const mistake of_heads[] = {
    MISTAKE(no_head, NYSBENCH_EINVAL),      MISTAKE(no_queries, NYSBENCH_EINVAL),
    MISTAKE(no_keys, NYSBENCH_EINVAL),      MISTAKE(two_heads, NYSBENCH_EINVAL),
    MISTAKE(no_file, NYSBENCH_EIO),         MISTAKE(no_tokens, NYSBENCH_EDIM),
    MISTAKE(no_values, NYSBENCH_EDIM),      MISTAKE(negative_head, NYSBENCH_EINVAL),
    MISTAKE(odd_mask, NYSBENCH_EINVAL),     MISTAKE(odd_file_mask, NYSBENCH_EINVAL),
    MISTAKE(bad_number, NYSBENCH_ENUMERIC), MISTAKE(no_strategy, NYSBENCH_EINVAL),
    MISTAKE(no_landmarks, NYSBENCH_EINVAL), MISTAKE(many_landmarks, NYSBENCH_EINVAL),
    MISTAKE(bad_strategy, NYSBENCH_EINVAL), MISTAKE(two_strategies, NYSBENCH_EINVAL),
    MISTAKE(elsewhere, NYSBENCH_EINVAL),    MISTAKE(elsewhere_within, NYSBENCH_EINVAL),
    MISTAKE(no_function, NYSBENCH_EINVAL),  MISTAKE(bad_kernel, NYSBENCH_EINVAL),
    MISTAKE(bad_pairing, NYSBENCH_EINVAL),  MISTAKE(no_both, NYSBENCH_EINVAL),
    MISTAKE(bad_seed, NYSBENCH_EINVAL),     MISTAKE(bad_trial, NYSBENCH_EINVAL),
    MISTAKE(needs_keys, NYSBENCH_EINVAL),   MISTAKE(large, NYSBENCH_EINVAL),
    MISTAKE(not_set, NYSBENCH_EINVAL),
};

SPOIL(bad_factors, r->factors = "curr")
SPOIL(bad_core, r->cores = no_core)
SPOIL(empty_cores, r->cores = no_core + 1)
SPOIL(two_choices, r->query_tokens = far)
SPOIL(far_token, r->strategy = NULL, r->query_tokens = far)
SPOIL(token_twice, r->strategy = NULL, r->key_tokens = twice)
SPOIL(tokens_and_points, r->strategy = NULL, r->key_tokens = twice, r->query_points = unfinite)
SPOIL(half_points, r->strategy = NULL, r->landmarks = 1, r->query_points = r->q)
SPOIL(bad_points, r->strategy = NULL, r->landmarks = 2, r->n = 20, r->d = 2, r->query_points = unfinite)
SPOIL(no_given, r->strategy = NULL, r->landmarks = 0, r->key_tokens = twice)
static const mistake of_measures[] = {
    MISTAKE(bad_factors, NYSBENCH_EINVAL),       MISTAKE(empty_cores, NYSBENCH_EINVAL),
    MISTAKE(bad_core, NYSBENCH_EINVAL),          MISTAKE(two_choices, NYSBENCH_EINVAL),
    MISTAKE(far_token, NYSBENCH_EINVAL),         MISTAKE(token_twice, NYSBENCH_EINVAL),
    MISTAKE(tokens_and_points, NYSBENCH_EINVAL), MISTAKE(half_points, NYSBENCH_EINVAL),
    MISTAKE(bad_points, NYSBENCH_ENUMERIC),      MISTAKE(no_given, NYSBENCH_EINVAL),
};

static void test_mistakes(void **state)
{
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nb_head head = some_head(ctx);
    nysbench_landmarks l;
    int rows;
    for (size_t i = 0; i < sizeof of_heads / sizeof *of_heads; i++) {
        nysbench_request r = request_of(&head, "uniform", M);
        of_heads[i].spoil(&r);
        expect_of(of_heads[i].name, nysbench_select(h, &r, &l), of_heads[i].status, nysbench_message(h));
        assert_null(l.queries.points);
        const char *selecting = nb_strdup(ctx, nysbench_message(h));
        assert_int_equal(nysbench_measure(h, &r, &rows), of_heads[i].status);
        assert_string_equal(nysbench_message(h), selecting);
    }
    for (size_t i = 0; i < sizeof of_measures / sizeof *of_measures; i++) {
        nysbench_request r = request_of(&head, "uniform", M);
        of_measures[i].spoil(&r);
        expect_of(of_measures[i].name, nysbench_measure(h, &r, &rows), of_measures[i].status, nysbench_message(h));
    }
    nysbench_request r = request_of(&head, "uniform", M);
    refused(&r);
    expect(nysbench_select(h, &r, &l), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_select(h, NULL, &l), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_select(h, &r, NULL), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_measure(h, &r, NULL), NYSBENCH_EINVAL, nysbench_message(h));
    assert_int_equal(nysbench_select(NULL, &r, &l), NYSBENCH_EINVAL);
    assert_int_equal(nysbench_measure(NULL, &r, &rows), NYSBENCH_EINVAL);
    assert_int_equal(nysbench_new(NULL), NYSBENCH_EINVAL);
    assert_non_null(strstr(nysbench_message(NULL), "NULL"));
    nysbench_free(NULL);
    nysbench_free(h);
}

/* A program that was compiled when requests ended with `trial`. */
static void test_an_older_request(void **state)
{
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nb_head head = some_head(ctx);
    nysbench_request whole = request_of(&head, "uniform", M);
    nysbench_landmarks l;
    int64_t expected[M], seed;
    size_t told, size = offsetof(nysbench_request, trial) + sizeof whole.trial;
    assert_done(h, nysbench_select(h, &whole, &l));
    memcpy(expected, l.queries.tokens, sizeof expected);
    char *old = malloc(size); /* so that the sanitizer sees what is beyond */
    assert_non_null(old);
    nysbench_request_init_sized((void *)old, size);
    memcpy(&told, old, sizeof told);
    memcpy(&seed, old + offsetof(nysbench_request, seed), sizeof seed);
    assert_int_equal(told, size);
    assert_int_equal(seed, 20260101);
    memcpy(old + sizeof size, (char *)&whole + sizeof size, size - sizeof size);
    assert_done(h, nysbench_select(h, (void *)old, &l));
    assert_memory_equal(l.queries.tokens, expected, sizeof expected);
    free(old);
    char larger[sizeof(nysbench_request) + 8];
    memset(larger, 1, sizeof larger);
    nysbench_request_init_sized((nysbench_request *)(void *)larger, sizeof larger);
    for (size_t i = sizeof(nysbench_request); i < sizeof larger; i++) assert_int_equal(larger[i], 0);
    nysbench_free(h);
}

static void test_names(void **state)
{
    nysbench *h = new_handle();
    const char *const *names, *text;
    int count = 0;
    (void)state;
    for (int i = 0; nb_registries[i]; i++) {
        assert_done(h, nysbench_names(h, nb_registries[i]->kind, &names));
        for (const nb_entry *e = nb_registries[i]->entries; e->component; e++, count++) {
            if (!nb_component_of_caller(e->component)) assert_string_equal(*names++, e->component->name);
            assert_done(h, nysbench_summary(h, nb_registries[i]->plural, e->component->name, &text));
            assert_string_equal(text, e->component->summary);
        }
        assert_null(*names);
    }
    assert_true(count > 40);
    assert_done(h, nysbench_describe(h, "strategy", "kmeans", &text));
    assert_non_null(strstr(text, "kmeans (strategy): "));
    assert_null(strstr(text, "kmeans (partition): "));
    assert_done(h, nysbench_describe(h, NULL, "kmeans", &text));
    assert_null(strstr(text, "kmeans (partition): "));
    assert_non_null(strstr(text, "partition/kmeans"));
    assert_done(h, nysbench_describe(h, NULL, "error_core", &text));
    assert_non_null(strstr(text, "error_core (column"));
    expect(nysbench_names(h, "strategie", &names), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_names(h, NULL, &names), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_summary(h, "core", "svt", &text), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_describe(h, NULL, "kmean", &text), NYSBENCH_EINVAL, nysbench_message(h));
    assert_null(text);
    expect(nysbench_describe(h, "core", "kmeans", &text), NYSBENCH_EINVAL, nysbench_message(h));
    assert_int_equal(nysbench_api(), NYSBENCH_API);
    for (int status = NYSBENCH_OK; status <= NYSBENCH_EBUG; status++)
        tell(nb_format(*state, "nysbench_status_name(%d)", status), nysbench_status_name((nysbench_status)status));
    nysbench_free(h);
}

enum { HEADS = 4, KEY_HEADS = 2, BATCH = 2, TOKENS = 33, DIM = 5, VALUES = 3 };
static const nysbench_layer layer = {sizeof layer, BATCH, HEADS, KEY_HEADS, TOKENS, DIM, VALUES, 0};
enum { QUERIES = BATCH * HEADS * TOKENS, KEYS = BATCH * KEY_HEADS * TOKENS };
typedef struct {
    float q[QUERIES * DIM], k[KEYS * DIM], v[KEYS * VALUES], out[QUERIES * VALUES];
} arrays;

static arrays *fill(nb_ctx *ctx)
{
    arrays *a = nb_alloc(ctx, 1, sizeof *a);
    float *x = (float *)a;
    assert_non_null(a);
    for (int i = 0; i < (QUERIES + KEYS) * DIM + KEYS * VALUES; i++) x[i] = (float)(2.385 * sin(1.7 * i * i + 0.3));
    return a;
}

static nysbench_attention *open_layer(nysbench *h, const char *spec, int threads)
{
    nysbench_attention *attention = NULL;
    assert_done(h, nysbench_attention_new(h, spec, &layer, threads, 7, 1, &attention));
    return attention;
}

static void forward(nysbench_attention *attention, arrays *a)
{
    if (nysbench_attention_forward(attention, a->q, a->k, a->v, a->out) != NYSBENCH_OK)
        fail_msg("%s", nysbench_attention_message(attention));
}

/* The output of a query in double; query head h uses key head h / (HEADS / KEY_HEADS) of its input. */
static void attend(const arrays *a, int head, int query, double *out)
{
    int of = head / HEADS * KEY_HEADS + head % HEADS / (HEADS / KEY_HEADS);
    const float *q = a->q + (head * TOKENS + query) * DIM, *k = a->k + of * TOKENS * DIM;
    double total = 0;
    for (int c = 0; c < VALUES; c++) out[c] = 0;
    for (int j = 0; j < TOKENS; j++) {
        double logit = 0;
        for (int c = 0; c < DIM; c++) logit += (double)q[c] * (double)k[j * DIM + c];
        double weight = exp(logit / sqrt(DIM));
        total += weight;
        for (int c = 0; c < VALUES; c++) out[c] += weight * (double)a->v[(of * TOKENS + j) * VALUES + c];
    }
    for (int c = 0; c < VALUES; c++) out[c] /= total;
}

/* Float32 products of entries up to 2.4: logits up to 13 have an error of some eps 13, which is their weights' relative
 * error, of values up to 2.4: 2^-24 x 13 x 2.4 = 2e-6, times a few. */
static void test_forward(void **state)
{
    nysbench *h = new_handle();
    arrays *a = fill(*state);
    nysbench_attention *streamed = open_layer(h, "streamed", 1), *threads = open_layer(h, "streamed", 3);
    nysbench_cost cost;
    nysbench_free(h); /* attentions outlive it */
    forward(streamed, a);
    for (int head = 0; head < BATCH * HEADS; head++)
        for (int i = 0; i < TOKENS; i++) {
            double expected[VALUES];
            attend(a, head, i, expected);
            for (int c = 0; c < VALUES; c++)
                assert_close((double)a->out[(head * TOKENS + i) * VALUES + c], expected[c], 1e-5);
        }
    float *first = nb_alloc_unset(*state, sizeof a->out, 1);
    memcpy(first, a->out, sizeof a->out);
    memset(a->out, 0, sizeof a->out);
    forward(threads, a);
    assert_memory_equal(first, a->out, sizeof a->out);
    nysbench_attention_cost(streamed, &cost);
    assert_true(cost.seconds > 0 && cost.multiplications >= 2.0 * QUERIES * TOKENS * DIM / 2 && cost.bytes > 0);
    nysbench_attention_free(streamed);
    nysbench_attention_free(threads);
    nysbench_attention_free(NULL);
}

/* Pieces of all heads, in the order that the call has them. */
static void cut(const float *x, int heads, int d, int at, int count, float *out)
{
    for (int h = 0; h < heads; h++)
        memcpy(out + h * count * d, x + (h * TOKENS + at) * d, (size_t)(count * d) * sizeof *out);
}

static void test_extend(void **state)
{
    nysbench *h = new_handle();
    arrays *a = fill(*state), *piece = fill(*state);
    nysbench_layer causal = layer;
    nysbench_attention *attention, *streamed = open_layer(h, "streamed", 1);
    causal.causal = 1;
    assert_done(h, nysbench_attention_new(h, "merging(window=3, landmarks=4)", &causal, 2, 7, 1, &attention));
    forward(attention, a);
    for (int again = 0; again < 2; again++) {
        for (int at = 0, count; at < TOKENS; at += count) {
            float expected[QUERIES * VALUES];
            count = at == 4 ? 7 : 1;
            cut(a->q, BATCH * HEADS, DIM, at, count, piece->q);
            cut(a->k, BATCH * KEY_HEADS, DIM, at, count, piece->k);
            cut(a->v, BATCH * KEY_HEADS, VALUES, at, count, piece->v);
            cut(a->out, BATCH * HEADS, VALUES, at, count, expected);
            assert_int_equal(nysbench_attention_extend(attention, count, piece->q, piece->k, piece->v, piece->out),
                             NYSBENCH_OK);
            assert_memory_equal(piece->out, expected, (size_t)(BATCH * HEADS * count * VALUES) * sizeof *expected);
        }
        expect(nysbench_attention_extend(attention, 1, a->q, a->k, a->v, piece->out), NYSBENCH_EDIM,
               nysbench_attention_message(attention));
        nysbench_attention_restart(attention);
    }
    expect(nysbench_attention_extend(attention, 0, a->q, a->k, a->v, piece->out), NYSBENCH_EINVAL,
           nysbench_attention_message(attention));
    expect(nysbench_attention_extend(attention, 1, a->q, a->k, NULL, piece->out), NYSBENCH_EINVAL,
           nysbench_attention_message(attention));
    expect(nysbench_attention_extend(streamed, 1, a->q, a->k, a->v, piece->out), NYSBENCH_EINVAL,
           nysbench_attention_message(streamed));
    assert_int_equal(nysbench_attention_extend(NULL, 1, a->q, a->k, a->v, piece->out), NYSBENCH_EINVAL);
    nysbench_attention_free(attention);
    nysbench_attention_free(streamed);
    nysbench_free(h);
}

/* Features that are drawn anew in each pass. */
static void test_restart(void **state)
{
    nysbench *h = new_handle();
    arrays *a = fill(*state);
    nysbench_attention *attention = open_layer(h, "performer(features=13, redraw=1)", 1);
    float *first = nb_alloc_unset(*state, sizeof a->out, 1);
    forward(attention, a);
    memcpy(first, a->out, sizeof a->out);
    forward(attention, a);
    assert_memory_not_equal(first, a->out, sizeof a->out);
    nysbench_attention_restart(attention);
    forward(attention, a);
    assert_memory_equal(first, a->out, sizeof a->out);
    nysbench_attention_free(attention);
    nysbench_free(h);
}

/* A program's, by what its spec means. */
static void test_seeds(void **state)
{
    const char *spec = "command(run=\"true\")", *same = "command( run = \"true\", timeout=60 )";
    nysbench *h = new_handle();
    uint64_t seed, other;
    (void)state;
    assert_int_equal(nysbench_attention_seed(h, spec, 5, 1, &seed), NYSBENCH_OK);
    assert_int_equal(nysbench_attention_seed(h, same, 5, 1, &other), NYSBENCH_OK);
    assert_true(seed == other && seed > 0);
    assert_int_equal(nysbench_attention_seed(h, spec, 5, 2, &other), NYSBENCH_OK);
    assert_true(seed != other);
    assert_int_equal(nysbench_attention_seed(h, spec, 6, 1, &other), NYSBENCH_OK);
    assert_true(seed != other);
    expect(nysbench_attention_seed(h, "commando", 5, 1, &other), NYSBENCH_EINVAL, nysbench_message(h));
    expect(nysbench_attention_seed(h, spec, 5, 1, NULL), NYSBENCH_EINVAL, nysbench_message(h));
    assert_int_equal(nysbench_attention_seed(NULL, spec, 5, 1, &other), NYSBENCH_EINVAL);
    nysbench_free(h);
}

static void test_mistakes_of_layers(void **state)
{
    nysbench *h = new_handle();
    arrays *a = fill(*state);
    nysbench_attention *out = NULL, *attention = open_layer(h, "streamed", 1);
    const struct {
        const char *spec;
        nysbench_layer layer;
        int threads, trial;
    } wrong[] = {
        {"streame", layer, 1, 0},
        {NULL, layer, 1, 0},
        {"streamed", {sizeof layer, 1, 3, 2, 4, 4, 4, 0}, 1, 0},
        {"streamed", {sizeof layer, 1, 2, 2, 0, 4, 4, 0}, 1, 0},
        {"streamed", {sizeof layer + 8, 1, 2, 2, 4, 4, 4, 0}, 1, 0},
        {"streamed", {8, 1, 2, 2, 4, 4, 4, 0}, 1, 0},
        {"streamed", layer, 257, 0},
        {"streamed", layer, 1, -1},
        {"nystrom(strategy=uniform, landmarks=4)", {sizeof layer, 1, 2, 2, 8, 4, 4, 1}, 1, 0},
        {"nystrom(strategy=command(run=true))", layer, 1, 0},
        {"nystrom(core=command(run=true))", layer, 1, 0},
        {"nystrom(core=exact_rows(of=command(run=true)))", layer, 1, 0},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *asked = nb_format(*state, "%zu: %s", i, wrong[i].spec ? wrong[i].spec : "NULL");
        expect_of(asked,
                  nysbench_attention_new(h, wrong[i].spec, &wrong[i].layer, wrong[i].threads, 7, wrong[i].trial, &out),
                  NYSBENCH_EINVAL, nysbench_message(h));
        assert_null(out);
    }
    expect(nysbench_attention_new(h, "streamed", &layer, 1, 7, 0, NULL), NYSBENCH_EINVAL, nysbench_message(h));
    a->k[(3 * TOKENS + 2) * DIM + 1] = INFINITY;
    expect(nysbench_attention_forward(attention, a->q, a->k, a->v, a->out), NYSBENCH_ENUMERIC,
           nysbench_attention_message(attention));
    expect(nysbench_attention_forward(attention, a->q, NULL, a->v, a->out), NYSBENCH_EINVAL,
           nysbench_attention_message(attention));
    a->k[(3 * TOKENS + 2) * DIM + 1] = 0;
    expect(nysbench_attention_forward(attention, a->q, a->k, a->v, NULL), NYSBENCH_EINVAL,
           nysbench_attention_message(attention));
    for (int i = 0; i < KEYS * VALUES; i++) a->v[i] = 3e38F; /* sums of weights times these overflow */
    expect(nysbench_attention_forward(attention, a->q, a->k, a->v, a->out), NYSBENCH_ENUMERIC,
           nysbench_attention_message(attention));
    assert_int_equal(nysbench_attention_forward(NULL, a->q, a->k, a->v, a->out), NYSBENCH_EINVAL);
    nysbench_attention_free(attention);
    nysbench_free(h);
}

typedef struct { /* what a thread does, and finds */
    const nb_head *head;
    arrays a;
    int64_t tokens[M];
    double errors[64];
    int rows;
} errand;

static void *run_errand(void *self)
{
    errand *e = self;
    nysbench *h = new_handle();
    nysbench_request r = request_of(e->head, "kmeans(snap=nearest)", M);
    nysbench_landmarks l;
    nysbench_attention *attention = open_layer(h, "nystrom(strategy=uniform, landmarks=8)", 2);
    for (int turn = 0; turn < 5; turn++) {
        assert_done(h, nysbench_select(h, &r, &l));
        memcpy(e->tokens, l.queries.tokens, sizeof e->tokens);
        assert_done(h, nysbench_measure(h, &r, &e->rows));
        for (int i = 0; i < e->rows && i < 64; i++) e->errors[i] = real_of(h, i, "error");
        forward(attention, &e->a);
    }
    nysbench_attention_free(attention);
    nysbench_free(h);
    return NULL;
}

/* Two handles at once, and OpenBLAS as it was. */
static void test_threads(void **state)
{
    nb_ctx *ctx = *state;
    nb_head head = some_head(ctx);
    errand *e[3];
    pthread_t thread[2];
    for (int i = 0; i < 3; i++) {
        e[i] = nb_alloc(ctx, 1, sizeof *e[i]);
        e[i]->head = &head;
        e[i]->a = *fill(ctx);
    }
    run_errand(e[2]);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, run_errand, e[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++) assert_memory_equal(e[i], e[2], sizeof *e[i]);
    assert_true(e[2]->rows > 5);
}

static int seen_threads;

static nb_status look(void *self, const nb_problem_shape *shape, nb_given *given, nb_ctx *ctx)
{
    (void)self, (void)shape, (void)given, (void)ctx;
    seen_threads = openblas_get_num_threads();
    assert_ptr_not_equal(uselocale((locale_t)0), LC_GLOBAL_LOCALE);
    return NB_OK;
}

static void handle_error(const char *reason, const char *file, int line, int number)
{
    (void)reason, (void)file, (void)line, (void)number;
}

/* What belongs to the process is set during the call, and then as it was. */
static void test_the_process_stays_as_it_was(void **state)
{
    const nb_host host = {.seen = look};
    nysbench *h = new_handle();
    nb_head head = some_head(*state);
    nysbench_request r = request_of(&head, "uniform", M);
    nysbench_landmarks l;
    int threads = openblas_get_num_threads();
    uselocale(LC_GLOBAL_LOCALE);
    gsl_error_handler_t *handler = gsl_set_error_handler(handle_error);
    openblas_set_num_threads(2);
    h->host = &host;
    assert_done(h, nysbench_select(h, &r, &l));
    assert_int_equal(seen_threads, 1);
    assert_int_equal(openblas_get_num_threads(), 2);
    assert_ptr_equal(gsl_set_error_handler(handler), handle_error);
    assert_ptr_equal(uselocale((locale_t)0), LC_GLOBAL_LOCALE);
    openblas_set_num_threads(threads);
    nysbench_free(h);
}

static sem_t within, leave_it;

static nb_status linger(void *self, const nb_problem_shape *shape, nb_given *given, nb_ctx *ctx)
{
    (void)self, (void)shape, (void)given, (void)ctx;
    sem_post(&within);
    while (sem_wait(&leave_it) != 0) {
    }
    return NB_OK;
}

static void *select_slowly(void *head)
{
    static const nb_host host = {.seen = linger};
    nysbench *h = new_handle();
    nysbench_request r = request_of(head, "uniform", M);
    nysbench_landmarks l;
    h->host = &host;
    assert_done(h, nysbench_select(h, &r, &l));
    nysbench_free(h);
    return NULL;
}

/* Exit status 0: all is as it was before the parent's call, and calls work. */
static void live_in_child(const nb_head *head)
{
    nysbench *h = NULL;
    nysbench_request r = request_of(head, "uniform", M);
    nysbench_landmarks l;
    alarm(60); /* where a call waits for a thread that is not there */
    if (openblas_get_num_threads() != 2 || gsl_set_error_handler(handle_error) != handle_error) _exit(1);
    if (nysbench_new(&h) != NYSBENCH_OK || nysbench_select(h, &r, &l) != NYSBENCH_OK) _exit(2);
    _exit(openblas_get_num_threads() == 2 && gsl_set_error_handler(NULL) == handle_error ? 0 : 3);
}

static void test_a_fork_during_another_call(void **state)
{
    nb_head head = some_head(*state);
    pthread_t thread;
    int threads = openblas_get_num_threads(), how = -1;
    gsl_error_handler_t *handler = gsl_set_error_handler(handle_error);
    openblas_set_num_threads(2);
    assert_true(sem_init(&within, 0, 0) == 0 && sem_init(&leave_it, 0, 0) == 0);
    assert_int_equal(pthread_create(&thread, NULL, select_slowly, &head), 0);
    while (sem_wait(&within) != 0) {
    }
    pid_t pid = fork();
    if (pid == 0) live_in_child(&head);
    assert_int_equal(openblas_get_num_threads(), 1); /* here the call goes on */
    sem_post(&leave_it);
    pthread_join(thread, NULL);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_int_equal(how, 0);
    assert_int_equal(openblas_get_num_threads(), 2);
    assert_ptr_equal(gsl_set_error_handler(handler), handle_error);
    openblas_set_num_threads(threads);
}

/* The call number `which` on a new handle. */
static nysbench_status call(int which, nysbench *h, const nb_head *head, const char **outcome)
{
    static const char *const cores[] = {"svd", "iterative", NULL};
    nysbench_request r = request_of(head, "kmeans", M);
    nysbench_landmarks l;
    nysbench_attention *attention;
    const char *const *names;
    int rows;
    nysbench_status status;
    *outcome = "";
    switch (which) {
    case 0: return nysbench_select(h, &r, &l);
    case 1:
        r.cores = cores;
        status = nysbench_measure(h, &r, &rows);
        for (int i = 0; status == NYSBENCH_OK && i < rows; i++)
            if (h->rows[i].reason) *outcome = h->rows[i].reason;
        return status;
    case 2: return nysbench_names(h, "strategy", &names);
    case 3: return nysbench_describe(h, NULL, "kmeans", outcome);
    default:
        status = nysbench_attention_new(h, "nystrom(strategy=uniform, landmarks=8)", &layer, 1, 7, 1, &attention);
        if (status == NYSBENCH_OK) nysbench_attention_free(attention);
        return status;
    }
}

/* Whichever allocation fails, that is the outcome, of the call or of the row that it was for; and the next call does
 * not know of it. */
static void test_memory(void **state)
{
    nb_ctx *ctx = *state;
    nb_head head = some_head(ctx);
    nysbench *h = new_handle();
    size_t blocks = nb_ctx_blocks(h->ctx);
    const char *outcome;
    for (int which = 0; which < 5; which++) {
        int failures = 0;
        for (long k = 1;; k++) {
            nb_ctx_fail_alloc(h->ctx, k);
            nysbench_status status = call(which, h, &head, &outcome);
            bool failed = nb_ctx_fail_alloc(h->ctx, 0) == 0;
            assert_int_equal(nb_ctx_blocks(h->ctx), blocks);
            /* NOLINT(wording): of a row that has failed the message alone says why */
            if (status == NYSBENCH_OK && !(outcome && strstr(outcome, "out of memory"))) break;
            assert_true(failed);
            if (status != NYSBENCH_OK) assert_int_equal(status, NYSBENCH_ENOMEM);
            if (status != NYSBENCH_OK) assert_int_equal(h->row_count, 0);
            failures++;
        }
        assert_true(failures > 0);
        assert_int_equal(call(which, h, &head, &outcome), NYSBENCH_OK);
    }
    nysbench_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_select_is_what_a_run_picks),
        test_with_ctx(test_a_name_leads_to_a_run),
        test_with_ctx(test_select_of_points_alone),
        test_with_ctx(test_measure_of_low_rank),
        test_with_ctx(test_measure_of_given_landmarks),
        test_with_ctx(test_measure_of_all_tokens),
        test_with_ctx(test_warning),
        test_with_ctx(test_rows),
        test_with_ctx(test_mistakes),
        test_with_ctx(test_an_older_request),
        test_with_ctx(test_names),
        test_with_ctx(test_forward),
        test_with_ctx(test_extend),
        test_with_ctx(test_restart),
        test_with_ctx(test_seeds),
        test_with_ctx(test_mistakes_of_layers),
        test_with_ctx(test_threads),
        test_with_ctx(test_the_process_stays_as_it_was),
        test_with_ctx(test_a_fork_during_another_call),
        test_with_ctx(test_memory),
    };
    return run_all(tests);
}
