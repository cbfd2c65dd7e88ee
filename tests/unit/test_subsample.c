/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `subsample`: of all tokens it is the other strategy, bit for bit; of some it is the other strategy on the head of
 * these tokens, made here by hand; and what becomes of tokens, groups and points is written down for eight tokens. */
#include "scenes.h"

#include "nystrom/row_sample.h"

enum { SEED = 3 };

static nb_landmarks pick_with(nb_ctx *ctx, const fixture *f, const nb_choice *choice, int m, nb_pairing pairing,
                              int trial)
{
    nb_stream stream = {.seed = SEED, .trial = trial, .component = choice->canonical};
    nb_landmarks out;
    if (nb_landmarks_pick(&(nb_picking){f->scene, choice, m, pairing, stream, f->rng}, &out, ctx) != NB_OK)
        fail_msg("%s, pairing %s: %s", choice->label, nb_pairing_names[pairing], nb_error_message(ctx));
    return out;
}

static nb_landmarks pick(nb_ctx *ctx, const fixture *f, const char *strategy, int m, nb_pairing pairing)
{
    nb_choice *choice = nb_alloc(ctx, 1, sizeof *choice);
    *choice = choose(&nb_strategies, strategy, ctx);
    return pick_with(ctx, f, choice, m, pairing, 2);
}

static const char *within(nb_ctx *ctx, const char *strategy, int tokens, const char *more)
{
    return nb_format(ctx, "subsample(of=\"%s\", tokens=%d%s)", strategy, tokens, more);
}

static bool same_picks(const nb_picks *a, const nb_picks *b)
{
    if (a->kind != b->kind || a->m != b->m) return false;
    if (a->kind == NB_TOKENS) return memcmp(a->tokens, b->tokens, (size_t)a->m * sizeof(int)) == 0;
    if (a->kind == NB_GROUPS) return a->n == b->n && memcmp(a->groups, b->groups, (size_t)a->n * sizeof(int)) == 0;
    return a->d == b->d && memcmp(a->points, b->points, (size_t)a->d * (size_t)a->m * sizeof(double)) == 0;
}

static const char *const others[] = {"uniform",
                                     "segment_means",
                                     "kmeans",
                                     "kmeans(snap=nearest)",
                                     "farthest_point",
                                     "rpcholesky",
                                     "leverage",
                                     "leverage(rows=9)",
                                     "cpqr",
                                     "cpqr(rows=9)",
                                     "pilot",
                                     "ridge_leverage",
                                     "rplu",
                                     "profile(rows=12)",
                                     "exchange(rows=20)",
                                     "optimized(steps=2)",
                                     "subsample(of=kmeans, tokens=1000)"};
enum { OTHERS = sizeof others / sizeof *others };

/* With as many tokens as there are, whatever the order in which they are drawn. */
static void test_all_tokens(void **state)
{
    static const char *const more[] = {"", ", take=even"};
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=40, d=5)", 0, 0, ctx), "softmax");
    nb_scene_name(f.scene, "the problem", 4);
    for (int i = 0; i < OTHERS; i++)
        for (int p = 0; p < NB_PAIRING_COUNT; p++)
            for (int tokens = 40; tokens <= 1000; tokens += 960) {
                nb_mark mark = nb_ctx_mark(ctx);
                nb_choice choice = choose(&nb_strategies, others[i], ctx),
                          same = choose(&nb_strategies, within(ctx, others[i], tokens, more[p % 2]), ctx);
                assert_int_equal(nb_strategy_has(&choice, (nb_pairing)p), nb_strategy_has(&same, (nb_pairing)p));
                assert_int_equal(nb_strategy_pairing(&choice), nb_strategy_pairing(&same));
                bool points = strstr(others[i], "optimized") || strstr(others[i], "profile");
                if (nb_strategy_has(&choice, (nb_pairing)p) && !(points && p != NB_BOTH)) {
                    nb_landmarks a = pick_with(ctx, &f, &choice, 7, (nb_pairing)p, 2),
                                 b = pick_with(ctx, &f, &same, 7, (nb_pairing)p, 2);
                    if (!same_picks(&a.queries, &b.queries) || !same_picks(&a.keys, &b.keys))
                        fail_msg("%s, pairing %s, picks others", same.label, nb_pairing_names[p]);
                    assert_int_equal(!a.note, !b.note);
                }
                nb_ctx_release(ctx, mark);
            }
}

