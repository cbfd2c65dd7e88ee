/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_text.c - a page as text: paragraphs are wrapped, all but headings and paragraphs is set in by two. */
#include "report/page_record.h"

#include "base/text.h"

#include <limits.h>
#include <string.h>

enum { INDENT = 2 };

int nb_page_longest_word(const char *text)
{
    int longest = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t bytes = strcspn(text, " ");
        int width = nb_text_columns_in(text, bytes);
        longest = width > longest ? width : longest;
        text += bytes;
    }
    return longest;
}

bool nb_page_line(const char **at, int width, const char **line, int *bytes)
{
    const char *from = *at, *end = from;
    for (const char *next = from; *next;) { /* behind each word */
        const char *word = next + strspn(next, " ");
        next = word + strcspn(word, " ");
        if (end > from && nb_text_columns_in(from, (size_t)(next - from)) > width) break;
        if (next > word) end = next;
    }
    *line = from;
    *bytes = (int)(end - from);
    *at = end + strspn(end, " ");
    return end > from;
}

void nb_page_spaces(FILE *out, int count)
{
    if (count > 0) fprintf(out, "%*s", count, "");
}

void nb_page_wrap(FILE *out, const char *lead, const char *text, int indent, int width, bool bold)
{
    const char *line;
    int bytes, used = nb_text_columns(lead);
    fputs(lead, out);
    if (bold) fputs("\033[1m", out);
    for (bool first = true; nb_page_line(&text, (width > 0 ? width : INT_MAX) - (first ? used : indent), &line, &bytes);
         first = false) {
        if (!first) fputc('\n', out);
        if (!first) nb_page_spaces(out, indent);
        fwrite(line, 1, (size_t)bytes, out);
    }
    fputs(bold ? "\033[0m\n" : "\n", out);
}

static nb_status print_block(FILE *out, const nb_page_block *b, bool bold, int width, nb_ctx *ctx)
{
    int prose = width > 0 && width < NB_PAGE_PARAGRAPH ? width : NB_PAGE_PARAGRAPH;
    const char *lead;
    switch (b->kind) {
    case NB_HEADING: nb_page_wrap(out, "", b->text, 0, prose, bold); break;
    case NB_PARAGRAPH: nb_page_wrap(out, "", b->text, 0, prose, false); break;
    case NB_ITEM: nb_page_wrap(out, "  ", b->text, 2 * INDENT, prose, false); break;
    case NB_NOTE:
        NB_NEED(lead, nb_format(ctx, "%*s%s%s", INDENT, "", b->mark, *b->mark ? " " : ""));
        nb_page_wrap(out, lead, b->text, INDENT + (*b->mark ? 2 : 0), prose, false);
        break;
    case NB_PICTURE:
        nb_page_wrap(out, "", b->text, 0, prose, false);
        fprintf(out, "%*s%s\n", INDENT, "", b->mark);
        break;
    case NB_VERBATIM: fputs(b->text, out); break;
    case NB_TABLE: return nb_page_print_table(out, b->table, bold, width, ctx);
    case NB_BLOCK_KINDS: break;
    }
    return NB_OK;
}

/* Whether an empty line stands before a block, by its kind and that of the block before. */
static const bool apart[NB_BLOCK_KINDS][NB_BLOCK_KINDS] = {
    [NB_HEADING] = {false, true, true, true, true, true, true},
    [NB_PICTURE] = {false, true, true, true, true, true, true},
    [NB_PARAGRAPH] = {[NB_ITEM] = true, [NB_NOTE] = true, [NB_VERBATIM] = true, [NB_TABLE] = true},
    [NB_ITEM] = {[NB_VERBATIM] = true, [NB_TABLE] = true},
    [NB_VERBATIM] = {[NB_ITEM] = true, [NB_NOTE] = true, [NB_VERBATIM] = true, [NB_TABLE] = true},
    [NB_TABLE] = {[NB_ITEM] = true, [NB_NOTE] = true, [NB_VERBATIM] = true, [NB_TABLE] = true},
};

nb_status nb_page_print_text(FILE *out, const nb_page *page, bool bold, int width)
{
    const nb_page_block *before = NULL;
    for (int i = 0; i < page->count; i++) {
        const nb_page_block *b = &page->blocks[i];
        if (b->table && b->table->row_count == 0) continue;
        if (before && apart[b->kind][before->kind]) fputc('\n', out);
        nb_mark mark = nb_ctx_mark(page->ctx);
        NB_TRY(page->ctx, print_block(out, b, bold, width, page->ctx));
        nb_ctx_release(page->ctx, mark);
        before = b;
    }
    return NB_OK;
}
