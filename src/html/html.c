/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.c - see html.h */
#include "html/html.h"

#include "base/files.h"
#include "report/page_record.h"

#include <ctype.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <string.h>

/* Letters of a cell beyond which it is broken into lines, and into longer ones; columns of a table beyond which it is
 * printed across. */
enum { LONG_CELL = 26, PROSE_CELL = 100, WIDE_TABLE = 9 };

static void print_escaped(FILE *out, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out);
        }
}

/* Returns the anchor that GitHub gives a heading: small letters, '-' for a blank, no punctuation. */
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

/* Finds the anchors of the headings, by block; one that repeats has its number behind it. */
static nb_status find_anchors(const nb_page *page, const char ***anchors)
{
    const char **plain;
    NB_NEED(plain, nb_alloc(page->ctx, (size_t)page->count + 1, sizeof *plain));
    NB_NEED(*anchors, nb_alloc(page->ctx, (size_t)page->count + 1, sizeof **anchors));
    for (int i = 0; i < page->count; i++) {
        int times = 0;
        if (page->blocks[i].kind != NB_HEADING) continue;
        NB_NEED(plain[i], anchor_of(page->blocks[i].text, page->ctx));
        for (int k = 0; k < i; k++) times += plain[k] && strcmp(plain[k], plain[i]) == 0;
        (*anchors)[i] = plain[i];
        if (times > 0) NB_NEED((*anchors)[i], nb_format(page->ctx, "%s-%d", plain[i], times));
    }
    return NB_OK;
}

static void print_contents(FILE *out, const nb_page *page, const char *const *anchors)
{
    fputs("<nav aria-label=\"Contents\">\n<ul>\n", out);
    for (int i = 0; i < page->count; i++) {
        if (page->blocks[i].kind != NB_HEADING || page->blocks[i].level != 2) continue;
        fprintf(out, "<li><a href=\"#%s\">", anchors[i]);
        print_escaped(out, page->blocks[i].text);
        fputs("</a></li>\n", out);
    }
    fputs("</ul>\n</nav>\n", out);
}

/* `anchor` NULL: in a page that has headings of its own. */
static void print_heading(FILE *out, const nb_page_block *b, const char *anchor, bool *folded)
{
    int level = anchor ? b->level : b->level + 2;
    bool folds = b->level == NB_PAGE_FOLDED;
    if (*folded && b->level != NB_PAGE_DEEPEST) fputs("</details>\n", out);
    *folded = folds || (*folded && b->level == NB_PAGE_DEEPEST);
    if (folds)
        fputs("<details><summary>", out);
    else if (anchor)
        fprintf(out, "<h%d id=\"%s\">", level, anchor);
    else
        fprintf(out, "<h%d>", level);
    print_escaped(out, b->text);
    if (folds)
        fputs("</summary>\n", out);
    else
        fprintf(out, "</h%d>\n", level);
}

static void print_cell(FILE *out, nb_page_entry cell, const char *tag, bool number)
{
    size_t length = strlen(cell.text) + strlen(cell.mark);
    fprintf(out, "<%s%s%s>", tag, *tag == 't' && tag[1] == 'h' ? " scope=\"col\"" : "",
            number                ? " class=\"number\""
            : length > PROSE_CELL ? " class=\"long prose\""
            : length > LONG_CELL  ? " class=\"long\""
                                  : "");
    print_escaped(out, cell.text);
    print_escaped(out, cell.mark);
    fprintf(out, "</%s>", tag);
}