/* The head of some tokens. */
static nb_head head_of(nb_ctx *ctx, const nb_head *whole, int count, const int *tokens)
{
    nb_head h = *whole;
    size_t d = (size_t)h.d, dv = (size_t)h.dv;
    h.n = count;
    h.q = nb_alloc_reals(ctx, d, (size_t)count);
    h.k = nb_alloc_reals(ctx, d, (size_t)count);
    h.v = nb_alloc_reals(ctx, dv, (size_t)count);
    for (size_t i = 0; i < (size_t)count; i++) {
        memcpy(h.q + i * d, whole->q + (size_t)tokens[i] * d, d * sizeof(double));
        memcpy(h.k + i * d, whole->k + (size_t)tokens[i] * d, d * sizeof(double));
        memcpy(h.v + i * dv, whole->v + (size_t)tokens[i] * dv, dv * sizeof(double));
    }
    return h;
}

/* The landmarks of one side, whatever kind they are of. */
static const double *landmarks_of(nb_ctx *ctx, const nb_picks *picks, const nb_head *h, bool keys)
{
    double *out = nb_alloc_reals(ctx, (size_t)h->d, (size_t)picks->m);
    assert_ok(ctx, nb_picks_landmarks(picks, h->d, h->n, keys ? h->k : h->q, out, ctx));
    return out;
}

static void check_on_some(nb_ctx *ctx, const char *problem, const char *other, nb_pairing pairing)
{
    enum { K = 25, M = 6 };
    fixture f, cut;
    const int *order;
    int tokens[K];
    open_scene(ctx, &f, make_head(problem, 0, 0, ctx), "softmax");
    nb_scene_name(f.scene, "the problem", 4);
    assert_ok(ctx, nb_scene_order(f.scene, SEED, 2, &order, ctx));
    for (int i = 0, count = 0; i < f.head.n; i++)
        for (int j = 0; j < K; j++)
            if (order[j] == i) tokens[count++] = i;
    open_scene(ctx, &cut, head_of(ctx, &f.head, K, tokens), "softmax");
    nb_scene_name(cut.scene, nb_format(ctx, "%d tokens of the problem", K), 4);
    nb_landmarks a = pick(ctx, &cut, other, M, pairing), b = pick(ctx, &f, within(ctx, other, K, ""), M, pairing);
    if (a.refusal || b.refusal) {
        assert_true(a.refusal && b.refusal);
        assert_string_equal(a.refusal, b.refusal);
        return;
    }
    assert_int_equal(b.queries.kind, a.queries.kind == NB_TOKENS ? NB_TOKENS : NB_POINTS);
    for (int keys = 0; keys < 2; keys++) {
        const nb_picks *there = keys ? &a.keys : &a.queries, *here = keys ? &b.keys : &b.queries;
        if (memcmp(landmarks_of(ctx, there, &cut.head, keys), landmarks_of(ctx, here, &f.head, keys),
                   (size_t)f.head.d * M * sizeof(double)) != 0)
            fail_msg("%s on %s, pairing %s: other landmarks than on the head of these tokens", other, problem,
                     nb_pairing_names[pairing]);
        for (int j = 0; there->kind == NB_TOKENS && j < M; j++)
            assert_int_equal(here->tokens[j], tokens[there->tokens[j]]);
    }
}

static void test_some_tokens(void **state)
{
    static const char *const problems[] = {
        "gaussian(n=60, d=5)", "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=2)",
        "heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors, head=1, max_n=90)", NULL};
    nb_ctx *ctx = *state;
    for (int h = 0; problems[h]; h++)
        for (int i = 0; i < OTHERS; i++)
            for (int p = 0; p < NB_PAIRING_COUNT; p++) {
                nb_mark mark = nb_ctx_mark(ctx);
                nb_choice choice = choose(&nb_strategies, others[i], ctx);
                bool groups = !strcmp(others[i], "kmeans") || strstr(others[i], "of=kmeans") ||
                              !strcmp(others[i], "segment_means");
                if (nb_strategy_has(&choice, (nb_pairing)p) && !(groups && (p == NB_QUERIES || p == NB_KEYS)))
                    check_on_some(ctx, problems[h], others[i], (nb_pairing)p);
                nb_ctx_release(ctx, mark);
            }
}

