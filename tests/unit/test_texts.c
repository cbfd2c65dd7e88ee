/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thousand texts keep the numbers of their first appearance, and each is kept once. */
#include "testing.h"

#include "base/texts.h"

enum { MANY = 1000 };

static void test_numbers(void **state)
{
    nb_ctx *ctx = *state;
    nb_texts texts;
    char text[32];
    int number;
    nb_texts_init(&texts, ctx);
    for (int i = 0; i < 3 * MANY; i++) {
        snprintf(text, sizeof text, "text %d", i * 7 % MANY);
        assert_ok(ctx, nb_texts_number(&texts, text, &number));
        assert_int_equal(number, i % MANY);
        assert_string_equal(texts.items[number], text);
        assert_ptr_not_equal(texts.items[number], text);
    }
    assert_int_equal(texts.count, MANY);
    assert_ok(ctx, nb_texts_number(&texts, "", &number));
    assert_int_equal(number, MANY);
}

static void test_memory(void **state)
{
    nb_ctx *ctx = *state;
    nb_texts texts;
    int number;
    for (long k = 1; k <= 4; k++) {
        nb_texts_init(&texts, ctx);
        nb_ctx_fail_alloc(ctx, k);
        assert_int_equal(nb_texts_number(&texts, "text", &number), NB_ENOMEM);
        nb_error_clear(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_numbers), test_with_ctx(test_memory)};
    return run_all(tests);
}
