/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of the caller's as strategies and cores. They are told what a component of the tree is told, and what they
 * leave gives the bits that a component with the same picks gives: uniform(strided=true), segment_means, tokens given
 * to nysbench_measure; for cores, those of svd but for rounding. Every answer that is wrong has its message. */
#include "scenes.h"

#include "api/handle.h"
#include "linalg/linalg.h"

#include <pthread.h>

enum { N = 40, D = 6, M = 8 };

static nysbench *new_handle(void)
{
    nysbench *h = NULL;
    assert_int_equal(nysbench_new(&h), NYSBENCH_OK);
    return h;
}

#define assert_done(h, call) \
    do { \
        if ((call) != NYSBENCH_OK) fail_msg("%s: %s", #call, nysbench_message(h)); \
    } while (0)

static void expect_of(const char *asked, const nysbench *h, nysbench_status status)
{
    assert_int_not_equal(status, NYSBENCH_OK);
    tell(asked, nysbench_message(h));
}

#define expect(h, call) expect_of(#call, h, call)

static nysbench_request request_of(const nb_head *head, const char *strategy)
{
    nysbench_request r;
    nysbench_request_init(&r);
    r.n = head->n, r.d = head->d, r.dv = head->dv;
    r.q = head->q, r.k = head->k, r.v = head->v;
    r.strategy = strategy;
    r.landmarks = M;
    return r;
}

typedef struct { /* what a function leaves, and what it was given last */
    nysbench_picks_kind kind;
    int sides, code;
    const char *message;
    int64_t token;  /* instead of the first one; -1: none */
    double *points; /* instead of the tokens' own; NULL: none */
    nysbench_pick last;
    pthread_t owner;
    int calls, strangers; /* of these, in other threads than the owner */
} picker;

/* The tokens in the middle of segments on the first side, and one later on the second; the segments; the tokens'
 * points. */
static int pick(nysbench_pick *p, void *user)
{
    picker *self = user;
    self->last = *p;
    self->calls++;
    self->strangers += !pthread_equal(pthread_self(), self->owner);
    p->kind = self->kind;
    if (self->sides) p->sides = self->sides;
    for (int side = 0; side < p->sides; side++) {
        const double *x = p->points ? p->points : side ? p->keys : p->queries;
        for (int j = 0; j < p->m; j++) {
            int token = (2 * j + 1) * p->n / (2 * p->m) + side;
            if (self->kind != NYSBENCH_GROUPS) p->tokens[side][j] = token;
            memcpy(p->free_points[side] + j * p->d, x + token * p->d, (size_t)p->d * sizeof *x);
        }
        for (int i = 0; i < p->n && self->kind == NYSBENCH_GROUPS; i++) p->tokens[side][i] = i / (p->n / p->m);
        if (self->token >= 0) p->tokens[side][0] = self->token;
        if (self->points) p->free_points[side][0] = self->points[0];
    }
    if (self->message) snprintf(p->message, sizeof p->message, "%s", self->message);
    return self->code;
}

static const char *add(nysbench *h, picker *self, const char *name, nb_ctx *ctx)
{
    const char *spec;
    assert_done(h, nysbench_add_strategy(h, name, 0, pick, self, &spec));
    return nb_strdup(ctx, spec);
}

static double error_of(nysbench *h, const nysbench_request *r, const char *column)
{
    int rows;
    double value;
    const char *status, *reason;
    assert_done(h, nysbench_measure(h, r, &rows));
    assert_int_equal(rows, 1);
    assert_done(h, nysbench_row_text(h, 0, "status", &status));
    assert_done(h, nysbench_row_text(h, 0, "reason", &reason));
    if (strcmp(status, "ok") != 0) fail_msg("%s: %s", status, reason);
    assert_done(h, nysbench_row_real(h, 0, column, &value));
    return value;
}

static const char *const svd[] = {"svd(rcond=1e-9)", NULL};

/* Whose points it gets under each pairing; its tokens, groups and points have the rows of those that others pick. */
static void test_picks(void **state)
{
    static const struct {
        const char *pairing, *side;
        int n, d;
    } cases[] = {{NULL, "joint", N, 2 * D},
                 {"queries", "queries", N, D},
                 {"independent", "keys", N, D},
                 {"shared", "shared", 2 * N, D},
                 {"both", "both", N, D}};
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nb_head head = make_head("gaussian(n=40, d=6)", 0, 0, ctx);
    picker self = {.kind = NYSBENCH_TOKENS, .token = -1};
    const char *spec = add(h, &self, "every fifth", ctx);
    nysbench_request r = request_of(&head, spec), given = request_of(&head, NULL),
                     means = request_of(&head, "segment_means");
    int64_t tokens[M], later[M];
    for (int j = 0; j < M; j++) tokens[j] = j * (N / M) + N / M / 2, later[j] = tokens[j] + 1;
    r.cores = given.cores = means.cores = svd;
    r.metrics = given.metrics = means.metrics = "error";
    given.query_tokens = tokens;
    double expected = error_of(h, &given, "error");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const nysbench_pick *p = &self.last;
        r.pairing = cases[i].pairing;
        double error = error_of(h, &r, "error");
        bool joint = strcmp(cases[i].side, "joint") == 0, both = strcmp(cases[i].side, "both") == 0;
        if (strcmp(cases[i].side, "shared") != 0) assert_close(error, expected, 0);
        assert_string_equal(p->side, cases[i].side);
        assert_int_equal(p->n, cases[i].n);
        assert_int_equal(p->d, cases[i].d);
        assert_int_equal(p->m, M);
        assert_int_equal(p->causal, 0);
        assert_true((p->points == NULL) == both && (p->queries != NULL) == (joint || both));
    }
    given.key_tokens = later;
    self.sides = 2;
    assert_true(error_of(h, &r, "error") == error_of(h, &given, "error"));
    r.pairing = NULL;
    self.kind = NYSBENCH_GROUPS, self.sides = 0;
    assert_true(error_of(h, &r, "error") == error_of(h, &means, "error"));
    self.kind = NYSBENCH_POINTS; /* [q; k] of the same tokens */
    /* S of points is formed anew, its rows of tokens are not: sums in another order */
    assert_close(error_of(h, &r, "error"), expected, 1e-13 * expected);
    nysbench_free(h);
}

