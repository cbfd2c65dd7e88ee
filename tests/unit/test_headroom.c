/* The two oracles that tell how much there is to win, judged by the engine, which
 * knows nothing of their algebra. */
#include "testing.h"

#include "kernels/kernel.h"
#include "linalg/linalg.h"
#include "measure/engine.h"

typedef struct {
    nb_head head;
    nb_choice kernel;
    nb_scene *scene;
    gsl_rng *rng;
} fixture;

static void open_fixture(nb_ctx *ctx, fixture *f, const char *problem, int trial)
{
    f->head = make_head(problem, 0, trial, ctx);
    f->kernel = choose(&nb_kernels, "softmax", ctx);
    assert_ok(ctx, nb_scene_new(&f->head, &f->kernel, false, &f->scene, ctx));
    assert_ok(ctx, nb_random_new(&f->rng, ctx));
}

static nb_status try_pick(nb_ctx *ctx, fixture *f, const char *strategy, int m, int trial, nb_landmarks *out)
{
    nb_choice choice = choose(&nb_strategies, strategy, ctx);
    nb_stream stream = {.seed = 1, .trial = trial, .component = choice.canonical};
    return nb_landmarks_pick(f->scene, &choice, m, ((const nb_strategy *)choice.component)->pairing, stream, f->rng, out, ctx);
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
        double before = subspace(ctx, &f, &start, NB_CUR), error = subspace(ctx, &f, &end, NB_CUR), best = best_of_all(ctx, &f);
        assert_true(best > 0.05);
        assert_at_most(error, best_swap(ctx, &f, &end) + 1e-10);
        assert_at_most(error, before + 1e-10);
        assert_at_most(best, error + 1e-10);
        optimal += error <= best + 1e-10;
        better += error < before - 1e-6;
        nb_ctx_release(ctx, mark);
    }
    assert_in_range(optimal, TRIALS / 2 + 1, TRIALS);
    assert_in_range(better, TRIALS / 2 + 1, TRIALS);
}

/* Larger ones, and more landmarks, where each turn adds many changes of rank one. */
static void test_exchange_of_many_is_a_local_optimum(void **state)
{
    nb_ctx *ctx = *state;
    static const struct { const char *problem; int m; } cases[] = {{"gaussian(n=30, d=6, scale=1.385)", 6}, {"clusters(n=24, d=4, count=5)", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        open_fixture(ctx, &f, cases[i].problem, 0);
        nb_landmarks end = pick(ctx, &f, "exchange(sweeps=100)", cases[i].m, 3);
        assert_at_most(subspace(ctx, &f, &end, NB_CUR), best_swap(ctx, &f, &end) + 1e-10);
    }
}

static const char *const heads[] = {
    "gaussian(n=130, d=5)", /* S is of low rank to rounding */
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
            nb_landmarks start = pick(ctx, &f, "kmeans(snap=nearest)", m, 2), end = pick(ctx, &f, "exchange(start=kmeans(snap=nearest), sweeps=1)", m, 2);
            nb_landmarks none = pick(ctx, &f, "exchange(start=kmeans(snap=nearest), sweeps=0)", m, 2);
            double before = subspace(ctx, &f, &start, NB_CUR), after = subspace(ctx, &f, &end, NB_CUR);
            assert_at_most(after * after, before * before + 1e-14);
            if (before > 0.2) assert_true(after < before - 1e-3);
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
    assert_error(ctx, try_pick(ctx, &f, "exchange(start=segment_means)", 4, 0, &out), NB_EINVAL, "segment_means gives no tokens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_exchange_ends_where_no_swap_helps),
        test_with_ctx(test_exchange_of_many_is_a_local_optimum),
        test_with_ctx(test_exchange_is_never_worse),
        test_with_ctx(test_exchange_repairs_repeated_tokens),
        test_with_ctx(test_exchange_needs_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
