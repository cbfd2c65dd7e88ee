/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page.c - see page.h */
#include "show/page_record.h"

#include "base/numerals.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void nb_page_make(nb_page *page, nb_ctx *ctx)
{
    *page = (nb_page){.ctx = ctx};
    nb_texts_init(&page->texts, ctx);
}

static void fail(nb_page *page)
{
    if (page->status == NB_OK) page->status = NB_ENOMEM;
}

/* The text, clean but for characters that are kept; NULL: out of memory, which the page keeps. */
static const char *copy(nb_page *page, const char *text, const char *kept)
{
    const char *own = page->status == NB_OK ? nb_strdup(page->ctx, text ? text : "") : NULL;
    const char *clean = own ? nb_clean(page->ctx, own, kept) : NULL;
    if (!clean) fail(page);
    return clean;
}

/* The same of a cell, whose text most other cells may have. */
static const char *copy_once(nb_page *page, const char *text)
{
    int number;
    const char *clean = page->status == NB_OK ? nb_clean(page->ctx, text, "") : NULL;
    if (clean && nb_texts_number(&page->texts, clean, &number) == NB_OK) return page->texts.items[number];
    fail(page);
    return NULL;
}

static __attribute__((format(printf, 2, 0))) const char *formatted(nb_page *page, const char *format, va_list args,
                                                                   bool of_cell)
{
    char *text;
    if (vasprintf(&text, format, args) < 0) {
        fail(page);
        return NULL;
    }
    const char *clean = of_cell ? copy_once(page, text) : copy(page, text, "");
    free(text);
    return clean;
}

/* Makes room for one more; false: out of memory. */
static bool grow(nb_page *page, void *items, size_t size, int count, int *capacity)
{
    void **array = items;
    void *grown = page->status == NB_OK ? nb_grown(page->ctx, *array, size, count, capacity) : NULL;
    if (grown) *array = grown;
    if (!grown) fail(page);
    return grown != NULL;
}

static nb_page_block *add_block(nb_page *page, nb_block_kind kind, const char *text)
{
    if (!grow(page, &page->blocks, sizeof *page->blocks, page->count, &page->capacity)) return NULL;
    nb_page_block *block = &page->blocks[page->count++];
    *block = (nb_page_block){.kind = kind, .text = text, .mark = "", .items = text, .formula = ""};
    return block;
}

#define FORMATTED(page, format, text, of_cell) \
    do { \
        va_list args_; \
        va_start(args_, format); \
        (text) = formatted((page), (format), args_, (of_cell)); \
        va_end(args_); \
    } while (0)

void nb_page_add(nb_page *page, nb_block_kind kind, int level_or_use, const char *path, const char *mark,
                 const char *format, ...)
{
    const char *text, *own = copy(page, mark, "");
    FORMATTED(page, format, text, false);
    nb_page_block *block = add_block(page, kind, text);
    if (!block) return;
    block->mark = own;
    if (kind == NB_PARAGRAPH) block->use = (nb_page_use)level_or_use;
    if (kind == NB_HEADING) block->level = level_or_use + page->deeper;
    if (page->deeper > 0 && block->level > NB_PAGE_DEEPEST) block->level = NB_PAGE_DEEPEST;
    if (path && !(block->path = nb_strdup(page->ctx, path))) fail(page);
}

void nb_page_title(nb_page *page, int level, const char *items)
{
    const char *own = copy(page, items, "\n"), *text = own ? nb_replaced(page->ctx, own, "\n", ", ") : NULL;
    if (!text) fail(page);
    nb_page_heading(page, level, "%s", text ? text : "");
    if (page->status == NB_OK) page->blocks[page->count - 1].items = own;
}

void nb_page_formula(nb_page *page, const char *formula)
{
    const char *own = copy(page, formula, "");
    if (own && page->count > 0) page->blocks[page->count - 1].formula = own;
}

void nb_page_verbatim(nb_page *page, const char *text)
{
    add_block(page, NB_VERBATIM, copy(page, text, "\n"));
}

void nb_page_table(nb_page *page)
{
    nb_page_block *block = add_block(page, NB_TABLE, NULL);
    if (block && !(block->table = nb_alloc(page->ctx, 1, sizeof *block->table))) fail(page);
}

/* The table that was begun last; NULL: out of memory. */
static nb_page_sheet *last_table(nb_page *page)
{
    if (page->status != NB_OK) return NULL;
    nb_page_sheet *table = page->count > 0 ? page->blocks[page->count - 1].table : NULL;
    if (!table)
        page->status = nb_error_set(page->ctx, NB_EBUG, __FILE__, __LINE__, "a cell or column outside of a table");
    return table;
}

void nb_page_column(nb_page *page, int kind, const char *format, ...)
{
    const char *head;
    nb_page_sheet *t = last_table(page);
    FORMATTED(page, format, head, false);
    if (!t || !head || !grow(page, &t->columns, sizeof *t->columns, t->column_count, &t->column_capacity)) return;
    t->columns[t->column_count++] = (nb_page_head){head, kind};
}

void nb_page_row(nb_page *page)
{
    nb_page_sheet *t = last_table(page);
    if (!t || !grow(page, &t->rows, sizeof *t->rows, t->row_count, &t->row_capacity)) return;
    t->rows[t->row_count++] = (nb_page_record){.band = t->band, .first = t->cell_count};
}

void nb_page_cell(nb_page *page, const char *format, ...)
{
    const char *text;
    nb_page_sheet *t = last_table(page);
    FORMATTED(page, format, text, true);
    if (!t || !text || !grow(page, &t->cells, sizeof *t->cells, t->cell_count, &t->cell_capacity)) return;
    nb_page_record *row = t->row_count > 0 ? &t->rows[t->row_count - 1] : NULL;
    if (!row || row->count == t->column_count) {
        page->status = nb_error_set(page->ctx, NB_EBUG, __FILE__, __LINE__, "a row has more cells than columns");
        return;
    }
    t->cells[t->cell_count++] = (nb_page_entry){text, "", NULL};
    row->count++;
}

void nb_page_number(nb_page *page, const char *format, double x)
{
    nb_digits digits = nb_shown(format, x);
    nb_page_numeral(page, isnan(x) ? "-" : isfinite(x) ? "" : digits.text, isfinite(x) ? digits.text : "", "");
}

void nb_page_numeral(nb_page *page, const char *before, const char *digits, const char *mark)
{
    nb_page_cell(page, "%s%s", before, digits);
    nb_page_mark(page, mark);
    nb_page_sheet *t = last_table(page);
    if (!t || !*digits) return;
    nb_page_entry *cell = &t->cells[t->cell_count - 1];
    cell->digits = cell->text + strlen(cell->text) - strlen(digits);
}

void nb_page_mark(nb_page *page, const char *mark)
{
    nb_page_sheet *t = last_table(page);
    const char *own = copy(page, mark, "");
    if (t && own && t->cell_count > 0) t->cells[t->cell_count - 1].mark = own;
}

void nb_page_band(nb_page *page, const char *head, const char *label)
{
    nb_page_sheet *t = last_table(page);
    if (!t) return;
    t->band = label ? copy(page, label, "") : NULL;
    if (label) t->band_head = copy(page, head, "");
}

void nb_page_headless(nb_page *page)
{
    nb_page_sheet *t = last_table(page);
    if (t) t->headless = true;
}

void nb_page_flush(nb_page *page)
{
    nb_page_sheet *t = last_table(page);
    if (t) t->flush = true;
}
