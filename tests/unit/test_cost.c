/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a unit of work is said to need against what a process that runs it has
 * held at most (ru_maxrss), and that costs follow from the plan alone.
 *
 * The prediction must not be below, since workers are started by it. It may be
 * above by twice and 48 MB: what is counted is held together only in the worst
 * case (the careful QR, all columns of a Krylov space, the workspace that LAPACK
 * asks for but does not touch), and 40 MB are the program's, of which this
 * one uses half. */
#include "planning.h"

#include "studies/error/study.h"

#include "base/clock.h"
#include "run/prediction.h"
#include "linalg/blas.h"
#include "config/config.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static nb_plan make_plan(const char *const *settings, nb_ctx *ctx)
{
    nb_override overrides[16] = {{"kernels", "softmax"}, {"factors", "nystromformer"}, {"metrics", "[error]"},
                                 {"trials", "1"},        {"strategies", "uniform"},    {"cores", "svd"},
                                 {"plots", "[]"}};
    int count = 7;
    for (; *settings; settings++) {
        const char *equals = strchr(*settings, '=');
        int k = 0;
        nb_override set = {nb_format(ctx, "%.*s", (int)(equals - *settings), *settings), equals + 1};
        while (k < count && strcmp(overrides[k].key, set.key) != 0) k++;
        overrides[k] = set;
        count = k == count ? count + 1 : count;
    }
    return plan_with(count, overrides, ctx);
}

/* Of a process that runs scene 0; each row must be ok. */
static double measured_bytes(const nb_plan *plan, nb_ctx *ctx)
{
    struct rusage used;
    int how;
    pid_t pid = fork();
    if (pid == 0) {
        int done = 0;
        nb_status status = nb_blas_set_threads(1, ctx);
        if (status == NB_OK) status = run_first_scene(plan, &done, ctx);
        if (status != NB_OK) fprintf(stderr, "%s\n", nb_error_message(ctx));
        _exit(status == NB_OK && done == plan->row_count ? 0 : 1);
    }
    assert_true(wait4(pid, &how, 0, &used) == pid);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    return 1024.0 * (double)used.ru_maxrss;
}

#define MANY "landmarks=[16, 32, 48, 64]"

static const char *const configurations[][6] = {
    {"problems=gaussian(n=40, d=4)", "landmarks=4"},
    {"problems=gaussian(n=500, d=32)", MANY, "strategies=[uniform, segment_means, kmeans]", "metrics=all"},
    {"problems=gaussian(n=1500, d=64)", MANY, "strategies=leverage", "cores=[svd, iterative]"},
    {"problems=gaussian(n=2500, d=64)", MANY, "strategies=[segment_means, group_means]"},
    {"problems=gaussian(n=4200, d=8)", "landmarks=[8, 16]", "strategies=segment_means"},
    {"problems=gaussian(n=1800, d=64)", MANY, "strategies=[group_means, segment_means]", "precision=mixed"},
    {"problems=gaussian(n=800, d=64)", "landmarks=[8, 32]", "engine=direct", "metrics=all"},
    {"problems=gaussian(n=1200, d=32)", "landmarks=[8, 32]", "engine=direct", "cores=[fitted, exact_rows]"},
    {"problems=gaussian(n=1500, d=32)", MANY, "cores=[fitted, exact_rows, best]", "metrics=all"},
    {"problems=gaussian(n=12000, d=32)", MANY, "strategies=[segment_means, group_means]", "rows=sample(600)"},
    {"problems=gaussian(n=2000, d=32)", MANY, "kernels=\"gram(of=queries)\"", "strategies=[uniform, segment_means]"},
    {"problems=gaussian(n=1000, d=32)", "landmarks=[8, 32]", "strategies=\"ridge_leverage(of=gauss)\""},
    {"problems=gaussian(n=900, d=32)", "landmarks=[8, 32]", "strategies=\"ridge_leverage(of=kernel)\""},
    {"problems=gaussian(n=1500, d=32)", "landmarks=[8, 16]", "strategies=[rplu, cpqr]", "factors=cur"},
    {"problems=gaussian(n=700, d=32)", "landmarks=[8, 32]", "strategies=kdpp", "pairing=shared"}, /* of 1400 points */
    {"problems=gaussian(n=1500, d=32)", MANY, "strategies=[kmeans, leverage]", "pairing=[shared, shared_keys]",
     "factors=[nocore, nystromformer]"},
    {"problems=gaussian(n=2500, d=32)", "landmarks=[8, 150]", "strategies=segment_means",
     "factors=[kernel_ridge, nystromformer]"},
    {"problems=gaussian(n=9000, d=32)", "landmarks=[8, 16]", "strategies=\"subsample(of=leverage, tokens=900)\"",
     "rows=sample(300)"},
    {"problems=gaussian(n=9000, d=32)", "landmarks=[8, 16]", "strategies=\"subsample(of=kdpp, tokens=700)\"",
     "rows=sample(300)"},
    {"problems=gaussian(n=1600, d=32)", "landmarks=[64, 100]", "strategies=segment_means", "cores=[svd, best, fitted]"},
    {"problems=gaussian(n=700, d=32)", MANY, "cores=[svd, \"svd(rcond=0.01)\", iterative, gcv, tikhonov]",
     "strategies=[uniform, group_means]", "metrics=all"},
};

