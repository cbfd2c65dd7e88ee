/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_statement.c - what a statement in a file of SQL is given: names are quoted, whatever they are; lists repeat the
 * text behind their word; values are parameters; and what is not given is an error. */
#include "rows/statement.h"
#include "testing.h"

#include <string.h>

static const char *filled(const char *statement, const nb_sql_given *given, nb_ctx *ctx)
{
    const char *sql;
    assert_ok(ctx, nb_sql_fill(statement, given, &sql, ctx));
    return sql;
}

static void test_names(void **state)
{
    nb_ctx *ctx = *state;
    const nb_sql_given *plain = NB_GIVEN(NB_GIVE_NAME("column", "select_s"));
    const nb_sql_given *odd = NB_GIVEN(NB_GIVE_NAME("column", "a\"b; DROP TABLE c --\""));
    assert_non_null(strstr(filled("columns.key", plain, ctx), "\"select_s\""));
    assert_string_equal(filled("columns.key", NB_GIVEN(NB_GIVE_NAME("column", NB_SQL_NO_NAME)), ctx), "NULL\n\n");
    /* NOLINT(wording): SQL */
    assert_non_null(strstr(filled("columns.key", odd, ctx), "\"a\"\"b; DROP TABLE c --\"\"\""));
    assert_non_null(strstr(
        filled("row_views.join",
               NB_GIVEN(NB_GIVE_NAME("component", "c0"), NB_GIVE_NAME("id", "x_id"), NB_GIVE_TEXT("kind", "it's")),
               ctx),
        "\"c0\".kind = 'it''s' AND \"c0\".id = k.\"x_id\""));
}

static void test_lists(void **state)
{
    nb_ctx *ctx = *state;
    const char *none[] = {NULL}, *two[] = {"a", "b\"", NULL};
    const nb_sql_given *of_none = NB_GIVEN(NB_GIVE_NAME("refused", "r"), NB_GIVE_TEXT("question", "q"),
                                           NB_GIVE_PIECE("differs", ""), NB_GIVE_NAMES("keys", none));
    const nb_sql_given *of_two = NB_GIVEN(NB_GIVE_NAME("refused", "r"), NB_GIVE_TEXT("question", "q"),
                                          NB_GIVE_PIECE("differs", ""), NB_GIVE_NAMES("keys", two));
    /* NOLINT(wording): SQL */
    assert_non_null(strstr(filled("pairs.refused", of_none, ctx), "(x.build <> y.build) AS differences\n"));
    /* NOLINT(wording): SQL */
    assert_non_null(strstr(filled("pairs.refused", of_two, ctx),
                           "(x.build <> y.build) + (p.\"a\" IS NOT q.\"a\") + (p.\"b\"\"\" IS NOT q.\"b\"\"\") AS "
                           "differences\n"));
}

static void test_values(void **state)
{
    nb_ctx *ctx = *state;
    nb_store store = {.db = NULL};
    nb_relation relation = {.store = &store, .ctx = ctx};
    nb_grid answer;
    assert_int_equal(sqlite3_open(":memory:", &store.db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(store.db, "CREATE TABLE component (kind, spec, id)", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(store.db, "INSERT INTO component VALUES ('a'' OR 1', 's', 3), ('b', 't', 4)", NULL, NULL, NULL),
        SQLITE_OK);
    assert_ok(ctx, nb_sql_ask(&relation, "columns.component_values", NB_GIVEN(NB_GIVE_VALUE("kind", "a' OR 1")),
                              &answer, ctx));
    assert_int_equal(answer.count, 1);
    assert_string_equal(nb_grid_at(&answer, 0, 0)->text, "s");
    assert_ok(ctx, nb_sql_ask(&relation, "columns.component_values", NULL, &answer, ctx));
    assert_int_equal(answer.count, 0);
    assert_non_null(strstr(
        filled("row_views.measured_case", NB_GIVEN(NB_GIVE_INT("place", 12), NB_GIVE_NAME("column", "error")), ctx),
        " WHEN 12 THEN r.\"error\"")); /* NOLINT(wording): SQL */
    sqlite3_close_v2(store.db);
}

static void test_mistakes(void **state)
{
    nb_ctx *ctx = *state;
    const char *sql;
    assert_error(ctx, nb_sql_fill("columns.nothing", NULL, &sql, ctx), NB_EBUG);
    assert_error(ctx, nb_sql_fill("columns.key", NB_GIVEN(NB_GIVE_VALUE("column", "a value is no word")), &sql, ctx),
                 NB_EBUG);
    assert_error(ctx, nb_sql_fill("columns.key", NB_GIVEN(NB_GIVE_NAME("column", NULL)), &sql, ctx), NB_EBUG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_names), test_with_ctx(test_lists), test_with_ctx(test_values),
                                       test_with_ctx(test_mistakes)};
    return run_all(tests);
}
