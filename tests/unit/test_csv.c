/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_csv.c - what is read back from the CSV is what was printed, to the bit. */
#include "planning.h"

#include "report/csv.h"

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
    assert_ok(ctx, nb_csv_print(out, &rows, ctx));
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

/* A number of singular values is an integer in JSON as it is in the CSV; an error of 1 is a
 * real number in both. */
static void test_integers_in_json(void **state)
{
    nb_error_row row = {.problem = "p", .status = "ok"};
    char *text = NULL;
    size_t bytes;
    nb_measures_clear(&row.measures);
    row.measures.landmark_rank = 32;
    row.measures.error = 1;
    FILE *out = open_memstream(&text, &bytes);
    assert_ok(*state, nb_json_print_row(out, nb_error_columns, &row.row, *state));
    row.measures.landmark_rank = NAN;
    assert_ok(*state, nb_json_print_row(out, nb_error_columns, &row.row, *state));
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\"landmark_rank\": 32,"));
    assert_non_null(strstr(text, "\"landmark_rank\": null,"));
    assert_non_null(strstr(text, "\"error\": 1.0,"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_rows_come_back), test_with_ctx(test_integers_in_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