/* Tokens 1, 3, 5 and 7 of eight; query i is (i, 10 i), key i is (100 + i, i^2). */
static void test_eight_tokens(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    nb_head head;
    assert_ok(ctx, nb_head_new(8, 2, &head, ctx));
    for (int i = 0; i < 8; i++) {
        head.q[2 * i] = i, head.q[2 * i + 1] = 10 * i;
        head.k[2 * i] = 100 + i, head.k[2 * i + 1] = i * i;
    }
    open_scene(ctx, &f, head, "softmax");
    nb_landmarks l = pick(ctx, &f, "subsample(of=uniform(strided=true), tokens=4, take=even)", 2, NB_JOINT);
    assert_int_equal(l.queries.kind, NB_TOKENS);
    assert_int_equal(l.queries.tokens[0], 3);
    assert_int_equal(l.queries.tokens[1], 7);
    l = pick(ctx, &f, "subsample(of=uniform(strided=true), tokens=3, take=even, first=2)", 3, NB_JOINT);
    assert_int_equal(l.queries.tokens[0], 0);
    assert_int_equal(l.queries.tokens[1], 1);
    assert_int_equal(l.queries.tokens[2], 5); /* in the middle of 2 ... 7 */
    l = pick(ctx, &f, "subsample(of=segment_means, tokens=4, take=even)", 2, NB_JOINT);
    static const double q[] = {2, 20, 6, 60}, k[] = {102, 5, 106, 37};
    assert_int_equal(l.queries.kind, NB_POINTS);
    assert_memory_equal(l.queries.points, q, sizeof q);
    assert_memory_equal(l.keys.points, k, sizeof k);
    l = pick(ctx, &f, "subsample(of=segment_means, tokens=4, take=even)", 2, NB_INDEPENDENT);
    assert_memory_equal(l.queries.points, q, sizeof q);
    assert_memory_equal(l.keys.points, k, sizeof k);
    l = pick(ctx, &f, "subsample(of=uniform(strided=true), tokens=4, take=even)", 4, NB_SHARED);
    static const double both[] = {3, 30, 7, 70, 103, 9, 107, 49}; /* of the queries, then of the keys */
    assert_memory_equal(l.queries.points, both, sizeof both);
    l = pick(ctx, &f, "subsample(of=segment_means, tokens=4, take=even)", 2, NB_SHARED);
    static const double means[] = {4, 40, 104, 21};
    assert_memory_equal(l.keys.points, means, sizeof means);
    assert_non_null(pick(ctx, &f, "subsample(of=segment_means, tokens=4)", 2, NB_QUERIES).refusal); /* without a key */
}

static void assert_subset(int count, const int *tokens, int of, const int *all)
{
    for (int j = 0; j < count; j++) {
        int i = 0;
        while (i < of && all[i] != tokens[j]) i++;
        assert_true(i < of);
    }
}

/* In a trial all draw from one order: other strategies, other m, and fewer of the tokens. */
static void test_draws(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    const int *order;
    open_scene(ctx, &f, make_head("gaussian(n=60, d=4)", 0, 0, ctx), "softmax");
    assert_ok(ctx, nb_scene_order(f.scene, SEED, 2, &order, ctx));
    for (int tokens = 10; tokens <= 30; tokens += 10) {
        nb_landmarks all = pick(ctx, &f, within(ctx, "farthest_point", tokens, ""), tokens, NB_JOINT),
                     other = pick(ctx, &f, within(ctx, "kmeans(snap=nearest)", tokens, ""), 5, NB_JOINT);
        assert_subset(tokens, order, tokens, all.queries.tokens); /* all of them were taken, and nothing else */
        assert_subset(5, other.queries.tokens, tokens, order);
        for (int m = 1; m < tokens; m += 4) { /* nested, as farthest_point is */
            nb_landmarks some = pick(ctx, &f, within(ctx, "farthest_point", tokens, ""), m, NB_JOINT);
            assert_memory_equal(some.queries.tokens, all.queries.tokens, (size_t)m * sizeof(int));
            assert_close(nb_landmarks_first(&all, m).multiplications, nb_landmarks_first(&some, m).multiplications, 0);
        }
    }
}

