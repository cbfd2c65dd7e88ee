/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query.c - see query.h */
#include "report/query.h"

#include "report/functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The next comment of this name from *at on, without its name; NULL: there is none. */
static nb_status next_comment(const char **at, const char *name, const char **text, nb_ctx *ctx)
{
    size_t length = strlen(name);
    *text = NULL;
    for (const char *line = *at; strncmp(line, "--", 2) == 0;) {
        const char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;
        bool found = strncmp(line, "-- ", 3) == 0 && strncmp(line + 3, name, length) == 0 && line[3 + length] == ':';
        if (found) {
            const char *begin = line + 4 + length + strspn(line + 4 + length, " ");
            NB_NEED(*text, nb_format(ctx, "%.*s", (int)(end - begin), begin));
        }
        for (line = next; strncmp(line, "--   ", 5) == 0; line = *end ? end + 1 : end) {
            end = line + strcspn(line, "\n");
            if (found) NB_NEED(*text, nb_format(ctx, "%s %.*s", *text, (int)(end - line - 5), line + 5));
        }
        if (!found) continue;
        *at = line;
        return NB_OK;
    }
    return NB_OK;
}

static nb_status comment(const char *sql, const char *name, const char **text, nb_ctx *ctx)
{
    return next_comment(&sql, name, text, ctx);
}