/* The seed is drawn for the name, as a component of that text draws it; not for the number. */
static void test_seeds(void **state)
{
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nb_head head = make_head("gaussian(n=40, d=6)", 0, 0, ctx);
    picker self = {.kind = NYSBENCH_TOKENS, .token = -1};
    nb_choice command = choose(&nb_strategies, "command(run=\"python3 mine.py\", serve=true)", ctx);
    nysbench_landmarks l;
    const char *spec;
    gsl_rng *rng;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    for (int trial = 0; trial < 3; trial++) {
        nysbench_request r = request_of(&head, add(h, &self, command.canonical, ctx));
        r.trial = trial;
        r.seed = 5;
        assert_done(h, nysbench_select(h, &r, &l));
        nb_random_seed(rng, &(nb_stream){5, trial, "joint", command.canonical, M});
        assert_int_equal(self.last.seed, gsl_rng_get(rng));
        r.pairing = "both";
        assert_done(h, nysbench_select(h, &r, &l));
        nb_random_seed(rng, &(nb_stream){5, trial, "both", command.canonical, M});
        assert_int_equal(self.last.seed, gsl_rng_get(rng));
    }
    assert_done(h, nysbench_add_strategy(h, "same", 1, pick, &self, &spec));
    nysbench_request r = request_of(&head, nb_strdup(ctx, spec));
    assert_done(h, nysbench_select(h, &r, &l));
    assert_int_equal(self.last.seed, 0);
    nysbench_free(h);
}

typedef struct {
    const char *message;
    bool fails, diverges;
    nysbench_middle last;
    double f[N * M], a[M * M], b[M * N]; /* as they came */
    pthread_t thread;
} inverter;

/* The pseudo-inverse of A, all singular values above 1e-9 of the largest. */
static int invert(nysbench_middle *c, void *user)
{
    inverter *self = user;
    nb_ctx *ctx = nb_ctx_new();
    double u[M * M], s[M], vt[M * M];
    self->last = *c;
    self->thread = pthread_self();
    if (c->m == M && c->n == N) {
        memcpy(self->f, c->f, sizeof self->f);
        memcpy(self->a, c->a, sizeof self->a);
        memcpy(self->b, c->b, sizeof self->b);
    }
    if (self->message) snprintf(c->message, sizeof c->message, "%s", self->message);
    if (nb_svd(c->m, c->m, c->a, u, s, vt, ctx) != NB_OK) return 1; /* of A', by columns */
    for (int i = 0; i < c->m; i++)                                  /* X' = pinv(A'), by columns, is X by rows */
        for (int j = 0; j < c->m; j++)
            for (int l = 0; l < c->m && s[l] > 1e-9 * s[0]; l++)
                c->x[i + c->m * j] += vt[l + c->m * i] * u[j + c->m * l] / s[l];
    if (self->diverges) c->x[c->m * c->m - 1] = INFINITY;
    nb_ctx_free(ctx);
    return self->fails ? 7 : 0;
}

