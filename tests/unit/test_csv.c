/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_csv.c - what is read back from the CSV is what was printed, to the bit. */
#include "planning.h"

#include "components/registry.h"
#include "show/cells.h"
#include "config/labels.h"
#include "studies/effect/study.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Printed, read back and compared: none of the texts here has a comma in it. */
static void check_back(nb_ctx *ctx, int count, const nb_error_row *of)
{
    char *text = NULL, *rest, *line;
    size_t bytes;
    nb_row_list rows = rows_of_error(count, of);
    FILE *out = open_memstream(&text, &bytes);
    assert_ok(ctx, nb_rows_print_csv(out, &rows, ctx));
    assert_int_equal(fclose(out), 0);
    rest = text;
    assert_non_null(strsep(&rest, "\n")); /* the header */
    for (int i = 0; i < count; i++) {
        assert_non_null(line = strsep(&rest, "\n"));
        for (const nb_column *c = nb_error_columns; c->name; c++) {
            const char *field = (const char *)&of[i] + c->offset, *got = strsep(&line, ",");
            assert_non_null(got);
            if (c->type == NB_COLUMN_TEXT) {
                const char *value = *(const char *const *)field;
                assert_string_equal(got, value ? value : "");
            } else if (c->type == NB_COLUMN_INT) {
                assert_int_equal(atoi(got), *(const int *)field);
            } else if (c->type == NB_COLUMN_SEED) {
                assert_true(atoll(got) == *(const long long *)field);
            } else if (isnan(*(const double *)field)) {
                assert_string_equal(got, "");
            } else {
                double value = strtod(got, NULL);
                assert_memory_equal(&value, field, sizeof value);
            }
        }
        assert_null(line);
    }
    assert_string_equal(rest, "");
    free(text);
}

/* Each row changes a little of the row above, which is where its numbers may come from. */
static void test_rows_come_back(void **state)
{
    static const double errors[] = {0.1,   0.1, 0.1 + DBL_EPSILON / 16, NAN, NAN, 0, -0.0, -0.0, INFINITY, DBL_MIN / 3,
                                    1e300, 0.1};
    enum { COUNT = sizeof errors / sizeof *errors };
    nb_error_row rows[COUNT];
    for (int i = 0; i < COUNT; i++) {
        rows[i] = (nb_error_row){.problem = i % 3 ? "gaussian" : "a problem",
                                 .core = "svd",
                                 .status = i == 3 ? "failed" : "ok",
                                 .head = i / 4,
                                 .landmarks = -i / 5,
                                 .seed = i < 6 ? 9007199254740993 : 1};
        nb_measures_clear(&rows[i].measures);
        rows[i].measures.error = errors[i];
        rows[i].measures.landmark_rank = 8;
        rows[i].measures.error_noise = errors[COUNT - 1 - i];
    }
    assert_true(errors[1] != errors[2]);
    check_back(*state, COUNT, rows);
    check_back(*state, 1, rows);
    check_back(*state, 0, rows);
}

/* What a spreadsheet would calculate has an apostrophe before it; numbers, signs alone and all else stay as they
 * are. */
static void test_formulas(void **state)
{
    static const char *const cells[][2] = {{"=1+1", "'=1+1"}, {"@SUM(1)", "'@SUM(1)"},
                                           {"+1+1", "'+1+1"}, {"-1+1", "'-1+1"},
                                           {"\t=1", "'\t=1"}, {"=\"a\", b", "\"'=\"\"a\"\", b\""},
                                           {"'=1", "''=1"},   {"-0.5e-3", "-0.5e-3"},
                                           {"+7", "+7"},      {"-", "-"},
                                           {"'a", "'a"},      {"a=1", "a=1"},
                                           {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char *text = NULL;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);
        nb_csv_print_text(out, cells[i][0]);
        assert_int_equal(fclose(out), 0);
        assert_string_equal(text, cells[i][1]);
        free(text);
    }
}

/* A number of singular values is an integer in JSON as it is in the CSV; an error of 1 is a
 * real number in both. What is infinite is a text in JSON, where what is not known is null. */
