/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long strategies and the machine take, by a clock that other programs move: the
 * clock of the wall jumps at any time by up to a tenth of a second, the process's own
 * does not. The linker leads clock_gettime through here. */
#include "planning.h"

#include "cli/preview.h"

extern const nb_command nb_command_run;
#include "run/speed.h"
#include "studies/error/calibration.h"
#include "studies/error/cost.h"
#include "run/prediction.h"
#include "config/load.h"

#include <time.h>
#include <unistd.h>

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

static struct {
    bool noisy;
    uint64_t state;
    double ahead_s; /* of the true time */
} wall;

static double uniform(void)
{
    wall.state = wall.state * 6364136223846793005u + 1442695040888963407u;
    return (double)(wall.state >> 11) * 0x1p-53;
}

/* In three of ten cases somebody else had the core since it was last asked. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    int code = __real_clock_gettime(clock, t);
    if (!wall.noisy || clock != CLOCK_MONOTONIC) return code;
    if (uniform() < 0.3) wall.ahead_s += 0.1 * uniform();
    double s = (double)t->tv_sec + 1e-9 * (double)t->tv_nsec + wall.ahead_s;
    t->tv_sec = (time_t)s;
    t->tv_nsec = (long)((s - floor(s)) * 1e9);
    return code;
}

static void test_machine(void **state)
{
    double quiet, noisy;
    for (int i = 0; i < 10; i++) {
        wall.state = (uint64_t)i;
        wall.noisy = false;
        assert_ok(*state, nb_calibrate_machine(&quiet, *state));
        wall.noisy = true;
        assert_ok(*state, nb_calibrate_machine(&noisy, *state));
        wall.noisy = false;
        assert_at_most(noisy,
                       3 * quiet); /* by the wall 5 ms would be up to 100; 3: caches and CPUs that others use too */
        assert_at_most(quiet, 3 * noisy);
    }
}