static void test_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    (void)state, (void)configurations, (void)measured_bytes;
    skip(); /* its allocator keeps what is freed */
#else
    int wrong = 0;
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; i++) {
        nb_mark mark = nb_ctx_mark(*state);
        nb_plan plan = make_plan(configurations[i], *state);
        nb_cost cost = nb_cost_of(&plan, &(nb_unit){0, plan.row_count}, NULL);
        double start_s = nb_clock_s(), predicted = cost.bytes, measured = measured_bytes(&plan, *state);
        bool right = predicted >= measured && predicted <= 2 * measured + 48e6;
        if (!right || getenv("NB_SHOW_COST"))
            fprintf(stderr, "%s %s: predicted %.1f MB, measured %.1f MB (%.2f s, %.2f s)\n", configurations[i][0],
                    configurations[i][2] ? configurations[i][2] : "", predicted / 1e6, measured / 1e6,
                    nb_cost_s(&cost, NB_USUAL_RATE), nb_clock_s() - start_s);
        wrong += !right;
        nb_ctx_release(*state, mark);
    }
    assert_int_equal(wrong, 0);
#endif
}

/* Pairs whose small matrices are the most of it, all together some 250 MB, are prepared a few at a time. */
static void test_many_sizes(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    (void)state;
    skip();
#else
    static const char *const settings[] = {"problems=gaussian(n=320, d=4)", "landmarks=200..320 step 4", NULL};
    nb_plan plan = make_plan(settings, *state);
    double predicted = nb_cost_of(&plan, &(nb_unit){0, plan.row_count}, NULL).bytes;
    assert_at_most(measured_bytes(&plan, *state), predicted);
    assert_at_most(predicted, 170e6);
#endif
}

/* Shards are cut by it: the same each time, never nothing, less for fewer rows. */
static void test_work(void **state)
{
    static const char *const settings[] = {"problems=gaussian(n=1000, d=32)", MANY,
                                           "strategies=[uniform, kmeans, exchange]", "cores=[svd, iterative]", NULL};
    static const char *const twice[] = {"problems=gaussian(n=2000, d=32)", MANY,
                                        "strategies=[uniform, kmeans, exchange]", "cores=[svd, iterative]", NULL};
    nb_plan plan = make_plan(settings, *state), larger = make_plan(twice, *state);
    nb_unit unit = {0, plan.row_count};
    bool *pending = nb_alloc(*state, (size_t)plan.row_count, sizeof *pending);
    nb_cost all = nb_cost_of(&plan, &unit, NULL), again = nb_cost_of(&plan, &unit, NULL);
    assert_memory_equal(&all, &again, sizeof all);
    double before = nb_cost_of(&plan, &unit, pending).multiplications;
    assert_true(before > 0);
    for (int i = 0; i < plan.row_count; i++) {
        pending[i] = true;
        double now = nb_cost_of(&plan, &unit, pending).multiplications;
        if (!(now > before)) fail_msg("row %d of %d costs %g", i, plan.row_count, now - before);
        before = now;
    }
    assert_close(before, all.multiplications, 0);
    double growth = nb_cost_of(&larger, &unit, NULL).multiplications / all.multiplications;
    assert_at_most(2, growth);
    assert_at_most(growth, 8);
}

/* Trials of one unit are done one after the other: they add up in time, not in memory. */
static void test_trials(void **state)
{
    static const char *const settings[] = {
        "problems=heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors, head=0)", MANY, "trials=4", NULL};
    nb_plan plan = make_plan(settings, *state);
    nb_unit unit = {0, plan.row_count};
    bool *pending = nb_alloc(*state, (size_t)plan.row_count, sizeof *pending);
    for (int i = 0; i < plan.row_count; i++) pending[i] = plan.rows[i].trial == 0;
    nb_cost one = nb_cost_of(&plan, &unit, pending), all = nb_cost_of(&plan, &unit, NULL);
    assert_int_equal(plan.rows[plan.row_count - 1].trial, 3);
    assert_close(all.bytes, one.bytes, 0);
    assert_true(all.multiplications > one.multiplications);
}

/* Picking among 500 tokens costs the same of 1000 and of 2000: beside uniform tokens, as much more. */
static void test_subsample(void **state)
{
    static const char *const settings[][2][4] = {
        {{"problems=gaussian(n=1000, d=32)", MANY, "strategies=uniform", NULL},
         {"problems=gaussian(n=1000, d=32)", MANY, "strategies=\"subsample(of=kmeans, tokens=500)\"", NULL}},
        {{"problems=gaussian(n=2000, d=32)", MANY, "strategies=uniform", NULL},
         {"problems=gaussian(n=2000, d=32)", MANY, "strategies=\"subsample(of=kmeans, tokens=500)\"", NULL}}};
    double more[2];
    for (int i = 0; i < 2; i++) {
        double work[2];
        for (int k = 0; k < 2; k++) {
            nb_plan plan = make_plan(settings[i][k], *state);
            work[k] = nb_cost_of(&plan, &(nb_unit){0, plan.row_count}, NULL).multiplications;
        }
        more[i] = work[1] - work[0];
    }
    assert_true(more[0] > 0);
    assert_close(more[1], more[0], 1e-9 * more[0]);
}

