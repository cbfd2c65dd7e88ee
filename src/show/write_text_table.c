/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_text_table.c - a table as text, laid out by show/table_fit.h. */
#include "show/write_text_private.h"

#include "base/text.h"
#include "show/table_fit.h"

#include <string.h>

enum { BELOW = 4 }; /* what goes on with a label or a named cell is set in so far */

typedef struct { /* a line of a table; blanks are printed when something comes behind them */
    const nb_page_walk *walk;
    const nb_fitted_table *table;
    int blanks;
    bool bold;
} pen;

static void put_text(pen *p, const char *text, int bytes)
{
    if (bytes == 0) return;
    if (p->blanks > 0) fprintf(p->walk->out, "%*s", p->blanks, "");
    fprintf(p->walk->out, p->bold ? "\033[1m%.*s\033[0m" : "%.*s", bytes, text);
    p->blanks = 0;
}

/* Prints a line of a cell, and the blanks around it. */
static void put_cell(pen *p, int column, const char *text, int bytes, const char *mark)
{
    int rest = p->table->columns[column] - nb_text_columns_in(text, (size_t)bytes);
    bool right = nb_page_is_number(p->table->table, column);
    if (right) p->blanks += rest;
    put_text(p, text, bytes);
    put_text(p, mark, (int)strlen(mark));
    p->blanks += (right ? 0 : rest) + p->table->marks[column] - nb_text_columns(mark) + NB_TABLE_GAP;
}

/* Finds the next line of a cell's text, *at, and leaves there what comes behind it. Only prose has more than one. */
static void take_line(const nb_fitted_table *f, int column, const char **at, const char **line, int *bytes)
{
    if (f->table->columns[column].kind & NB_PAGE_PROSE) {
        nb_text_line(at, f->columns[column], line, bytes);
        return;
    }
    *line = *at;
    *bytes = (int)strlen(*at);
    *at += *bytes;
}

/* Prints a row, or (-1) the heads; `at` has room for the texts of the part. */
static void print_row(const nb_page_walk *w, const nb_fitted_table *f, const nb_fitted_part *part, int row,
                      const char **at)
{
    bool more = true;
    for (int i = 0; i < part->count; i++)
        at[i] = row < 0 ? f->table->columns[part->columns[i]].text : nb_fitted_text(f, row, part->columns[i]);
    for (int line = 0; more; line++) {
        pen p = {w, f, f->indent, row < 0 && w->bold};
        more = false;
        for (int i = 0; i < part->count; i++) {
            const char *text, *mark = row < 0 || line > 0 ? "" : nb_fitted_mark(f, row, part->columns[i]);
            int bytes;
            take_line(f, part->columns[i], &at[i], &text, &bytes);
            put_cell(&p, part->columns[i], text, bytes, mark);
            more = more || at[i][strspn(at[i], " ")];
        }
        fputc('\n', w->out);
    }
}

static nb_status print_part(const nb_page_walk *w, const nb_fitted_table *f, const nb_fitted_part *part)
{
    const char **at;
    NB_NEED(at, nb_alloc(w->page->ctx, (size_t)part->count + 1, sizeof *at));
    if (!f->table->headless) print_row(w, f, part, -1, at);
    for (int r = 0; r < f->table->row_count; r++) {
        if (nb_page_begins_band(f->table, r))
            nb_text_print_lines(w->out, "  ", BELOW, w->width, f->table->rows[r].band);
        print_row(w, f, part, r, at);
    }
    return NB_OK;
}

static nb_status print_named(const nb_page_walk *w, const char *head, const char *text, const char *mark)
{
    const char *line;
    bool headless = w->block->table->headless;
    NB_NEED(line, nb_format(w->page->ctx, "%s%s%s%s", headless ? "" : head, headless ? "" : ": ", text, mark));
    if (*text) nb_text_print_lines(w->out, "  ", BELOW, w->width, line);
    return NB_OK;
}

/* Prints a table as a list of its rows, a line or more for a cell. */
static nb_status print_list(const nb_page_walk *w)
{
    const nb_page_sheet *t = w->block->table;
    for (int r = 0; r < t->row_count; r++) {
        if (r > 0) fputc('\n', w->out);
        if (t->rows[r].band) NB_TRY(w->page->ctx, print_named(w, t->band_head, t->rows[r].band, ""));
        for (int c = 0; c < t->column_count; c++) {
            nb_page_entry cell = nb_page_cell_at(t, r, c);
            NB_TRY(w->page->ctx, print_named(w, t->columns[c].text, cell.text, cell.mark));
        }
    }
    return NB_OK;
}

nb_status nb_text_write_table(nb_page_walk *w)
{
    nb_fitted_table f;
    NB_TRY(w->page->ctx, nb_table_fit(w->block->table, w->width, &f, w->page->ctx));
    for (int p = 0; p < f.part_count; p++) {
        if (p > 0) fputc('\n', w->out);
        NB_TRY(w->page->ctx, print_part(w, &f, &f.parts[p]));
    }
    return f.part_count == 0 ? print_list(w) : NB_OK;
}
