/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.c - see html.h. The blocks of a document are printed one by one, with what the page adds around them. */
#include "html/html.h"

#include "html/assets.h"
#include "html/escape.h"
#include "html/svg.h"
#include "report/page.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <ctype.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const nb_html_page *page;
    const char **figures; /* of the page, as SVG */
    cmark_node *document;
    FILE *out;
    const char **anchors; /* of its headings */
    bool folded;
    int tables, headings; /* so far */
    nb_ctx *ctx;
} printer;

static void free_node(void *node)
{
    cmark_node_free(node);
}

static nb_status parse(const char *markdown, cmark_node **document, nb_ctx *ctx)
{
    cmark_gfm_core_extensions_ensure_registered();
    cmark_syntax_extension *table = cmark_find_syntax_extension("table");
    NB_REQUIRE(ctx, table, NB_EBUG, "libcmark-gfm has no tables");
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_VALIDATE_UTF8);
    cmark_parser_attach_syntax_extension(parser, table);
    cmark_parser_feed(parser, markdown, strlen(markdown));
    *document = cmark_parser_finish(parser);
    cmark_parser_free(parser);
    NB_REQUIRE(ctx, *document, NB_ENOMEM, "out of memory: the page");
    return nb_defer(ctx, free_node, *document);
}

/* The text of a block and of what is in it; ctx's. */
static nb_status text_of(cmark_node *block, const char **text, nb_ctx *ctx)
{
    cmark_iter *iter = cmark_iter_new(block);
    *text = "";
    while (*text && cmark_iter_next(iter) != CMARK_EVENT_DONE) {
        const char *literal = cmark_node_get_literal(cmark_iter_get_node(iter));
        if (literal) *text = nb_format(ctx, "%s%s", *text, literal);
    }
    cmark_iter_free(iter);
    return *text ? NB_OK : NB_ENOMEM;
}

/* As GitHub makes the anchor of a heading: small letters, '-' for a blank, no punctuation. */
static char *anchor_of(const char *text, nb_ctx *ctx)
{
    char *anchor = nb_alloc(ctx, strlen(text) + 1, 1), *out = anchor;
    for (; anchor && *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == ' ')
            *out++ = '-';
        else if (isalnum(c) || c == '-' || c == '_' || c >= 0x80)
            *out++ = (char)tolower(c);
    }
    return anchor;
}

/* How many of the `count` anchors before are that one. */
static int times_used(int count, const char *const *anchors, const char *anchor)
{
    int times = 0;
    for (int i = 0; i < count; i++) times += strcmp(anchors[i], anchor) == 0;
    return times;
}

/* Of the headings, in their order; one that repeats has its number behind it. */
static nb_status find_anchors(printer *p)
{
    const char **plain;
    int count = 0, most = 0;
    for (cmark_node *b = cmark_node_first_child(p->document); b; b = cmark_node_next(b)) most++;
    NB_NEED(plain, nb_alloc(p->ctx, (size_t)most + 1, sizeof *plain));
    NB_NEED(p->anchors, nb_alloc(p->ctx, (size_t)most + 1, sizeof *p->anchors));
    for (cmark_node *b = cmark_node_first_child(p->document); b; b = cmark_node_next(b)) {
        const char *text;
        if (cmark_node_get_type(b) != CMARK_NODE_HEADING) continue;
        NB_TRY(p->ctx, text_of(b, &text, p->ctx));
        NB_NEED(plain[count], anchor_of(text, p->ctx));
        int times = times_used(count, plain, plain[count]);
        p->anchors[count] = plain[count];
        if (times > 0) NB_NEED(p->anchors[count], nb_format(p->ctx, "%s-%d", plain[count], times));
        count++;
    }
    return NB_OK;
}

static nb_status print_block(printer *p, cmark_node *block)
{
    char *html = cmark_render_html(block, CMARK_OPT_DEFAULT, NULL);
    NB_REQUIRE(p->ctx, html, NB_ENOMEM, "out of memory: the page");
    fputs(html, p->out);
    free(html);
    return NB_OK;
}

static void unfold(printer *p)
{
    if (p->folded) fputs("</details>\n", p->out);
    p->folded = false;
}

