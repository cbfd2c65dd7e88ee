/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_html.c - the blocks of a page as elements of HTML. */
#include "show/write_html.h"

#include "base/files.h"
#include "base/text.h"
#include "show/html.h"

#include <nettle/base64.h>
#include <string.h>

/* Columns of letters in a cell beyond which it is broken into lines, and prose into longer ones; columns of a table
 * beyond which it is printed across. */
enum { LONG_CELL = 26, PROSE_CELL = 100, WIDE_TABLE = 9 };

/* In a page that has headings of its own there are no anchors, and headings stand below those. */
static nb_status write_heading(nb_page_walk *w)
{
    nb_html_state *s = w->own;
    const nb_page_block *b = w->block;
    const char *anchor = s->anchors ? s->anchors[w->at] : NULL;
    int level = anchor ? b->level : b->level + 2;
    bool folds = b->level == NB_PAGE_FOLDED;
    if (s->folded && b->level != NB_PAGE_DEEPEST) fputs("</details>\n", w->out);
    s->folded = folds || (s->folded && b->level == NB_PAGE_DEEPEST);
    if (folds) {
        nb_html_print_text(w->out, "<details><summary>", b->text, "</summary>\n");
        return NB_OK;
    }
    fprintf(w->out, "<h%d", level);
    if (anchor) fprintf(w->out, " id=\"%s\"", anchor);
    nb_html_print_text(w->out, ">", b->text, "");
    fprintf(w->out, "</h%d>\n", level);
    return NB_OK;
}

static nb_status write_paragraph(nb_page_walk *w)
{
    nb_html_print_text(w->out, "<p>", w->block->text, "</p>\n");
    return NB_OK;
}

/* Writes an item or a note, which are both of a list. */
static nb_status write_item(nb_page_walk *w)
{
    fputs("<li>", w->out);
    if (*w->block->mark) nb_html_print_text(w->out, "<strong>", w->block->mark, "</strong> ");
    nb_html_print_text(w->out, "", w->block->text, "</li>\n");
    return NB_OK;
}

static nb_status write_verbatim(nb_page_walk *w)
{
    nb_html_print_text(w->out, "<pre><code>", w->block->text, "</code></pre>\n");
    return NB_OK;
}

/* Writes an image element, for which a browser runs no script and fetches nothing. */
static nb_status write_picture(nb_page_walk *w)
{
    nb_ctx *ctx = w->page->ctx;
    const char *svg;
    char *base64;
    NB_TRY(ctx, nb_read_file(w->block->path, &svg, ctx));
    NB_NEED(base64, nb_alloc(ctx, BASE64_ENCODE_RAW_LENGTH(strlen(svg)) + 1, 1));
    base64_encode_raw(base64, strlen(svg), (const uint8_t *)svg);
    nb_html_print_text(w->out, "<figure>\n<div class=\"drawing\"><img alt=\"", w->block->text, "\"");
    fprintf(w->out, " src=\"data:image/svg+xml;base64,%s\"></div>\n", base64);
    nb_html_print_text(w->out, "<figcaption>", w->block->text, "</figcaption>\n</figure>\n");
    return NB_OK;
}

/* Numbers and words are never broken, labels and prose where they are long. */
static const char *class_of(const nb_page_sheet *t, int column, nb_page_entry cell)
{
    int kind = column == NB_PAGE_BANDS ? NB_PAGE_LABEL : t->columns[column].kind;
    int letters = nb_text_columns(cell.text) + nb_text_columns(cell.mark);
    if (kind & NB_PAGE_NUMBER) return " class=\"number\"";
    if (kind & NB_PAGE_PROSE && letters > PROSE_CELL) return " class=\"long prose\"";
    return kind & (NB_PAGE_PROSE | NB_PAGE_LABEL) && letters > LONG_CELL ? " class=\"long\"" : "";
}

static void print_row(FILE *out, const nb_page_sheet *t, int row)
{
    bool head = row == NB_PAGE_HEADS;
    fputs("<tr>", out);
    for (int c = nb_page_first_column(t); c < t->column_count; c++) {
        nb_page_entry cell = nb_page_cell_at(t, row, c);
        fprintf(out, head ? "<th scope=\"col\"%s>" : "<td%s>", class_of(t, c, cell));
        nb_html_print_text(out, "", cell.text, "");
        nb_html_print_text(out, "", cell.mark, head ? "</th>" : "</td>");
    }
    fputs("</tr>\n", out);
}

/* Writes a table in a box that scrolls, by keys too, where it is wider than the page. */
static nb_status write_table(nb_page_walk *w)
{
    const nb_page_sheet *t = w->block->table;
    nb_html_state *s = w->own;
    bool wide = t->column_count - nb_page_first_column(t) > WIDE_TABLE;
    fprintf(w->out,
            "<div class=\"table%s\" role=\"region\" tabindex=\"0\" aria-label=\"Table %d\">\n<table>\n<thead>\n",
            wide ? " wide" : "", ++s->tables);
    print_row(w->out, t, NB_PAGE_HEADS);
    fputs("</thead>\n<tbody>\n", w->out);
    for (int r = 0; r < t->row_count; r++) print_row(w->out, t, r);
    fputs("</tbody>\n</table>\n</div>\n", w->out);
    return NB_OK;
}

/* Begins and ends lists, the element around all, unless it is a page of its own, and at the end what is folded. */
static void write_between(nb_page_walk *w)
{
    nb_html_state *s = w->own;
    bool item = nb_page_is_item(w->block), before = nb_page_is_item(w->before);
    if (!s->anchors && !w->before) fputs("<div>\n", w->out);
    if (before && !item) fputs("</ul>\n", w->out);
    if (item && !before) fputs("<ul>\n", w->out);
    if (!w->block && s->folded) fputs("</details>\n", w->out);
    if (!w->block && !s->anchors) fputs("</div>\n", w->out);
}

const nb_page_writer nb_page_html_writer = {.own_size = sizeof(nb_html_state),
                                            .between = write_between,
                                            .block = {[NB_HEADING] = write_heading,
                                                      [NB_PARAGRAPH] = write_paragraph,
                                                      [NB_ITEM] = write_item,
                                                      [NB_NOTE] = write_item,
                                                      [NB_PICTURE] = write_picture,
                                                      [NB_VERBATIM] = write_verbatim,
                                                      [NB_TABLE] = write_table}};
