/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_functions.c - what SQL calls, on numbers that can be checked by hand. */
#include "testing.h"

#include "rows/functions.h"

#include <math.h>

/* Of the rows VALUES (column1, column2 ...): an expression's value; NULL is NaN. */
static double ask(nb_ctx *ctx, const char *expression, const char *rows)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_ok(ctx, nb_functions_add(db, ctx));
    const char *sql = nb_format(ctx, "SELECT %s FROM (VALUES %s)", expression, rows);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    double x = sqlite3_column_type(s, 0) == SQLITE_NULL ? NAN : sqlite3_column_double(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return x;
}

/* R's type 7, NumPy's default; NULL is left out, and infinity counts where it is reached. */
static void test_quantiles(void **state)
{
    static const char eleven[] = "(11), (3), (9), (1), (5), (7), (2), (10), (4), (8), (6)",
                      four[] = "(4), (1), (9e999), (2)";
    nb_ctx *ctx = *state;
    assert_true(ask(ctx, "median(column1)", eleven) == 6);
    assert_close(ask(ctx, "quantile(column1, 0.1)", eleven), 2, 1e-12);
    assert_close(ask(ctx, "quantile(column1, 0.9)", eleven), 10, 1e-12);
    assert_true(ask(ctx, "median(column1)", "(NULL), (4), (NULL), (1), (2)") == 2);
    assert_true(isnan(ask(ctx, "median(column1)", "(NULL)")));
    assert_true(ask(ctx, "quantile(column1, 0.9)", "(1)") == 1);
    assert_close(ask(ctx, "quantile(column1, 0.25)", "(1), (2), (4)"), 1.5, 1e-15);
    assert_true(ask(ctx, "median(column1)", four) == 3 && ask(ctx, "quantile(column1, 2 / 3.0)", four) == 4);
    assert_true(ask(ctx, "quantile(column1, 0.7)", four) == INFINITY &&
                ask(ctx, "quantile(column1, 1)", four) == INFINITY);
    assert_true(ask(ctx, "median(column1)", "(9e999)") == INFINITY);
}

/* Six sources, of which the last has many values: their medians are 1.5, 2, 3, 4, 5 and 9, and the outermost are the
 * interval, since 2 / 2^6 < 0.05. Of five there is none. */
static void test_intervals_of_medians(void **state)
{
    static const char six[] = "(9, 7), (4, 3), (2, 0), (9, 7), (1, 0), (5, 4), (9, 7), (3, 2), (2, 1), (9, 7), (9, 7)",
                      five[] = "(2, 0), (1, 0), (2, 1), (3, 2), (4, 3), (5, 4)";
    nb_ctx *ctx = *state;
    assert_true(ask(ctx, "median_low(column1, column2)", six) == 1.5);
    assert_true(ask(ctx, "median_high(column1, column2)", six) == 9);
    assert_true(isnan(ask(ctx, "median_low(column1, column2)", five)));
    assert_true(isnan(ask(ctx, "median_high(column1, column2)", five)));
    assert_close(ask(ctx, "least_sources()", five), 6, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_quantiles), test_with_ctx(test_intervals_of_medians)};
    return run_all(tests);
}