/* Rows that will be skipped cost nothing to speak of. */
static void test_skipped(void **state)
{
    static const char *const settings[] = {"problems=gaussian(n=3000, d=32)", "landmarks=3500", NULL};
    static const char *const causal[] = {
        "problems=heads(file=experiments/data/smollm2_opticks_n1024_L15.safetensors, head=0, causal=true)",
        "landmarks=30", "kernels=gauss(bandwidth=1)", NULL};
    nb_plan more = make_plan(settings, *state), masked = make_plan(causal, *state);
    assert_at_most(nb_cost_of(&more, &(nb_unit){0, more.row_count}, NULL).multiplications, 1e-3 * NB_USUAL_RATE);
    nb_cost cost = nb_cost_of(&masked, &(nb_unit){0, masked.row_count}, NULL);
    assert_at_most(cost.multiplications, 2 * NB_USUAL_RATE);
}

/* Where requests are measured together, each core of a pair has its X and another m x m matrix until then. */
static void test_cores(void **state)
{
    enum { M = 512 };
    nb_cost costs[2];
    for (int more = 0; more < 2; more++) {
        const char *const settings[] = {"problems=\"gaussian(n=1024, d=8)\"", "landmarks=512", "precision=mixed",
                                        more ? "cores=\"svd(rcond=[0.1, 0.01, 0.001, 0.0001])\"" : "cores=svd", NULL};
        nb_plan plan = make_plan(settings, *state);
        costs[more] = nb_cost_of(&plan, &(nb_unit){0, plan.row_count}, NULL);
    }
    assert_at_most(costs[0].bytes + 3 * 2.0 * M * M * sizeof(double), costs[1].bytes);
}

/* The next unit goes to the worker that is free first. */
static void test_wall(void **state)
{
    static const char *const settings[] = {
        "problems=[\"gaussian(n=700, d=8)\", \"gaussian(n=300, d=8)\", \"gaussian(n=400, d=8)\", \"gaussian(n=900, "
        "d=8)\"]",
        "landmarks=8", NULL};
    nb_plan plan = make_plan(settings, *state);
    bool pending[] = {true, true, true, true};
    const nb_machine_speed usual = {.rate = NB_USUAL_RATE}, slow = {.rate = NB_USUAL_RATE / 3};
    nb_predicted one, two, many, slower;
    assert_int_equal(plan.row_count, 4);
    assert_ok(*state, nb_predict(&plan, pending, usual, 1, &one, *state));
    assert_ok(*state, nb_predict(&plan, pending, usual, 2, &two, *state));
    assert_ok(*state, nb_predict(&plan, pending, usual, 9, &many, *state));
    const double *s = one.unit_s;
    assert_close(one.wall_s, s[0] + s[1] + s[2] + s[3], 1e-12);
    assert_close(one.total_s, one.wall_s, 1e-12);
    assert_close(one.wall_s, one.low_s * NB_PREDICTION_MARGIN, 1e-12);
    assert_close(one.high_s, one.wall_s * NB_PREDICTION_MARGIN, 1e-12);
    assert_ok(*state, nb_predict(&plan, pending, slow, 1, &slower, *state));
    assert_close(slower.wall_s, 3 * one.wall_s, 1e-12);
    assert_close(slower.bytes, one.bytes, 0);
    double left = s[1] + s[2] < s[0] ? s[0] : s[0] + s[3], right = s[0] + s[1] + s[2] + s[3] - left;
    assert_close(two.wall_s, fmax(left, right), 1e-12);
    assert_close(many.wall_s, fmax(fmax(s[0], s[1]), fmax(s[2], s[3])), 1e-12);
    assert_int_equal(many.workers, 4);
    assert_close(two.bytes, one.bytes, 0);
    assert_close(one.all_bytes, one.bytes, 0);
    assert_at_most(two.all_bytes, 2 * two.bytes);
    assert_true(two.all_bytes > one.bytes && many.all_bytes > two.all_bytes);
    pending[0] = pending[1] = pending[2] = pending[3] = false;
    assert_ok(*state, nb_predict(&plan, pending, usual, 2, &two, *state));
    assert_int_equal(two.unit_count, 0);
    assert_close(two.wall_s, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_memory),    test_with_ctx(test_many_sizes),
                                       test_with_ctx(test_work),      test_with_ctx(test_trials),
                                       test_with_ctx(test_subsample), test_with_ctx(test_skipped),
                                       test_with_ctx(test_cores),     test_with_ctx(test_wall)};
    return run_all(tests);
}