static void test_integers_in_json(void **state)
{
    nb_error_row row = {.problem = "p", .status = "ok"};
    char *text = NULL;
    size_t bytes;
    nb_measures_clear(&row.measures);
    row.measures.landmark_rank = 32;
    row.measures.error = 1;
    FILE *out = open_memstream(&text, &bytes);
    assert_ok(*state, nb_row_print_json(out, nb_error_columns, &row.row, *state));
    row.measures.landmark_rank = NAN;
    row.measures.error_core = -INFINITY;
    assert_ok(*state, nb_row_print_json(out, nb_error_columns, &row.row, *state));
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\"landmark_rank\": 32,"));
    assert_non_null(strstr(text, "\"landmark_rank\": null,"));
    assert_non_null(strstr(text, "\"error\": 1.0,"));
    assert_non_null(strstr(text, "\"error_core\": \"-inf\","));
    free(text);
}

/* Returns the JSON or CSV that is written for rows of the effect study, whose strategy and core may be none. */
static const char *printed(nb_ctx *ctx, const nb_row_list *rows, bool json)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_ok(ctx, json ? nb_rows_print_json(out, rows, ctx) : nb_rows_print_csv(out, rows, ctx));
    assert_int_equal(fclose(out), 0);
    assert_ok(ctx, nb_defer(ctx, free, text));
    return text;
}

/* Behind the columns of a row: the label given, of an oracle too; short ones that differ where files have the same
 * name; the text of a component that is gone; none where there is no component. Rows of no run have none. */
static void test_labels(void **state)
{
    static const char *const strategies[] = {"uniform",
                                             "leverage(of=kernel)",
                                             "learned(weights=\"a/x.npy\")",
                                             "learned(weights=\"b/x.npy\")",
                                             NULL,
                                             "gone(x=1)",
                                             "uniform"};
    static const char *const expected[] = {
        "uniform",   "\"rows,weighed\"", "learned(weights=a/x.npy)", "learned(weights=b/x.npy)", "",
        "gone(x=1)", "uniform"};
    enum { COUNT = sizeof strategies / sizeof *strategies };
    nb_given_label one = {&nb_strategies, "leverage(of=kernel)", "rows,weighed"};
    nb_given_labels given = {.count = 1, .items = &one};
    nb_effect_row rows[COUNT];
    nb_row_list list = {.count = COUNT, .columns = nb_effect_columns, .row_size = sizeof *rows, .bytes = (char *)rows};
    memset(rows, 0, sizeof rows);
    for (int i = 0; i < COUNT; i++) {
        rows[i].problem = "gaussian(n=64, d=8)";
        rows[i].status = "ok";
        rows[i].strategy = strategies[i];
    }
    const char *without = printed(*state, &list, false), *json = printed(*state, &list, true);
    assert_null(strstr(without, "_label"));
    assert_null(strstr(json, "_label"));
    list.labels = &given;
    const char *with = printed(*state, &list, false);
    for (int i = -1; i < COUNT; i++) {
        const char *end = nb_format(*state, ",\"gaussian(n=64, d=8)\",,%s,", i < 0 ? "" : expected[i]);
        if (i < 0) end = ",problem_label,attention_label,strategy_label,core_label";
        size_t length = strcspn(without, "\n"), more = strlen(end);
        assert_memory_equal(with, without, length); /* the columns that there were, to the byte */
        if (strncmp(with + length, end, more) != 0)
            fail_msg("row %d: '%.*s', not '%s'", i, (int)more, with + length, end);
        assert_int_equal(with[length + more], '\n');
        with += length + more + 1;
        without += length + 1;
    }
    json = printed(*state, &list, true);
    assert_non_null(strstr(json, "\"strategy_label\": \"rows,weighed\", \"core_label\": null}"));
    assert_non_null(strstr(json, "\"strategy_label\": null, \"core_label\": null}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),
        test_with_ctx(test_rows_come_back),
        test_with_ctx(test_integers_in_json),
        test_with_ctx(test_labels),
    };
    return run_all(tests);
}
