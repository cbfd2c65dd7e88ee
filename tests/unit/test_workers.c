/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the sink is told by one job and by several: each pending row once, whole
 * instances, and nothing after an error, whoever dies when; and that no worker is left. */
#include "planning.h"

#include "base/clock.h"
#include "base/process.h"
#include "run/plan.h"
#include "run/workers.h"
#include "config/config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 40 }; /* of the plan below */

typedef struct {
    const nb_plan *plan;
    int times[ROWS]; /* each row was told */
    double error[ROWS];
    int instances, row_count, in_instance; /* in_instance: the first row of the present one, -1 before, -2 outside */
    int stop_after, refuse_row;            /* instances; the number of the row that is refused; 0: none */
    bool raise;                            /* SIGTERM at the end of each instance */
    int meanwhiles, asked;                 /* how often the sink was called for that, and asked to stop */
    int kill_at;                           /* when it is asked so often, all workers are killed; 0: never */
    bool refuse_meanwhile;
    double timeout_s;
    int slow_ms;   /* how long the first instance takes to be put down */
    int timed_out; /* rows */
    int kept;      /* instances */
    int commits;
    int notices;
    char notice[256]; /* the last one */
    double unkept_s,
        wait_s; /* when the first instance came that is not kept; how long that of the first commit waited */
} record;

static nb_status meanwhile(void *self, nb_ctx *ctx)
{
    record *r = self;
    assert_int_equal(r->row_count + r->instances, 0);
    r->meanwhiles++;
    NB_REQUIRE(ctx, !r->refuse_meanwhile, NB_EIO, "the disk is full");
    return NB_OK;
}

static nb_status begin(void *self, nb_ctx *ctx)
{
    record *r = self;
    (void)ctx;
    assert_int_equal(r->in_instance, -2);
    r->in_instance = -1;
    return NB_OK;
}

static nb_status put_row(void *self, int index, const nb_row *row, nb_ctx *ctx)
{
    record *r = self;
    nb_error_row planned;
    const nb_error_row *got = (const nb_error_row *)row;
    NB_REQUIRE(ctx, ++r->row_count != r->refuse_row, NB_EIO, "the disk is full");
    assert_in_range(index, 0, ROWS - 1);
    if (r->in_instance < 0) r->in_instance = index;
    nb_plan_row(r->plan, index, &planned);
    assert_int_equal(r->plan->rows[index].scene, r->plan->rows[r->in_instance].scene);
    assert_int_equal(r->plan->rows[index].trial, r->plan->rows[r->in_instance].trial);
    assert_string_equal(got->core, planned.core);
    assert_int_equal(row->n, planned.n);
    assert_string_not_equal(row->status, "planned");
    r->timed_out += strcmp(row->status, "timeout") == 0;
    r->times[index]++;
    r->error[index] = got->measures.error;
    return NB_OK;
}

static nb_status end(void *self, nb_ctx *ctx)
{
    record *r = self;
    (void)ctx;
    assert_int_not_equal(r->in_instance, -2);
    r->in_instance = -2;
    if (r->instances++ == r->kept) r->unkept_s = nb_clock_s();
    if (r->instances == 1) usleep(1000 * (useconds_t)r->slow_ms);
    if (r->raise) {
        raise(SIGTERM);
        usleep(20000); /* all that the workers can do without their parent is done now */
    }
    return NB_OK;
}

static volatile sig_atomic_t terminated;

static void terminate(int number)
{
    terminated = number;
}

static void kill_workers(void)
{
    int pid;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "r");
    assert_non_null(children);
    while (fscanf(children, "%d", &pid) == 1) kill(pid, SIGKILL);
    fclose(children);
}

static bool stop(void *self)
{
    record *r = self;
    if (++r->asked == r->kill_at) kill_workers();
    return terminated || (r->stop_after > 0 && r->instances >= r->stop_after);
}

/* Two heads of a file, whose trials share the data, and a problem of three instances. */
static nb_plan make_plan(nb_ctx *ctx)
{
    static const nb_override overrides[] = {
        {"problems",
         "[\"heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=[0, 2])\", \"gaussian(n=30, d=4)\"]"},
        {"strategies", "[uniform, segment_means]"},
        {"factors", "nystromformer"},
        {"metrics", "[error]"},
        {"landmarks", "3"},
        {"trials", "3"},
        {"cores", "[svd, iterative]"}};
    return plan_with(sizeof overrides / sizeof *overrides, overrides, ctx);
}