/* The first tokens, and then those that come first in the order and are none of these. */
static void test_first(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    const int *order;
    open_scene(ctx, &f, make_head("gaussian(n=60, d=4)", 0, 0, ctx), "softmax");
    assert_ok(ctx, nb_scene_order(f.scene, SEED, 2, &order, ctx));
    for (int first = 0; first <= 10; first += 5) {
        const char *strategy = nb_format(ctx, "subsample(of=farthest_point, tokens=10, first=%d)", first);
        nb_landmarks all = pick(ctx, &f, strategy, 10, NB_JOINT);
        bool taken[60] = {false};
        int at = 0;
        for (int j = 0; j < 10; j++) taken[all.queries.tokens[j]] = true;
        for (int i = 0; i < first; i++) assert_true(taken[i]);
        for (int found = first; found < 10; at++) {
            if (order[at] < first) continue;
            assert_true(taken[order[at]]);
            found++;
        }
        strategy = nb_format(ctx, "subsample(of=cpqr, tokens=10, first=%d)", first);
        nb_landmarks some = pick(ctx, &f, strategy, 5, NB_JOINT);
        assert_int_equal(some.seen, 10);
        for (int i = 0; i < 60; i++) assert_int_equal(some.read[i], taken[i]);
    }
}

static void test_rows_seen(void **state)
{
    static const struct {
        const char *strategy;
        int seen;
    } expected[] = {{"subsample(of=kmeans, tokens=20)", 0},
                    {"subsample(of=cpqr(rows=6), tokens=20)", 20},
                    {"subsample(of=cpqr, tokens=20)", 20},
                    {"subsample(of=cpqr, tokens=20, take=even)", 20},
                    {"subsample(of=leverage, tokens=20, take=even)", 20},
                    {"subsample(of=pilot(rows=9), tokens=20, take=even)", 20},
                    {"subsample(of=\"subsample(of=cpqr, tokens=7)\", tokens=20, take=even)", 20}, /* of a cut all */
                    {"subsample(of=\"subsample(of=cpqr, tokens=20)\", tokens=20, take=even)", 20},
                    {"exchange(start=\"subsample(of=cpqr, tokens=20, take=even)\", rows=5)", 20},
                    {"subsample(of=\"cpqr(rows=6, sample=centres)\", tokens=20)", 0},
                    {"subsample(of=cpqr(rows=6), tokens=60)", 6},
                    {"subsample(of=cpqr, tokens=60)", 0}};
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=60, d=4)", 0, 0, ctx), "softmax");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        bool both = !strncmp(expected[i].strategy, "exchange", 8);
        int seen = pick(ctx, &f, expected[i].strategy, 5, both ? NB_BOTH : NB_JOINT).seen;
        if (seen != expected[i].seen)
            fail_msg("%s has seen %d rows, expected %d", expected[i].strategy, seen, expected[i].seen);
    }
    nb_landmarks even = pick(ctx, &f, "subsample(of=cpqr, tokens=20, take=even)", 5, NB_JOINT);
    for (int i = 0; i < 60; i++) assert_int_equal(even.read[i], i % 3 == 1);
}

