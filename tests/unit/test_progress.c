/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people are shown of a run's progress: quantities, the line, what is left,
 * and the share of the predicted cost. */
#include "testing.h"

#include "commands/experiment.h"

static void test_durations(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } known[] = {{0, "0.0 s"},       {0.04, "0.0 s"},   {0.06, "0.1 s"},      {2.385, "2.4 s"},
                 {9.94, "9.9 s"},    {9.96, "10 s"},    {59.4, "59 s"},       {59.6, "1 min"},
                 {60, "1 min"},      {61, "1 min 1 s"}, {185.2, "3 min 5 s"}, {3569, "59 min 29 s"},
                 {3599.6, "1 h"},    {3600, "1 h"},     {7800, "2 h 10 min"}, {84600, "23 h 30 min"},
                 {86399, "1 d"},     {86400, "1 d"},    {90000, "1 d 1 h"},   {604800, "7 d"},
                 {INFINITY, "inf s"}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[NB_QUANTITY];
        assert_string_equal(nb_duration_text(known[i].seconds, text), known[i].text);
    }
}

static void test_bytes(void **state)
{
    static const struct {
        double bytes;
        const char *text;
    } known[] = {{0, "0.0 KiB"},
                 {2385, "2.3 KiB"},
                 {850 * 0x1p10, "850 KiB"},
                 {999.4 * 0x1p10, "999 KiB"},
                 {999.6 * 0x1p10, "1.0 MiB"},
                 {120.4 * 0x1p20, "120 MiB"},
                 {2.385 * 0x1p30, "2.4 GiB"},
                 {5e4 * 0x1p40, "50000 TiB"}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[NB_QUANTITY];
        assert_string_equal(nb_bytes_text(known[i].bytes, text), known[i].text);
    }
}

static void test_left(void **state)
{
    nb_progress_state s = {.predicted_s = 40};
    (void)state;
    assert_close(nb_progress_left_s(&s), 40, 0);
    s.share = 0.1;
    s.elapsed_s = 4; /* as predicted */
    assert_close(nb_progress_left_s(&s), 36, 1e-12);
    s.elapsed_s = 8; /* half as fast: the mean of 36 and 72 */
    assert_close(nb_progress_left_s(&s), 54, 1e-12);
    s.share = 0.5; /* by now the pace alone tells */
    s.elapsed_s = 50;
    assert_close(nb_progress_left_s(&s), 50, 1e-12);
    s.since_s = 20; /* since the last row: what it said runs down */
    s.elapsed_s = 70;
    assert_close(nb_progress_left_s(&s), 30, 1e-12);
    s.since_s = 90; /* and is never less than nothing */
    s.elapsed_s = 140;
    assert_close(nb_progress_left_s(&s), 0, 0);
    s.since_s = 0;
    s.share = 1;
    assert_close(nb_progress_left_s(&s), 0, 0);
}

static void test_line(void **state)
{
    char text[NB_PROGRESS_LINE];
    nb_progress_state s = {.scenes = 10,
                           .scenes_done = 3,
                           .rows = 100,
                           .rows_done = 30,
                           .failed = 2,
                           .share = 0.4,
                           .elapsed_s = 40,
                           .predicted_s = 100};
    (void)state;
    nb_progress_text(&s, 0, text);
    tell("30 of 100 rows", text);
    s.failed = 0;
    nb_progress_text(&s, 100, text);
    tell("none has failed, 100 columns", text);
    s.share = 0.9999; /* not all: not 100 % */
    nb_progress_text(&s, 0, text);
    assert_true(strncmp(text, "99 %", 4) == 0);
    s = (nb_progress_state){.scenes = 10,
                            .scenes_done = 10,
                            .rows = 100,
                            .rows_done = 100,
                            .share = 0.98,
                            .elapsed_s = 47,
                            .predicted_s = 41};
    nb_progress_text(&s, 100, text);
    tell("all, 100 columns", text);
    s = (nb_progress_state){.scenes = INT_MAX,
                            .scenes_done = INT_MAX,
                            .rows = INT_MAX,
                            .rows_done = INT_MAX - 1,
                            .failed = INT_MAX,
                            .share = 7,
                            .predicted_s = INFINITY};
    nb_progress_text(&s, 100, text); /* the longest there is */
    assert_true(strlen(text) < NB_PROGRESS_LINE - 1);
}

/* At no width is a line longer, and what is left out is what matters least. */
static void test_widths(void **state)
{
    char text[NB_PROGRESS_LINE];
    nb_progress_state s = {.scenes = 5200,
                           .scenes_done = 5100,
                           .rows = 1000000,
                           .rows_done = 990000,
                           .failed = 12,
                           .share = 0.9,
                           .elapsed_s = 90,
                           .predicted_s = 100};
    (void)state;
    for (int width = 1; width < NB_PROGRESS_LINE; width++) {
        nb_progress_text(&s, width, text);
        assert_true(strlen(text) <= (size_t)width);
    }
    nb_progress_text(&s, 90, text);
    tell("90 columns", text);
    nb_progress_text(&s, 79, text);
    tell("79 columns", text);
    nb_progress_text(&s, 50, text);
    tell("50 columns", text);
    nb_progress_text(&s, 49, text);
    tell("49 columns", text);
    nb_progress_text(&s, 30, text);
    tell("30 columns", text);
    nb_progress_text(&s, 6, text);
    tell("6 columns", text);
}

/* Two units, the second three times as dear, with rows that are not to be run. */
static void test_share(void **state)
{
    nb_unit units[] = {{0, 2}, {2, 6}};
    double unit_s[] = {1, 3};
    bool pending[] = {true, true, false, true, true, true};
    nb_plan plan = {.row_count = 6};
    nb_predicted predicted = {.unit_count = 2, .units = units, .unit_s = unit_s, .total_s = 4, .wall_s = 4};
    nb_progress p = {.quiet = true};
    assert_ok(*state, nb_progress_init(&p, &predicted, &plan, pending, *state));
    assert_int_equal(p.state.rows, 5);
    nb_progress_row(&p, 4, "ok");
    nb_progress_show(&p);
    assert_close(p.state.share, 0.25, 1e-15);
    nb_progress_row(&p, 0, "failed");
    nb_progress_row(&p, 1, "skipped");
    nb_progress_show(&p);
    assert_close(p.state.share, 0.5, 1e-15);
    assert_int_equal(p.state.scenes_done, 1);
    assert_int_equal(p.state.failed, 1);
    nb_progress_row(&p, 3, "crashed");
    nb_progress_row(&p, 5, "ok");
    nb_progress_show(&p);
    assert_close(p.state.share, 1, 0);
    assert_int_equal(p.state.scenes_done, 2);
    assert_int_equal(p.state.rows_done, 5);
    assert_int_equal(p.state.failed, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_durations), test_with_ctx(test_bytes),
                                       test_with_ctx(test_left),      test_with_ctx(test_line),
                                       test_with_ctx(test_widths),    test_with_ctx(test_share)};
    return run_all(tests);
}