static int *committed; /* commits, in memory that the workers share */

static nb_status commit(void *self, nb_ctx *ctx)
{
    record *r = self;
    (void)ctx;
    assert_int_equal(r->in_instance, -2);
    assert_int_not_equal(r->instances, r->kept);
    r->kept = r->instances;
    if (r->commits++ == 0) r->wait_s = nb_clock_s() - r->unkept_s;
    if (committed) *committed = r->commits;
    return NB_OK;
}

static void notice(void *self, const char *text)
{
    record *r = self;
    r->notices++;
    snprintf(r->notice, sizeof r->notice, "%s", text);
}

static nb_status run(const nb_plan *plan, const bool *pending, int jobs, record *r, nb_ctx *ctx)
{
    nb_sink sink = {.self = r,
                    .begin = begin,
                    .row = put_row,
                    .end = end,
                    .stop = stop,
                    .meanwhile = meanwhile,
                    .commit = commit,
                    .notice = notice};
    r->plan = plan;
    r->in_instance = -2;
    size_t blocks = nb_ctx_blocks(ctx);
    nb_status status = nb_run_plan(
        plan, pending, (nb_workers){.jobs = jobs, .blas_threads = 1, .timeout_s = r->timeout_s}, &sink, ctx);
    if (jobs > 0 && r->in_instance == -2) assert_int_equal(r->kept, r->instances);
    assert_int_equal(nb_ctx_blocks(ctx), blocks);
    nb_process_finish(); /* what workers have left */
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    assert_int_equal(errno, ECHILD);
    assert_in_range(r->meanwhiles, status == NB_OK, 1);
    return status;
}

static void set_pending(const nb_plan *plan, bool pending[ROWS])
{
    assert_in_range(plan->row_count, 1, ROWS);
    for (int i = 0; i < plan->row_count; i++) pending[i] = true;
}

static void test_pending_rows_once(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    bool pending[ROWS] = {false};
    record one = {.plan = NULL};
    set_pending(&plan, pending);
    for (int i = 0; i < plan.row_count; i += 3) pending[i] = false;
    for (int i = 0; i < plan.row_count && plan.rows[i].scene == 0; i++) pending[i] = false;
    assert_ok(ctx, run(&plan, pending, 1, &one, ctx));
    for (int jobs = 2; jobs <= 9; jobs++) {
        record r = {.plan = NULL};
        assert_ok(ctx, run(&plan, pending, jobs, &r, ctx));
        assert_int_equal(r.instances, one.instances);
        for (int i = 0; i < plan.row_count; i++) assert_int_equal(r.times[i], pending[i]);
        assert_memory_equal(r.error, one.error, sizeof r.error);
    }
}

static void test_nothing_pending(void **state)
{
    nb_plan plan = make_plan(*state);
    bool pending[ROWS] = {false};
    for (int jobs = 1; jobs <= 3; jobs++) {
        record r = {.plan = NULL};
        assert_ok(*state, run(&plan, pending, jobs, &r, *state));
        assert_int_equal(r.instances, 0);
    }
}

static void test_stop(void **state)
{
    nb_plan plan = make_plan(*state);
    bool pending[ROWS];
    set_pending(&plan, pending);
    for (int jobs = 1; jobs <= 3; jobs++) {
        record r = {.stop_after = 2};
        assert_ok(*state, run(&plan, pending, jobs, &r, *state));
        assert_in_range(r.instances, 2, 9);
        assert_int_equal(r.in_instance, -2);
        for (int i = 0; i < plan.row_count; i++) assert_in_range(r.times[i], 0, 1);
    }
}

/* The first units hold three instances each; with messages always there, a signal must still be seen. */
static void test_signal_to_a_busy_parent(void **state)
{
    nb_plan plan = make_plan(*state);
    bool pending[ROWS];
    record r = {.raise = true};
    struct sigaction action = {.sa_handler = terminate}, before;
    set_pending(&plan, pending);
    sigaction(SIGTERM, &action, &before);
    assert_ok(*state, run(&plan, pending, 2, &r, *state));
    sigaction(SIGTERM, &before, NULL);
    assert_int_equal(terminated, SIGTERM);
    terminated = 0;
    assert_in_range(r.instances, 1, 6);
}

static void test_refused_row_ends_the_run(void **state)
{
    nb_plan plan = make_plan(*state);
    bool pending[ROWS];
    set_pending(&plan, pending);
    for (int jobs = 1; jobs <= 3; jobs++) {
        record r = {.refuse_row = 4};
        assert_error(*state, run(&plan, pending, jobs, &r, *state), NB_EIO);
        assert_int_equal(r.row_count, 4);
    }
}