static void test_traits(void **state)
{
    static const struct {
        const char *strategy;
        unsigned traits;
        bool counts;
        int tokens; /* of 2000 */
    } expected[] = {
        {"subsample", NB_RANDOM, true, 1024},
        {"subsample(of=uniform)", NB_RANDOM | NB_NESTED, true, 1024},
        {"subsample(of=segment_means, take=even)", 0, true, 1024},
        {"subsample(of=cpqr, tokens=9, take=even)", NB_NESTED | NB_SQUARE, true, 9},
        {"subsample(of=leverage(take=top), tokens=9)", NB_RANDOM | NB_SQUARE, true, 9},
        {"subsample(of=kdpp, take=even)", NB_RANDOM | NB_EIGEN, true, 1024},
        {"subsample(of=\"command(run=true)\")", NB_RANDOM | NB_ELSEWHERE, false, 1024},
        {"exchange(start=\"command(run=true)\")", NB_RANDOM | NB_ORACLE | NB_SQUARE | NB_ELSEWHERE, false, 2000},
        {"optimized(start=\"command(run=true)\")", NB_RANDOM | NB_ORACLE | NB_SQUARE | NB_ELSEWHERE, false, 2000},
        {"subsample(of=\"subsample(tokens=30)\", tokens=40)", NB_RANDOM, true, 30},
        {"subsample(of=\"exchange(start=cpqr, rows=auto)\")", NB_RANDOM | NB_SQUARE, true, 1024},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        nb_choice choice = choose(&nb_strategies, expected[i].strategy, *state);
        if (nb_strategy_traits(&choice) != expected[i].traits)
            fail_msg("%s has the traits %u, expected %u", expected[i].strategy, nb_strategy_traits(&choice),
                     expected[i].traits);
        assert_int_equal(nb_strategy_counts(&choice), expected[i].counts);
        assert_int_equal(nb_strategy_tokens(&choice, 2000), expected[i].tokens);
        assert_int_equal(nb_strategy_tokens(&choice, 5), 5);
    }
}

static void test_refusals(void **state)
{
    static const struct {
        const char *problem, *strategy;
        bool refused;
    } expected[] = {{"gaussian(n=60, d=4)", "subsample(tokens=5)", true},
                    {"gaussian(n=60, d=4)", "subsample(tokens=6)", false},
                    {"gaussian(n=60, d=4)", "subsample(tokens=6, first=6)", false},
                    {"gaussian(n=60, d=4)", "subsample(tokens=6, first=7)", true},
                    {"gaussian(n=60, d=4)", "subsample(of=exchange(rows=5), tokens=20)", true},
                    {"gaussian(n=60, d=4)", "subsample(of=exchange(rows=5), tokens=90)", true},
                    {"gaussian(n=4097, d=2)", "subsample(of=cpqr, tokens=90)", false}, /* cpqr itself refuses so many */
                    {"gaussian(n=4097, d=2)", "subsample(of=cpqr, tokens=4097)", true},
                    {"heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors, max_n=50)",
                     "subsample(of=profile, tokens=20)", true}};
    nb_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        nb_mark mark = nb_ctx_mark(ctx);
        fixture f;
        open_scene(ctx, &f, make_head(expected[i].problem, 0, 0, ctx), "softmax");
        nb_choice choice = choose(&nb_strategies, expected[i].strategy, ctx);
        nb_landmarks l = pick_with(ctx, &f, &choice, 6, nb_strategy_pairing(&choice), 0);
        if (!l.refusal != !expected[i].refused) fail_msg("%s: '%s'", expected[i].strategy, l.refusal ? l.refusal : "");
        if (l.refusal) tell(nb_format(ctx, "%s, %s", expected[i].problem, expected[i].strategy), l.refusal);
        nb_ctx_release(ctx, mark);
    }
}

/* What a strategy refuses by itself is refused by one that picks for it or starts from it too: no such row fails. */
static void test_refusals_at_any_depth(void **state)
{
    static const struct {
        const char *strategy;
        nb_pairing pairing;
    } expected[] = {{"kmeans(weights=attention)", NB_KEYS},
                    {"subsample(of=kmeans, tokens=20)", NB_QUERIES},
                    {"subsample(of=kmeans, tokens=20)", NB_KEYS},
                    {"exchange(start=kmeans)", NB_BOTH},
                    {"subsample(of=exchange(start=kmeans), tokens=20)", NB_BOTH},
                    {"optimized(steps=1, start=exchange(start=kmeans))", NB_BOTH},
                    {"subsample(of=cpqr, tokens=5)", NB_JOINT},
                    {"exchange(start=\"subsample(of=cpqr, tokens=5)\")", NB_BOTH},
                    {"subsample(of=\"subsample(of=cpqr, tokens=5)\", tokens=20)", NB_JOINT},
                    {"optimized(steps=1, start=\"subsample(of=\\\"exchange(rows=5)\\\", tokens=20)\")", NB_BOTH},
                    {"exchange(start=\"subsample(of=\\\"exchange(rows=5)\\\", tokens=20)\")", NB_BOTH}};
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=60, d=4)", 0, 0, ctx), "softmax");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *why = pick(ctx, &f, expected[i].strategy, 6, expected[i].pairing).refusal;
        if (!why) fail_msg("%s is not refused", expected[i].strategy);
        tell(nb_format(ctx, "%s, pairing %s", expected[i].strategy, nb_pairing_names[expected[i].pairing]), why);
    }
}

