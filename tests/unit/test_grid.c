/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_grid.c - cells of every kind, for programs and for people. */
#include "base/builder.h"
#include "pages.h"
#include "show/query.h"

#include <math.h>

static void fill(nb_grid *g, nb_ctx *ctx)
{
    static const char *heads[] = {"text", "flag", "int", "whole", "real", NULL};
    assert_ok(ctx, nb_grid_make(g, heads, ctx));
    assert_ok(ctx, nb_grid_text(g, "a, \"b\"\n"));
    assert_ok(ctx, nb_grid_int(g, 1));
    assert_ok(ctx, nb_grid_int(g, -3));
    assert_ok(ctx, nb_grid_whole(g, 12345678901.0));
    assert_ok(ctx, nb_grid_real(g, 1.0 / 3));
    assert_ok(ctx, nb_grid_text(g, NULL));
    assert_ok(ctx, nb_grid_int(g, 0));
    assert_ok(ctx, nb_grid_int(g, 5000000000));
    assert_ok(ctx, nb_grid_whole(g, INFINITY));
    assert_ok(ctx, nb_grid_real(g, NAN));
    assert_ok(ctx, nb_grid_text(g, ""));
    assert_ok(ctx, nb_grid_int(g, 0));
    assert_ok(ctx, nb_grid_int(g, 7));
    assert_ok(ctx, nb_grid_whole(g, NAN));
    assert_ok(ctx, nb_grid_real(g, -INFINITY));
    for (int row = 0; row < g->count; row++) g->cells[row * g->columns + nb_grid_column(g, "flag")].type = NB_CELL_FLAG;
}

static void test_csv(void **state)
{
    nb_grid g;
    fill(&g, *state);
    assert_string_equal(csv_text(&g, *state), "text,flag,int,whole,real\n"
                                              "\"a, \"\"b\"\"\n\",true,-3,12345678901,0.33333333333333331\n"
                                              ",false,5000000000,,\n"
                                              ",false,7,,-inf\n");
}

static void test_json(void **state)
{
    nb_grid g;
    fill(&g, *state);
    assert_string_equal(
        json_text(&g, *state),
        "[\n"
        " {\"text\": \"a, \\\"b\\\"\\n\", \"flag\": true, \"int\": -3, \"whole\": 12345678901, \"real\": "
        "0.33333333333333331},\n"
        " {\"text\": null, \"flag\": false, \"int\": 5000000000, \"whole\": null, \"real\": null},\n"
        " {\"text\": null, \"flag\": false, \"int\": 7, \"whole\": null, \"real\": \"-inf\"}\n"
        "]\n");
    assert_ok(*state, nb_grid_make(&g, (const char *const[]){"a", NULL}, *state));
    assert_string_equal(json_text(&g, *state), "[\n]\n");
    assert_string_equal(csv_text(&g, *state), "");
}

/* The first row says which columns there are; memory that runs out is told at the end. */
static void test_row_by_row(void **state)
{
    nb_ctx *ctx = *state;
    for (long k = 1, left = 0; left == 0; k++) {
        nb_grid g;
        nb_ctx_fail_alloc(ctx, k);
        nb_grid_begin(&g, ctx);
        for (int row = 0; row < 20; row++) {
            nb_grid_row(&g);
            nb_grid_put_text(&g, "text", row % 2 ? "odd" : NULL);
            nb_grid_put_int(&g, "count", row);
            nb_grid_put_real(&g, "number", row == 3 ? NAN : -0.0);
            nb_grid_put(&g, "whole", nb_whole_cell(row == 3 ? INFINITY : 2.0));
        }
        left = nb_ctx_fail_alloc(ctx, 0);
        assert_int_equal(nb_grid_end(&g), left ? NB_OK : NB_ENOMEM);
        nb_error_clear(ctx);
        nb_ctx_forget_exhausted(ctx);
        if (left == 0) continue;
        assert_int_equal(g.columns, 4);
        assert_int_equal(g.count, 20);
        g.count = 4;
        assert_string_equal(csv_text(&g, ctx), "text,count,number,whole\n,0,0,2\nodd,1,0,2\n,2,0,2\nodd,3,,\n");
    }
}

static void test_some_of_a_list(void **state)
{
    static const char *const items[] = {"a", "b", "c", "d", "e", "f"};
    for (int count = 0; count < 7; count++)
        tell(nb_format(*state, "%d of a list", count), nb_list_some(*state, count, items));
}