static void test_refused_meanwhile_ends_the_run(void **state)
{
    nb_plan plan = make_plan(*state);
    bool pending[ROWS];
    set_pending(&plan, pending);
    for (int jobs = 0; jobs <= 3; jobs++) {
        record r = {.refuse_meanwhile = true};
        assert_error(*state, run(&plan, pending, jobs, &r, *state), NB_EIO);
        assert_int_equal(r.meanwhiles, 1);
        assert_int_equal(r.row_count, 0);
    }
}

/* At each message but rows the sink is asked first. What was complete by then stays, the
 * rest is done again: between an instance's last word and its job's, too. */
static void test_workers_killed_at_any_message(void **state)
{
    nb_plan plan = make_plan(*state);
    bool pending[ROWS];
    record whole = {.plan = NULL};
    set_pending(&plan, pending);
    assert_ok(*state, run(&plan, pending, 1, &whole, *state));
    for (int jobs = 1; jobs <= 2; jobs++)
        for (int k = 1; k <= 32; k++) {
            record r = {.kill_at = k};
            assert_ok(*state, run(&plan, pending, jobs, &r, *state));
            for (int i = 0; i < plan.row_count; i++) assert_int_equal(r.times[i], 1);
            assert_memory_equal(r.error, whole.error, sizeof r.error);
        }
}

/* A worker that is done in time while the row of a quicker one is put down is not late. */
static void test_slow_sink(void **state)
{
    static const nb_override overrides[] = {{"problems", "[\"gaussian(n=20)\", \"gaussian(n=300)\"]"},
                                            {"strategies", "uniform"},
                                            {"factors", "nystromformer"},
                                            {"metrics", "[error]"},
                                            {"landmarks", "3"},
                                            {"trials", "1"},
                                            {"cores", "svd"}};
    nb_plan plan = plan_with(sizeof overrides / sizeof *overrides, overrides, *state);
    bool pending[ROWS];
    record r = {.timeout_s = 1, .slow_ms = 1500};
    set_pending(&plan, pending);
    assert_ok(*state, run(&plan, pending, 2, &r, *state));
    for (int i = 0; i < plan.row_count; i++) assert_int_equal(r.times[i], 1);
    assert_int_equal(r.timed_out, 0);
}

/* The plan's study, run otherwise. */
static void run_by(nb_plan *plan, nb_status (*by)(const nb_plan *, int, const bool *, const nb_sink *, nb_ctx *),
                   nb_ctx *ctx)
{
    nb_run_study *study = nb_alloc(ctx, 1, sizeof *study);
    nb_config *config = nb_alloc(ctx, 1, sizeof *config);
    *study = *nb_run_study_of(plan->config->study);
    *config = *plan->config;
    study->run = by;
    config->study = &study->config.study;
    plan->config = config;
}

/* The last scene waits until rows are kept, or for ten seconds. */
static nb_status take_long(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    double end_s = nb_clock_s() + 10;
    while (scene == plan->scene_count - 1 && *(volatile int *)committed == 0 && nb_clock_s() < end_s) usleep(1000);
    return nb_study_error.run.run(plan, scene, pending, sink, ctx);
}

/* What comes within a tenth of a second is kept together, and does not wait for more. */
static void test_kept_together(void **state)
{
    nb_plan plan = make_plan(*state);
    bool pending[ROWS];
    record r = {.plan = NULL};
    set_pending(&plan, pending);
    run_by(&plan, take_long, *state);
    committed = mmap(NULL, sizeof *committed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(committed != MAP_FAILED);
    assert_ok(*state, run(&plan, pending, 1, &r, *state));
    munmap(committed, sizeof *committed);
    committed = NULL;
    assert_in_range(r.commits, 2, r.instances - 1);
    assert_true(r.wait_s >= 0.1 && r.wait_s < 10);
}

/* Dies when its rows are told, before it says that the job is done. */
static nb_status die_after(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_study_error.run.run(plan, scene, pending, sink, ctx));
    if (scene == 0) raise(SIGKILL);
    return NB_OK;
}

