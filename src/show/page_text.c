/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_text.c - a page as text: paragraphs are wrapped, all but headings and paragraphs is set in by two. */
#include "show/page_record.h"

#include "base/text.h"

#include <string.h>

enum { INDENT = 2 };

void nb_page_spaces(FILE *out, int count)
{
    if (count > 0) fprintf(out, "%*s", count, "");
}

void nb_page_wrap(FILE *out, const char *lead, const char *text, int indent, int width, bool bold)
{
    fputs(lead, out);
    if (bold) fputs("\033[1m", out);
    nb_text_wrap(out, nb_text_columns(lead), indent, width, text);
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
