/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strategies that look at all of S unless they are told to look at some rows: with as many rows as tokens they see the
 * same and pick the same; with fewer, they hold to what a strategy promises, under every kernel. What the picks of few
 * rows must be, tests/oracle/pivoting.py says. */
#include "scenes.h"

#include "conformance/conformance.h"
#include "linalg/linalg.h"
#include "nystrom/row_sample.h"
#include "nystrom/subspace.h"

static nb_landmarks pick(nb_ctx *ctx, fixture *f, const char *strategy, int m, nb_pairing pairing, int trial)
{
    nb_choice choice = choose(&nb_strategies, strategy, ctx);
    nb_stream stream = {.seed = 3, .trial = trial, .component = choice.canonical};
    nb_landmarks out;
    if (!((const nb_strategy *)choice.component)->pick) pairing = NB_BOTH;
    assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f->scene, &choice, m, pairing, stream, f->rng}, &out, ctx));
    return out;
}

static const struct {
    const char *all, *rows; /* every token's row */
} pairs[] = {
    {"cpqr", "cpqr(rows=1000)"},
    {"cpqr", "cpqr(rows=1000, sample=centres)"}, /* each token is its own centre */
    {"leverage(take=top)", "leverage(take=top, rows=1000)"},
    {"ridge_leverage(of=kernel, take=top)", "ridge_leverage(of=kernel, take=top, rows=1000)"},
    {"ridge_leverage(of=kernel, take=top, lambda=0.1)", "ridge_leverage(of=kernel, take=top, lambda=0.1, rows=1000)"},
    {"exchange", "exchange(rows=1000)"},
    {"exchange(start=cpqr)", "exchange(start=cpqr, rows=1000)"}};

static void check_equal(nb_ctx *ctx, fixture *f, const char *where, nb_pairing pairing, int m)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        nb_landmarks a = pick(ctx, f, pairs[i].all, m, pairing, 2), b = pick(ctx, f, pairs[i].rows, m, pairing, 2);
        assert_true(!a.refusal && !b.refusal);
        if (a.queries.kind == NB_POINTS) { /* shared: the points of tokens of either side */
            size_t size = (size_t)m * (size_t)a.queries.d * sizeof(double);
            if (memcmp(a.queries.points, b.queries.points, size) != 0) fail_msg("%s, %s", pairs[i].rows, where);
        } else if (memcmp(a.queries.tokens, b.queries.tokens, (size_t)m * sizeof(int)) != 0 ||
                   memcmp(a.keys.tokens, b.keys.tokens, (size_t)m * sizeof(int)) != 0) {
            fail_msg("%s, %s, pairing %s, m = %d: other picks than with rows=all", pairs[i].rows, where,
                     nb_pairing_names[pairing], m);
        }
    }
}

/* The sums are the same but for their order, and nothing here ties. */
static void test_all_rows_are_all(void **state)
{
    nb_ctx *ctx = *state;
    static const char *const problems[] = {
        "gaussian(n=60, d=16, scale=1.385)", "sink(n=50, d=9, sinks=2)",
        "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=2)",
        "heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors, head=1, max_n=200)", NULL};
    static const char *const kernels[] = {"softmax", "gauss", "exp"};
    for (int p = 0; problems[p]; p++)
        for (int k = 0; k < (p == 3 ? 1 : 3); k++) {
            nb_mark mark = nb_ctx_mark(ctx);
            fixture f;
            open_scene(ctx, &f, make_head(problems[p], 0, 0, ctx), kernels[k]);
            check_equal(ctx, &f, problems[p], NB_JOINT, 7);
            check_equal(ctx, &f, problems[p], NB_INDEPENDENT, 12);
            check_equal(ctx, &f, problems[p], NB_SHARED, 12);
            nb_ctx_release(ctx, mark);
        }
    fixture f;
    open_scene(ctx, &f, make_head(problems[0], 0, 0, ctx), "gram(of=queries)");
    check_equal(ctx, &f, "gram", NB_QUERIES, 9);
}

