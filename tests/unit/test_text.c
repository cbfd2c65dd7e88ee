/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_text.c - UTF-8 as RFC 3629 has it: every sequence of one to three bytes against the standard
 * library's decoder, and the edges of what four bytes may be. */
#include "base/builder.h"
#include "base/last_words.h"
#include "base/shorten.h"
#include "base/words.h"
#include "base/text.h"
#include "testing.h"

#include <locale.h>
#include <wchar.h>
#include <wordexp.h>

/* By the C library; its locale's decoder takes what RFC 3629 does. */
static bool is_valid(const char *text)
{
    mbstate_t state = {0};
    return mbsrtowcs(NULL, &text, 0, &state) != (size_t)-1;
}

static void assert_sequence(const char *bytes)
{
    char clean[64];
    size_t length = nb_text_clean(bytes, "", clean, sizeof clean);
    assert_int_equal(length, strlen(clean));
    assert_true(is_valid(clean));
    for (const char *c = clean; *c; c++) assert_false(nb_text_is_control(c));
    assert_int_equal(nb_text_is_clean(bytes, ""), strcmp(clean, bytes) == 0);
    if (!is_valid(bytes)) assert_non_null(strstr(clean, "\\x"));
}

static void test_sequences(void **state)
{
    (void)state;
    if (!setlocale(LC_CTYPE, "C.UTF-8")) skip();
    for (int a = 1; a < 256; a++)
        for (int b = 0; b < 256; b++) assert_sequence((char[]){(char)a, (char)b, 0});
    for (int a = 0xe0; a < 0xf8; a++)
        for (int b = 0x70; b < 256; b++)
            for (int c = 0x70; c < 0xd0; c++) assert_sequence((char[]){(char)a, (char)b, (char)c, (char)0x80, 0});
    setlocale(LC_CTYPE, "C");
}

static void assert_clean(const char *text, const char *kept, const char *expected)
{
    char out[64];
    assert_int_equal(nb_text_clean(text, kept, out, sizeof out), strlen(expected));
    assert_string_equal(out, expected);
}

static void test_what_becomes_of_it(void **state)
{
    (void)state;
    assert_clean("", "", "");
    assert_clean("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80", "", "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80");
    assert_clean("caf\xe9", "", "caf\\xe9");
    assert_clean("a\nb\tc\x1b[31m\x7f", "\n", "a\nb\\x09c\\x1b[31m\\x7f");
    assert_clean("\xc2\x9b"
                 "5m \xc2\xa0",
                 "", "\\xc2\\x9b5m \xc2\xa0");
    assert_clean("\xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80", "", "\\xed\\xa0\\x80 \\xc0\\xaf \\xf4\\x90\\x80\\x80");
    assert_clean("\xe2\x82", "", "\\xe2\\x82");
}

/* Cut between characters, never within one or within what stands for a byte. */
static void test_too_long(void **state)
{
    char out[7];
    (void)state;
    assert_int_equal(nb_text_clean("abcd\x1b"
                                   "e",
                                   "", out, sizeof out),
                     9);
    assert_string_equal(out, "abcd");
    assert_int_equal(nb_text_clean("abcde\xc3\xafg", "", out, sizeof out), 8);
    assert_string_equal(out, "abcde");
    assert_int_equal(nb_text_clean("abc", "", NULL, 0), 3);
}

static void test_messages(void **state)
{
    nb_ctx *ctx = *state;
    char escapes[900];
    memset(escapes, '\x1b', sizeof escapes - 1);
    escapes[sizeof escapes - 1] = '\0';
    nb_error_set(ctx, NB_EIO, "", 0, "%s: \xe9\n", "file");
    assert_string_equal(nb_error_message(ctx), "file: \\xe9\\x0a");
    nb_error_clear(ctx);
    nb_error_set(ctx, NB_EIO, "", 0, "first %s last", escapes);
    assert_non_null(strstr(nb_error_message(ctx), "first \\x1b"));
    assert_non_null(strstr(nb_error_message(ctx), "\\x1b last"));
    assert_true(nb_text_is_clean(nb_error_message(ctx), ""));
    nb_error_clear(ctx);
}

/* Blanks count within quotes alone, and a quote behind a backslash is none. */
static void test_same(void **state)
{
    (void)state;
    assert_true(nb_text_same("", " "));
    assert_true(nb_text_same("f( a=1,b = 2)", "f(a=1, b=2) "));
    assert_true(nb_text_same("f(a=\"x y\") ", " f(a = \"x y\")"));
    assert_false(nb_text_same("f(a=\"x y\")", "f(a=\"xy\")"));
    assert_true(nb_text_same("\"a\\\"\" b", "\"a\\\"\"b"));
    assert_false(nb_text_same("\"a\\\" b\"", "\"a\\\"b\""));
    assert_false(nb_text_same("ab", "a"));
    assert_false(nb_text_same("a", "ab"));
}

