/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_html.c - figures and Markdown as parts of a page. Contrast is that of WCAG 2.1: black on white has 21. */
#include "testing.h"

#include "base/files.h"
#include "base/scratch.h"
#include "show/html_page.h"
#include "show/report.h"

#include <sys/stat.h>

static nb_status print_text(FILE *out, const void *text, nb_ctx *ctx)
{
    (void)ctx;
    fputs(text, out);
    return NB_OK;
}

static void addresses_lead_from_folder_to_file(void **state)
{
    nb_ctx *ctx = *state;
    const char *top, *folder, *deep, *file, *address;
    assert_ok(ctx, nb_temporary_folder(&top, ctx));
    assert_non_null(folder = nb_format(ctx, "%s/a b", top));
    assert_non_null(deep = nb_format(ctx, "%s/a b/c", top));
    assert_non_null(file = nb_format(ctx, "%s/a b/(x)%%.svg", top));
    assert_true(mkdir(folder, 0700) == 0 && mkdir(deep, 0700) == 0);
    assert_ok(ctx, nb_write_file(file, print_text, "", ctx));
    assert_ok(ctx, nb_address_of(folder, file, &address, ctx));
    assert_string_equal(address, "%28x%29%25.svg");
    assert_ok(ctx, nb_address_of(deep, file, &address, ctx));
    assert_string_equal(address, "../%28x%29%25.svg");
    assert_ok(ctx, nb_address_of(top, file, &address, ctx));
    assert_string_equal(address, "a%20b/%28x%29%25.svg");
    assert_ok(ctx, nb_address_of("/", file, &address, ctx));
    assert_string_equal(address + strlen(address) - strlen("/a%20b/%28x%29%25.svg"), "/a%20b/%28x%29%25.svg");
    assert_true(*address != '/');
    assert_error(ctx, nb_address_of(top, "/nowhere/x", &address, ctx), NB_EIO);
}

/* What stands in the page's main part. */
static char *main_of(const nb_page *page, nb_ctx *ctx)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_ok(ctx, nb_html_print_page(out, "t", page, ctx));
    fclose(out);
    char *begin = strstr(text, "<main>\n"), *end = strstr(text, "</main>");
    assert_true(begin && end);
    char *inner = nb_format(ctx, "%.*s", (int)(end - begin - 7), begin + 7);
    free(text);
    return inner;
}

static void figures_are_images_in_the_page(void **state)
{
    nb_ctx *ctx = *state;
    const char *folder, *path;
    nb_page page;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    assert_non_null(path = nb_format(ctx, "%s/f.svg", folder));
    assert_ok(ctx, nb_write_file(path, print_text, "<svg/>", ctx));
    nb_page_make(&page, ctx);
    nb_page_picture(&page, path, "plots/f.svg", "a \"caption\"");
    assert_non_null(
        strstr(main_of(&page, ctx), "<img alt=\"a &quot;caption&quot;\" src=\"data:image/svg+xml;base64,PHN2Zy8+\">"));
    nb_page_picture(&page, nb_format(ctx, "%s/none.svg", folder), "none.svg", "none");
    FILE *nowhere = fopen("/dev/null", "w");
    assert_non_null(nowhere);
    assert_error(ctx, nb_html_print_page(nowhere, "t", &page, ctx), NB_EIO);
    fclose(nowhere);
}

static void headings_have_anchors_and_fold(void **state)
{
    nb_ctx *ctx = *state;
    nb_page page;
    nb_page_make(&page, ctx);
    nb_page_heading(&page, 2, "A & b, c");
    nb_page_heading(&page, 2, "a b c");
    nb_page_heading(&page, 2, "Ab");
    nb_page_heading(&page, 2, "ab");
    assert_string_equal(main_of(&page, ctx), "<h2 id=\"a--b-c\">A &amp; b, c</h2>\n<h2 id=\"a-b-c\">a b c</h2>\n"
                                             "<h2 id=\"ab\">Ab</h2>\n<h2 id=\"ab-1\">ab</h2>\n");
    nb_page_make(&page, ctx);
    nb_page_heading(&page, NB_PAGE_FOLDED, "a");
    nb_page_heading(&page, NB_PAGE_DEEPEST, "in");
    nb_page_paragraph(&page, "x");
    nb_page_heading(&page, NB_PAGE_FOLDED, "b");
    nb_page_heading(&page, 2, "c");
    assert_string_equal(main_of(&page, ctx),
                        "<details><summary>a</summary>\n<h5 id=\"in\">in</h5>\n<p>x</p>\n</details>\n"
                        "<details><summary>b</summary>\n</details>\n<h2 id=\"c\">c</h2>\n");
}

static void texts_are_text(void **state)
{
    nb_ctx *ctx = *state;
    nb_page page;
    nb_page_make(&page, ctx);
    nb_page_paragraph(&page, "<script>1</script> [x](javascript:1)");
    nb_page_note(&page, "<b>", "a & \"b\"");
    nb_page_item(&page, "c");
    nb_page_table(&page);
    nb_page_column(&page, NB_PAGE_WORD, "<a>");
    nb_page_column(&page, NB_PAGE_NUMBER, "n");
    nb_page_row(&page);
    nb_page_cell(&page, "<b>x</b>&");
    nb_page_cell(&page, "1");
    nb_page_mark(&page, "<");
    assert_string_equal(
        main_of(&page, ctx),
        "<p>&lt;script&gt;1&lt;/script&gt; [x](javascript:1)</p>\n"
        "<ul>\n<li><strong>&lt;b&gt;</strong> a &amp; &quot;b&quot;</li>\n<li>c</li>\n</ul>\n"
        "<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"Table 1\">\n<table>\n<thead>\n"
        "<tr><th scope=\"col\">&lt;a&gt;</th><th scope=\"col\" class=\"number\">n</th></tr>\n</thead>\n"
        "<tbody>\n<tr><td>&lt;b&gt;x&lt;/b&gt;&amp;</td><td class=\"number\">1&lt;</td></tr>\n</tbody>\n"
        "</table>\n</div>\n");
}

/* The kind of a column decides how its cells break: labels and prose into lines, and only prose into long ones. */
static void cells_break_by_their_columns(void **state)
{
    static const struct {
        int kind, letters;
        const char *class; /* NOLINT(wording): two classes */
    } known[] = {{NB_PAGE_WORD, 101, ""},
                 {NB_PAGE_NUMBER, 101, " class=\"number\""},
                 {NB_PAGE_LABEL, 26, ""},
                 {NB_PAGE_LABEL, 101, " class=\"long\""},
                 {NB_PAGE_PROSE, 26, ""},
                 {NB_PAGE_PROSE, 27, " class=\"long\""},
                 {NB_PAGE_PROSE, 100, " class=\"long\""},
                 {NB_PAGE_PROSE, 101, " class=\"long prose\""}};
    nb_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        nb_page page;
        nb_page_make(&page, ctx);
        nb_page_table(&page);
        nb_page_column(&page, known[i].kind, "h");
        nb_page_row(&page);
        nb_page_cell(&page, "\u00e9%0*d", known[i].letters - 1, 0);
        assert_non_null(strstr(main_of(&page, ctx), nb_format(ctx, "<td%s>\u00e9", known[i].class)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(figures_are_images_in_the_page), test_with_ctx(addresses_lead_from_folder_to_file),
        test_with_ctx(headings_have_anchors_and_fold), test_with_ctx(texts_are_text),
        test_with_ctx(cells_break_by_their_columns),
    };
    return run_all(tests);
}
