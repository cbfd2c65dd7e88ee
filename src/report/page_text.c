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

/* The columns of prose. */
static int prose(const nb_page_walk *w)
{
    return w->width > 0 && w->width < NB_PAGE_PARAGRAPH ? w->width : NB_PAGE_PARAGRAPH;
}

static nb_status write_heading(nb_page_walk *w)
{
    nb_page_wrap(w->out, "", w->block->text, 0, prose(w), w->bold);
    return NB_OK;
}

static nb_status write_paragraph(nb_page_walk *w)
{
    nb_page_wrap(w->out, "", w->block->text, 0, prose(w), false);
    return NB_OK;
}

static nb_status write_item(nb_page_walk *w)
{
    nb_page_wrap(w->out, "  ", w->block->text, 2 * INDENT, prose(w), false);
    return NB_OK;
}

static nb_status write_note(nb_page_walk *w)
{
    nb_mark memory = nb_ctx_mark(w->page->ctx);
    const char *lead, *mark = w->block->mark;
    NB_NEED(lead, nb_format(w->page->ctx, "%*s%s%s", INDENT, "", mark, *mark ? " " : ""));
    nb_page_wrap(w->out, lead, w->block->text, INDENT + (*mark ? 2 : 0), prose(w), false);
    nb_ctx_release(w->page->ctx, memory);
    return NB_OK;
}

static nb_status write_picture(nb_page_walk *w)
{
    nb_page_wrap(w->out, "", w->block->text, 0, prose(w), false);
    fprintf(w->out, "%*s%s\n", INDENT, "", w->block->mark);
    return NB_OK;
}

static nb_status write_verbatim(nb_page_walk *w)
{
    fputs(w->block->text, w->out);
    return NB_OK;
}

static nb_status write_table(nb_page_walk *w)
{
    nb_mark memory = nb_ctx_mark(w->page->ctx);
    NB_TRY(w->page->ctx, nb_page_print_table(w->out, w->block->table, w->bold, w->width, w->page->ctx));
    nb_ctx_release(w->page->ctx, memory);
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

static void write_between(nb_page_walk *w)
{
    if (w->block && w->before && apart[w->block->kind][w->before->kind]) fputc('\n', w->out);
}

const nb_page_writer nb_page_text_writer = {.between = write_between,
                                            .block = {[NB_HEADING] = write_heading,
                                                      [NB_PARAGRAPH] = write_paragraph,
                                                      [NB_ITEM] = write_item,
                                                      [NB_NOTE] = write_note,
                                                      [NB_PICTURE] = write_picture,
                                                      [NB_VERBATIM] = write_verbatim,
                                                      [NB_TABLE] = write_table}};