static bool among(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; at && (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

static nb_status add_cell(nb_grid *g, const nb_cell *cell, bool flag)
{
    switch (cell->type) {
    case NB_CELL_INT: return flag ? nb_grid_flag(g, cell->integer != 0) : nb_grid_int(g, (int)cell->integer);
    case NB_CELL_REAL: return nb_grid_real(g, "%.3g", cell->real);
    case NB_CELL_TEXT: return nb_grid_text(g, cell->text);
    default: return nb_grid_text(g, NULL);
    }
}

nb_status nb_answer_grid(const nb_answer *a, const char *flags, bool exact, nb_grid *grid, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_grid_make(grid, a->names, exact, ctx));
    for (int i = 0; i < a->count; i++)
        for (int c = 0; c < a->columns; c++)
            NB_TRY(ctx, add_cell(grid, nb_answer_at(a, i, c), among(flags, a->names[c])));
    return NB_OK;
}

nb_status nb_query_fill(nb_relation *r, const char *sql, const char *baseline, nb_grid *grid, nb_ctx *ctx)
{
    nb_answer a;
    const char *flags;
    NB_TRY(ctx, nb_relation_need(r, sql, baseline, ctx));
    NB_TRY(ctx, comment(sql, "flags", &flags, ctx));
    NB_TRY(ctx, nb_relation_ask(r, sql, baseline, &a, NULL, ctx));
    return nb_answer_grid(&a, flags, true, grid, ctx);
}

/* For people. */

typedef struct {
    nb_page *page;
    const char *sql;
    const nb_answer *answer;
    int part, about, band, across, cell; /* columns; -1: there is none */
    const char *band_name;
    int labels;
    bool marks[256]; /* by character: whether it occurs behind a number, or alone */
    nb_ctx *ctx;
} view;

static int find_column(const nb_answer *a, const char *begin)
{
    for (int c = 0; c < a->columns; c++)
        if (strncmp(a->names[c], begin, strlen(begin)) == 0) return c;
    return -1;
}

static const char *text_of(const view *v, int row, int column)
{
    const nb_cell *cell = column < 0 ? NULL : nb_answer_at(v->answer, row, column);
    if (!cell) return "";
    if (cell->type == NB_CELL_INT) return nb_format(v->ctx, "%lld", cell->integer);
    return cell->text ? cell->text : "";
}

static bool same(const view *v, int a, int b, int column)
{
    return column < 0 || strcmp(text_of(v, a, column), text_of(v, b, column)) == 0;
}

/* {COLUMN} is what the first row has there. */
static nb_status fill_in(const view *v, const char *text, const char **out)
{
    const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
    const char *name, *rest;
    *out = text;
    if (!close) return NB_OK;
    NB_NEED(name, nb_format(v->ctx, "%.*s", (int)(close - open - 1), open + 1));
    int column = nb_answer_column(v->answer, name);
    NB_REQUIRE(v->ctx, column >= 0, NB_EBUG, "the query has no column '%s' for its texts", name);
    NB_TRY(v->ctx, fill_in(v, close + 1, &rest));
    NB_NEED(*out, nb_format(v->ctx, "%.*s%s%s", (int)(open - text), text, v->answer->count ? text_of(v, 0, column) : "",
                            rest));
    return NB_OK;
}

static bool is_shown(const view *v, int column)
{
    return v->answer->names[column][0] != '_';
}

/* Has numbers, marked ones or texts that are all numbers, as shown() makes them, or dashes for such. */
static bool is_number(const view *v, int column)
{
    bool texts = true, any = false;
    for (int i = 0; i < v->answer->count; i++) {
        const nb_cell *cell = nb_answer_at(v->answer, i, column);
        char *end;
        if (cell->type == NB_CELL_INT || cell->type == NB_CELL_REAL) return true;
        if (cell->type != NB_CELL_TEXT) continue;
        if (strchr(cell->text, NB_MARK_BEHIND)) return true;
        strtod(cell->text, &end);
        bool dash = strcmp(cell->text, "-") == 0;
        any = any || dash || (end > cell->text && !*end);
        texts = texts && (dash || !*end);
    }
    return texts && any;
}

static bool is_prose(const view *v, int column)
{
    enum { LONGEST_WORD = 32 };
    for (int i = 0; i < v->answer->count; i++)
        if (strlen(text_of(v, i, column)) > LONGEST_WORD) return true;
    return false;
}

static void put_cell(view *v, const nb_cell *cell, bool number)
{
    const char *text = cell->type == NB_CELL_NONE && number ? "-"
                       : cell->text                         ? cell->text
                                                            : "",
               *mark = strchr(text, NB_MARK_BEHIND);
    char digits[32];
    if (cell->type == NB_CELL_REAL) {
        strfromd(digits, sizeof digits, "%.3g", cell->real);
        nb_page_cell(v->page, "%s", strcmp(digits, "-0") == 0 ? "0" : digits);
    } else if (cell->type == NB_CELL_INT) {
        nb_page_cell(v->page, "%lld", cell->integer);
    } else {
        nb_page_cell(v->page, "%.*s", mark ? (int)(mark - text) : (int)strlen(text), text);
        if (mark) nb_page_mark(v->page, mark + 1);
    }
}

/* In front of a number, behind it, or alone. */
static void see_marks(view *v, int row)
{
    for (int c = 0; c < v->answer->columns; c++) {
        const char *text = text_of(v, row, c), *end = strchrnul(text, NB_MARK_BEHIND);
        if (nb_answer_at(v->answer, row, c)->type != NB_CELL_TEXT) continue;
        if (*text == '(' || *text == '~' || (*text == '-' && end == text + 1)) v->marks[(unsigned char)*text] = true;
        for (; *end; end++)
            if (*end != '-') v->marks[(unsigned char)*end] = true; /* that of a number */
    }
}

/* NaN of what is none. */
static double number_of(const char *text)
{
    char *end;
    double x = strtod(text, &end);
    return end > text && !*end ? x : NAN;
}

/* Numbers ascending, then texts in the order in which they come. */
static void add_head(const char **heads, int *count, const char *head)
{
    int at = *count;
    double x = number_of(head);
    for (int h = 0; h < *count; h++)
        if (strcmp(heads[h], head) == 0) return;
    for (; at > 0 && x < INFINITY && !(number_of(heads[at - 1]) < x); at--) heads[at] = heads[at - 1];
    heads[at] = head;
    ++*count;
}

/* The rows first ... end - 1 as a table whose columns are values of _across. */
static nb_status show_across(view *v, int first, int end)
{
    const nb_answer *a = v->answer;
    const char **heads;
    int count = 0;
    NB_NEED(heads, nb_alloc(v->ctx, (size_t)(end - first) + 1, sizeof *heads));
    nb_page_table(v->page);
    for (int c = 0; c < a->columns; c++)
        if (is_shown(v, c))
            nb_page_column(v->page, NB_PAGE_LABEL | (is_number(v, c) ? NB_PAGE_NUMBER : 0), "%s", a->names[c]);
    for (int i = first; i < end; i++) add_head(heads, &count, text_of(v, i, v->across));
    for (int h = 0; h < count; h++) nb_page_column(v->page, NB_PAGE_NUMBER, "%s", heads[h]);
    for (int i = first, next; i < end; i = next) {
        if (v->band >= 0 && (i == first || !same(v, i, i - 1, v->band))) {
            const char *band = text_of(v, i, v->band);
            nb_page_band(v->page, *band ? v->band_name : NULL, *band ? band : NULL);
        }
        nb_page_row(v->page);
        for (int c = 0; c < a->columns; c++)
            if (is_shown(v, c)) nb_page_cell(v->page, "%s", text_of(v, i, c));
        for (next = i; next < end && same(v, i, next, v->band); next++) {
            bool alike = true;
            for (int c = 0; c < a->columns; c++) alike = alike && (!is_shown(v, c) || same(v, i, next, c));
            if (!alike) break;
        }
        for (int h = 0; h < count; h++) {
            const nb_cell *cell = &(nb_cell){.type = NB_CELL_TEXT, .text = ""};
            for (int k = i; k < next; k++)
                if (strcmp(text_of(v, k, v->across), heads[h]) == 0) cell = nb_answer_at(a, k, v->cell);
            put_cell(v, cell, true);
        }
    }
    return NB_OK;
}

static nb_status show_plain(view *v, int first, int end)
{
    const nb_answer *a = v->answer;
    int shown = 0;
    bool *numbers;
    NB_NEED(numbers, nb_alloc(v->ctx, (size_t)a->columns + 1, sizeof *numbers));
    for (int c = 0; c < a->columns; c++) numbers[c] = is_number(v, c);
    nb_page_table(v->page);
    for (int c = 0; c < a->columns; c++) {
        if (!is_shown(v, c)) continue;
        bool label = shown++ < v->labels;
        int kind = numbers[c] ? NB_PAGE_NUMBER : !label && is_prose(v, c) ? NB_PAGE_PROSE : NB_PAGE_WORD;
        nb_page_column(v->page, kind | (label ? NB_PAGE_LABEL : 0), "%s", a->names[c]);
    }
    for (int i = first; i < end; i++) {
        if (v->band >= 0 && (i == first || !same(v, i, i - 1, v->band))) {
            const char *band = text_of(v, i, v->band);
            nb_page_band(v->page, *band ? v->band_name : NULL, *band ? band : NULL);
        }
        nb_page_row(v->page);
        for (int c = 0; c < a->columns; c++)
            if (is_shown(v, c)) put_cell(v, nb_answer_at(a, i, c), numbers[c]);
    }
    return NB_OK;
}

static nb_status find_labels(view *v)
{
    const char *text;
    NB_TRY(v->ctx, comment(v->sql, "labels", &text, v->ctx));
    if (text) v->labels = *text - '0';
    for (int c = 0; !text && c < v->answer->columns; c++) {
        if (is_shown(v, c) && is_number(v, c)) break;
        v->labels += is_shown(v, c);
    }
    return NB_OK;
}

static nb_status show_parts(view *v)
{
    const nb_answer *a = v->answer;
    for (int i = 0, next; i < a->count; i = next) {
        for (next = i; next < a->count && same(v, i, next, v->part) && same(v, i, next, v->about); next++)
            see_marks(v, next);
        if (v->part >= 0 && (i == 0 || !same(v, i, i - 1, v->part)))
            nb_page_heading(v->page, 3, "%s", text_of(v, i, v->part));
        if (*text_of(v, i, v->about)) nb_page_paragraph(v->page, "%s", text_of(v, i, v->about));
        NB_TRY(v->ctx, v->across >= 0 ? show_across(v, i, next) : show_plain(v, i, next));
    }
    return NB_OK;
}

static nb_status add_paragraphs(const view *v, const char *name)
{
    const char *at = v->sql, *text;
    for (;;) {
        NB_TRY(v->ctx, next_comment(&at, name, &text, v->ctx));
        if (!text) return NB_OK;
        NB_TRY(v->ctx, fill_in(v, text, &text));
        if (*text) nb_page_paragraph(v->page, "%s", text);
    }
}

/* Whether all characters of the mark but blanks occur. */
static bool occurs(const view *v, const char *mark, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (mark[i] != ' ' && !v->marks[(unsigned char)mark[i]]) return false;
    return true;
}

static nb_status add_notes(const view *v)
{
    const char *at = v->sql, *text, *mark;
    for (;;) {
        NB_TRY(v->ctx, next_comment(&at, "note", &text, v->ctx));
        if (!text) return NB_OK;
        NB_TRY(v->ctx, fill_in(v, text, &text));
        size_t length = strcspn(text, ":");
        bool word = length > 4; /* a word of the table's, which explains itself by a colon */
        NB_NEED(mark, nb_format(v->ctx, "%.*s%s", (int)length, text, word ? ":" : ""));
        if (!text[length])
            nb_page_note(v->page, NULL, "%s", text);
        else if (word || occurs(v, text, length))
            nb_page_note(v->page, mark, "%s", text + length + 1 + strspn(text + length + 1, " "));
    }
}

static nb_status add_sentences(const view *v, nb_relation *r, const char *rest, const char *baseline)
{
    while (*rest) {
        nb_answer a;
        NB_TRY(v->ctx, nb_relation_ask(r, rest, baseline, &a, &rest, v->ctx));
        for (int i = 0; i < a.count; i++) {
            const char *text = nb_answer_at(&a, i, 0)->text;
            if (!text)
                continue;
            else if (strcmp(a.names[0], "item") == 0)
                nb_page_item(v->page, "%s", text);
            else if (strcmp(a.names[0], "note") == 0)
                nb_page_note(v->page, NULL, "%s", text);
            else
                nb_page_paragraph(v->page, "%s", text);
        }
    }
    return NB_OK;
}

/* The statement for people: the second, if it is there. */
static nb_status ask(nb_relation *r, const char *sql, const char *baseline, nb_answer *a, const char **rest,
                     nb_ctx *ctx)
{
    const char *second;
    NB_TRY(ctx, nb_relation_ask(r, sql, baseline, a, &second, ctx));
    *rest = second;
    if (a->count == 0 || !*second) return NB_OK;
    return nb_relation_ask(r, second, baseline, a, rest, ctx);
}

nb_status nb_query_show(nb_relation *r, const char *sql, const char *baseline, nb_page *page, nb_ctx *ctx)
{
    nb_answer a;
    const char *rest, *heading;
    view v = {.page = page, .sql = sql, .answer = &a, .ctx = ctx};
    NB_TRY(ctx, nb_relation_need(r, sql, baseline, ctx));
    NB_TRY(ctx, ask(r, sql, baseline, &a, &rest, ctx));
    if (a.count == 0) return NB_OK;
    v.part = find_column(&a, "_part");
    v.about = find_column(&a, "_about");
    v.band = find_column(&a, "_band");
    v.across = find_column(&a, "_across");
    v.cell = find_column(&a, "_cell");
    if (v.band >= 0) v.band_name = a.names[v.band] + strlen("_band ");
    NB_TRY(ctx, find_labels(&v));
    NB_TRY(ctx, comment(sql, "heading", &heading, ctx));
    if (heading) NB_TRY(ctx, fill_in(&v, heading, &heading));
    if (heading) nb_page_heading(page, 2, "%s", heading);
    NB_TRY(ctx, add_paragraphs(&v, "above"));
    NB_TRY(ctx, show_parts(&v));
    NB_TRY(ctx, add_paragraphs(&v, "below"));
    NB_TRY(ctx, add_notes(&v));
    return add_sentences(&v, r, rest, baseline);
}