/* To rounding, which a few steps of the minimiser let grow. */
static void test_optimized_of_all_rows(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=60, d=6, scale=1.385)", 0, 0, ctx), "softmax");
    for (int m = 2; m <= 10; m += 4) {
        nb_landmarks a = pick(ctx, &f, "optimized(steps=4)", m, NB_BOTH, 0),
                     b = pick(ctx, &f, "optimized(steps=4, rows=60)", m, NB_BOTH, 0),
                     start = pick(ctx, &f, "optimized(steps=0)", m, NB_BOTH, 0);
        double moved = 0;
        for (int i = 0; i < 6 * m; i++) {
            assert_close(a.keys.points[i], b.keys.points[i], 1e-8);
            assert_close(a.queries.points[i], b.queries.points[i], 1e-8);
            moved = fmax(moved, fabs(a.keys.points[i] - start.keys.points[i]));
        }
        assert_true(moved > 1e-3);
    }
}

/* Over the rows that it sees f falls, from the start's. */
static void test_optimized_lowers_what_it_sees(void **state)
{
    nb_ctx *ctx = *state;
    enum { D = 6, M = 5, K = 20 };
    fixture f;
    const int *order;
    double errors[2], x[2 * D * M];
    nb_row_sample sample;
    nb_subspace *s;
    open_scene(ctx, &f, make_head("gaussian(n=90, d=6, scale=1.385)", 0, 0, ctx), "softmax");
    for (int trial = 0; trial < 3; trial++) {
        assert_ok(ctx, nb_scene_order(f.scene, 3, trial, &order, ctx));
        assert_ok(ctx, nb_row_sample_tokens(f.scene, K, order, &sample, ctx));
        assert_ok(ctx, nb_subspace_new(f.scene, &sample, M, &s, ctx));
        for (int i = 0; i < 2; i++) {
            const char *spec = nb_format(ctx, "optimized(steps=%d, rows=%d)", 20 * i, K);
            nb_landmarks l = pick(ctx, &f, spec, M, NB_BOTH, trial);
            memcpy(x, l.keys.points, sizeof x / 2);
            memcpy(x + D * M, l.queries.points, sizeof x / 2);
            assert_ok(ctx, nb_subspace_error(s, x, &errors[i], ctx));
        }
        assert_at_most(errors[1], 0.9 * errors[0]);
    }
}

/* The least part outside both spans that the cut S[I,J] has, by bases of its columns and its rows. */
static double cut_error(nb_ctx *ctx, int k, int m, const double *rows, const int *queries, const int *keys)
{
    nb_mark mark = nb_ctx_mark(ctx);
    size_t kk = (size_t)k, mm = (size_t)m;
    double *columns = nb_alloc_reals(ctx, kk, mm), *of_rows = nb_alloc_reals(ctx, kk, mm),
           *q = nb_alloc_reals(ctx, kk, mm), *p = nb_alloc_reals(ctx, kk, mm), *t = nb_alloc_reals(ctx, kk, mm),
           *core = nb_alloc_reals(ctx, mm, mm);
    int left, right;
    for (size_t j = 0; j < mm; j++)
        for (size_t i = 0; i < kk; i++) {
            columns[j * kk + i] = rows[i * kk + (size_t)keys[j]];
            of_rows[j * kk + i] = rows[(size_t)queries[j] * kk + i];
        }
    assert_ok(ctx, nb_range_basis(k, m, columns, q, &left, ctx));
    assert_ok(ctx, nb_range_basis(k, m, of_rows, p, &right, ctx));
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, k, right, k, 1, rows, k, p, k, 0, t, k);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, left, right, k, 1, q, k, t, k, 0, core, left);
    double norm = nb_frobenius(kk * kk, rows), part = nb_frobenius((size_t)left * (size_t)right, core);
    nb_ctx_release(ctx, mark);
    return norm * norm - part * part;
}

