/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_html.c - figures and Markdown as parts of a page. Contrast is that of WCAG 2.1: black on white has 21. */
#include "testing.h"

#include "base/files.h"
#include "base/scratch.h"
#include "html/address.h"
#include "html/html.h"
#include "html/svg.h"

#include <sys/stat.h>

static nb_status print_text(FILE *out, const void *text, nb_ctx *ctx)
{
    (void)ctx;
    fputs(text, out);
    return NB_OK;
}

/* Reads a figure with that text; *svg stays NULL where it is refused. */
static nb_status read_figure(const char *text, nb_svg_colours *colours, const char **svg, nb_ctx *ctx)
{
    const char *folder, *path;
    *svg = NULL;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    assert_non_null(path = nb_format(ctx, "%s/f.svg", folder));
    assert_ok(ctx, nb_write_file(path, print_text, text, ctx));
    return nb_svg_read(path, "f1-", "a \"label\"", colours, svg, ctx);
}

static void figures_are_written_anew(void **state)
{
    nb_ctx *ctx = *state;
    nb_svg_colours colours = {.count = 0};
    const char *svg;
    assert_ok(ctx, read_figure("<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'>"
                               "<title>Gnuplot</title><desc>x <g/> y</desc>\n"
                               "<defs><circle id='c' r='1'/></defs>\n<g><g fill='black'></g></g>"
                               "<g><title>A &lt; B</title><use xlink:href='#c' color='rgb(  0, 114, 178)' "
                               "xmlns:xlink='http://www.w3.org/1999/xlink' fill='#ffffff'/></g></svg>\n",
                               &colours, &svg, ctx));
    assert_string_equal(svg, "<svg viewBox=\"0 0 1 1\" role=\"img\" aria-label=\"a &quot;label&quot;\"><defs>"
                             "<circle id=\"f1-c\" r=\"1\"></circle></defs><g><title>A &lt; B</title>"
                             "<use href=\"#f1-c\" color=\"var(--c0072b2)\" fill=\"var(--cffffff)\"></use></g></svg>");
    assert_int_equal(colours.count, 3); /* that of the group, which has nothing in it, too */
}

static void figures_with_more_than_shapes_are_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"<svg>\n<script>1</script></svg>", "f.svg:2: a figure may not have the element 'script'"},
        {"<svg><g onclick='1'/></svg>", "f.svg:1: a figure may not have the attribute 'onclick'"},
        {"<svg><g style='fill:red'/></svg>", "attribute 'style'"},
        {"<svg><use href='javascript:1'/></svg>", "reference 'javascript:1'"},
        {"<svg><g filter='url(http://x#y)'/></svg>", "reference 'url(http://x#y)'"},
        {"<svg><g filter='url(#a) url(b)'/></svg>", "reference 'url(#a) url(b)'"},
        {"<svg><g fill='url(#a)'/></svg>", "colour 'url(#a)'"},
        {"<svg><g fill='#12345'/></svg>", "colour '#12345'"},
        {"<svg><g fill='rgb(1,2,256)'/></svg>", "colour 'rgb(1,2,256)'"},
        {"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>", "document type 'svg'"},
        {"<svg><svg/></svg>", "element 'svg'"},
        {"<html/>", "element 'html'"},
        {"<svg><g></svg>", "is not an SVG figure: mismatched tag"},
        {"", "is not an SVG figure"},
    };
    nb_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_svg_colours colours = {.count = 0};
        const char *svg;
        assert_error(ctx, read_figure(cases[i].text, &colours, &svg, ctx), NB_EIO, cases[i].message);
        assert_null(svg);
    }
}

static void too_many_groups_are_refused(void **state)
{
    nb_ctx *ctx = *state;
    nb_svg_colours colours = {.count = 0};
    const char *svg;
    char text[1024] = "<svg>";
    for (int i = 0; i < 65; i++) strcat(text, "<g>");
    assert_error(ctx, read_figure(text, &colours, &svg, ctx), NB_EIO, "more than 64 groups within each other");
}

static double luminance(int colour)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double c = (colour >> (16 - 8 * i) & 0xff) / 255.0;
        sum += (const double[]){0.2126, 0.7152, 0.0722}[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static void colours_can_be_read_in_the_dark(void **state)
{
    const double paper = luminance(nb_svg_dark(0xffffff));
    (void)state;
    assert_true(luminance(nb_svg_dark(0)) > 0.75 && paper < 0.02);
    for (int grey = 1; grey < 256; grey++)
        assert_true(luminance(nb_svg_dark(grey * 0x010101)) <= luminance(nb_svg_dark((grey - 1) * 0x010101)));
    for (int i = 0; i < 4096; i++) {
        int colour = (i >> 8) * 0x110000 + (i >> 4 & 15) * 0x1100 + (i & 15) * 0x11;
        bool is_grey = i >> 8 == (i & 15) && (i >> 4 & 15) == (i & 15);
        if (!is_grey) assert_true((luminance(nb_svg_dark(colour)) + 0.05) / (paper + 0.05) >= 4.9);
    }
    assert_int_equal(nb_svg_dark(0xe69f00), 0xe69f00); /* light enough as it is */
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
    assert_error(ctx, nb_address_of(top, "/nowhere/x", &address, ctx), NB_EIO, "/nowhere/x: cannot be found");
}

/* What stands in the page's main part. */
static char *main_of(const nb_page *made, nb_ctx *ctx)
{
    const nb_html_page page = {.title = "t", .page = made};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_ok(ctx, nb_html_print(out, &page, ctx));
    fclose(out);
    char *begin = strstr(text, "<main>\n"), *end = strstr(text, "</main>");
    assert_true(begin && end);
    char *inner = nb_format(ctx, "%.*s", (int)(end - begin - 7), begin + 7);
    free(text);
    return inner;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(figures_are_written_anew),
        test_with_ctx(figures_with_more_than_shapes_are_refused),
        test_with_ctx(too_many_groups_are_refused),
        cmocka_unit_test(colours_can_be_read_in_the_dark),
        test_with_ctx(addresses_lead_from_folder_to_file),
        test_with_ctx(headings_have_anchors_and_fold),
        test_with_ctx(texts_are_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
