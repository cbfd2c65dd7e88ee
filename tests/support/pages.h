/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pages.h - what is printed of pages and grids, as texts of a context. */
#ifndef NB_TEST_PAGES_H
#define NB_TEST_PAGES_H

#include "testing.h"

#include "show/cells.h"
#include "show/grid_page.h"

/* Of one of both. */
static inline const char *printed(const nb_page *page, nb_page_form form, int width, const nb_grid *grid, bool json,
                                  nb_ctx *ctx)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    if (page) assert_ok(ctx, nb_page_print(out, page, form, width));
    if (grid) assert_ok(ctx, nb_grid_write(out, json ? &nb_json_writer : &nb_csv_writer, grid, ctx));
    assert_int_equal(fclose(out), 0);
    const char *copy = nb_strdup(ctx, text);
    free(text);
    assert_non_null(copy);
    return copy;
}

static inline const char *page_text(const nb_page *page, nb_page_form form, int width, nb_ctx *ctx)
{
    return printed(page, form, width, NULL, false, ctx);
}

static inline const char *csv_text(const nb_grid *grid, nb_ctx *ctx)
{
    return printed(NULL, NB_PAGE_TEXT, 0, grid, false, ctx);
}

static inline const char *json_text(const nb_grid *grid, nb_ctx *ctx)
{
    return printed(NULL, NB_PAGE_TEXT, 0, grid, true, ctx);
}

#endif