/* F, A and B by rows, from the definition; X that is transposed on its way would not be the pseudo-inverse. Products of
 * six terms, and quotients of sums of forty: some units of 2^-53. */
static void test_core(void **state)
{
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nb_head head = make_head("gaussian(n=40, d=6)", 0, 0, ctx);
    inverter *self = nb_alloc(ctx, 1, sizeof *self);
    const char *cores[] = {NULL, NULL}, *status, *reason;
    int rows;
    assert_done(h, nysbench_add_core(h, "pinv", 0, invert, self, &cores[0]));
    cores[0] = nb_strdup(ctx, cores[0]);
    nysbench_request r = request_of(&head, "uniform(strided=true)");
    r.metrics = "error,core_residual";
    r.cores = svd;
    double expected = error_of(h, &r, "error");
    r.cores = cores;
    double error = error_of(h, &r, "error");
    assert_close(error, expected, 1e-9 * expected); /* cond(A) < 1e5 times 1e-15, with room */
    assert_close(error_of(h, &r, "core_residual"), 0, 1e-9);
    assert_true(self->last.m == M && self->last.n == N && !self->last.causal && self->last.seed != 0);
    for (int i = 0; i < N; i++) {
        double weights[M], total = 0;
        for (int j = 0; j < M; j++) {
            double logit = 0;
            for (int c = 0; c < D; c++) logit += head.q[i * D + c] * head.k[(j * (N / M) + N / M / 2) * D + c];
            total += weights[j] = exp(logit / sqrt(D));
        }
        for (int j = 0; j < M; j++) assert_close(self->f[i * M + j], weights[j] / total, 1e-14);
        if (i % (N / M) == N / M / 2)
            assert_memory_equal(self->a + i / (N / M) * M, self->f + i * M, sizeof *weights * M);
    }
    for (int j = 0; j < M; j++) {
        double sum = 0;
        for (int i = 0; i < N; i++) sum += self->b[j * N + i];
        assert_close(sum, 1, 1e-14);
    }
    nb_choice command = choose(&nb_cores, "command(run=\"python3 mine.py\")", ctx);
    gsl_rng *rng;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    assert_done(h, nysbench_add_core(h, command.canonical, 0, invert, self, &cores[0]));
    cores[0] = nb_strdup(ctx, cores[0]);
    r.seed = 5, r.trial = 2;
    error_of(h, &r, "error");
    nb_random_seed(rng, &(nb_stream){5, 2, "core", command.canonical, M});
    assert_int_equal(self->last.seed, gsl_rng_get(rng));
    self->diverges = true;
    assert_done(h, nysbench_measure(h, &r, &rows));
    assert_done(h, nysbench_row_text(h, 0, "status", &status));
    assert_done(h, nysbench_row_text(h, 0, "reason", &reason));
    assert_string_equal(status, "diverged");
    tell(status, reason);
    self->fails = true, self->message = "none";
    assert_done(h, nysbench_measure(h, &r, &rows));
    assert_done(h, nysbench_row_text(h, 0, "status", &status));
    assert_done(h, nysbench_row_text(h, 0, "reason", &reason));
    assert_string_equal(status, "failed");
    tell(status, reason);
    nysbench_free(h);
}

/* An attention of functions, called in this thread whatever the team, also by other strategies: the same landmarks give
 * the same bits. */
