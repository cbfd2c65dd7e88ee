/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_scripts.c - what figures share: intervals of the median against the table of the sign test, scripts. */
#include "testing.h"

#include "base/files.h"
#include "base/scratch.h"
#include "show/scripts.h"
#include "statistics/ranks.h"

#include <math.h>
#include <string.h>

/* k of the interval from the k-th to the (n + 1 - k)-th value: David & Nagaraja, Order
 * Statistics, 2003, section 7.1; 0: no such interval has the confidence. Each can be checked
 * by hand: 2 P(Binomial(n, 1/2) < k) <= 1 - confidence. */
static void test_median_interval(void **state)
{
    static const struct {
        double confidence;
        int n, k;
    } table[] = {{0.95, 1, 0},  {0.95, 5, 0},  {0.95, 6, 1},  {0.95, 8, 1},   {0.95, 9, 2}, {0.95, 10, 2},
                 {0.95, 12, 3}, {0.95, 15, 4}, {0.95, 20, 6}, {0.95, 25, 8},  {0.9, 5, 1},  {0.9, 9, 2},
                 {0.99, 6, 0},  {0.99, 8, 1},  {0.99, 12, 2}, {0.95, 100, 40}};
    double values[100], low, high;
    (void)state;
    for (int i = 0; i < 100; i++) values[i] = i + 1;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        int n = table[t].n, k = table[t].k;
        nb_median_interval(n, values, table[t].confidence, &low, &high);
        if (k == 0) {
            assert_true(isnan(low) && isnan(high));
        } else {
            assert_true(low == k);
            assert_true(high == n + 1 - k);
        }
    }
    nb_median_interval(0, values, 0.95, &low, &high);
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

static bool is_in(nb_ctx *ctx, const char *text, const char *path)
{
    const char *all;
    assert_ok(ctx, nb_read_file(path, &all, ctx));
    return strstr(all, text) != NULL;
}

/* What somebody has written stays, and the program's own is beside it until it is taken over. */
static void test_edited_scripts_are_kept(void **state)
{
    const char *folder, *path, *offered;
    assert_ok(*state, nb_temporary_folder(&folder, *state));
    path = nb_format(*state, "%s/x.gp", folder);
    offered = nb_format(*state, "%s.new", path);
    assert_ok(*state, nb_plot_write_script(folder, "other.gp", "plot 0\n", *state));
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 1\n", *state));
    assert_ok(*state, nb_plot_write_script(folder, "another.gp", "plot 9\n", *state));
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 2\n", *state)); /* nobody's */
    const char *text;
    assert_ok(*state, nb_read_file(path, &text, *state));
    assert_string_equal(text, "plot 2\n");
    assert_false(nb_is_file(offered));
    write_text(path, "a", "set title 'mine'\n");
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 2\n", *state));
    assert_true(is_in(*state, "mine", path));
    assert_false(nb_is_file(offered));
    for (int i = 0; i < 2; i++) {
        assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 3\n", *state)); /* another figure now */
        assert_true(is_in(*state, "mine", path));
        assert_string_equal(first_line(*state, offered), "plot 3");
    }
    assert_int_equal(remove(offered), 0);
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 3\n", *state)); /* dealt with */
    assert_true(is_in(*state, "mine", path));
    assert_false(nb_is_file(offered));
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 4\n", *state));
    assert_int_equal(rename(offered, path), 0);
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "plot 5\n", *state)); /* nobody's again */
    assert_string_equal(first_line(*state, path), "plot 5");
    assert_false(nb_is_file(offered));
    assert_ok(*state, nb_plot_write_script(folder, "other.gp", "plot 6\n", *state)); /* as other scripts still are */
    assert_string_equal(first_line(*state, nb_format(*state, "%s/other.gp", folder)), "plot 6");
}

/* A script that the folder's digests do not have counts as edited: it stays where its figure is gone, too. */
static void test_unknown_scripts_are_kept(void **state)
{
    const char *folder, *path, *offered;
    assert_ok(*state, nb_temporary_folder(&folder, *state));
    path = nb_format(*state, "%s/x.gp", folder);
    offered = nb_format(*state, "%s.new", path);
    write_text(path, "w", "# draws x; yours\n");
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "# draws x; ours\n", *state));
    assert_string_equal(first_line(*state, path), "# draws x; yours");
    assert_string_equal(first_line(*state, offered), "# draws x; ours");
    assert_int_equal(remove(nb_format(*state, "%s/.scripts.sha256", folder)), 0);
    assert_ok(*state, nb_plot_prune(folder, "x", (const char *const[]){NULL}, 0, NULL, *state));
    assert_true(nb_is_file(path));
    assert_int_equal(remove(path), 0);
    assert_ok(*state, nb_plot_write_script(folder, "x.gp", "# draws x; ours\n", *state));
    assert_ok(*state, nb_plot_prune(folder, "x", (const char *const[]){NULL}, 0, NULL, *state));
    assert_false(nb_is_file(path));
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_interval), test_with_ctx(test_edited_scripts_are_kept),
        test_with_ctx(test_unknown_scripts_are_kept), test_with_ctx(test_scripts_that_load_each_other)};
    return run_all(tests);
}
