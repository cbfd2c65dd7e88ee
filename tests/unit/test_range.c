/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges of integers, alone and inside a spec. What is expected is counted by hand. */
#include "testing.h"

#include "base/range.h"
#include "components/spec.h"

static nb_range parse(nb_ctx *ctx, const char *text)
{
    nb_range r = {.first = 0};
    const char *wrong = NULL;
    assert_ok(ctx, nb_range_parse(text, &r, &wrong, ctx));
    if (wrong) fail_msg("%s", wrong);
    return r;
}

static void assert_items(nb_ctx *ctx, const char *text, int count, const long long *items)
{
    nb_range r = parse(ctx, text);
    assert_int_equal(nb_range_count(&r), count);
    for (int i = 0; i < count; i++) {
        if (nb_range_item(&r, i) != items[i])
            fail_msg("%s: item %d is %lld, expected %lld", text, i, nb_range_item(&r, i), items[i]);
        assert_true(nb_range_holds(&r, items[i]));
    }
    assert_false(nb_range_holds(&r, items[0] - 1));
    assert_false(nb_range_holds(&r, items[count - 1] + 1));
    assert_int_equal(r.last, items[count - 1]);
}

static void test_items(void **state)
{
    assert_items(*state, "8", 1, (long long[]){8});
    assert_items(*state, "2^5", 1, (long long[]){32});
    assert_items(*state, "7^0", 1, (long long[]){1});
    assert_items(*state, "3..6", 4, (long long[]){3, 4, 5, 6});
    assert_items(*state, " 8 .. 24  step 8 ", 3, (long long[]){8, 16, 24});
    assert_items(*state, "8..23 step 8", 2, (long long[]){8, 16});
    assert_items(*state, "5..5", 1, (long long[]){5});
    assert_items(*state, "-2..2 step 2", 3, (long long[]){-2, 0, 2});
    assert_items(*state, "2^3..2^6", 4, (long long[]){8, 16, 32, 64});
    assert_items(*state, "3^0..3^3", 4, (long long[]){1, 3, 9, 27});
    assert_items(*state, "2^61..2^62", 2, (long long[]){1LL << 61, 1LL << 62});
}

static void test_what_is_between_is_not_held(void **state)
{
    nb_range stepped = parse(*state, "8..64 step 8"), powers = parse(*state, "2^3..2^6");
    assert_false(nb_range_holds(&stepped, 12));
    assert_false(nb_range_holds(&powers, 24));
}

static void test_the_longest(void **state)
{
    nb_range r = parse(*state, "0..9223372036854775807");
    assert_true(nb_range_count(&r) == 9223372036854775807);
    assert_true(nb_range_holds(&r, 9223372036854775807));
}

static void test_mistakes(void **state)
{
    static const char *const texts[] = {
        "",
        "x",
        "8..",
        "..8",
        "8..16..24",
        "8..16 step",
        "8..16 step x",
        "8 step 2",
        "1.5..3",
        "2^-1",
        "1^3",
        "0^3..0^4",
        "64..8",
        "2^6..2^3",
        "8..64 step 0",
        "8..64 step -8",
        "9223372036854775808",
        "1..9223372036854775808",
        "1..2 step 9223372036854775808",
        "2^63",
        "2^3..2^99999",
        "-9223372036854775807..9223372036854775807",
        "8..2^6",
        "2^3..3^6",
        "2^3..2^6 step 2",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        nb_range r;
        const char *wrong = NULL;
        assert_ok(*state, nb_range_parse(texts[i], &r, &wrong, *state));
        if (!wrong) fail_msg("'%s' is no mistake", texts[i]);
        tell(texts[i], wrong);
    }
}