/* Prints a table in a box that scrolls, by keys too, where it is wider than the page. */
static void print_table(FILE *out, const nb_page_sheet *t, int number)
{
    int columns = t->column_count + (t->band_head != NULL);
    fprintf(out, "<div class=\"table%s\" role=\"region\" tabindex=\"0\" aria-label=\"Table %d\">\n<table>\n",
            columns > WIDE_TABLE ? " wide" : "", number);
    fputs("<thead>\n<tr>", out);
    if (t->band_head) print_cell(out, (nb_page_entry){t->band_head, ""}, "th", false);
    for (int c = 0; c < t->column_count; c++)
        print_cell(out, (nb_page_entry){t->columns[c].text, ""}, "th", t->columns[c].kind & NB_PAGE_NUMBER);
    fputs("</tr>\n</thead>\n<tbody>\n", out);
    for (int r = 0; r < t->row_count; r++) {
        const char *band = t->rows[r].band;
        fputs("<tr>", out);
        if (t->band_head) print_cell(out, (nb_page_entry){band ? band : "", ""}, "td", false);
        for (int c = 0; c < t->column_count; c++)
            print_cell(out, nb_page_cell_at(t, r, c), "td", t->columns[c].kind & NB_PAGE_NUMBER);
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table>\n</div>\n", out);
}

/* Prints an image element, for which a browser runs no script and fetches nothing. */
static nb_status print_picture(FILE *out, const nb_page_block *b, nb_ctx *ctx)
{
    const char *svg;
    char *base64;
    NB_TRY(ctx, nb_read_file(b->path, &svg, ctx));
    NB_NEED(base64, nb_alloc(ctx, BASE64_ENCODE_RAW_LENGTH(strlen(svg)) + 1, 1));
    base64_encode_raw(base64, strlen(svg), (const uint8_t *)svg);
    fputs("<figure>\n<div class=\"drawing\"><img alt=\"", out);
    print_escaped(out, b->text);
    fprintf(out, "\" src=\"data:image/svg+xml;base64,%s\"></div>\n<figcaption>", base64);
    print_escaped(out, b->text);
    fputs("</figcaption>\n</figure>\n", out);
    return NB_OK;
}

static void print_text(FILE *out, const char *before, const nb_page_block *b, const char *behind)
{
    fputs(before, out);
    if (b->kind == NB_NOTE && *b->mark) {
        fputs("<strong>", out);
        print_escaped(out, b->mark);
        fputs("</strong> ", out);
    }
    print_escaped(out, b->text);
    fputs(behind, out);
}

static bool is_item(const nb_page *page, int block)
{
    return block >= 0 && block < page->count &&
           (page->blocks[block].kind == NB_ITEM || page->blocks[block].kind == NB_NOTE);
}

/* `anchors`: of headings, by block; NULL: they have none. */
static nb_status print_blocks(FILE *out, const nb_page *page, const char *const *anchors)
{
    bool folded = false;
    int tables = 0;
    for (int i = 0; i < page->count; i++) {
        const nb_page_block *b = &page->blocks[i];
        switch (b->kind) {
        case NB_HEADING: print_heading(out, b, anchors ? anchors[i] : NULL, &folded); break;
        case NB_PARAGRAPH: print_text(out, "<p>", b, "</p>\n"); break;
        case NB_ITEM:
        case NB_NOTE:
            if (!is_item(page, i - 1)) fputs("<ul>\n", out);
            print_text(out, "<li>", b, "</li>\n");
            if (!is_item(page, i + 1)) fputs("</ul>\n", out);
            break;
        case NB_PICTURE: NB_TRY(page->ctx, print_picture(out, b, page->ctx)); break;
        case NB_VERBATIM: print_text(out, "<pre><code>", b, "</code></pre>\n"); break;
        case NB_TABLE:
            if (b->table->row_count > 0) print_table(out, b->table, ++tables);
            break;
        case NB_BLOCK_KINDS: break;
        }
    }
    if (folded) fputs("</details>\n", out);
    return NB_OK;
}

/* Links to the headings of level 2, then the blocks. */
static nb_status print_body(FILE *out, const nb_page *page)
{
    const char **anchors;
    NB_TRY(page->ctx, page->status);
    NB_TRY(page->ctx, find_anchors(page, &anchors));
    print_contents(out, page, anchors);
    fputs("<main>\n", out);
    NB_TRY(page->ctx, print_blocks(out, page, anchors));
    fputs("</main>\n", out);
    return NB_OK;
}

nb_status nb_html_print_part(FILE *out, const nb_page *page)
{
    NB_TRY(page->ctx, page->status);
    fputs("<div>\n", out);
    NB_TRY(page->ctx, print_blocks(out, page, NULL));
    fputs("</div>\n", out);
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

static void print_start(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ",
          out);
    print_source(out, nb_asset_report_css);
    fputs("; script-src ", out);
    print_source(out, nb_asset_report_js);
    fputs("; img-src data:; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out);
    print_escaped(out, title);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", nb_asset_report_css);
}

nb_status nb_html_print(FILE *out, const char *title, const nb_page *page, nb_ctx *ctx)
{
    print_start(out, title);
    NB_TRY(ctx, print_body(out, page));
    fprintf(out, "<script>%s</script>\n</body>\n</html>\n", nb_asset_report_js);
    return NB_OK;
}
