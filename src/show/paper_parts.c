/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper_parts.c - see paper_parts.h */
#include "show/paper_parts.h"

#include "base/builder.h"

#include <string.h>

enum { MOST_ROWS = 40 }; /* of several tables in one, so that it fits a page */

static bool has_same_heads(const nb_page_sheet *a, const nb_page_sheet *b)
{
    bool same = a->column_count == b->column_count && a->headless == b->headless;
    for (int c = 0; same && c < a->column_count; c++)
        same = strcmp(a->columns[c].text, b->columns[c].text) == 0 && a->columns[c].kind == b->columns[c].kind;
    return same;
}

int nb_paper_find_parts(const nb_page *page, int first, const nb_page_block *heading, bool own, nb_paper_part *parts)
{
    int count = 0, rows = 0;
    for (int i = first; i < page->count && (own || count == 0); i++) {
        const nb_page_block *b = &page->blocks[i];
        bool begins = b->kind == NB_HEADING && b->level > 2;
        if (begins) heading = b;
        bool of_last = b->kind == NB_PARAGRAPH && (b->use == NB_PAGE_HOLDS || b->use == NB_PAGE_REMARK);
        if (of_last && count > 0) break;
        if (b->kind == NB_PARAGRAPH || begins || (b->table && b->table->row_count == 0)) continue;
        bool again = count > 0 && heading == parts[count - 1].heading;
        if (again && b->table) count -= count > 1;
        if (!b->table || again || (count > 0 && !has_same_heads(b->table, parts[0].table))) break;
        rows += b->table->row_count;
        if (count > 0 && rows > MOST_ROWS) break;
        parts[count++] = (nb_paper_part){.table = b->table, .heading = heading, .at = i};
    }
    return count;
}

static const char *items_of(const nb_paper_part *part)
{
    return part->heading ? part->heading->items : "";
}

/* Returns where the next item begins; *length <- that of this one. */
static const char *next_item(const char *items, int *length)
{
    *length = (int)strcspn(items, "\n");
    return items + *length + (items[*length] == '\n');
}

static int count_items(const char *items)
{
    int count = 0, length;
    for (; *items; items = next_item(items, &length)) count++;
    return count;
}

nb_status nb_paper_name_parts(int count, nb_paper_part *parts, const char **shared, nb_ctx *ctx)
{
    const char **rest;
    nb_string common = NB_NO_TEXT, *names;
    bool alike = true;
    int length;
    NB_NEED(rest, nb_alloc(ctx, (size_t)count, sizeof *rest));
    NB_NEED(names, nb_alloc(ctx, (size_t)count, sizeof *names));
    for (int i = 0; i < count; i++) {
        rest[i] = items_of(&parts[i]);
        names[i] = (nb_string)NB_NO_TEXT;
        alike = alike && count_items(rest[i]) == count_items(rest[0]);
    }
    while (alike && *rest[0]) {
        bool same = true;
        next_item(rest[0], &length);
        for (int i = 1; i < count; i++) same = same && strncmp(rest[i], rest[0], (size_t)length + 1) == 0;
        if (same) NB_TRY(ctx, nb_append_item(&common, ", ", ctx, "%.*s", length, rest[0]));
        for (int i = 0; i < count; i++) {
            const char *item = rest[i];
            rest[i] = next_item(item, &length);
            if (!same) NB_TRY(ctx, nb_append_item(&names[i], ", ", ctx, "%.*s", length, item));
        }
    }
    for (int i = 0; i < count; i++) {
        const char *heading = parts[i].heading ? parts[i].heading->text : "";
        parts[i].name = alike ? names[i].text : heading;
    }
    *shared = common.text;
    return NB_OK;
}

static nb_status add_cell(nb_page_sheet *t, nb_page_entry cell, nb_ctx *ctx)
{
    NB_GROW(ctx, t->cells, t->cell_count, t->cell_capacity);
    t->cells[t->cell_count++] = cell;
    t->rows[t->row_count - 1].count++;
    return NB_OK;
}

static nb_status add_rows(nb_page_sheet *all, const nb_paper_part *part, nb_ctx *ctx)
{
    const nb_page_sheet *t = part->table;
    for (int r = 0; r < t->row_count; r++) {
        nb_page_record row = {.band = t->rows[r].band, .ruled = r == 0 && all->row_count > 0, .first = all->cell_count};
        NB_GROW(ctx, all->rows, all->row_count, all->row_capacity);
        all->rows[all->row_count++] = row;
        NB_TRY(ctx, add_cell(all, (nb_page_entry){r == 0 ? part->name : "", "", NULL}, ctx));
        for (int c = 0; c < t->column_count; c++) NB_TRY(ctx, add_cell(all, nb_page_cell_at(t, r, c), ctx));
    }
    return NB_OK;
}

nb_status nb_paper_join_parts(int count, const nb_paper_part *parts, nb_page_sheet **joined, nb_ctx *ctx)
{
    const nb_page_sheet *first = parts[0].table;
    nb_page_sheet *all;
    NB_NEED(all, nb_alloc(ctx, 1, sizeof *all));
    NB_NEED(all->columns, nb_alloc(ctx, (size_t)first->column_count + 1, sizeof *all->columns));
    all->headless = first->headless;
    all->columns[all->column_count++] = (nb_page_head){"", NB_PAGE_WORD | NB_PAGE_LABEL};
    for (int c = 0; c < first->column_count; c++) all->columns[all->column_count++] = first->columns[c];
    for (int p = 0; p < count; p++) NB_TRY(ctx, add_rows(all, &parts[p], ctx));
    *joined = all;
    return NB_OK;
}