/* NOLINT(wording): the words are the test's */
static void wrapped(int used, int indent, int width, const char *text, const char *expected)
{
    char *made = NULL;
    size_t bytes;
    FILE *out = open_memstream(&made, &bytes);
    assert_non_null(out);
    nb_text_wrap(out, used, indent, width, text);
    fclose(out);
    assert_string_equal(made, expected);
    free(made);
}

/* Values from Unicode's EastAsianWidth.txt and UnicodeData.txt, at the edges of ranges. */
static void test_columns(void **state)
{
    static const struct {
        const char *text;
        int columns;
    } known[] = {{"", 0},
                 {"a~\x7f", 3},
                 {"\u00e9\u00ad", 2},               /* the soft hyphen is drawn */
                 {"e\u0301\u0300o\u036f\u0370", 3}, /* combining marks, and the letter behind their block */
                 {"\u200b\u200d\u2060", 0},         /* formats */
                 {"\u10ff\u1100\u115f\u1160", 5},   /* Hangul: two initials, which are wide, and a vowel, which joins */
                 {"\u4e00\u9fff\ua000\uac00", 8},
                 {"\u303f\u3041", 3}, /* the one narrow sign among the ideographs' */
                 {"\uff01\uff60\uff61", 5},
                 {"\U0001f600", 2},
                 {"\U0002fffd\U0002fffe\U0003fffd", 5},
                 {"\u3099\U000e0100", 0},
                 {"\xff\xe4\xb8", 3}}; /* bytes of no character */
    (void)state;
    setlocale(LC_ALL, "C"); /* which must not matter */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (nb_text_columns(known[i].text) != known[i].columns)
            fail_msg("%zu: %d columns, not %d", i, nb_text_columns(known[i].text), known[i].columns);
    assert_int_equal(nb_text_columns_in("漢字", 3), 2);
    assert_int_equal(nb_text_columns_in("漢字", 100), 4);
}

static void test_cut(void **state)
{
    (void)state;
    assert_int_equal(nb_text_start("漢字", 3), 3);
    assert_int_equal(nb_text_start("漢字", 4), 6);
    assert_int_equal(nb_text_start("e\u0301x", 1), 3);
    assert_int_equal(nb_text_start("ab", 0), 0);
    assert_int_equal(nb_text_start("ab", -1), 0);
    assert_int_equal(nb_text_start("ab", 9), 2);
    assert_string_equal(nb_text_end("漢字", 3), "字");
    assert_string_equal(nb_text_end("ae\u0301x", 2), "e\u0301x");
    assert_string_equal(nb_text_end("ae\u0301x", 1), "x");
    assert_string_equal(nb_text_end("ab", 0), "");
    assert_string_equal(nb_text_end("ab", 9), "ab");
}

/* A character of two bytes is one column; a line may be as wide as the width, and a word wider. */
static void test_wrap(void **state)
{
    (void)state;
    wrapped(0, 0, 7, "one two three", "one two\nthree");
    wrapped(0, 0, 6, "one two three", "one\ntwo\nthree");
    wrapped(0, 0, 0, "one two three", "one two three");
    wrapped(0, 0, 7, "\xc3\xa9\xc3\xa9\xc3\xa9 two x", "\xc3\xa9\xc3\xa9\xc3\xa9 two\nx");
    wrapped(4, 2, 9, "one two three", "one\n  two\n  three");
    wrapped(2, 4, 9, "one two three", "one two\n    three");
    wrapped(0, 0, 3, "wider .x", "wider\n.x");
    wrapped(2, 2, 9, "", "");
    wrapped(4, 4, 12, "要約 方 法", "要約 方\n    法");
    assert_int_equal(nb_text_longest_word("a 要約 \xc3\xa9\xc3\xa9\xc3\xa9"), 4);
    assert_int_equal(nb_text_longest_word(" "), 0);
}

/* NOLINT(wording): the words are the test's */
static void hidden(const char *given, pid_t pid, const char *expected)
{
    char text[128];
    snprintf(text, sizeof text, "%s", given);
    nb_hide_chance(text, "/tmp/a", pid);
    assert_string_equal(text, expected);
}

/* A small number may be anything's, unless the text calls it a process's. */
static void test_lists(void **state)
{
    const char *const list[] = {"b", "a", "", NULL}, *const none[] = {NULL};
    (void)state;
    for (int i = 0; list[i]; i++) assert_int_equal(nb_text_index(list[i], list), i);
    assert_int_equal(nb_text_index("c", list), -1);
    assert_int_equal(nb_text_index("c", NULL), -1);
    assert_true(nb_text_among("a", list) && !nb_text_among("a", none));
    assert_int_equal(nb_text_count(list), 3);
    assert_int_equal(nb_text_count(none) + nb_text_count(NULL), 0);
    assert_true(nb_text_ends("a.md", ".md"));
    assert_false(nb_text_ends(".md", ".md") || nb_text_ends("md", ".md") || nb_text_ends("a.mdx", ".md"));
}

