/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of rows: what each means, what is refused, and that a key that was made
 * means its row alone. */
#include "planning.h"

#include "run/match.h"
#include "config/config.h"

/* Names that begin alike, a component with and without options, two factors, and
 * a problem whose file name is shown without its folder. */
static nb_plan make_plan(nb_ctx *ctx)
{
    static const nb_override overrides[] = {
        {"problems",
         "[\"heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=[0, 2])\", \"gaussian(n=30, d=4)\", "
         "\"gaussian(n=31, d=4)\"]"},
        {"strategies", "[uniform, uniform(strided=true), segment_means, \"kmeans(restarts=4)\"]"},
        {"factors", "[nystromformer, cur]"},
        {"metrics", "[error]"},
        {"landmarks", "[3, 13]"},
        {"trials", "2"},
        {"cores", "[svd, \"svd(rcond=0.1)\", iterative]"}};
    return plan_with(sizeof overrides / sizeof *overrides, overrides, ctx);
}

/* How many rows of the plan a key means. */
static int rows_of(const nb_plan *plan, const char *key, nb_ctx *ctx)
{
    bool *flags;
    int count = 0, flagged = 0;
    assert_ok(ctx, nb_match_rows(plan, key, &flags, &count, ctx));
    for (int i = 0; i < plan->row_count; i++) flagged += flags[i];
    assert_int_equal(flagged, count);
    return count;
}

static int with_strategy(const nb_plan *plan, const char *name, int m)
{
    int count = 0;
    for (int i = 0; i < plan->row_count; i++) {
        const nb_error_method *method = nb_error_method_of(plan, i);
        count += strcmp(method->strategy->component->name, name) == 0 && (m == 0 || method->m == m);
    }
    return count;
}

static void test_meaning(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    int uniform = with_strategy(&plan, "uniform", 0), strided = rows_of(&plan, "strategy=uniform(strided=true)", ctx);
    assert_int_equal(rows_of(&plan, "strategy=uniform", ctx), uniform);
    assert_in_range(strided, 1, uniform - 1);
    assert_int_equal(rows_of(&plan, "strategy=uniform( strided = true )", ctx), strided);
    assert_int_equal(rows_of(&plan, "strategy=uniform(strided=false)", ctx), uniform - strided);
    assert_int_equal(rows_of(&plan, " strategy = kmeans , landmarks = 13 ", ctx), with_strategy(&plan, "kmeans", 13));
    assert_int_equal(rows_of(&plan, "strategy=kmeans(restarts=4, init=plusplus)", ctx),
                     with_strategy(&plan, "kmeans", 0));
    assert_int_equal(rows_of(&plan, "core=svd", ctx), 2 * rows_of(&plan, "core=svd(rcond=0.1)", ctx));
    assert_int_equal(rows_of(&plan, "factors=cur", ctx), plan.row_count / 2);
    assert_int_equal(rows_of(&plan, "n=30", ctx), rows_of(&plan, "problem=gaussian(n=30, d=4)", ctx));
    assert_int_equal(rows_of(&plan, "problem=gaussian", ctx), 2 * rows_of(&plan, "n=30", ctx));
    assert_int_equal(rows_of(&plan, "problem=heads, head=2", ctx), rows_of(&plan, "head=2", ctx));
    assert_int_equal(rows_of(&plan, "kernel=softmax, seed=20260101", ctx), plan.row_count);
    assert_int_equal(rows_of(&plan, "landmarks=3..13 step 10", ctx), plan.row_count);
    assert_int_equal(rows_of(&plan, "landmarks=[3, 12..20]", ctx), plan.row_count);
    assert_int_equal(rows_of(&plan, "landmarks=3, landmarks=[13]", ctx), plan.row_count);
    assert_int_equal(rows_of(&plan, "strategy=kmeans(init=plusplus)", ctx), with_strategy(&plan, "kmeans", 0));
    assert_int_equal(rows_of(&plan, "strategy_label=uniform", ctx), uniform - strided);
    assert_int_equal(rows_of(&plan, "model='', trial=0", ctx), rows_of(&plan, "problem=gaussian, trial=0", ctx));
    assert_int_equal(rows_of(&plan, "strategy=[kmeans, uniform(strided=true)], landmarks=13", ctx),
                     with_strategy(&plan, "kmeans", 13) +
                         rows_of(&plan, "landmarks=13, strategy=uniform(strided=true)", ctx));
    assert_int_equal(rows_of(&plan, "core=[\"svd(rcond=0.1)\", iterative], trial=[0]", ctx),
                     rows_of(&plan, "core=svd(rcond=0.1), trial=0", ctx) +
                         rows_of(&plan, "core=iterative, trial=0", ctx));
}

static void test_refusals(void **state)
{
    static const char *const wrong[] = {"",
                                        "uniform",
                                        "=uniform",
                                        "strategy=uniform,",
                                        "strategy=",
                                        "strategy=[]",
                                        "landmarks=[3, ]",
                                        "strategi=uniform",
                                        "error=0",
                                        "status=ok",
                                        "trial=one",
                                        "trial=2-4",
                                        "trial=1x",
                                        "trial=99999999999999999999",
                                        "strategy=kmeans(restart=4)",
                                        "problem=heads(head=2)"};
    nb_plan plan = make_plan(*state);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bool *flags;
        int count;
        assert_error_of(wrong[i], *state, nb_match_rows(&plan, wrong[i], &flags, &count, *state), NB_EINVAL);
    }
}

static void test_no_row(void **state)
{
    static const char *const none[] = {"strategy=leverage", "strategy=kmeans(restarts=5)", "landmarks=4",
                                       "landmarks=[3, 14..20]", "problem=gaussian, head=2"};
    nb_plan plan = make_plan(*state);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        bool *flags;
        int count;
        assert_error_of(none[i], *state, nb_match_rows(&plan, none[i], &flags, &count, *state), NB_EINVAL);
    }
}

/* Among uniform and uniform(strided=true), or svd and svd(rcond=0.1), the short name would mean both. */
static void test_keys_mean_one_row(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    nb_keys keys;
    assert_ok(ctx, nb_keys_init(&plan, &keys, ctx));
    for (int i = 0; i < plan.row_count; i++) {
        const char *key;
        bool *flags;
        int count;
        nb_mark mark = nb_ctx_mark(ctx);
        assert_ok(ctx, nb_keys_text(&keys, i, &key, ctx));
        assert_ok(ctx, nb_match_rows(&plan, key, &flags, &count, ctx));
        if (count != 1 || !flags[i]) fail_msg("'%s' means %d rows", key, count);
        if (strstr(key, "kernel=") || strstr(key, "seed=")) fail_msg("'%s' holds what all rows have", key);
        nb_ctx_release(ctx, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_meaning), test_with_ctx(test_refusals),
                                       test_with_ctx(test_no_row), test_with_ctx(test_keys_mean_one_row)};
    return run_all(tests);
}
