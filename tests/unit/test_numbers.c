/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as text: what is one, what is none, and what lies outside of the range. Known by hand. */
#include "testing.h"

#include "base/numbers.h"
#include "base/numerals.h"

#include <limits.h>
#include <math.h>

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

static void test_numerals(void **state)
{
    (void)state;
    assert_string_equal(nb_shown("%.2f", -0.004).text, "0.00");
    assert_string_equal(nb_shown("%.2f", -0.006).text, "-0.01");
    assert_string_equal(nb_shown("%.3g", -INFINITY).text, "-inf");
    assert_string_equal(nb_numeral(2.385).text, "2.38"); /* below it in binary */
    assert_string_equal(nb_numeral(-0.0).text, "0");
    assert_string_equal(nb_numeral(NAN).text, "-");
    assert_string_equal(nb_numeral(INFINITY).text, "infinite");
    assert_string_equal(nb_numeral(-INFINITY).text, "-infinite");
    assert_string_equal(nb_brief(0.0023851).text, "0.00239");
    assert_string_equal(nb_brief(23851).text, "2.4e+04");
}

/* The digits tell on which side of an edge the end lies. */
static void test_ends_of_intervals(void **state)
{
    (void)state;
    assert_string_equal(nb_ratio_bound("%.3g", 0.9876).text, "0.988");
    assert_string_equal(nb_ratio_bound("%.3g", 0.99987).text, "0.9999");
    assert_string_equal(nb_ratio_bound("%.3g", 1.0000004).text, "1.0000004");
    assert_string_equal(nb_ratio_bound("%.3g", 1).text, "1");
    assert_string_equal(nb_bound("%.3g", 0.49996, 0.5, NAN).text, "0.49996");
    assert_string_equal(nb_bound("%.3g", 0.49996, NAN, 1).text, "0.5");
    assert_string_equal(nb_bound("%.3g", 1.9996, 0.5, 2).text, "1.9996");
    assert_string_equal(nb_bound("%.3g", 0.8004, 0.2, 0.8).text, "0.8004"); /* not within 0.2 to 0.8 */
    assert_string_equal(nb_bound("%.3g", 0.8004, 0.5, INFINITY).text, "0.8");
    assert_string_equal(nb_ratio_bound("%.4f", 0.99999).text, "0.99999");
    assert_string_equal(nb_ratio_bound("%.3g", 1e9).text, "1e+09");
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
        cmocka_unit_test(test_numerals),
        cmocka_unit_test(test_ends_of_intervals),
    };
    return run_all(tests);
}