static nb_status print_heading(printer *p, cmark_node *block)
{
    const char *text;
    int level = cmark_node_get_heading_level(block);
    bool folds = level == NB_HTML_FOLDED;
    NB_TRY(p->ctx, text_of(block, &text, p->ctx));
    if (level != NB_PAGE_DEEPEST) unfold(p);
    if (folds)
        fputs("<details><summary>", p->out);
    else
        fprintf(p->out, "<h%d id=\"%s\">", level, p->anchors[p->headings]);
    nb_escape_print(p->out, text);
    if (folds)
        fputs("</summary>\n", p->out);
    else
        fprintf(p->out, "</h%d>\n", level);
    p->folded = p->folded || folds;
    p->headings++;
    return NB_OK;
}

/* Letters of a cell beyond which it is broken into lines, and into longer ones; columns of a table beyond which it is
 * printed across. */
enum { LONG_CELL = 26, PROSE_CELL = 100, WIDE_TABLE = 9 };

static const char *class_of(const char *text, bool right)
{
    size_t length = strlen(text);
    return right                 ? " class=\"number\""
           : length > PROSE_CELL ? " class=\"long prose\""
           : length > LONG_CELL  ? " class=\"long\""
                                 : "";
}

static nb_status print_cell(printer *p, cmark_node *cell, bool head, bool right)
{
    const char *text, *tag = head ? "th" : "td";
    NB_TRY(p->ctx, text_of(cell, &text, p->ctx));
    fprintf(p->out, "<%s%s%s>", tag, head ? " scope=\"col\"" : "", class_of(text, right));
    nb_escape_print(p->out, text);
    fprintf(p->out, "</%s>", tag);
    return NB_OK;
}

static nb_status print_row(printer *p, cmark_node *row, const uint8_t *alignments)
{
    bool head = cmark_gfm_extensions_get_table_row_is_header(row) != 0;
    int column = 0;
    fputs(head ? "<thead>\n<tr>" : "<tr>", p->out);
    for (cmark_node *cell = cmark_node_first_child(row); cell; cell = cmark_node_next(cell))
        NB_TRY(p->ctx, print_cell(p, cell, head, alignments[column++] == 'r'));
    fputs(head ? "</tr>\n</thead>\n<tbody>\n" : "</tr>\n", p->out);
    return NB_OK;
}

/* Where it is wider than the page, it scrolls in a box of its own, by keys too. Cells hold text alone. */
static nb_status print_table(printer *p, cmark_node *table)
{
    const uint8_t *alignments = cmark_gfm_extensions_get_table_alignments(table);
    bool wide = cmark_gfm_extensions_get_table_columns(table) > WIDE_TABLE;
    fprintf(p->out, "<div class=\"table%s\" role=\"region\" tabindex=\"0\" aria-label=\"Table %d\">\n<table>\n",
            wide ? " wide" : "", ++p->tables);
    for (cmark_node *row = cmark_node_first_child(table); row; row = cmark_node_next(row))
        NB_TRY(p->ctx, print_row(p, row, alignments));
    fputs("</tbody>\n</table>\n</div>\n", p->out);
    return NB_OK;
}

/* The figure that a paragraph is; -1: it is none. */
static int figure_of(const printer *p, cmark_node *block)
{
    cmark_node *image = cmark_node_first_child(block);
    if (!image || cmark_node_next(image) || cmark_node_get_type(image) != CMARK_NODE_IMAGE) return -1;
    for (int i = 0; i < p->page->figure_count; i++)
        if (strcmp(p->page->figures[i].address, cmark_node_get_url(image)) == 0) return i;
    return -1;
}

static void print_figure(printer *p, int figure)
{
    fprintf(p->out, "<figure>\n<div class=\"drawing\">%s</div>\n<figcaption>", p->figures[figure]);
    nb_escape_print(p->out, p->page->figures[figure].caption);
    fputs("</figcaption>\n</figure>\n", p->out);
}

