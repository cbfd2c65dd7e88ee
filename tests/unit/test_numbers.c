/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as text: what is one, what is none, and what lies outside of the range. Known by hand. */
#include "testing.h"

#include "base/numbers.h"

#include <limits.h>

static void test_integers(void **state)
{
    static const struct {
        const char *text;
        long long lo, hi, number;
    } known[] = {{"0", 0, 0, 0},
                 {"-17", -17, 5, -17},
                 {"+8", 1, 9, 8},
                 {"007", 7, 7, 7},
                 {"9223372036854775807", LLONG_MIN, LLONG_MAX, LLONG_MAX},
                 {"-9223372036854775808", LLONG_MIN, LLONG_MAX, LLONG_MIN}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        long long number = 4711;
        if (!nb_parse_integer(known[i].text, known[i].lo, known[i].hi, &number)) fail_msg("%s", known[i].text);
        assert_true(number == known[i].number);
    }
}

static void test_no_integers(void **state)
{
    static const char *const texts[] = {"",    " ",
                                        "-",   "+",
                                        "--1", "+-1",
                                        " 3",  "3 ",
                                        "3x",  "x3",
                                        "3.0", "1e3",
                                        "0x3", "3\n",
                                        "3-",  "9223372036854775808",
                                        "nan", "-9223372036854775809"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        long long number = 4711;
        if (nb_parse_integer(texts[i], LLONG_MIN, LLONG_MAX, &number)) fail_msg("'%s' is %lld", texts[i], number);
        assert_true(number == 4711);
    }
}

static void test_ranges(void **state)
{
    int number = 4711;
    double real = 2.385;
    (void)state;
    assert_false(nb_parse_int("4", 5, 7, &number));
    assert_false(nb_parse_int("8", 5, 7, &number));
    assert_false(nb_parse_int("4294967302", 5, 7, &number)); /* 6, cut to 32 bits */
    assert_int_equal(number, 4711);
    assert_true(nb_parse_int("5", 5, 7, &number) && number == 5);
    assert_true(nb_parse_int("7", 5, 7, &number) && number == 7);
    assert_false(nb_parse_real("0.0999", 0.1, 7, &real));
    assert_false(nb_parse_real("7.0001", 0.1, 7, &real));
    assert_true(real == 2.385);
    assert_true(nb_parse_real("7", 0.1, 7, &real) && real == 7);
}

static void test_reals(void **state)
{
    static const struct {
        const char *text;
        double number;
    } known[] = {{"2.385", 2.385}, {"-.5", -0.5}, {"3.", 3}, {"+1e-3", 0.001}, {"1E6", 1e6}, {"1e-400", 0}, {"42", 42}};
    static const char *const none[] = {"",   " ",     ".",   "e",    "1e",  "1e+",      " 1",    "1 ",    "1,5",
                                       "1x", "0x1p3", "inf", "-inf", "nan", "infinity", "1e400", "1.2.3", "1-2"};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double number = -1;
        if (!nb_parse_real(known[i].text, -1e9, 1e9, &number)) fail_msg("%s", known[i].text);
        assert_true(number == known[i].number);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        double number = 2.385;
        if (nb_parse_real(none[i], -1e300, 1e300, &number)) fail_msg("'%s' is %g", none[i], number);
        assert_true(number == 2.385);
    }
}

static void test_where_an_integer_ends(void **state)
{
    long long number = 4711;
    const char *text = "12/40";
    (void)state;
    assert_ptr_equal(nb_integer_at(text, 0, 99, &number), text + 2);
    assert_int_equal(number, 12);
    assert_null(nb_integer_at(text, 0, 11, &number));
    assert_null(nb_integer_at("/40", 0, 99, &number));
    assert_int_equal(number, 12);
}

static void test_shortest_text(void **state)
{
    static const struct {
        double number;
        const char *text;
    } known[] = {
        {0.65, "0.65"}, {60, "60"}, {1e-9, "1e-09"}, {0.1 + 0.2, "0.30000000000000004"}, {-2.5e300, "-2.5e+300"}};
    char text[NB_REAL_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        nb_real_text(known[i].number, text);
        assert_string_equal(text, known[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_no_integers),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_where_an_integer_ends),
        cmocka_unit_test(test_shortest_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