static void test_attention(void **state)
{
    enum { HEADS = 2, SIZE = HEADS * N * D };
    const nysbench_layer layer = {sizeof layer, 1, HEADS, HEADS, N, D, D, 0};
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    picker self = {.kind = NYSBENCH_TOKENS, .token = -1, .owner = pthread_self()};
    inverter *middle = nb_alloc(ctx, 1, sizeof *middle);
    const char *picks = add(h, &self, "every fifth", ctx), *core;
    float q[SIZE], k[SIZE], v[SIZE], one[SIZE], two[SIZE];
    assert_done(h, nysbench_add_core(h, "pinv", 1, invert, middle, &core));
    for (int i = 0; i < SIZE; i++)
        q[i] = (float)sin(2.385 * i), k[i] = (float)cos(1.337 * i), v[i] = (float)sin(0.7 * i);
    const char *specs[] = {"nystrom(strategy=uniform(strided=true), landmarks=8, core=svd(rcond=1e-9))",
                           nb_format(ctx, "nystrom(strategy=%s, landmarks=8, core=svd(rcond=1e-9))", picks),
                           nb_format(ctx, "nystrom(strategy=%s, landmarks=8, core=%s)", picks, core),
                           nb_format(ctx, "nystrom(strategy=exchange(start=%s), landmarks=8)", picks),
                           nb_format(ctx, "nystrom(strategy=optimized(start=%s, steps=1), landmarks=8)", picks)};
    for (int i = 0; i < 5; i++) {
        nysbench_attention *attention;
        assert_done(h, nysbench_attention_new(h, specs[i], &layer, 3, 7, 0, &attention));
        assert_int_equal(nysbench_attention_forward(attention, q, k, v, i == 0 ? one : two), NYSBENCH_OK);
        nysbench_attention_free(attention);
        if (i == 1) assert_memory_equal(one, two, sizeof one);
        for (int j = 0; i == 2 && j < SIZE; j++) /* float32, of values up to 1 and an X up to the condition of A, 1e3 */
            assert_close((double)two[j], (double)one[j], 1e-4);
    }
    assert_int_equal(self.calls, 4 * HEADS);
    assert_int_equal(self.strangers, 0);
    assert_true(pthread_equal(middle->thread, pthread_self()));
    assert_int_equal(middle->last.seed, 0);
    nysbench_free(h);
}

static void test_within_others(void **state)
{
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nb_head head = make_head("gaussian(n=40, d=6)", 0, 0, ctx);
    picker self = {.kind = NYSBENCH_TOKENS, .token = -1};
    nysbench_landmarks l;
    nysbench_request r =
        request_of(&head, nb_format(ctx, "subsample(of=\"%s\", tokens=16)", add(h, &self, "every fifth", ctx)));
    assert_done(h, nysbench_select(h, &r, &l));
    assert_int_equal(self.last.n, 16);
    nysbench_free(h);
}

/* What is said of answers that break the rules. */
static void test_mistakes(void **state)
{
    double nan[] = {NAN};
    const struct {
        picker wrong;
        const char *pairing;
    } cases[] = {
        {{.kind = NYSBENCH_TOKENS, .token = -1, .code = 3, .message = "never"}, NULL},
        {{.kind = NYSBENCH_TOKENS, .token = -1, .code = -1}, NULL},
        {{.token = -1}, NULL},
        {{.kind = NYSBENCH_TOKENS, .token = N}, NULL},
        {{.kind = NYSBENCH_TOKENS, .token = 7}, NULL},
        {{.kind = NYSBENCH_GROUPS, .token = M}, NULL},
        {{.kind = NYSBENCH_POINTS, .token = -1, .points = nan}, NULL},
        {{.kind = NYSBENCH_POINTS, .token = -1}, "both"},
        {{.kind = NYSBENCH_TOKENS, .token = N, .sides = 2}, "both"},
    };
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    nb_head head = make_head("gaussian(n=40, d=6)", 0, 0, ctx);
    nysbench_landmarks l;
    const char *spec, *core;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picker self = cases[i].wrong;
        nysbench_request r = request_of(&head, add(h, &self, "mine", ctx));
        r.pairing = cases[i].pairing;
        expect_of(nb_format(ctx, "case %zu", i), h, nysbench_select(h, &r, &l));
    }
    picker self = {.kind = NYSBENCH_TOKENS, .token = -1, .sides = 2};
    nysbench_request r = request_of(&head, add(h, &self, "mine", ctx));
    self.sides = -1; /* no array for it: the function leaves none */
    expect(h, nysbench_select(h, &r, &l));
    expect(h, nysbench_add_strategy(h, NULL, 0, pick, &self, &spec));
    expect(h, nysbench_add_strategy(h, "", 0, pick, &self, &spec));
    expect(h, nysbench_add_strategy(h, "mine", 0, NULL, &self, &spec));
    expect(h, nysbench_add_core(h, "mine", 0, invert, &self, NULL));
    assert_int_equal(nysbench_add_strategy(NULL, "mine", 0, pick, &self, &spec), NYSBENCH_EINVAL);
    assert_done(h, nysbench_add_core(h, "mine", 0, invert, &self, &core));
    core = nb_strdup(ctx, core);
    nysbench_request other = request_of(&head, core);
    expect(h, nysbench_select(h, &other, &l));
    expect(h, nysbench_remove(h, "uniform"));
    expect(h, nysbench_remove(h, NULL));
    expect(h, nysbench_remove(h, "callback(id=0)"));
    assert_done(h, nysbench_remove(h, core));
    expect(h, nysbench_remove(h, core));
    assert_done(h, nysbench_remove(h, r.strategy));
    expect(h, nysbench_select(h, &r, &l));
    nysbench_free(h);
}