static int place_of(int k, const int *tokens, int token)
{
    for (int i = 0; i < k; i++)
        if (tokens[i] == token) return i;
    fail_msg("token %d is not among the sampled", token);
    return -1;
}

/* The tokens of the start and the first others of the order: of them all picks are, and no swap among them is better,
 * by more than the 1e-12 |S|^2 that a swap must gain and the rounding of the difference. */
static void check_cut(nb_ctx *ctx, const char *of, int trial)
{
    enum { SIZE = 30, K = 12, M = 3 };
    fixture f;
    const int *order;
    int sampled[2][K], taken[2][M], best = 0;
    double cut[K * K], row[SIZE];
    open_scene(ctx, &f, make_head("gaussian(n=30, d=3, scale=1.385)", 0, trial, ctx), "softmax");
    nb_landmarks start = pick(ctx, &f, of, M, NB_JOINT, trial),
                 end = pick(ctx, &f, nb_format(ctx, "exchange(start=%s, rows=12, sweeps=100)", of), M, NB_BOTH, trial);
    assert_ok(ctx, nb_scene_order(f.scene, 3, trial, &order, ctx));
    nb_landmarks none = pick(ctx, &f, nb_format(ctx, "exchange(start=%s, rows=12, sweeps=0)", of), M, NB_BOTH, trial);
    const nb_picks *starts[] = {&start.queries, &start.keys}, *ends[] = {&end.queries, &end.keys};
    const nb_picks *unmoved[] = {&none.queries, &none.keys};
    for (int side = 0; side < 2; side++) {
        int count = 0, passed = 0;
        assert_memory_equal(unmoved[side]->tokens, starts[side]->tokens, M * sizeof(int));
        for (; count < M; count++) sampled[side][count] = starts[side]->tokens[count];
        for (; count < K; passed++) {
            bool fresh = true;
            for (int j = 0; j < M; j++) fresh = fresh && starts[side]->tokens[j] != order[passed];
            if (fresh) sampled[side][count++] = order[passed];
        }
        /* An oracle as start has looked at all: of that nothing is told. */
        bool told = side == 0 && strcmp(of, "rplu") != 0;
        if (side == 0) assert_int_equal(end.seen, told ? K : 0);
        for (int j = 0; told && j < K; j++) assert_true(end.read[sampled[0][j]]);
        for (int j = 0; j < M; j++) taken[side][j] = place_of(K, sampled[side], ends[side]->tokens[j]);
    }
    for (int i = 0; i < K; i++) {
        assert_ok(ctx, nb_scene_some_rows(f.scene, 1, &sampled[0][i], row, ctx));
        for (int j = 0; j < K; j++) cut[i * K + j] = row[sampled[1][j]];
    }
    double error = cut_error(ctx, K, M, cut, taken[0], taken[1]), norm = nb_frobenius(sizeof cut / sizeof *cut, cut);
    for (int side = 0; side < 2; side++)
        for (int j = 0; j < M; j++)
            for (int c = 0, kept = taken[side][j]; c < K; c++) {
                bool among = false;
                for (int i = 0; i < M; i++) among = among || taken[side][i] == c;
                if (among) continue;
                taken[side][j] = c;
                if (cut_error(ctx, K, M, cut, taken[0], taken[1]) < error - 1e-11 * norm * norm) best++;
                taken[side][j] = kept;
            }
    if (best > 0) fail_msg("trial %d: %d swaps within the cut are better", trial, best);
}

static void test_exchange_ends_in_the_cut(void **state)
{
    for (int trial = 0; trial < 10; trial++) {
        check_cut(*state, "uniform", trial);
        check_cut(*state, "rplu", trial); /* other tokens for queries than for keys */
    }
}

/* Every check of strategies, on every head of `check`, under each kernel; gram has no mask, and exp no
 * scores beyond 340. */