/* The kernel's options are those of the whole: a bandwidth that is the median distance is not that of the subsample. */
static void test_the_kernel_is_the_same(void **state)
{
    enum { N = 30, K = 4 };
    static const int tokens[K] = {2, 11, 12, 29};
    static const char *const kernels[] = {"gauss", "exp", "gram(of=keys)"};
    nb_ctx *ctx = *state;
    for (int i = 0; i < 3; i++) {
        fixture f;
        nb_scene *cut;
        const double *all, *some;
        open_scene(ctx, &f, make_head("gaussian(n=30, d=3)", 0, 0, ctx), kernels[i]);
        assert_ok(ctx, nb_scene_cut(f.scene, K, tokens, &cut, ctx));
        double before = nb_scene_entries(f.scene);
        assert_ok(ctx, nb_scene_rows(cut, &some, ctx));
        assert_close(nb_scene_entries(f.scene) - before, K * K, 0); /* they count for the whole too */
        assert_ok(ctx, nb_scene_rows(f.scene, &all, ctx));
        for (int a = 0; a < K; a++)
            for (int b = 0; b < K; b++)
                assert_close(some[a * K + b], all[tokens[a] * N + tokens[b]], 1e-13 * fabs(some[a * K + b]) + 1e-15);
    }
}

static void take(const void *self, int count, const int *tokens, nb_head *out)
{
    const nb_head *h = self;
    for (int i = 0; i < count; i++)
        for (int l = 0; l < h->d; l++) {
            out->q[i * h->d + l] = h->q[tokens[i] * h->d + l];
            out->k[i * h->d + l] = h->k[tokens[i] * h->d + l];
            out->v[i * h->d + l] = h->v[tokens[i] * h->d + l];
        }
}

/* Where the head holds no points, but says where they are, the picks are the same. */
static void test_points_from_elsewhere(void **state)
{
    static const nb_pairing pairings[] = {NB_INDEPENDENT, NB_JOINT, NB_KEYS, NB_BOTH};
    nb_ctx *ctx = *state;
    fixture f, far;
    open_scene(ctx, &f, make_head("gaussian(n=60, d=5)", 0, 0, ctx), "softmax");
    far = f;
    nb_head blank = {.n = 60, .d = 5, .dv = 5};
    assert_ok(ctx, nb_scene_new_far(&blank, &f.kernel, take, &f.head, &far.scene, ctx));
    nb_scene_name(far.scene, "", 0);
    for (int i = 0; i < OTHERS; i++)
        for (int p = 0; p < 4; p++) {
            nb_choice choice = choose(&nb_strategies, others[i], ctx);
            bool groups =
                !strcmp(others[i], "kmeans") || strstr(others[i], "of=kmeans") || !strcmp(others[i], "segment_means");
            if (!nb_strategy_has(&choice, pairings[p]) || (groups && pairings[p] == NB_KEYS)) continue;
            nb_landmarks a = pick(ctx, &f, within(ctx, others[i], 30, ""), 6, pairings[p]),
                         b = pick(ctx, &far, within(ctx, others[i], 30, ""), 6, pairings[p]);
            if (!same_picks(&a.queries, &b.queries) || !same_picks(&a.keys, &b.keys))
                fail_msg("%s, pairing %s", others[i], nb_pairing_names[pairings[p]]);
        }
    assert_non_null(pick(ctx, &far, "subsample(of=kmeans, tokens=30)", 6, NB_QUERIES).refusal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_all_tokens),
        test_with_ctx(test_some_tokens),
        test_with_ctx(test_eight_tokens),
        test_with_ctx(test_draws),
        test_with_ctx(test_first),
        test_with_ctx(test_rows_seen),
        test_with_ctx(test_traits),
        test_with_ctx(test_refusals),
        test_with_ctx(test_refusals_at_any_depth),
        test_with_ctx(test_the_kernel_is_the_same),
        test_with_ctx(test_points_from_elsewhere),
    };
    return run_all(tests);
}