/* A spec that was removed is refused when an attention is opened, and where it stands within another. */
static void test_removed(void **state)
{
    const nysbench_layer layer = {sizeof layer, 1, 1, 1, N, D, D, 0};
    nb_ctx *ctx = *state;
    nysbench *h = new_handle();
    picker self = {.kind = NYSBENCH_TOKENS, .token = -1};
    nysbench_attention *attention;
    const char *core, *picks = add(h, &self, "mine", ctx);
    assert_done(h, nysbench_add_core(h, "mine", 0, invert, &self, &core));
    core = nb_strdup(ctx, core);
    assert_done(h, nysbench_remove(h, core));
    assert_done(h, nysbench_remove(h, picks));
    expect(h, nysbench_attention_new(h, nb_format(ctx, "nystrom(strategy=%s)", picks), &layer, 1, 7, 0, &attention));
    expect(h, nysbench_attention_new(h, nb_format(ctx, "nystrom(core=%s)", core), &layer, 1, 7, 0, &attention));
    nysbench_free(h);
}

static int most_ids;

/* Adds, uses and removes functions; no number comes twice. */
static void *come_and_go(void *of)
{
    nysbench *h = new_handle();
    picker self = {.kind = NYSBENCH_TOKENS, .token = -1};
    nysbench_landmarks l;
    int last = 0, id;
    for (int turn = 0; turn < 30; turn++) {
        const char *spec;
        char own[64];
        assert_done(h, nysbench_add_strategy(h, "mine", 0, pick, &self, &spec));
        snprintf(own, sizeof own, "%s", spec);
        assert_int_equal(sscanf(own, "callback(id=%d)", &id), 1);
        assert_true(id > last);
        last = id;
        nysbench_request r = request_of(of, own);
        assert_done(h, nysbench_select(h, &r, &l));
        assert_done(h, nysbench_remove(h, own));
    }
    assert_int_equal(self.calls, 30);
    __atomic_fetch_add(&most_ids, 30, __ATOMIC_RELAXED);
    nysbench_free(h);
    return NULL;
}

static void test_threads(void **state)
{
    nb_head head = make_head("gaussian(n=40, d=6)", 0, 0, *state);
    nysbench *h = new_handle();
    picker self = {.kind = NYSBENCH_TOKENS, .token = -1};
    pthread_t threads[3];
    int first, last;
    assert_int_equal(sscanf(add(h, &self, "mine", *state), "callback(id=%d)", &first), 1);
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &head), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert_int_equal(sscanf(add(h, &self, "mine", *state), "callback(id=%d)", &last), 1);
    assert_int_equal(last - first, most_ids + 1);
    nysbench_free(h);
}

/* Whichever allocation fails: no function is left, and no block. */
static void test_memory(void **state)
{
    nb_ctx *ctx = *state;
    nb_head head = make_head("gaussian(n=40, d=6)", 0, 0, ctx);
    nysbench *h = new_handle();
    picker self = {.kind = NYSBENCH_TOKENS, .token = -1};
    nysbench_landmarks l;
    size_t blocks = nb_ctx_blocks(h->ctx);
    const char *spec;
    for (int what = 0; what < 2; what++) {
        nysbench_request r = request_of(&head, what ? add(h, &self, "mine", ctx) : NULL);
        int failures = 0;
        for (bool done = false; !done; failures++) {
            nb_ctx_fail_alloc(h->ctx, failures + 1);
            nysbench_status status =
                what ? nysbench_select(h, &r, &l) : nysbench_add_strategy(h, "mine", 0, pick, &self, &spec);
            done = status == NYSBENCH_OK;
            bool failed = nb_ctx_fail_alloc(h->ctx, 0) == 0;
            if (!done) assert_true(failed && status == NYSBENCH_ENOMEM && nb_ctx_blocks(h->ctx) == blocks);
        }
        assert_true(failures > 1);
    }
    nysbench_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_picks),     test_with_ctx(test_seeds),         test_with_ctx(test_core),
        test_with_ctx(test_attention), test_with_ctx(test_within_others), test_with_ctx(test_mistakes),
        test_with_ctx(test_removed),   test_with_ctx(test_threads),       test_with_ctx(test_memory),
    };
    gsl_set_error_handler_off();
    return run_all(tests);
}
