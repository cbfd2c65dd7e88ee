/* What a unit of work is said to need against what a process that runs it has
 * held at most (ru_maxrss), and that costs follow from the plan alone.
 *
 * The prediction must not be below, since workers are started by it. It may be
 * above by twice and 48 MB: what is counted is held together only in the worst
 * case (the careful QR, all columns of a Krylov space, the workspace that LAPACK
 * asks for but does not touch), and 40 MB are the program's, of which this
 * one uses half. */
#include "testing.h"

#include "base/clock.h"
#include "experiment/cost.h"
#include "experiment/runner.h"
#include "linalg/blas.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static nb_plan make_plan(const char *const *settings, nb_ctx *ctx)
{
    nb_override overrides[16] = {{"kernels", "softmax"}, {"factors", "nystromformer"}, {"metrics", "[error]"}, {"trials", "1"},
                                 {"strategies", "uniform"}, {"cores", "svd"}, {"plots", "[]"}};
    nb_config *config = nb_alloc(ctx, 1, sizeof *config);
    nb_mistakes mistakes;
    nb_plan plan;
    int count = 7;
    nb_mistakes_init(&mistakes, ctx);
    for (; *settings; settings++) {
        const char *equals = strchr(*settings, '=');
        int k = 0;
        nb_override set = {nb_format(ctx, "%.*s", (int)(equals - *settings), *settings), equals + 1};
        while (k < count && strcmp(overrides[k].key, set.key) != 0) k++;
        overrides[k] = set;
        count = k == count ? count + 1 : count;
    }
    assert_ok(ctx, nb_config_load("experiments/00-smoke.yaml", count, overrides, config, &mistakes, ctx));
    if (mistakes.count) fail_msg("%s", mistakes.texts[0]);
    assert_ok(ctx, nb_plan_make(config, &plan, ctx));
    return plan;
}

static nb_status nothing(void *self, nb_ctx *ctx)
{
    (void)self, (void)ctx;
    return NB_OK;
}

static nb_status look_at_row(void *self, int index, const nb_row *row, nb_ctx *ctx)
{
    (void)index, (void)ctx;
    *(int *)self += strcmp(row->status, "ok") == 0;
    return NB_OK;
}

static bool go_on(void *self)
{
    (void)self;
    return false;
}

/* Of a process that runs scene 0; each row must be ok. */
static double measured_bytes(const nb_plan *plan, nb_ctx *ctx)
{
    struct rusage used;
    int how;
    pid_t pid = fork();
    if (pid == 0) {
        int done = 0;
        nb_sink sink = {&done, nothing, look_at_row, nothing, go_on};
        bool *pending = nb_alloc(ctx, (size_t)plan->row_count, sizeof *pending);
        memset(pending, true, (size_t)plan->row_count);
        nb_status status = nb_blas_set_threads(1, ctx);
        if (status == NB_OK) status = nb_run_scene(plan, 0, pending, &sink, ctx);
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
    {"problems=gaussian(n=12000, d=32)", MANY, "strategies=[segment_means, group_means]", "rows=sample(600)"},
    {"problems=gaussian(n=2000, d=32)", MANY, "kernels=\"gram(of=queries)\"", "strategies=[uniform, segment_means]"},
    {"problems=gaussian(n=1000, d=32)", "landmarks=[8, 32]", "strategies=\"ridge_leverage(of=gauss)\""},
    {"problems=gaussian(n=900, d=32)", "landmarks=[8, 32]", "strategies=\"ridge_leverage(of=kernel)\""},
    {"problems=gaussian(n=1500, d=32)", "landmarks=[8, 16]", "strategies=[rplu, cpqr]", "factors=cur"},
    {"problems=gaussian(n=1600, d=32)", "landmarks=[64, 100]", "strategies=segment_means", "cores=[svd, best, fitted]"},
    {"problems=gaussian(n=700, d=32)", MANY, "cores=[svd, \"svd(rcond=0.01)\", iterative, gcv, tikhonov]", "strategies=[uniform, group_means]", "metrics=all"},
};

static void test_memory(void **state)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; i++) {
        nb_mark mark = nb_ctx_mark(*state);
        nb_plan plan = make_plan(configurations[i], *state);
        nb_cost cost = nb_cost_of(&plan, &(nb_unit){0, plan.row_count}, NULL);
        double start_s = nb_clock_s(), predicted = cost.bytes, measured = measured_bytes(&plan, *state);
        bool right = predicted >= measured && predicted <= 2 * measured + 48e6;
        if (!right || getenv("NB_SHOW_COST")) fprintf(stderr, "%s %s: predicted %.1f MB, measured %.1f MB (%.2f s, %.2f s)\n",
                    configurations[i][0], configurations[i][2] ? configurations[i][2] : "", predicted / 1e6, measured / 1e6, cost.seconds, nb_clock_s() - start_s);
        wrong += !right;
        nb_ctx_release(*state, mark);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