static void test_checks_under_all_kernels(void **state)
{
    static const char *const strategies[] = {"cpqr(rows=%s)",
                                             "rplu(rows=%s)",
                                             "leverage(rows=%s)",
                                             "leverage(take=top, rows=%s)",
                                             "ridge_leverage(of=kernel, rows=%s)",
                                             "ridge_leverage(of=kernel, lambda=0.01, take=top, rows=%s)",
                                             "exchange(rows=%s)",
                                             "optimized(steps=3, rows=%s)"};
    static const char *const kernels[] = {"gauss", "exp", "gram(of=queries)"};
    static const char *const rows[] = {"20", "20, sample=centres", "3"};
    nb_ctx *ctx = *state;
    const char *name = "";
    nb_head head;
    for (int h = 0; name; h++) {
        assert_ok(ctx, nb_conformance_head(h, &name, &head, ctx));
        for (size_t i = 0; name && i < 9 * sizeof strategies / sizeof *strategies; i++) {
            const char *kernel_text = kernels[i / 3 % 3];
            bool overflows = strcmp(kernel_text, "exp") == 0 && strstr(name, "huge");
            if (head.n > 64 || (head.causal && strstr(kernel_text, "gram")) || overflows) continue;
            nb_mark mark = nb_ctx_mark(ctx);
            const char *around = strstr(strategies[i / 9], "%s"),
                       *spec =
                           nb_format(ctx, "%.*s%s)", (int)(around - strategies[i / 9]), strategies[i / 9], rows[i % 3]);
            nb_choice choice = choose(&nb_strategies, spec, ctx), kernel = choose(&nb_kernels, kernel_text, ctx);
            for (const nb_check *check = nb_strategy_checks; check->name; check++) {
                nb_trial_run run = {.choice = &choice, .kernel = &kernel, .head = &head};
                if (check->run(&run, ctx) != NB_OK)
                    fail_msg("%s under %s on %s, %s: %s", spec, kernel_text, name, check->name, nb_error_message(ctx));
            }
            nb_ctx_release(ctx, mark);
        }
    }
}

static void test_traits(void **state)
{
    static const struct {
        const char *strategy;
        unsigned traits;
    } expected[] = {
        {"cpqr", NB_NESTED | NB_ORACLE | NB_SQUARE},
        {"cpqr(sample=centres)", NB_NESTED | NB_ORACLE | NB_SQUARE},
        {"cpqr(rows=auto)", NB_RANDOM},
        {"cpqr(rows=40)", NB_RANDOM | NB_NESTED},
        {"rplu", NB_RANDOM | NB_NESTED | NB_ORACLE | NB_SQUARE},
        {"rplu(rows=auto)", NB_RANDOM},
        {"rplu(rows=40)", NB_RANDOM | NB_NESTED},
        {"leverage(take=top)", NB_ORACLE},
        {"leverage(take=top, rows=auto)", NB_RANDOM},
        {"ridge_leverage(of=kernel, take=top)", NB_ORACLE | NB_EIGEN},
        {"ridge_leverage(of=kernel, take=top, rows=40)", NB_RANDOM},
        {"exchange(start=cpqr)", NB_ORACLE | NB_SQUARE},
        {"exchange(rows=auto)", NB_RANDOM},
        {"exchange(start=cpqr, rows=auto)", NB_RANDOM | NB_ORACLE | NB_SQUARE},
        {"exchange(start=cpqr(rows=auto), rows=auto)", NB_RANDOM},
        {"optimized", NB_ORACLE | NB_SQUARE},
        {"optimized(rows=auto)", NB_RANDOM},
        {"optimized(start=leverage(take=top), rows=auto)", NB_RANDOM | NB_ORACLE},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        nb_choice choice = choose(&nb_strategies, expected[i].strategy, *state);
        unsigned traits = nb_strategy_traits(&choice);
        if (traits != expected[i].traits)
            fail_msg("%s has the traits %u, expected %u", expected[i].strategy, traits, expected[i].traits);
    }
}

