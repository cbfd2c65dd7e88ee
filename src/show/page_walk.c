/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_walk.c - the walk over the blocks of a page, in which one of the writers (write_FORM.c) writes each, and what
 * writers ask of tables. */
#include "show/page_record.h"

#include <string.h>

nb_page_entry nb_page_cell_at(const nb_page_sheet *t, int row, int column)
{
    const nb_page_record *r = row == NB_PAGE_HEADS ? NULL : &t->rows[row];
    const char *text = "";
    if (r && column >= 0 && column < r->count) return t->cells[r->first + column];
    if (!r) text = column == NB_PAGE_BANDS ? t->band_head : t->columns[column].text;
    if (r && column == NB_PAGE_BANDS && r->band) text = r->band;
    return (nb_page_entry){text, "", NULL};
}

int nb_page_first_column(const nb_page_sheet *t)
{
    return t->band_head ? NB_PAGE_BANDS : 0;
}

bool nb_page_is_number(const nb_page_sheet *t, int column)
{
    return column != NB_PAGE_BANDS && t->columns[column].kind & NB_PAGE_NUMBER;
}

bool nb_page_begins_band(const nb_page_sheet *t, int row)
{
    const char *band = t->rows[row].band, *before = row > 0 && !t->rows[row].ruled ? t->rows[row - 1].band : NULL;
    return band && (!before || strcmp(band, before) != 0);
}

bool nb_page_is_item(const nb_page_block *b)
{
    return b && (b->kind == NB_ITEM || b->kind == NB_NOTE);
}

nb_status nb_page_write(const nb_page_writer *writer, nb_page_walk walk)
{
    const nb_page *page = walk.page;
    nb_ctx *ctx = page->ctx;
    nb_mark whole = nb_ctx_mark(ctx);
    nb_page edited;
    NB_TRY(ctx, page->status);
    if (writer->edit) NB_TRY(ctx, writer->edit(page, &edited));
    if (writer->edit) walk.page = page = &edited;
    if (!walk.own) NB_NEED(walk.own, nb_alloc(ctx, 1, writer->own_size + 1));
    for (int i = 0; i < page->count; i++) {
        nb_mark mark = nb_ctx_mark(ctx);
        walk.at = i;
        walk.block = &page->blocks[i];
        if (walk.block->table && walk.block->table->row_count == 0) continue;
        if (writer->between) writer->between(&walk);
        NB_TRY(ctx, writer->block[walk.block->kind](&walk));
        walk.before = walk.block;
        nb_ctx_release(ctx, mark);
    }
    walk.block = NULL;
    if (writer->between) writer->between(&walk);
    nb_ctx_release(ctx, whole);
    return NB_OK;
}

nb_status nb_page_print(FILE *out, const nb_page *page, nb_page_form form, int width)
{
    static const nb_page_writer *const writers[] = {[NB_PAGE_TEXT] = &nb_page_text_writer,
                                                    [NB_PAGE_TERMINAL] = &nb_page_text_writer,
                                                    [NB_PAGE_MARKDOWN] = &nb_page_markdown_writer,
                                                    [NB_PAGE_LATEX] = &nb_page_latex_writer,
                                                    [NB_PAGE_HTML] = &nb_page_html_writer};
    return nb_page_write(writers[form],
                         (nb_page_walk){.out = out, .page = page, .bold = form == NB_PAGE_TERMINAL, .width = width});
}