/* No row has that death: it is told. */
static void test_death_between_jobs(void **state)
{
    nb_plan plan = make_plan(*state);
    bool pending[ROWS];
    record r = {.plan = NULL};
    set_pending(&plan, pending);
    run_by(&plan, die_after, *state);
    assert_ok(*state, run(&plan, pending, 1, &r, *state));
    for (int i = 0; i < plan.row_count; i++) assert_int_equal(r.times[i], 1);
    assert_int_equal(r.notices, 1);
    tell("SIGKILL between two jobs", r.notice);
}

static int *calls, fail_at; /* calls: in memory that the workers share */

/* One of the calls tells its first row, and fails. */
static nb_status count_calls(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    nb_error_row row;
    int first = 0;
    if (++*calls != fail_at) return nb_study_error.run.run(plan, scene, pending, sink, ctx);
    while (!pending[first]) first++;
    sink->at(sink->self, NB_AT_MEASURE, first, first + 1);
    nb_plan_row(plan, first, &row);
    row.status = "ok";
    NB_TRY(ctx, sink->row(sink->self, first, &row.row, ctx));
    NB_FAIL(ctx, NB_EBUG, "it fails");
}

/* Each unit is done once, and no row of those before; what one that fails has told of an instance
 * is forgotten, and told again by another. */
static void test_each_unit_alone(void **state)
{
    nb_plan plan = make_plan(*state);
    bool pending[ROWS];
    nb_unit *units;
    int unit_count;
    record whole = {.plan = NULL};
    set_pending(&plan, pending);
    assert_ok(*state, nb_units_find(&plan, pending, &units, &unit_count, *state));
    assert_ok(*state, run(&plan, pending, 1, &whole, *state));
    run_by(&plan, count_calls, *state);
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(calls != MAP_FAILED);
    for (fail_at = 0; fail_at <= unit_count; fail_at++) {
        record r = {.plan = NULL};
        *calls = 0;
        assert_ok(*state, run(&plan, pending, 1, &r, *state));
        if (fail_at == 0) assert_in_range(*calls, 1, unit_count);
        for (int i = 0; i < plan.row_count; i++) assert_int_equal(r.times[i], 1);
        assert_memory_equal(r.error, whole.error, sizeof r.error);
    }
    munmap(calls, sizeof *calls);
}

/* Where units are short, a job has several of them; also those of a worker that fails are done once. */
static void test_short_units(void **state)
{
    static const nb_override overrides[] = {{"problems", "gaussian(n=20)"},
                                            {"strategies", "uniform"},
                                            {"factors", "nystromformer"},
                                            {"metrics", "[error]"},
                                            {"landmarks", "3"},
                                            {"trials", "40"},
                                            {"cores", "svd"}};
    nb_plan plan = plan_with(sizeof overrides / sizeof *overrides, overrides, *state);
    bool pending[ROWS];
    set_pending(&plan, pending);
    run_by(&plan, count_calls, *state);
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(calls != MAP_FAILED);
    for (fail_at = 0; fail_at <= 4; fail_at++) {
        record r = {.plan = NULL};
        *calls = 0;
        assert_ok(*state, run(&plan, pending, 1, &r, *state));
        assert_in_range(*calls, 2, ROWS - 1);
        assert_int_equal(r.instances, ROWS);
        for (int i = 0; i < ROWS; i++) assert_int_equal(r.times[i], 1);
    }
    munmap(calls, sizeof *calls);
}

static int dawdle_at; /* a phase */

/* Takes longer than the limit for one row, not for all of them. */
static nb_status dawdle(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    NB_TRY(ctx, sink->begin(sink->self, ctx));
    sink->at(sink->self, dawdle_at, 0, plan->row_count);
    usleep(2500000);
    for (int i = 0; i < plan->row_count; i++) {
        nb_error_row row;
        assert_int_equal(plan->rows[i].scene, scene);
        nb_plan_row(plan, i, &row);
        row.status = "ok";
        if (pending[i]) NB_TRY(ctx, sink->row(sink->self, i, &row.row, ctx));
    }
    return sink->end(sink->self, ctx);
}

/* What is done for all rows of a job may take as long as each of them alone. */
static void test_time_of_all_rows(void **state)
{
    static const nb_override overrides[] = {{"problems", "gaussian(n=20)"},
                                            {"strategies", "uniform"},
                                            {"factors", "nystromformer"},
                                            {"metrics", "[error]"},
                                            {"landmarks", "3"},
                                            {"trials", "1"},
                                            {"cores", "[svd, iterative, gcv, tikhonov]"}};
    nb_plan plan = plan_with(sizeof overrides / sizeof *overrides, overrides, *state);
    bool pending[ROWS];
    run_by(&plan, dawdle, *state);
    set_pending(&plan, pending);
    for (dawdle_at = NB_AT_PICK; dawdle_at <= NB_AT_MEASURE; dawdle_at += NB_AT_MEASURE - NB_AT_PICK) {
        record r = {.timeout_s = 1};
        assert_ok(*state, run(&plan, pending, 1, &r, *state));
        assert_int_equal(r.row_count, 4);
        assert_int_equal(r.timed_out, dawdle_at == NB_AT_PICK ? 4 : 0);
    }
}

