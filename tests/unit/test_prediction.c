/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The speed of the machine, by a clock that other programs move: the wall's clock jumps at any time by up to a tenth of
 * a second, the process's own does not. The linker leads clock_gettime through here. And the predicted range. */
#include "planning.h"

#include "commands/experiment.h"

extern const nb_command nb_command_run;
#include "run/prediction.h"
#include "config/config.h"

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
    nb_machine_speed quiet, noisy;
    for (int i = 0; i < 10; i++) {
        wall.state = (uint64_t)i;
        wall.noisy = false;
        assert_ok(*state, nb_measure_machine(&quiet, *state));
        wall.noisy = true;
        assert_ok(*state, nb_measure_machine(&noisy, *state));
        wall.noisy = false;
        /* by the wall 5 ms would be up to 100; 3: caches and CPUs that others use too */
        assert_at_most(noisy.rate, 3 * quiet.rate);
        assert_at_most(quiet.rate, 3 * noisy.rate);
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
        nb_machine_speed machine = {.rate = NB_USUAL_RATE, .load = known[i].load, .cpus = known[i].cpus};
        nb_predicted predicted;
        assert_ok(*state, nb_predict(&plan, pending, machine, known[i].workers, &predicted, *state));
        double low = predicted.low_s * NB_PREDICTION_MARGIN, high = predicted.high_s / NB_PREDICTION_MARGIN;
        assert_close(high / low, known[i].slower, 1e-12);
        assert_close(predicted.wall_s / low, sqrt(known[i].slower), 1e-12);
    }
}

/* Multiplications go with the rate, given time does not; rows that took longer than predicted tell a lower rate. */
static void test_rate(void **state)
{
    const nb_cost cost = {.multiplications = 6e9, .given_s = 2};
    nb_predicted p = {
        .total = {.multiplications = 40e9, .given_s = 1}, .total_s = 5, .wall_s = 2.5}; /* 10e9 a second */
    (void)state;
    assert_close(nb_cost_s(&cost, 3e9), 4, 1e-12);
    assert_close(nb_rate_of(&p, 1, 2.5), 10e9, 1);
    assert_close(nb_rate_of(&p, 1, 4.5), 5e9, 1);
    assert_close(nb_rate_of(&p, 0.5, 1.25), 10e9, 1);
    p.total.given_s = 3;
    assert_true(isnan(nb_rate_of(&p, 1, 2.5))); /* mostly given */
}

/* A run is refused where it would take too long with the machine to itself. */
static void test_max_hours(void **state)
{
    nb_preview o = {.times = {.low_s = 30, .wall_s = 400, .high_s = 5000, .workers = 2}};
    char text[NB_TIME_RANGE];
    (void)state;
    assert_ok(*state, nb_preview_check(&nb_command_run, &o, 0.01, *state));
    tell("30 s to 5000 s", nb_preview_time(&o.times, 1, text));
    tell("3 s to 500 s", nb_preview_time(&o.times, 0.1, text));
    o.times.low_s = 37;
    assert_int_equal(nb_preview_check(&nb_command_run, &o, 0.01, *state), NB_EINVAL);
    nb_error_clear(*state);
    o.times.high_s = 37.2;
    assert_string_equal(nb_preview_time(&o.times, 1, text), "37 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_machine), test_with_ctx(test_load), test_with_ctx(test_rate),
                                       test_with_ctx(test_max_hours)};
    return run_all(tests);
}
