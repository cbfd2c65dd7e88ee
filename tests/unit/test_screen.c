/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a terminal's line has room for: widths by counting characters, two columns for wide ones; a shortened text is
 * never wider than asked, and begins and ends as the whole. */
#include "testing.h"

#include "commands/screen.h"

#include <string.h>

static void test_columns(void **state)
{
    (void)state;
    assert_int_equal(nb_screen_columns(""), 0);
    assert_int_equal(nb_screen_columns("abc"), 3);
    assert_int_equal(nb_screen_columns("Nystr\303\266m"), 7);
    assert_int_equal(nb_screen_columns("\346\274\242\345\255\227"), 4); /* two Chinese characters */
}

static void test_shorten(void **state)
{
    static const struct {
        const char *text, *expected;
        int columns;
    } known[] = {{"abcdef", "abcdef", 6},  {"abcdefgh", "ab...gh", 7}, {"abcdefgh", "a...gh", 6},
                 {"abcdefgh", "a...h", 5}, {"abcdefgh", "abcd", 4},    {"abcdefgh", "a", 1},
                 {"abcdefgh", "", 0},      {"abcdefgh", "", -3},       {"\303\266\303\266\303\266", "\303\266", 1},
                 {"\346\274\242", "", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[64];
        nb_screen_shorten(known[i].text, known[i].columns, text, sizeof text);
        assert_string_equal(text, known[i].expected);
    }
}

static void test_shorten_fits(void **state)
{
    static const char whole[] =
        "heads(file=\346\274\242\345\255\227.safetensors) head 3, kmeans(restarts=4): \303\266\303\266";
    (void)state;
    for (int columns = 0; columns <= 80; columns++) {
        char text[sizeof whole];
        nb_screen_shorten(whole, columns, text, sizeof text);
        assert_true(nb_screen_columns(text) <= columns);
        assert_true(nb_screen_columns(text) >= (columns < nb_screen_columns(whole) ? columns - 2 : 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_shorten),
        cmocka_unit_test(test_shorten_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