/* Numbers on the right; a line of a text is one cell. */
static void test_people(void **state)
{
    nb_grid g;
    nb_page page;
    fill(&g, *state);
    nb_page_make(&page, *state);
    nb_grid_show(&g, &page);
    /* NOLINT(wording): the words are the test's */
    assert_string_equal(page_text(&page, NB_PAGE_TEXT, 0, *state),
                        "  text        flag          int        whole   real\n"
                        "  a, \"b\"\\x0a  true           -3  12345678901  0.333\n"
                        "              false  5000000000            -      -\n"
                        "              false           7            -   -inf\n");
}

static void add_line(nb_grid *g, const char *name, const char *word, nb_cell x, nb_cell y)
{
    nb_grid_row(g);
    nb_grid_put_text(g, "name", name);
    nb_grid_put_text(g, "word", word);
    nb_grid_put(g, "x", x);
    nb_grid_put(g, "y", y);
}

/* A column is of numbers if its cells are, whatever its texts look like; a mark is explained where it stands at a
 * number, and a dash where one is not known. Programs have digits alone. */
static void test_numerals(void **state)
{
    static const nb_comment comments[] = {{"labels", "1"},      {"note", "( ): far"},  {"note", "*: best"},
                                          {"note", "~: noise"}, {"note", "-: absent"}, {NULL, NULL}};
    const nb_cell none = nb_text_cell(NULL), blank = {.type = NB_CELL_BLANK, .real = NAN};
    for (int known = 0; known < 2; known++) {
        nb_grid g;
        nb_page page;
        nb_grid_begin(&g, *state);
        add_line(&g, "12", "7", nb_numeral_cell("(", "2.385", ")*"), none);
        add_line(&g, "~", "-", known ? blank : none, nb_real_cell(0.5));
        add_line(&g, "-", "(8", nb_numeral_cell("", "", "!"), blank);
        if (known) g.cells[3] = g.cells[10] = blank;
        nb_page_make(&page, *state);
        assert_ok(*state, nb_answer_show(&page, comments, &g, *state));
        /* NOLINT(wording): the words are the test's */
        assert_string_equal(page_text(&page, NB_PAGE_TEXT, 0, *state), known ? "  name  word       x      y\n"
                                                                               "  12    7     (2.385)*\n"
                                                                               "  ~     -               0.5\n"
                                                                               "  -     (8\n"
                                                                               "  ( ) far\n"
                                                                               "  * best\n"
                                                                             : "  name  word       x      y\n"
                                                                               "  12    7     (2.385)*    -\n"
                                                                               "  ~     -          -    0.5\n"
                                                                               "  -     (8         -!\n"
                                                                               "  ( ) far\n"
                                                                               "  * best\n"
                                                                               "  - absent\n");
        assert_string_equal(csv_text(&g, *state), known ? "name,word,x,y\n12,7,2.385,\n~,-,,0.5\n-,(8,,\n"
                                                        : "name,word,x,y\n12,7,2.385,\n~,-,,0.5\n-,(8,,\n");
    }
}

/* The first of its texts whose columns are all known stands in the place of a cell, and else what it has. */
static void test_texts_of_cells(void **state)
{
    static const nb_comment comments[] = {
        {"labels", "1"},
        {"cell", "x: {x: %.2f} ({_low: ratio %.2g} to {_high: brief}) | {x: %.1f} | -"},
        {"cell", "count: of {count}"},
        {"heading", "{name} and {_high: %.1e}"},
        {NULL, NULL}};
    static const struct {
        const char *name;
        double x, low, high;
    } rows[] = {{"a", 2.385, 0.9996, 2100}, {"b", 0.5, NAN, 3}, {"c", NAN, 1, 2}};
    nb_grid g;
    nb_page page;
    nb_grid_begin(&g, *state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nb_grid_row(&g);
        nb_grid_put_text(&g, "name", rows[i].name);
        nb_grid_put_real(&g, "x", rows[i].x);
        nb_grid_put_real(&g, "_low", rows[i].low);
        nb_grid_put_real(&g, "_high", rows[i].high);
        nb_grid_put(&g, "count", i == 1 ? nb_text_cell(NULL) : nb_int_cell(7));
    }
    nb_page_make(&page, *state);
    assert_ok(*state, nb_answer_show(&page, comments, &g, *state));
    assert_string_equal(page_text(&page, NB_PAGE_TEXT, 0, *state), "a and 2.1e+03\n"
                                                                   "  name  x                         count\n"
                                                                   "  a     2.38 (0.9996 to 2.1e+03)  of 7\n"
                                                                   "  b     0.5\n"
                                                                   "  c     -                         of 7\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_csv),           test_with_ctx(test_json),
                                       test_with_ctx(test_row_by_row),    test_with_ctx(test_some_of_a_list),
                                       test_with_ctx(test_people),        test_with_ctx(test_numerals),
                                       test_with_ctx(test_texts_of_cells)};
    return run_all(tests);
}
