/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_fit.c - see table_fit.h */
#include "show/table_fit.h"

#include "base/shorten.h"
#include "base/text.h"

#include <string.h>

enum { INDENT = 2, LEAST_LABEL = 12, SHORT_LABEL = 16, LEAST_PROSE = 24, SHORT_PROSE = 32 };

static bool has_kind(const nb_fitted_table *f, int column, int kind)
{
    return (f->table->columns[column].kind & kind) != 0;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static const char **texts_of(const nb_fitted_table *f, int column)
{
    return &f->texts[(size_t)column * (size_t)f->table->row_count];
}

const char *nb_fitted_text(const nb_fitted_table *f, int row, int column)
{
    return texts_of(f, column)[row];
}

const char *nb_fitted_mark(const nb_fitted_table *f, int row, int column)
{
    return nb_page_is_number(f->table, column) ? nb_page_cell_at(f->table, row, column).mark : "";
}

static int head_width(const nb_fitted_table *f, int column)
{
    return f->table->headless ? 0 : nb_text_columns(f->table->columns[column].text);
}

static void measure(nb_fitted_table *f, int column)
{
    f->columns[column] = head_width(f, column);
    for (int r = 0; r < f->table->row_count; r++) {
        f->columns[column] = most(f->columns[column], nb_text_columns(nb_fitted_text(f, r, column)));
        f->marks[column] = most(f->marks[column], nb_text_columns(nb_fitted_mark(f, r, column)));
    }
}

/* Takes the texts as they are: the mark of a cell that is no number belongs to its text. */
static nb_status set_texts(nb_fitted_table *f, nb_ctx *ctx)
{
    const nb_page_sheet *t = f->table;
    for (int c = 0; c < t->column_count; c++) {
        const char **texts = texts_of(f, c);
        for (int r = 0; r < t->row_count; r++) {
            nb_page_entry cell = nb_page_cell_at(t, r, c);
            const char *in = c == 0 && t->rows[r].band ? "  " : "";
            const char *mark = nb_page_is_number(f->table, c) ? "" : cell.mark;
            texts[r] = cell.text;
            if (*in || *mark) NB_NEED(texts[r], nb_format(ctx, "%s%s%s", in, cell.text, mark));
        }
        measure(f, c);
    }
    return NB_OK;
}

static int with_gap(const nb_fitted_table *f, int column)
{
    return NB_TABLE_GAP + f->columns[column] + f->marks[column];
}

/* Returns the width of the columns of a kind together. */
static int total(const nb_fitted_table *f, int kind)
{
    int width = f->indent - NB_TABLE_GAP;
    for (int c = 0; c < f->table->column_count; c++)
        if (!kind || has_kind(f, c, kind)) width += with_gap(f, c);
    return width;
}

/* Returns how narrow a label may become, `least` or its head. Cutting short ones wins little. */
static int least_label(const nb_fitted_table *f, int column, int least)
{
    bool fixed = nb_page_is_number(f->table, column) || f->columns[column] <= SHORT_LABEL;
    return fixed ? f->columns[column] : most(head_width(f, column), least);
}

/* Returns how narrow prose may become: no word is broken, but of the last column, which spoils no other. Breaking short
 * prose wins little. */
static int least_prose(const nb_fitted_table *f, int column)
{
    int least = most(head_width(f, column), LEAST_PROSE);
    if (f->columns[column] <= SHORT_PROSE) return f->columns[column];
    for (int r = 0; r < f->table->row_count && column + 1 < f->table->column_count; r++)
        least = most(least, nb_text_longest_word(nb_fitted_text(f, r, column)));
    return least;
}

/* Makes the widest column of a kind narrower, by one and again, until the columns of the kind `of` (0: all) have the
 * width together or none can be narrower. */
static nb_status narrow(nb_fitted_table *f, int kind, int least, int of, int width, nb_ctx *ctx)
{
    int *floors, columns = f->table->column_count;
    NB_NEED(floors, nb_alloc(ctx, (size_t)columns + 1, sizeof *floors));
    for (int c = 0; c < columns; c++)
        floors[c] = !has_kind(f, c, kind)   ? f->columns[c]
                    : kind == NB_PAGE_PROSE ? least_prose(f, c)
                                            : least_label(f, c, least);
    for (int widest = 0; widest >= 0 && total(f, of) > width;) {
        widest = -1;
        for (int c = 0; c < columns; c++)
            if (f->columns[c] > floors[c] && (widest < 0 || f->columns[c] > f->columns[widest])) widest = c;
        if (widest >= 0) f->columns[widest]--;
    }
    return NB_OK;
}

static nb_status narrow_labels(nb_fitted_table *f, int least, int of, int width, nb_ctx *ctx)
{
    NB_TRY(ctx, narrow(f, NB_PAGE_LABEL, least, of, width, ctx));
    for (int c = 0; c < f->table->column_count; c++) {
        if (!has_kind(f, c, NB_PAGE_LABEL) || nb_page_is_number(f->table, c)) continue;
        NB_TRY(ctx, nb_shorten_texts(f->table->row_count, texts_of(f, c), f->columns[c], ctx));
        measure(f, c);
    }
    return NB_OK;
}

/* Returns whether rows differ in a label: in later parts others are left out, but for the first label. */
static bool differs(const nb_fitted_table *f, int column)
{
    for (int r = 1; r < f->table->row_count; r++)
        if (strcmp(nb_fitted_text(f, r, column), nb_fitted_text(f, 0, column)) != 0) return true;
    return false;
}

/* Takes as many columns from *next on as fit beside the labels, at least one. */
static void fill_part(const nb_fitted_table *f, int *next, nb_fitted_part *part)
{
    int c, first = *next, width = f->indent - NB_TABLE_GAP;
    for (c = 0; c < f->table->column_count; c++) {
        if (!has_kind(f, c, NB_PAGE_LABEL) || (first > 0 && part->count > 0 && !differs(f, c))) continue;
        width += with_gap(f, c);
        part->columns[part->count++] = c;
    }
    for (c = first; c < f->table->column_count; c++) {
        if (has_kind(f, c, NB_PAGE_LABEL)) continue;
        width += with_gap(f, c);
        if (width > f->width && c > first) break;
        part->columns[part->count++] = c;
    }
    *next = c;
}

static nb_status add_part(nb_fitted_table *f, nb_fitted_part **part, nb_ctx *ctx)
{
    *part = &f->parts[f->part_count++];
    NB_NEED((*part)->columns, nb_alloc(ctx, (size_t)f->table->column_count + 1, sizeof *(*part)->columns));
    return NB_OK;
}

static nb_status leave_whole(nb_fitted_table *f, nb_ctx *ctx)
{
    nb_fitted_part *part;
    NB_TRY(ctx, add_part(f, &part, ctx));
    for (int c = 0; c < f->table->column_count; c++) part->columns[part->count++] = c;
    return NB_OK;
}

/* Divides the table where the labels have room, and each column beside them. */
static nb_status divide(nb_fitted_table *f, nb_ctx *ctx)
{
    int labels = total(f, NB_PAGE_LABEL);
    nb_fitted_part *part;
    if (labels > f->width) return NB_OK;
    for (int c = 0; c < f->table->column_count; c++)
        if (!has_kind(f, c, NB_PAGE_LABEL) && labels + with_gap(f, c) > f->width) return NB_OK;
    for (int next = 0; next < f->table->column_count; fill_part(f, &next, part)) NB_TRY(ctx, add_part(f, &part, ctx));
    return NB_OK;
}

nb_status nb_table_fit(const nb_page_sheet *t, int width, nb_fitted_table *f, nb_ctx *ctx)
{
    size_t columns = (size_t)t->column_count;
    *f = (nb_fitted_table){.table = t, .width = width, .indent = t->flush ? 0 : INDENT};
    NB_NEED(f->texts, nb_alloc(ctx, (size_t)t->row_count * columns + 1, sizeof *f->texts));
    NB_NEED(f->columns, nb_alloc(ctx, columns + 1, sizeof *f->columns));
    NB_NEED(f->marks, nb_alloc(ctx, columns + 1, sizeof *f->marks));
    NB_NEED(f->parts, nb_alloc(ctx, columns + 1, sizeof *f->parts));
    NB_TRY(ctx, set_texts(f, ctx));
    if (width == 0 || total(f, 0) <= width) return leave_whole(f, ctx);
    NB_TRY(ctx, narrow(f, NB_PAGE_PROSE, 0, 0, width, ctx));
    if (total(f, 0) > width) NB_TRY(ctx, narrow_labels(f, most(LEAST_LABEL, width / 4), 0, width, ctx));
    if (total(f, 0) <= width) return leave_whole(f, ctx);
    NB_TRY(ctx, set_texts(f, ctx));
    NB_TRY(ctx, narrow(f, NB_PAGE_PROSE, 0, 0, width, ctx));
    NB_TRY(ctx, narrow_labels(f, LEAST_LABEL, NB_PAGE_LABEL, width / 2, ctx));
    return divide(f, ctx);
}
