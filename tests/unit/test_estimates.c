/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_estimates.c - ratios of pairs by group. Ratios 2 and 8, alternating over six sources: the mean logarithm is
 * ln 4, the standard deviation sqrt(6 / 5) ln 2, and Student's quantile of 5 degrees of freedom 2.570581835636314. The
 * ends of five sources are not told, nor those where a ratio is infinite. */
#include "testing.h"

#include "rows/estimates.h"

#include <math.h>

static const char pairs[] =
    "CREATE TEMP TABLE given (a, b, x, source);"
    "INSERT INTO given VALUES (1, 2, 2, 0), (1, NULL, 2, 0), (1, 2, 8, 1), (1, NULL, 8, 1), (1, 2, 2, 2),"
    "    (1, NULL, 2, 2), (1, 2, 8, 3), (1, NULL, 8, 3), (1, 2, 2, 4), (1, NULL, 2, 4), (1, 2, 8, 5),"
    "    (2, 2, 9e999, 0), (2, 2, 8, 1), (2, 2, 2, 2), (2, 2, 8, 3), (2, 2, 2, 4), (2, 2, 8, 5),"
    "    (3, 3, 0.5, 0), (3, 3, 0.5, 1), (3, 3, 0.5, 2), (3, 3, 0.5, 3), (3, 3, 0.5, 4), (3, 3, 0.5, 5),"
    "    (3, 3, NULL, 5), (4, 4, NULL, 1),"
    "    (5, 5, 3.3201, 0), (5, 5, 1.2214, 1), (5, 5, 3.3201, 2), (5, 5, 1.2214, 3), (5, 5, 3.3201, 4),"
    "    (5, 5, 1.2214, 5);"
    "CREATE TEMP VIEW given_pair AS SELECT a, b, x, 1 AS y, 0 AS noise_x, 0 AS noise_y, NULL AS se_x, NULL AS se_y,"
    "    0 AS stratum_id, source AS source_id, source AS head_id, 0 AS trial, 0 AS draws FROM given;"
    "CREATE TEMP TABLE unfinished (text);";

/* NULL is NaN. */
static double ask(sqlite3 *db, nb_ctx *ctx, const char *what, const char *group)
{
    sqlite3_stmt *s;
    const char *sql = nb_format(ctx, "SELECT %s FROM given_pair_estimate WHERE %s", what, group);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    double x = sqlite3_column_type(s, 0) == SQLITE_NULL ? NAN : sqlite3_column_double(s, 0);
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
    return x;
}

static void test_groups(void **state)
{
    nb_ctx *ctx = *state;
    nb_store store = {.db = NULL};
    nb_relation r = {.store = &store, .ctx = ctx};
    double half = 2.570581835636314 * sqrt(6.0 / 5) * log(2) / sqrt(6);
    assert_int_equal(sqlite3_open(":memory:", &store.db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(store.db, pairs, NULL, NULL, NULL), SQLITE_OK);
    assert_ok(ctx, nb_estimates_make(&r, "given_pair", ctx));
    assert_close(ask(store.db, ctx, "ratio", "a = 1 AND b = 2"), 4, 1e-12);
    assert_close(ask(store.db, ctx, "low", "a = 1 AND b = 2"), 4 * exp(-half), 1e-12);
    assert_close(ask(store.db, ctx, "high", "a = 1 AND b = 2"), 4 * exp(half), 1e-12);
    assert_true(ask(store.db, ctx, "verdict = 'worse' AND sources = 6 AND heads = 6", "a = 1 AND b = 2") == 1);
    assert_close(ask(store.db, ctx, "ratio", "a = 1 AND b IS NULL"), exp(log(4) - log(2) / 5), 1e-12);
    assert_true(isnan(ask(store.db, ctx, "coalesce(low, high)", "a = 1 AND b IS NULL")));
    assert_true(ask(store.db, ctx, "verdict = 'none' AND sources = 5", "a = 1 AND b IS NULL") == 1);
    assert_true(ask(store.db, ctx, "ratio", "a = 2") == INFINITY);
    assert_true(isnan(ask(store.db, ctx, "coalesce(low, high)", "a = 2")));
    assert_true(ask(store.db, ctx, "verdict = 'none'", "a = 2") == 1);
    assert_close(ask(store.db, ctx, "ratio", "a = 3"), 0.5, 1e-12);
    assert_true(ask(store.db, ctx, "missing", "a = 3") == 1); /* of seven: too many for a verdict */
    assert_true(ask(store.db, ctx, "verdict = 'none'", "a = 3") == 1);
    assert_true(isnan(ask(store.db, ctx, "ratio", "a = 4")));
    assert_true(ask(store.db, ctx, "sources = 0 AND missing = 1", "a = 4") == 1);
    /* Logarithms of 0.7 +- 0.5: half the interval is 0.57 alone, and 0.83 together with three others that have one. */
    assert_true(ask(store.db, ctx, "low > 1 AND verdict = 'undecided'", "a = 5") == 1);
    assert_true(ask(store.db, ctx, "count(*)", "1") == 6);
    /* Where rows are still to come, nothing has a verdict. */
    assert_int_equal(sqlite3_exec(store.db,
                                  "INSERT INTO unfinished VALUES ('more to come'); DROP TABLE given_pair_estimate",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_ok(ctx, nb_estimates_make(&r, "given_pair", ctx));
    assert_close(ask(store.db, ctx, "ratio", "a = 1 AND b = 2"), 4, 1e-12);
    assert_true(ask(store.db, ctx, "count(*)", "verdict = 'none'") == 6);
    sqlite3_close_v2(store.db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_groups)};
    return run_all(tests);
}