/* How many rows of the order were looked at: none of centres, none for picks of queries alone. */
static void test_rows_seen(void **state)
{
    static const struct {
        const char *strategy;
        nb_pairing pairing;
        int seen;
    } expected[] = {{"cpqr", NB_JOINT, 0},
                    {"cpqr(rows=9)", NB_JOINT, 9},
                    {"cpqr(rows=20)", NB_KEYS, 20},
                    {"cpqr(rows=auto)", NB_KEYS, 60}, /* 64, but for n */
                    {"cpqr(rows=9)", NB_QUERIES, 0},
                    {"cpqr(rows=9, sample=centres)", NB_JOINT, 0},
                    {"leverage(rows=9)", NB_INDEPENDENT, 9},
                    {"ridge_leverage(of=kernel, rows=99)", NB_JOINT, 60},
                    {"rplu(rows=9)", NB_BOTH, 9},
                    {"pilot(rows=9)", NB_SHARED, 9},
                    {"pilot(rows=all)", NB_JOINT, 0}, /* an oracle: of what it has seen nothing is told */
                    {"optimized(steps=1, rows=9, start=cpqr(rows=20))", NB_BOTH, 20},
                    {"optimized(steps=1, rows=9)", NB_BOTH, 9},
                    {"optimized(steps=1, rows=9, sample=centres)", NB_BOTH, 0}};
    nb_ctx *ctx = *state;
    fixture f;
    open_scene(ctx, &f, make_head("gaussian(n=60, d=4)", 0, 0, ctx), "softmax");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        int seen = pick(ctx, &f, expected[i].strategy, 5, expected[i].pairing, 0).seen;
        if (seen != expected[i].seen)
            fail_msg("%s has seen %d rows, expected %d", expected[i].strategy, seen, expected[i].seen);
    }
}

/* All of rplu's queries are among the tokens whose rows it sees, beyond the numerical rank too. */
static void test_rplu_picks_what_it_sees(void **state)
{
    nb_ctx *ctx = *state;
    fixture f;
    const int *order;
    open_scene(ctx, &f, make_head("clusters(n=64, d=16, count=5, spread=0)", 0, 0, ctx), "softmax");
    for (int trial = 0; trial < 5; trial++) {
        nb_landmarks l = pick(ctx, &f, "rplu(rows=20)", 12, NB_BOTH, trial);
        assert_ok(ctx, nb_scene_order(f.scene, 3, trial, &order, ctx));
        for (int j = 0; j < 12; j++) place_of(20, order, l.queries.tokens[j]);
        assert_non_null(l.note);
    }
}

static void check_refusal(nb_ctx *ctx, const char *problem, const char *strategy, bool refused)
{
    fixture f;
    nb_mark mark = nb_ctx_mark(ctx);
    open_scene(ctx, &f, make_head(problem, 0, 0, ctx), "softmax");
    nb_landmarks l = pick(ctx, &f, strategy, 6, NB_JOINT, 0);
    if (!refused != !l.refusal) fail_msg("%s on %s: %s", strategy, problem, l.refusal ? l.refusal : "not refused");
    if (refused) tell(nb_format(ctx, "%s, %s", problem, strategy), l.refusal);
    nb_ctx_release(ctx, mark);
}

