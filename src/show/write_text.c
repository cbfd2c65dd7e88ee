/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_text.c - a page as text: paragraphs are wrapped, all but headings and paragraphs is set in by two. */
#include "show/write_text_private.h"

#include "base/text.h"

enum { INDENT = 2 };

/* The columns of prose. */
static int prose(const nb_page_walk *w)
{
    return w->width > 0 && w->width < NB_PAGE_PARAGRAPH ? w->width : NB_PAGE_PARAGRAPH;
}

static nb_status write_heading(nb_page_walk *w)
{
    if (w->bold) fputs("\033[1m", w->out);
    nb_text_wrap(w->out, 0, 0, prose(w), w->block->text);
    fputs(w->bold ? "\033[0m\n" : "\n", w->out);
    return NB_OK;
}

static nb_status write_paragraph(nb_page_walk *w)
{
    nb_text_print_lines(w->out, "", 0, prose(w), w->block->text);
    return NB_OK;
}

static nb_status write_item(nb_page_walk *w)
{
    nb_text_print_lines(w->out, "  ", 2 * INDENT, prose(w), w->block->text);
    return NB_OK;
}

static nb_status write_note(nb_page_walk *w)
{
    const char *lead, *mark = w->block->mark;
    NB_NEED(lead, nb_format(w->page->ctx, "%*s%s%s", INDENT, "", mark, *mark ? " " : ""));
    nb_text_print_lines(w->out, lead, INDENT + (*mark ? 2 : 0), prose(w), w->block->text);
    return NB_OK;
}

static nb_status write_picture(nb_page_walk *w)
{
    nb_text_print_lines(w->out, "", 0, prose(w), w->block->text);
    fprintf(w->out, "%*s%s\n", INDENT, "", w->block->mark);
    return NB_OK;
}

static nb_status write_verbatim(nb_page_walk *w)
{
    fputs(w->block->text, w->out);
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
                                                      [NB_TABLE] = nb_text_write_table}};