static nb_status print_blocks(printer *p)
{
    for (cmark_node *block = cmark_node_first_child(p->document); block; block = cmark_node_next(block)) {
        int figure = figure_of(p, block);
        if (cmark_node_get_type(block) == CMARK_NODE_HEADING)
            NB_TRY(p->ctx, print_heading(p, block));
        else if (strcmp(cmark_node_get_type_string(block), "table") == 0)
            NB_TRY(p->ctx, print_table(p, block));
        else if (figure >= 0)
            print_figure(p, figure);
        else
            NB_TRY(p->ctx, print_block(p, block));
    }
    unfold(p);
    return NB_OK;
}

/* Links to the headings of level 2. */
static nb_status print_contents(const printer *p)
{
    int heading = 0;
    fputs("<nav aria-label=\"Contents\">\n<ul>\n", p->out);
    for (cmark_node *b = cmark_node_first_child(p->document); b; b = cmark_node_next(b)) {
        const char *text;
        if (cmark_node_get_type(b) != CMARK_NODE_HEADING) continue;
        const char *anchor = p->anchors[heading++];
        if (cmark_node_get_heading_level(b) != 2) continue;
        NB_TRY(p->ctx, text_of(b, &text, p->ctx));
        fprintf(p->out, "<li><a href=\"#%s\">", anchor);
        nb_escape_print(p->out, text);
        fputs("</a></li>\n", p->out);
    }
    fputs("</ul>\n</nav>\n", p->out);
    return NB_OK;
}

/* The page's own style: that of all pages, and the colours of its figures in the light and in the dark. */
static nb_status make_style(const nb_svg_colours *colours, const char **style, nb_ctx *ctx)
{
    const char *light = "", *dark = "";
    for (int i = 0; i < colours->count; i++) {
        unsigned colour = (unsigned)colours->items[i], turned = (unsigned)nb_svg_dark(colours->items[i]);
        NB_NEED(light, nb_format(ctx, "%s--c%06x:#%06x;", light, colour, colour));
        NB_NEED(dark, nb_format(ctx, "%s--c%06x:#%06x;", dark, colour, turned));
    }
    NB_NEED(*style, nb_format(ctx, "%s:root{%s}\n@media screen and (prefers-color-scheme:dark){:root{%s}}\n",
                              nb_asset_report_css, light, dark));
    return NB_OK;
}

/* A policy lets a text through by its digest: 'sha256-...'. */
static void print_source(FILE *out, const char *text)
{
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char encoded[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)];
    sha256_init(&hash);
    sha256_update(&hash, strlen(text), (const uint8_t *)text);
    sha256_digest(&hash, sizeof digest, digest);
    base64_encode_raw(encoded, sizeof digest, digest);
    fprintf(out, "'sha256-%.*s'", (int)sizeof encoded, encoded);
}

static void print_head(FILE *out, const char *title, const char *style)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ",
          out);
    print_source(out, style);
    fputs("; script-src ", out);
    print_source(out, nb_asset_report_js);
    fputs("; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out);
    nb_escape_print(out, title);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", style);
}

static nb_status read_figures(const nb_html_page *page, nb_svg_colours *colours, const char ***figures, nb_ctx *ctx)
{
    NB_NEED(*figures, nb_alloc(ctx, (size_t)page->figure_count + 1, sizeof **figures));
    for (int i = 0; i < page->figure_count; i++) {
        const char *prefix;
        NB_NEED(prefix, nb_format(ctx, "f%d-", i + 1));
        NB_TRY(ctx, nb_svg_read(page->figures[i].path, prefix, page->figures[i].caption, colours, &(*figures)[i], ctx));
    }
    return NB_OK;
}

nb_status nb_html_print(FILE *out, const void *what, nb_ctx *ctx)
{
    printer p = {.page = what, .out = out, .ctx = ctx};
    nb_svg_colours colours = {.count = 0};
    const char *style;
    NB_TRY(ctx, read_figures(p.page, &colours, &p.figures, ctx));
    NB_TRY(ctx, parse(p.page->markdown, &p.document, ctx));
    NB_TRY(ctx, find_anchors(&p));
    NB_TRY(ctx, make_style(&colours, &style, ctx));
    print_head(out, p.page->title, style);
    NB_TRY(ctx, print_contents(&p));
    fputs("<main>\n", out);
    NB_TRY(ctx, print_blocks(&p));
    fprintf(out, "</main>\n<script>%s</script>\n</body>\n</html>\n", nb_asset_report_js);
    return NB_OK;
}