static void test_refusals(void **state)
{
    static const char *const small = "gaussian(n=30, d=2)", *const large = "gaussian(n=4097, d=2)",
                             *const causal = "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, "
                                             "max_n=30, causal=true)";
    static const struct {
        const char *problem, *strategy;
        bool refused;
    } cases[] = {
        {causal, "cpqr(rows=20, sample=centres)", true},
        {causal, "leverage(rows=20, sample=centres)", true},
        {causal, "ridge_leverage(of=kernel, rows=20, sample=centres)", true},
        {causal, "optimized(rows=auto)", true},
        {causal, "cpqr(rows=20)", false},
        {causal, "cpqr(sample=centres)", false}, /* all rows: of centres there is no talk */
        {causal, "exchange(rows=20)", false},
        {small, "rplu(rows=5)", true},
        {small, "rplu(rows=6)", false},
        {small, "exchange(rows=5)", true},
        {small, "exchange(rows=6)", false},
        {small, "optimized(steps=1, rows=5)", true},
        {small, "optimized(steps=1, rows=6)", false},
        {small, "cpqr(rows=1)", false},
        {small, "rplu(rows=auto, sample=centres)", true},
        {small, "exchange(rows=auto, sample=centres)", true},
        {small, "leverage(rows=auto, svd=randomized)", true},
        {small, "leverage(of=gram, rows=auto)", true},
        {small, "ridge_leverage(rows=auto)", true},
        {large, "cpqr", true},
        {large, "cpqr(rows=auto)", false},
        {large, "cpqr(rows=4097)", true},
        {large, "rplu", true},
        {large, "rplu(rows=auto)", false},
        {large, "ridge_leverage(of=kernel)", true},
        {large, "ridge_leverage(of=kernel, rows=auto)", false},
        {large, "exchange", true},
        {large, "exchange(rows=auto)", false},
        {large, "optimized", true},
        {large, "optimized(steps=1, rows=auto)", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refusal(*state, cases[i].problem, cases[i].strategy, cases[i].refused);
}

/* A strategy that begins with another one's picks, and draws. */
static nb_status draw_after_start(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx)
{
    nb_choice uniform;
    nb_picks queries, keys;
    int *tokens;
    (void)options;
    NB_TRY(ctx, nb_choice_parse(&nb_strategies, "uniform", &uniform, ctx));
    NB_TRY(ctx, nb_strategy_start(&uniform, points, m, &queries, &keys, ctx));
    NB_REQUIRE(ctx, nb_ctx_rng(ctx), NB_EBUG, "the start has taken the random generator away");
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int j = 0; j < m; j++)
        tokens[j] = j * (points->n / m) + (int)gsl_rng_uniform_int(nb_ctx_rng(ctx), (unsigned long)(points->n / m));
    return NB_OK;
}

static void test_a_start_leaves_the_generator(void **state)
{
    static const char *const references[] = {"a test", NULL};
    static const nb_option none[] = {NB_OPTION_END};
    static const nb_strategy strategy = {.component = {"drawer", "draws after a start", references, none, 0},
                                         .traits = NB_RANDOM,
                                         .pairing = NB_JOINT,
                                         .pick = draw_after_start};
    nb_ctx *ctx = *state;
    const nb_choice choice = {.component = &strategy.component, .canonical = "drawer", .label = "drawer"};
    nb_stream stream = {.seed = 7, .component = "drawer"};
    fixture f;
    nb_landmarks first, again;
    open_scene(ctx, &f, make_head("gaussian(n=40, d=4)", 0, 0, ctx), "softmax");
    nb_picking picking = {f.scene, &choice, 5, NB_JOINT, stream, f.rng};
    assert_ok(ctx, nb_landmarks_pick(&picking, &first, ctx));
    assert_ok(ctx, nb_landmarks_pick(&picking, &again, ctx));
    assert_memory_equal(first.queries.tokens, again.queries.tokens, 5 * sizeof(int));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_all_rows_are_all),
        test_with_ctx(test_optimized_of_all_rows),
        test_with_ctx(test_optimized_lowers_what_it_sees),
        test_with_ctx(test_exchange_ends_in_the_cut),
        test_with_ctx(test_checks_under_all_kernels),
        test_with_ctx(test_traits),
        test_with_ctx(test_rows_seen),
        test_with_ctx(test_a_start_leaves_the_generator),
        test_with_ctx(test_rplu_picks_what_it_sees),
        test_with_ctx(test_refusals),
    };
    return run_all(tests);
}
