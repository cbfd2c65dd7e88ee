/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_grid.c - cells of every kind, for programs and for people. */
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
        " {\"text\": null, \"flag\": false, \"int\": 7, \"whole\": null, \"real\": null}\n"
        "]\n");
    assert_ok(*state, nb_grid_make(&g, (const char *const[]){"a", NULL}, *state));
    assert_string_equal(json_text(&g, *state), "[\n]\n");
    assert_string_equal(csv_text(&g, *state), "");
}

/* Numbers on the right; a line of a text is one cell. */
static void test_people(void **state)
{
    nb_grid g;
    nb_page page;
    fill(&g, *state);
    nb_page_make(&page, *state);
    nb_grid_show(&g, &page);
    assert_string_equal(page_text(&page, NB_PAGE_TEXT, 0, *state),
                        "  text        flag          int        whole   real\n"
                        "  a, \"b\"\\x0a  true           -3  12345678901  0.333\n"
                        "              false  5000000000            -      -\n"
                        "              false           7            -   -inf\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_csv), test_with_ctx(test_json), test_with_ctx(test_people)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
