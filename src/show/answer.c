/* SPDX-License-Identifier: GPL-3.0-or-later */
/* answer.c - see answer.h
 *
 * 1. The heading, and what the comments say that all tables share.
 * 2. For each value of _part and _about its heading and a table, whose rows are spread where there is a column _across.
 *    Which columns are labels, and which are of numbers, is known from the comments and the types of the cells.
 * 3. What the comments say below the tables, and the words and marks that occur in them. */
#include "show/answer.h"

#include "show/grid_page.h"
#include "show/marked_cells.h"

#include <math.h>
#include <string.h>

static bool is_shown(const nb_grid *a, int column)
{
    return a->names[column][0] != '_';
}

static bool is_band(const nb_grid *a, int column)
{
    return strncmp(a->names[column], "_band", 5) == 0;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_cell(const nb_cell *a, const nb_cell *b)
{
    return a->type == b->type && a->integer == b->integer && (a->real == b->real || isnan(a->real)) &&
           same_text(a->text, b->text) && same_text(a->before, b->before) && same_text(a->mark, b->mark);
}

/* Returns whether a row goes on with the one before: those of its cells are the same that are shown, and the band. */
static bool goes_on(const nb_grid *a, int row)
{
    bool same = true;
    for (int c = 0; c < a->columns; c++)
        if (is_shown(a, c) || is_band(a, c)) same = same && same_cell(nb_grid_at(a, row, c), nb_grid_at(a, row - 1, c));
    return same;
}

/* Adds a head, unless it is there: numbers ascending, then texts in the order in which they come. */
static void add_head(const nb_cell **heads, int *count, const nb_cell *head)
{
    int at = *count;
    for (int h = 0; h < *count; h++)
        if (same_cell(heads[h], head)) return;
    for (; at > 0 && head->type == NB_CELL_INT; at--) {
        if (heads[at - 1]->type == NB_CELL_INT && heads[at - 1]->integer < head->integer) break;
        heads[at] = heads[at - 1];
    }
    heads[at] = head;
    ++*count;
}

/* The rows first ... end - 1 with a column more for each value of _across, and rows that differ in nothing else in one:
 * a value's cell is that of _cell. */
static nb_status spread(const nb_grid *a, int first, int end, nb_grid *out, nb_ctx *ctx)
{
    int across = nb_grid_column(a, "_across"), cell = nb_grid_column(a, "_cell"), count = 0;
    const nb_cell **heads;
    const char **names;
    NB_NEED(heads, nb_alloc(ctx, (size_t)(end - first) + 1, sizeof *heads));
    for (int i = first; i < end; i++)
        if (nb_grid_at(a, i, across)->type != NB_CELL_NONE) add_head(heads, &count, nb_grid_at(a, i, across));
    *out = (nb_grid){.columns = a->columns + count, .ctx = ctx};
    NB_NEED(names, nb_alloc(ctx, (size_t)out->columns + 1, sizeof *names));
    memcpy(names, a->names, (size_t)a->columns * sizeof *names);
    for (int h = 0; h < count; h++) NB_NEED(names[a->columns + h], nb_cell_text(heads[h], ctx));
    out->names = names;
    NB_NEED(out->cells, nb_alloc(ctx, (size_t)(end - first) * (size_t)out->columns + 1, sizeof *out->cells));
    for (int i = first; i < end; i++) {
        bool begins = i == first || !goes_on(a, i);
        nb_cell *row = &out->cells[(size_t)(out->count - !begins) * (size_t)out->columns];
        for (int c = 0; begins && c < out->columns; c++)
            row[c] = c < a->columns ? *nb_grid_at(a, i, c) : (nb_cell){.type = NB_CELL_BLANK, .real = NAN};
        for (int h = 0; h < count; h++)
            if (same_cell(heads[h], nb_grid_at(a, i, across))) row[a->columns + h] = *nb_grid_at(a, i, cell);
        out->count += begins;
    }
    return NB_OK;
}

nb_status nb_answer_widen(nb_grid *a, nb_ctx *ctx)
{
    nb_grid wide;
    const char **names;
    int columns = 0;
    if (nb_grid_column(a, "_across") < 0) return NB_OK;
    NB_TRY(ctx, spread(a, 0, a->count, &wide, ctx));
    NB_NEED(names, nb_alloc(ctx, (size_t)wide.columns + 1, sizeof *names));
    for (int c = 0; c < wide.columns; c++)
        if (is_shown(&wide, c)) names[columns++] = wide.names[c];
    NB_TRY(ctx, nb_grid_make(a, names, ctx));
    for (int i = 0; i < wide.count * wide.columns; i++)
        if (is_shown(&wide, i % wide.columns)) NB_TRY(ctx, nb_grid_add(a, wide.cells[i]));
    return NB_OK;
}

typedef struct {
    nb_page *page;
    const nb_comment *comments;
    const nb_grid *answer;
    int part, about, note, band, across; /* columns; -1: there is none */
    const char *band_name;               /* what the values of the band are called */
    int labels;                          /* how many of the first columns that are shown */
    bool marks[256];                     /* by character: whether it occurs before or behind a number */
    bool dash;                           /* whether there is one in the place of a number */
    nb_ctx *ctx;
} view;

/* "" if memory runs out too. */
static const char *text_of(const view *v, int row, int column)
{
    const char *text = column < 0 ? "" : nb_cell_text(nb_grid_at(v->answer, row, column), v->ctx);
    return text ? text : "";
}

static bool same(const view *v, int a, int b, int column)
{
    return column < 0 || strcmp(text_of(v, a, column), text_of(v, b, column)) == 0;
}

/* Returns whether a column has numbers, or might have: nothing in it is known, and it is no label. */
static bool is_number(const nb_grid *a, int column, bool label)
{
    bool words = label;
    for (int i = 0; i < a->count && !words; i++)
        words = nb_grid_at(a, i, column)->type != NB_CELL_NONE && nb_grid_at(a, i, column)->type != NB_CELL_BLANK;
    return !words || nb_column_has_number(a, column);
}

/* Notes that marks occur. */
static void see(view *v, const char *marks)
{
    for (; *marks; marks++) v->marks[(unsigned char)*marks] = true;
}

/* Adds a cell and notes its marks. Among numbers, what is not known is a dash. */
static void put_cell(view *v, const nb_cell *cell, bool number, const char *format)
{
    bool numeral = cell->type == NB_CELL_NUMERAL;
    bool dash = numeral ? !*cell->before && !*cell->text : number && cell->type == NB_CELL_NONE;
    if (numeral) {
        see(v, cell->before);
        see(v, cell->mark);
    }
    if (dash)
        nb_page_numeral(v->page, "-", "", numeral ? cell->mark : "");
    else
        nb_cell_show(cell, format, v->page);
    v->dash = v->dash || dash;
}

/* Shows the rows first ... end - 1 of the answer, or of one that is spread; columns from `heads` on have the format of
 * _cell. */
static nb_status show_table(view *v, const nb_grid *a, int first, int end, int heads)
{
    const char **formats;
    int shown = 0;
    bool *numbers;
    NB_NEED(numbers, nb_alloc(v->ctx, (size_t)a->columns + 1, sizeof *numbers));
    NB_NEED(formats, nb_alloc(v->ctx, (size_t)a->columns + 1, sizeof *formats));
    nb_page_table(v->page);
    if (*nb_comment_text(v->comments, "headless")) nb_page_headless(v->page);
    for (int c = 0; c < a->columns; c++) {
        if (!is_shown(a, c)) continue;
        bool label = shown++ < v->labels;
        formats[c] = nb_comment_format(v->comments, c >= heads ? "_cell" : a->names[c]);
        numbers[c] = is_number(a, c, label);
        nb_column_show(v->page, a->names[c], numbers[c], label);
    }
    for (int i = first; i < end; i++) {
        if (v->band >= 0 && (i == first || !same_cell(nb_grid_at(a, i, v->band), nb_grid_at(a, i - 1, v->band)))) {
            const char *band = nb_grid_at(a, i, v->band)->text;
            nb_page_band(v->page, v->band_name, band && *band ? band : NULL);
        }
        nb_page_row(v->page);
        for (int c = 0; c < a->columns; c++)
            if (is_shown(a, c)) put_cell(v, nb_grid_at(a, i, c), numbers[c], formats[c]);
    }
    return NB_OK;
}

/* The same of rows that are spread; nothing where there is nothing beside the labels. */
static nb_status show_across(view *v, int first, int end)
{
    nb_grid wide;
    int shown = 0;
    NB_TRY(v->ctx, spread(v->answer, first, end, &wide, v->ctx));
    for (int c = 0; c < wide.columns; c++) shown += is_shown(&wide, c);
    if (shown == v->labels) return NB_OK;
    return show_table(v, &wide, 0, wide.count, v->answer->columns);
}

/* Finds how many labels there are: as many as the comments say, else the columns before the first of numbers. */
static void find_labels(view *v)
{
    const char *text = nb_comment_text(v->comments, "labels");
    if (*text) v->labels = *text - '0';
    for (int c = 0; !*text && c < v->answer->columns; c++) {
        if (v->across < 0 && is_shown(v->answer, c) && is_number(v->answer, c, true)) break;
        v->labels += is_shown(v->answer, c);
    }
}

/* Adds a note for each line. */
static void add_lines(nb_page *page, const char *text)
{
    for (; *text; text += strspn(text, "\n")) {
        int length = (int)strcspn(text, "\n");
        nb_page_note(page, NULL, "%.*s", length, text);
        text += length;
    }
}

bool nb_is_paragraph(const char *kind, nb_page_use *use)
{
    static const char *const kinds[] = {[NB_PAGE_ASIDE] = "paragraph",
                                        [NB_PAGE_SHARED] = "shared",
                                        [NB_PAGE_ABOVE] = "above",
                                        [NB_PAGE_HOLDS] = "holds",
                                        [NB_PAGE_REMARK] = "remark"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        *use = (nb_page_use)i;
        if (strcmp(kind, kinds[i]) == 0) return true;
    }
    return false;
}

/* Adds a table for each value of _part and _about, with that of _note below it. */
static nb_status show_parts(view *v)
{
    const nb_grid *a = v->answer;
    for (int i = 0, next; i < a->count; i = next) {
        for (next = i; next < a->count && same(v, i, next, v->part) && same(v, i, next, v->about);) next++;
        if (*text_of(v, i, v->part) && (i == 0 || !same(v, i, i - 1, v->part)))
            nb_page_title(v->page, 3, text_of(v, i, v->part));
        if (*text_of(v, i, v->about)) nb_page_prose(v->page, NB_PAGE_SHARED, "%s", text_of(v, i, v->about));
        NB_TRY(v->ctx, v->across >= 0 ? show_across(v, i, next) : show_table(v, a, i, next, a->columns));
        add_lines(v->page, text_of(v, i, v->note));
    }
    return NB_OK;
}

/* Adds the comments that are paragraphs: those above the tables, or those below them, in their order. */
static nb_status add_paragraphs(const view *v, bool above)
{
    nb_page_use use;
    for (const nb_comment *c = v->comments; c->name; c++) {
        const char *text = "";
        if (nb_is_paragraph(c->name, &use) && above == (use == NB_PAGE_SHARED || use == NB_PAGE_ABOVE))
            NB_TRY(v->ctx, nb_grid_fill_in(v->answer, 0, c->text, &text, v->ctx));
        if (*text) nb_page_prose(v->page, use, "%s", text);
    }
    return NB_OK;
}

/* Returns whether all characters of the mark but blanks occur. */
static bool occurs(const view *v, const char *mark, size_t length)
{
    if (length == 1 && *mark == '-') return v->dash;
    for (size_t i = 0; i < length; i++)
        if (mark[i] != ' ' && !v->marks[(unsigned char)mark[i]]) return false;
    return true;
}

/* Adds what words of the table mean, and the marks that occur in it. */
static nb_status add_notes(const view *v)
{
    const char *text, *mark;
    for (const nb_comment *c = v->comments; c->name; c++) {
        bool word = strcmp(c->name, "word") == 0;
        if (!word && strcmp(c->name, "note") != 0) continue;
        NB_TRY(v->ctx, nb_grid_fill_in(v->answer, 0, c->text, &text, v->ctx));
        size_t length = strcspn(text, ":");
        if (!word && !occurs(v, text, length)) continue;
        NB_NEED(mark, nb_format(v->ctx, "%.*s%s", (int)length, text, word ? ":" : ""));
        text += length + (text[length] == ':');
        nb_page_note(v->page, mark, "%s", text + strspn(text, " "));
    }
    return NB_OK;
}

nb_status nb_answer_show(nb_page *page, const nb_comment *comments, const nb_grid *a, nb_ctx *ctx)
{
    const char *heading;
    nb_grid marked;
    view v = {.page = page, .comments = comments, .answer = &marked, .ctx = ctx};
    NB_TRY(ctx, nb_grid_end(a));
    if (a->count == 0) return NB_OK;
    NB_TRY(ctx, nb_cells_mark(a, comments, &marked, ctx));
    v.part = nb_grid_column(a, "_part");
    v.about = nb_grid_column(a, "_about");
    v.note = nb_grid_column(a, "_note");
    v.across = nb_grid_column(a, "_across");
    while (v.band < a->columns && !is_band(a, v.band)) v.band++;
    if (v.band == a->columns) v.band = -1;
    if (v.band >= 0) v.band_name = a->names[v.band] + strlen("_band ");
    find_labels(&v);
    NB_TRY(ctx, nb_grid_fill_in(a, 0, nb_comment_text(v.comments, "heading"), &heading, ctx));
    if (*heading) nb_page_heading(page, 2, "%s", heading);
    if (*heading) nb_page_formula(page, nb_comment_text(v.comments, "formula"));
    NB_TRY(ctx, add_paragraphs(&v, true));
    NB_TRY(ctx, show_parts(&v));
    NB_TRY(ctx, add_paragraphs(&v, false));
    NB_TRY(ctx, add_notes(&v));
    return nb_phrases_end(ctx);
}
