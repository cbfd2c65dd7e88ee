/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_table.c - a table as text that fits a width, in the first of these forms that does:
 *
 * as it is; with prose in several lines; with long labels shortened; in parts below each other, each with all labels;
 * as a list of its rows, a line or more for a cell. */
#include "show/page_record.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 2, GAP = 2, LEAST_LABEL = 12, SHORT_LABEL = 16, LEAST_PROSE = 24, SHORT_PROSE = 32 };

typedef struct {
    FILE *out;
    const nb_page_sheet *t;
    bool bold;
    int width;
    nb_ctx *ctx;
    const char **texts; /* of the cells, by row and column: set in below a band, labels perhaps shortened */
    int *text, *marks;  /* by column: its width without marks, and theirs */
} layout;

static bool has_kind(const layout *l, int column, int kind)
{
    return (l->t->columns[column].kind & kind) != 0;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static const char **text_at(const layout *l, int row, int column)
{
    return &l->texts[row * l->t->column_count + column];
}

/* Returns the mark of a number, which stands apart; another cell's mark belongs to its text. */
static const char *mark_at(const layout *l, int row, int column)
{
    return has_kind(l, column, NB_PAGE_NUMBER) ? nb_page_cell_at(l->t, row, column).mark : "";
}

static void measure(layout *l, int column)
{
    int *width = &l->text[column];
    *width = l->t->headless ? 0 : nb_text_columns(l->t->columns[column].text);
    for (int r = 0; r < l->t->row_count; r++) {
        *width = most(*width, nb_text_columns(*text_at(l, r, column)));
        l->marks[column] = most(l->marks[column], nb_text_columns(mark_at(l, r, column)));
    }
}

static nb_status set_texts(layout *l)
{
    const nb_page_sheet *t = l->t;
    for (int r = 0; r < t->row_count; r++)
        for (int c = 0; c < t->column_count; c++) {
            nb_page_entry cell = nb_page_cell_at(t, r, c);
            const char *in = c == 0 && t->rows[r].band ? "  " : "";
            const char *mark = has_kind(l, c, NB_PAGE_NUMBER) ? "" : cell.mark;
            *text_at(l, r, c) = cell.text;
            if (*in || *mark) NB_NEED(*text_at(l, r, c), nb_format(l->ctx, "%s%s%s", in, cell.text, mark));
        }
    for (int c = 0; c < t->column_count; c++) measure(l, c);
    return NB_OK;
}

static int indent_of(const layout *l)
{
    return l->t->flush ? 0 : INDENT;
}

/* Returns the width of all columns, or of the labels. */
static int total(const layout *l, bool labels)
{
    int width = indent_of(l) - GAP;
    for (int c = 0; c < l->t->column_count; c++)
        if (!labels || has_kind(l, c, NB_PAGE_LABEL)) width += GAP + l->text[c] + l->marks[c];
    return width;
}

/* Returns how narrow a column may become. Cutting short labels, or breaking short prose, wins little. */
static int floor_of(const layout *l, int column, int label)
{
    int head = l->t->headless ? 0 : nb_text_columns(l->t->columns[column].text), word = head;
    if (has_kind(l, column, NB_PAGE_NUMBER)) return l->text[column];
    if (has_kind(l, column, NB_PAGE_LABEL)) return l->text[column] > SHORT_LABEL ? most(head, label) : l->text[column];
    if (!has_kind(l, column, NB_PAGE_PROSE) || l->text[column] <= SHORT_PROSE) return l->text[column];
    if (column + 1 < l->t->column_count) /* the last one spoils no other */
        for (int r = 0; r < l->t->row_count; r++) word = most(word, nb_text_longest_word(*text_at(l, r, column)));
    return most(word, LEAST_PROSE);
}

/* Its start, "..." and at most `tail` columns of its end. */
static nb_status shorten(const char *text, int width, int tail, const char **made, nb_ctx *ctx)
{
    *made = text;
    if (nb_text_columns(text) <= width) return NB_OK;
    NB_NEED(*made,
            nb_format(ctx, "%.*s...%s", (int)nb_text_start(text, width - 3 - tail), text, nb_text_end(text, tail)));
    return NB_OK;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the values and keeps each once; returns how many are left. */
static int sort_distinct(const char **texts, int count)
{
    int kept = 0;
    qsort(texts, (size_t)count, sizeof *texts, compare_texts);
    for (int i = 0; i < count; i++)
        if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0) texts[kept++] = texts[i];
    return kept;
}

/* Finds whether texts that differ still do when they are shortened. */
static nb_status still_differ(const char *const *texts, int count, int width, int tail, bool *differ, nb_ctx *ctx)
{
    const char **made;
    NB_NEED(made, nb_alloc(ctx, (size_t)count + 1, sizeof *made));
    for (int i = 0; i < count; i++) NB_TRY(ctx, shorten(texts[i], width, tail, &made[i], ctx));
    *differ = sort_distinct(made, count) == count;
    return NB_OK;
}

/* The least width from that of the column on, and the part that is kept of the ends, with which its labels differ. */
static nb_status find_cut(const layout *l, int column, int *width, int *tail)
{
    const char **texts;
    int count = l->t->row_count, longest = 0;
    NB_NEED(texts, nb_alloc(l->ctx, (size_t)count + 1, sizeof *texts));
    for (int r = 0; r < count; r++) {
        texts[r] = *text_at(l, r, column);
        longest = most(longest, nb_text_columns(texts[r]));
    }
    count = sort_distinct(texts, count);
    for (*width = l->text[column]; *width < longest; ++*width) {
        const int rest = *width - 3, tails[] = {rest / 2, 0, 3 * rest / 4};
        for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
            bool differ;
            nb_mark mark = nb_ctx_mark(l->ctx);
            NB_TRY(l->ctx, still_differ(texts, count, *width, *tail = tails[i], &differ, l->ctx));
            nb_ctx_release(l->ctx, mark);
            if (differ) return NB_OK;
        }
    }
    return NB_OK;
}