static void test_like(void **state)
{
    (void)state;
    assert_true(nb_range_like("1..4"));
    assert_true(nb_range_like("-1..4"));
    assert_true(nb_range_like("2^5"));
    assert_true(nb_range_like("2^3..2^5"));
    assert_true(nb_range_like("1.5..3"));
    assert_false(nb_range_like("8"));
    assert_false(nb_range_like("1e-3"));
    assert_false(nb_range_like("../file"));
    assert_false(nb_range_like("a..b"));
    assert_false(nb_range_like("1..x"));
    assert_false(nb_range_like("2^-3"));
    assert_false(nb_range_like(""));
    assert_false(nb_range_like("-"));
}

static nb_choices choices_of(nb_ctx *ctx, const char *text, nb_mistakes *mistakes)
{
    nb_choices choices = {.count = 0};
    *mistakes = (nb_mistakes){.ctx = ctx};
    assert_ok(ctx, nb_choices_add(&choices, &nb_strategies, text, (nb_place){"f", 1, 1}, mistakes, ctx));
    return choices;
}

static void test_in_a_spec(void **state)
{
    nb_mistakes mistakes;
    nb_choices four = choices_of(*state, "kmeans(restarts=1..4)", &mistakes);
    assert_int_equal(four.count, 4);
    assert_string_equal(four.items[2].label, "kmeans(restarts=3)");
    nb_choices six = choices_of(*state, "kmeans( restarts = [2^0..2^2, 5..9 step 2] )", &mistakes);
    assert_int_equal(mistakes.count, 0);
    assert_int_equal(six.count, 6);
    assert_string_equal(six.items[5].label, "kmeans(restarts=9)");
    nb_choices product = choices_of(*state, "kmeans(restarts=1..3, iterations=10..20 step 10)", &mistakes);
    assert_int_equal(product.count, 6);
}

static void test_mistakes_in_a_spec(void **state)
{
    static const char *const texts[] = {
        "kmeans(restarts=4..1)",        "kmeans(restarts=1..4 step 0)",        "kmeans(restarts=0..4)",
        "kmeans(restarts=1..4000000)",  "kmeans(restarts=[1..9000, 1..9000])", "kmeans(restarts=1..4 step)",
        "kmeans(restarts=1..4 stop 2)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        nb_mistakes mistakes;
        choices_of(*state, texts[i], &mistakes);
        if (mistakes.count == 0) fail_msg("'%s' is no mistake", texts[i]);
        tell(texts[i], mistakes.texts[0]);
    }
}

/* A text that looks like a range is written with quotes, and so stays one text. */
static void test_a_text_like_a_range(void **state)
{
    nb_choice choice = choose(&nb_problems, "heads(file=\"1..4\")", *state), again;
    assert_non_null(strstr(choice.resolved, "\"1..4\""));
    assert_ok(*state, nb_choice_parse(&nb_problems, choice.resolved, &again, *state));
    assert_string_equal(choice.resolved, again.resolved);
}

/* Where one is wanted, a list of two is too many; each of the two is written with all digits of its options. */
static void test_one_and_parts(void **state)
{
    static const char text[] = "svd(rcond=[0.12345678, 0.2])";
    nb_choice choice;
    nb_choice_part *parts;
    nb_mistakes mistakes = {.ctx = *state};
    int count;
    const char *written;
    assert_error(*state, nb_choice_parse(&nb_cores, text, &choice, *state), NB_EINVAL);
    assert_ok(*state,
              nb_choice_parts_read(&nb_cores, text, (nb_place){.source = NULL}, &count, &parts, &mistakes, *state));
    assert_int_equal(count, 2);
    assert_ok(*state, nb_choice_part_text(&parts[0], &written, *state));
    assert_string_equal(written, "svd(rcond=0.12345678)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_items),
        test_with_ctx(test_what_is_between_is_not_held),
        test_with_ctx(test_the_longest),
        test_with_ctx(test_mistakes),
        test_with_ctx(test_like),
        test_with_ctx(test_in_a_spec),
        test_with_ctx(test_mistakes_in_a_spec),
        test_with_ctx(test_a_text_like_a_range),
        test_with_ctx(test_one_and_parts),
    };
    return run_all(tests);
}