static ssize_t hang(void *cookie, const char *bytes, size_t count)
{
    (void)cookie, (void)bytes;
    while (pause() != 0) { /* it always fails */
    }
    return (ssize_t)count;
}

/* The first scene's worker hangs when it has to end, since its output is in nobody's hands; the second one's is
 * late. */
static nb_status hang_or_dawdle(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    if (scene > 0) sink->at(sink->self, NB_AT_PICK, plan->row_count - 1, plan->row_count);
    if (scene > 0) usleep(2500000);
    if (scene == 0) stdout = fopencookie(NULL, "w", (cookie_io_functions_t){.write = hang});
    if (scene == 0) putchar('x');
    return nb_study_error.run.run(plan, scene, pending, sink, ctx);
}

/* While a worker that has been let go hangs, others are heard, and their limits hold. */
static void test_a_worker_that_does_not_end(void **state)
{
    static const nb_override overrides[] = {{"problems", "[gaussian(n=20), gaussian(n=21)]"},
                                            {"strategies", "uniform"},
                                            {"factors", "nystromformer"},
                                            {"metrics", "[error]"},
                                            {"landmarks", "3"},
                                            {"trials", "1"},
                                            {"cores", "svd"}};
    nb_plan plan = plan_with(sizeof overrides / sizeof *overrides, overrides, *state);
    bool pending[ROWS];
    record r = {.timeout_s = 1};
    run_by(&plan, hang_or_dawdle, *state);
    set_pending(&plan, pending);
    assert_ok(*state, run(&plan, pending, 2, &r, *state));
    assert_int_equal(r.row_count, 2);
    assert_int_equal(r.timed_out, 1);
}

/* Whether memory runs out in the parent, or in the workers, whose counts go on from the parent's. */
static void test_out_of_memory(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    bool pending[ROWS];
    int failed = 0;
    set_pending(&plan, pending);
    for (int k = 1; k <= 60; k++) {
        record r = {.plan = NULL};
        nb_ctx_fail_alloc(ctx, k);
        nb_status status = run(&plan, pending, 2, &r, ctx);
        nb_ctx_fail_alloc(ctx, 0);
        for (int i = 0; i < plan.row_count; i++) assert_in_range(r.times[i], status == NB_OK, 1);
        if (status == NB_OK) continue;
        assert_int_equal(status, NB_ENOMEM);
        nb_error_clear(ctx);
        failed++;
    }
    assert_in_range(failed, 10, 60);
}

static int refused_map; /* which of the next shared pages the system refuses; 0: none */

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (!(flags & MAP_SHARED) || refused_map == 0 || --refused_map > 0)
        return __real_mmap(at, bytes, protection, flags, file, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

/* What the machine lacks is no property of a row. */
static void test_no_shared_page(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    bool pending[ROWS];
    record r = {.plan = NULL};
    set_pending(&plan, pending);
    refused_map = 2;
    assert_error(ctx, run(&plan, pending, 2, &r, ctx), NB_EHOST);
    assert_int_equal(refused_map, 0);
    assert_int_equal(r.row_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_pending_rows_once),
        test_with_ctx(test_nothing_pending),
        test_with_ctx(test_stop),
        test_with_ctx(test_refused_row_ends_the_run),
        test_with_ctx(test_out_of_memory),
        test_with_ctx(test_no_shared_page),
        test_with_ctx(test_signal_to_a_busy_parent),
        test_with_ctx(test_refused_meanwhile_ends_the_run),
        test_with_ctx(test_workers_killed_at_any_message),
        test_with_ctx(test_slow_sink),
        test_with_ctx(test_kept_together),
        test_with_ctx(test_death_between_jobs),
        test_with_ctx(test_each_unit_alone),
        test_with_ctx(test_short_units),
        test_with_ctx(test_time_of_all_rows),
        test_with_ctx(test_a_worker_that_does_not_end),
    };
    return run_all(tests);
}