static nb_status shorten_labels(layout *l, int column)
{
    int width, tail = 0;
    NB_TRY(l->ctx, find_cut(l, column, &width, &tail));
    for (int r = 0; r < l->t->row_count; r++)
        NB_TRY(l->ctx, shorten(*text_at(l, r, column), width, tail, text_at(l, r, column), l->ctx));
    measure(l, column);
    return NB_OK;
}

/* Makes the widest column of a kind narrower, one by one, until all columns (or all labels) have the width or none can
 * be narrower. */
static nb_status narrow(layout *l, int kind, int label, bool labels, int width)
{
    int *floors;
    NB_NEED(floors, nb_alloc(l->ctx, (size_t)l->t->column_count + 1, sizeof *floors));
    for (int c = 0; c < l->t->column_count; c++) floors[c] = floor_of(l, c, label);
    for (int widest = 0; widest >= 0 && total(l, labels) > width;) {
        widest = -1;
        for (int c = 0; c < l->t->column_count; c++)
            if (has_kind(l, c, kind) && l->text[c] > floors[c] && (widest < 0 || l->text[c] > l->text[widest]))
                widest = c;
        if (widest >= 0) l->text[widest]--;
    }
    for (int c = 0; c < l->t->column_count && kind == NB_PAGE_LABEL; c++)
        if (has_kind(l, c, NB_PAGE_LABEL) && !has_kind(l, c, NB_PAGE_NUMBER)) NB_TRY(l->ctx, shorten_labels(l, c));
    return NB_OK;
}

typedef struct { /* a line that is being printed; blanks are printed when something comes behind them */
    const layout *l;
    int blanks;
    bool bold;
} pen;

static void put_text(pen *p, const char *text, int bytes)
{
    if (bytes == 0) return;
    nb_page_spaces(p->l->out, p->blanks);
    p->blanks = 0;
    fprintf(p->l->out, p->bold ? "\033[1m%.*s\033[0m" : "%.*s", bytes, text);
}

/* A line of a cell, and the blanks around it. */
static void put_cell(pen *p, int column, const char *text, int bytes, const char *mark)
{
    int rest = p->l->text[column] - nb_text_columns_in(text, (size_t)bytes), marks = p->l->marks[column];
    bool right = has_kind(p->l, column, NB_PAGE_NUMBER);
    if (right) p->blanks += rest;
    put_text(p, text, bytes);
    put_text(p, mark, (int)strlen(mark));
    p->blanks += (right ? 0 : rest) + marks - nb_text_columns(mark) + GAP;
}

/* The next line of a cell's text; *at is what is left of it. Only prose has more than one. */
static void take_line(const layout *l, int column, const char **at, const char **line, int *bytes)
{
    if (has_kind(l, column, NB_PAGE_PROSE)) {
        nb_text_line(at, l->text[column], line, bytes);
        return;
    }
    *line = *at;
    *bytes = (int)strlen(*at);
    *at += *bytes;
}

/* Prints a row; row -1 is the heads. */
static void print_row(const layout *l, const int *part, int count, int row, const char **at)
{
    bool more = true;
    for (int i = 0; i < count; i++) at[i] = row < 0 ? l->t->columns[part[i]].text : *text_at(l, row, part[i]);
    for (int line = 0; more; line++) {
        pen p = {l, indent_of(l), row < 0 && l->bold};
        more = false;
        for (int i = 0; i < count; i++) {
            const char *text, *mark = row < 0 || line > 0 ? "" : mark_at(l, row, part[i]);
            int bytes;
            take_line(l, part[i], &at[i], &text, &bytes);
            put_cell(&p, part[i], text, bytes, mark);
            more = more || at[i][strspn(at[i], " ")];
        }
        fputc('\n', l->out);
    }
}

static void print_band(const layout *l, int row)
{
    const char *band = l->t->rows[row].band, *before = row > 0 ? l->t->rows[row - 1].band : NULL;
    if (band && (!before || strcmp(band, before) != 0)) nb_page_wrap(l->out, "  ", band, 2 * INDENT, l->width, false);
}