/* What the C library's shell makes of the line. */
static void test_shell_line(void **state)
{
    const char *const words[] = {"plain-1.0", "a b", "c'd", "$HOME `x` \\ \"y\"", "", "=z", NULL};
    nb_string line = NB_NO_TEXT;
    wordexp_t read;
    nb_ctx *ctx = *state;
    for (int i = 0; words[i]; i++) assert_ok(ctx, nb_shell_add(ctx, &line, words[i], NULL));
    assert_ok(ctx, nb_shell_add(ctx, &line, "two", "more", NULL));
    assert_int_equal(wordexp(line.text, &read, WRDE_NOCMD | WRDE_UNDEF), 0);
    assert_int_equal(read.we_wordc, 8);
    for (int i = 0; words[i]; i++) assert_string_equal(read.we_wordv[i], words[i]);
    assert_string_equal(read.we_wordv[7], "more");
    wordfree(&read);
}

static void test_chance(void **state)
{
    (void)state;
    hidden("process 4242: 4242 rows, 42420, 14242", 4242, "process #: # rows, 42420, 14242");
    hidden("Process 305, pid=305, [PID: 305]: 305 rows, pid 3050", 305,
           "Process #, pid=#, [PID: #]: 305 rows, pid 3050");
    hidden("305", 305, "305");
    hidden("/tmp/a/x, /tmp/ab at 0x7ffd12, 0x12", 7, "./x, /tmp/ab at 0x#, 0x12");
}

/* Many pieces take memory in proportion to their length together. */
static void test_pieces(void **state)
{
    enum { PIECES = 20000 };
    nb_string all = NB_NO_TEXT;
    assert_string_equal(all.text, "");
    assert_ok(*state, nb_append_item(&all, ", ", *state, "%s", ""));
    assert_ok(*state, nb_append_item(&all, ", ", *state, "%d", 7));
    assert_ok(*state, nb_append_item(&all, ", ", *state, "%s", ""));
    assert_ok(*state, nb_append(&all, *state, "%s!", "x"));
    assert_string_equal(all.text, "7, x!");
    nb_ctx_watch(*state);
    for (int i = 0; i < PIECES; i++) assert_ok(*state, nb_append_item(&all, ",", *state, "%05d", i));
    assert_int_equal(all.length, 5 + 6 * PIECES);
    assert_int_equal(strlen(all.text), all.length);
    assert_string_equal(all.text + all.length - 12, ",19998,19999");
    assert_true(nb_ctx_most(*state) < 5 * all.length);
}

/* A piece for which there is no memory leaves the text as it was, also where some of it would have fitted. */
static void test_a_piece_too_many(void **state)
{
    nb_string all = NB_NO_TEXT;
    assert_ok(*state, nb_append(&all, *state, "%s", "begun"));
    nb_ctx_fail_alloc(*state, 1);
    assert_int_equal(nb_append(&all, *state, "%0100d", 1), NB_ENOMEM);
    nb_ctx_fail_alloc(*state, 0);
    assert_string_equal(all.text, "begun");
    nb_error_clear(*state);
    assert_ok(*state, nb_append(&all, *state, "%0100d", 1));
    assert_int_equal(strlen(all.text), 105);
    assert_string_equal(all.text + 103, "01");
}

/* Half of what is left is of the end, unless texts differ elsewhere; what no cut tells apart has more columns. */
static void test_shorten(void **state)
{
    static const struct {
        const char *texts[2], *made[2];
    } known[] = {{{"abcdefghijkl", "mnop"}, {"abc...jkl", "mnop"}},
                 {{"abcdefghijkl", "abcdefghijkm"}, {"abc...jkl", "abc...jkm"}},
                 {{"abcdeXghijkl", "abcdeYghijkl"}, {"abcdeX...", "abcdeY..."}},
                 {{"abcdefghXjkl", "abcdefghYjkl"}, {"ab...Xjkl", "ab...Yjkl"}},
                 {{"abcdefXhijkl", "abcdefYhijkl"}, {"abcdefX...", "abcdefY..."}},
                 {{"abcdefghijkl", "abcdefghijkl"}, {"abc...jkl", "abc...jkl"}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *texts[2] = {known[i].texts[0], known[i].texts[1]};
        assert_ok(*state, nb_shorten_texts(2, texts, 9, *state));
        assert_string_equal(texts[0], known[i].made[0]);
        assert_string_equal(texts[1], known[i].made[1]);
    }
    assert_ok(*state, nb_shorten_texts(0, (const char *[]){""}, 9, *state));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequences),     cmocka_unit_test(test_what_becomes_of_it),
        cmocka_unit_test(test_too_long),      test_with_ctx(test_messages),
        cmocka_unit_test(test_same),          cmocka_unit_test(test_columns),
        cmocka_unit_test(test_cut),           cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_chance),        cmocka_unit_test(test_lists),
        test_with_ctx(test_shell_line),       test_with_ctx(test_pieces),
        test_with_ctx(test_a_piece_too_many), test_with_ctx(test_shorten),
    };
    return run_all(tests);
}
