/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_scripts.c - what figures share: intervals of the median against the table of the sign test, scripts. */
#include "testing.h"

#include "base/files.h"
#include "base/scratch.h"
#include "report/scripts.h"
#include "statistics/ranks.h"

#include <math.h>
#include <string.h>

/* k of the interval from the k-th to the (n + 1 - k)-th value: David & Nagaraja, Order
 * Statistics, 2003, section 7.1; 0: no such interval has 95 %. Each can be checked by
 * hand: 2 P(Binomial(n, 1/2) < k) <= 0.05. */
static void test_median_interval(void **state)
{
    static const int table[][2] = {{1, 0},  {5, 0},  {6, 1},  {8, 1},  {9, 2},   {10, 2},
                                   {12, 3}, {15, 4}, {20, 6}, {25, 8}, {100, 40}};
    double values[100], low, high;
    (void)state;
    for (int i = 0; i < 100; i++) values[i] = i + 1;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        int n = table[t][0], k = table[t][1];
        nb_median_interval(n, values, &low, &high);
        if (k == 0) {
            assert_true(isnan(low) && isnan(high));
        } else {
            assert_true(low == k);
            assert_true(high == n + 1 - k);
        }
    }
    nb_median_interval(0, values, &low, &high);
    assert_true(isnan(low) && isnan(high));
}

static void write_text(const char *path, const char *mode, const char *text)
{
    FILE *out = fopen(path, mode);
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static const char *first_line(nb_ctx *ctx, const char *path)
{
    const char *text;
    assert_ok(ctx, nb_read_file(path, &text, ctx));
    return nb_format(ctx, "%.*s", (int)strcspn(text, "\n"), text);
}

/* What somebody has written is in the script or beside it, and never gone. */
static void test_edited_scripts_are_kept(void **state)
{
    const char *folder, *path, *aside, *second;
    assert_ok(*state, nb_temporary_folder(&folder, *state));
    path = nb_format(*state, "%s/x.gp", folder);
    aside = nb_format(*state, "%s.edited", path);
    second = nb_format(*state, "%s.edited-2", path);
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 1\n", *state));
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 2\n", *state)); /* nobody's */
    assert_string_equal(first_line(*state, path), "plot 2");
    assert_false(nb_is_file(aside));
    write_text(path, "a", "set title 'mine'\n"); /* below the seal */
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 2\n", *state));
    const char *text;
    assert_ok(*state, nb_read_file(path, &text, *state));
    assert_non_null(strstr(text, "mine"));
    assert_false(nb_is_file(aside));
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 3\n", *state)); /* another figure now */
    assert_string_equal(first_line(*state, path), "plot 3");
    assert_ok(*state, nb_read_file(aside, &text, *state));
    assert_non_null(strstr(text, "mine"));
    write_text(path, "w", "plot 'yours'\n"); /* without a seal */
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 3\n", *state));
    assert_string_equal(first_line(*state, path), "plot 3");
    assert_string_equal(first_line(*state, second), "plot 'yours'");
    write_text(path, "w", "plot 3\n"); /* as an older program wrote it */
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 3\n", *state));
    assert_false(nb_is_file(nb_format(*state, "%s.edited-3", path)));
}

/* A script that loads itself, or one that loads it, is copied once. */
static void test_scripts_that_load_each_other(void **state)
{
    const char *folder;
    assert_ok(*state, nb_temporary_folder(&folder, *state));
    assert_ok(*state, nb_plot_copy_script(folder, "curves.gp", *state));
    write_text(nb_format(*state, "%s/common.gp", folder), "a", "load \"common.gp\"\nload \"curves.gp\"\n"); /* kept */
    assert_ok(*state, nb_plot_copy_script(folder, "curves.gp", *state));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_median_interval),
                                       test_with_ctx(test_edited_scripts_are_kept),
                                       test_with_ctx(test_scripts_that_load_each_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