static void test_growth(void **state)
{
    static const struct {
        double once, doubled, guess, least, most;
    } known[] = {{1e-3, 2e-3, 1, 0.75, 1.25}, {1e-3, 8e-3, 2, 2.75, 3}, {1e-3, 1, 1, 2, 2},   {1e-3, 1e-6, 2, 1, 1},
                 {1e-3, 1e-3, 1, 0, 0.25},    {1e-6, 1, 1, 1, 1},       {1e-3, NAN, 3, 3, 3}, {NAN, 1, 2, 2, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double least, most;
        nb_growth(known[i].once, known[i].doubled, known[i].guess, &least, &most);
        assert_close(least, known[i].least, 1e-12);
        assert_close(most, known[i].most, 1e-12);
    }
}

/* The low ends of twenty looks at one plan are within a factor of 16, where the wall's
 * clock gives one of hundreds: 4 for caches and CPUs that others use too, and as much where
 * the time was out before the plan's own size was tried. */
static void test_picks(void **state)
{
    static const nb_override overrides[] = {{"problems", "gaussian(n=1500, d=64)"},
                                            {"landmarks", "[8, 64]"},
                                            {"strategies", "[uniform, segment_means, kmeans, context]"},
                                            {"factors", "nystromformer"},
                                            {"metrics", "[error]"},
                                            {"trials", "50"},
                                            {"plots", "[]"}};
    nb_plan plan = plan_with(sizeof overrides / sizeof *overrides, overrides, *state);
    bool *pending = nb_alloc(*state, (size_t)plan.row_count, sizeof *pending);
    double least = INFINITY, most = 0;
    memset(pending, true, (size_t)plan.row_count);
    for (int i = 0; i < 20; i++) {
        nb_prediction f;
        nb_predicted predicted;
        wall.state = (uint64_t)i;
        wall.noisy = true;
        assert_ok(*state, nb_prediction_make(&plan, pending, NULL, true, &f, *state));
        wall.noisy = false;
        f.load = 0;
        assert_ok(*state, nb_predict(&f, pending, 1, &predicted, *state));
        assert_true(predicted.low_s <= predicted.wall_s && predicted.wall_s <= predicted.high_s);
        assert_at_most(predicted.high_s, 20 * predicted.low_s); /* the margin squared and the powers' slack */
        least = fmin(least, predicted.low_s);
        most = fmax(most, predicted.low_s);
    }
    assert_at_most(most, 16 * least);
}

/* Two sizes of a strategy are timed, and each keeps its own time. */
static void test_two_sizes(void **state)
{
    static const nb_override overrides[] = {
        {"problems", "gaussian(n=1500, d=64)"}, {"landmarks", "64"},    {"strategies", "kmeans"}, {"cores", "svd"},
        {"factors", "nystromformer"},           {"metrics", "[error]"}, {"trials", "2"}};
    nb_plan plan = plan_with(sizeof overrides / sizeof *overrides, overrides, *state);
    const bool pending[] = {true, true};
    nb_prediction f;
    assert_int_equal(plan.row_count, 2);
    assert_ok(*state, nb_prediction_make(&plan, pending, NULL, true, &f, *state));
    const nb_pick_times *low = f.low.own, *likely = f.likely.own, *high = f.high.own;
    assert_int_equal(likely->count, 2);
    assert_true(likely->items[0].n < likely->items[1].n && likely->items[1].n == 1500);
    assert_at_most(3 * likely->items[0].seconds, likely->items[1].seconds);
    for (int i = 0; i < likely->count; i++) {
        assert_close(low->items[i].seconds * NB_PREDICTION_MARGIN, likely->items[i].seconds, 1e-9);
        assert_close(high->items[i].seconds / NB_PREDICTION_MARGIN, likely->items[i].seconds, 1e-9);
    }
}

/* The high end is that of the machine's load, which all its CPUs share. */
static void test_load(void **state)
{
    static const nb_override overrides[] = {{"problems", "[\"gaussian(n=300, d=8)\", \"gaussian(n=400, d=8)\"]"},
                                            {"landmarks", "8"},
                                            {"strategies", "uniform"},
                                            {"cores", "svd"},
                                            {"factors", "nystromformer"},
                                            {"metrics", "[error]"},
                                            {"trials", "1"}};
    static const struct {
        double load;
        int cpus, workers;
        double slower;
    } known[] = {{0, 2, 2, 1}, {1, 4, 2, 1}, {2, 4, 2, 1}, {3, 4, 2, 1.25}, {6, 2, 2, 4}, {2, 1, 2, 2}, {2, 1, 1, 3}};
    nb_plan plan = plan_with(sizeof overrides / sizeof *overrides, overrides, *state);
    bool pending[] = {true, true};
    assert_int_equal(plan.row_count, 2);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        nb_prediction f = {.plan = &plan,
                           .low = {.machine = 1},
                           .likely = {.machine = 1},
                           .high = {.machine = 1},
                           .load = known[i].load,
                           .cpus = known[i].cpus};
        nb_predicted predicted;
        assert_ok(*state, nb_predict(&f, pending, known[i].workers, &predicted, *state));
        assert_close(predicted.high_s / predicted.low_s, known[i].slower, 1e-12);
        assert_close(predicted.wall_s / predicted.low_s, sqrt(known[i].slower), 1e-12);
    }
}

/* A run is refused where it would take too long with the machine to itself. */
static void test_max_hours(void **state)
{
    nb_preview o = {.times = {.low_s = 30, .wall_s = 400, .high_s = 5000, .workers = 2}};
    char text[NB_TIME_RANGE];
    (void)state;
    assert_int_equal(nb_preview_check(&nb_command_run, &o, 0.01), NB_GO_ON);
    assert_string_equal(nb_preview_time(&o.times, 1, text), "30 s to 1 h 23 min");
    assert_string_equal(nb_preview_time(&o.times, 0.1, text), "3.0 s to 8 min 20 s");
    o.times.low_s = 37;
    assert_int_equal(nb_preview_check(&nb_command_run, &o, 0.01), NB_EXIT_USAGE);
    o.times.high_s = 37.2;
    assert_string_equal(nb_preview_time(&o.times, 1, text), "37 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_machine),   test_with_ctx(test_growth),
                                       test_with_ctx(test_picks),     test_with_ctx(test_load),
                                       test_with_ctx(test_max_hours), test_with_ctx(test_two_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