static nb_status print_part(const layout *l, const int *part, int count)
{
    const char **at;
    NB_NEED(at, nb_alloc(l->ctx, (size_t)count + 1, sizeof *at));
    if (!l->t->headless) print_row(l, part, count, -1, at);
    for (int r = 0; r < l->t->row_count; r++) {
        print_band(l, r);
        print_row(l, part, count, r, at);
    }
    return NB_OK;
}

/* Returns whether rows differ in a label: in later parts others are left out, but for the first label. */
static bool differs(const layout *l, int column)
{
    for (int r = 1; r < l->t->row_count; r++)
        if (strcmp(*text_at(l, r, column), *text_at(l, 0, column)) != 0) return true;
    return false;
}

/* Takes as many columns from `first` on as fit beside the labels, at least one; returns where the next part begins. */
static int fill_part(const layout *l, int first, int *part, int *count)
{
    int c, width = indent_of(l) - GAP;
    *count = 0;
    for (c = 0; c < l->t->column_count; c++) {
        if (!has_kind(l, c, NB_PAGE_LABEL) || (first > 0 && *count > 0 && !differs(l, c))) continue;
        width += GAP + l->text[c] + l->marks[c];
        part[(*count)++] = c;
    }
    for (c = first; c < l->t->column_count; c++) {
        int own = GAP + l->text[c] + l->marks[c];
        if (has_kind(l, c, NB_PAGE_LABEL)) continue;
        if (width + own > l->width && c > first) break;
        part[(*count)++] = c;
        width += own;
    }
    return c;
}

/* Returns whether the labels have room, and each column beside them. */
static bool has_parts(const layout *l)
{
    int labels = total(l, true);
    if (labels > l->width) return false;
    for (int c = 0; c < l->t->column_count; c++)
        if (!has_kind(l, c, NB_PAGE_LABEL) && labels + GAP + l->text[c] + l->marks[c] > l->width) return false;
    return true;
}

static nb_status print_parts(const layout *l)
{
    int *part, count;
    NB_NEED(part, nb_alloc(l->ctx, (size_t)l->t->column_count + 1, sizeof *part));
    for (int next = 0; next < l->t->column_count;) {
        if (next > 0) fputc('\n', l->out);
        next = fill_part(l, next, part, &count);
        NB_TRY(l->ctx, print_part(l, part, count));
    }
    return NB_OK;
}

static nb_status print_whole(const layout *l)
{
    int *part;
    NB_NEED(part, nb_alloc(l->ctx, (size_t)l->t->column_count + 1, sizeof *part));
    for (int c = 0; c < l->t->column_count; c++) part[c] = c;
    return print_part(l, part, l->t->column_count);
}

static nb_status print_named(const layout *l, const char *head, const char *text, const char *mark)
{
    const char *line;
    NB_NEED(line, nb_format(l->ctx, "%s%s%s%s", l->t->headless ? "" : head, l->t->headless ? "" : ": ", text, mark));
    if (*text) nb_page_wrap(l->out, "  ", line, 2 * INDENT, l->width, false);
    return NB_OK;
}

static nb_status print_records(const layout *l)
{
    for (int r = 0; r < l->t->row_count; r++) {
        if (r > 0) fputc('\n', l->out);
        if (l->t->rows[r].band) NB_TRY(l->ctx, print_named(l, l->t->band_head, l->t->rows[r].band, ""));
        for (int c = 0; c < l->t->column_count; c++) {
            nb_page_entry cell = nb_page_cell_at(l->t, r, c);
            NB_TRY(l->ctx, print_named(l, l->t->columns[c].text, cell.text, cell.mark));
        }
    }
    return NB_OK;
}

nb_status nb_page_print_table(FILE *out, const nb_page_sheet *t, bool bold, int width, nb_ctx *ctx)
{
    layout l = {.out = out, .t = t, .bold = bold, .width = width, .ctx = ctx};
    size_t columns = (size_t)t->column_count;
    NB_NEED(l.texts, nb_alloc(ctx, (size_t)t->row_count * columns + 1, sizeof *l.texts));
    NB_NEED(l.text, nb_alloc(ctx, columns + 1, sizeof *l.text));
    NB_NEED(l.marks, nb_alloc(ctx, columns + 1, sizeof *l.marks));
    NB_TRY(ctx, set_texts(&l));
    if (width == 0 || total(&l, false) <= width) return print_whole(&l);
    NB_TRY(ctx, narrow(&l, NB_PAGE_PROSE, 0, false, width));
    if (total(&l, false) > width) NB_TRY(ctx, narrow(&l, NB_PAGE_LABEL, most(LEAST_LABEL, width / 4), false, width));
    if (total(&l, false) <= width) return print_whole(&l);
    NB_TRY(ctx, set_texts(&l));
    NB_TRY(ctx, narrow(&l, NB_PAGE_PROSE, 0, false, width));
    NB_TRY(ctx, narrow(&l, NB_PAGE_LABEL, LEAST_LABEL, true, width / 2));
    return has_parts(&l) ? print_parts(&l) : print_records(&l);
}
