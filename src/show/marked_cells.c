/* SPDX-License-Identifier: GPL-3.0-or-later */
/* marked_cells.c - see marked_cells.h */
#include "show/marked_cells.h"

#include "base/builder.h"
#include "base/numerals.h"

#include <math.h>
#include <string.h>

/* The digits of a number in a format: "brief", "ratio %.3g" of the end of an interval of ratios, or C's. */
static nb_digits digits_of(const char *format, double x)
{
    static const char ratio[] = "ratio ";
    if (strncmp(format, ratio, strlen(ratio)) == 0) return nb_ratio_bound(format + strlen(ratio), x);
    return strcmp(format, "brief") == 0 ? nb_brief(x) : nb_shown(format, x);
}

/* Adds what a row has in the column that `name` begins with, as the format behind it says. *known: it has something. */
static nb_status add_value(const nb_grid *a, int row, char *name, nb_string *text, bool *known, nb_ctx *ctx)
{
    const char *value = "";
    char *format = strchr(name, ':');
    if (format) *format = '\0';
    int column = nb_grid_column(a, name);
    NB_REQUIRE(ctx, column >= 0, NB_EBUG, "the query has no column '%s' for its texts", name);
    const nb_cell *cell = row < a->count ? nb_grid_at(a, row, column) : NULL;
    *known = cell && cell->type != NB_CELL_NONE;
    if (*known && format) return nb_append(text, ctx, "%s", digits_of(format + strlen(": "), cell->real).text);
    if (*known) NB_NEED(value, nb_cell_text(cell, ctx));
    return nb_append(text, ctx, "%s", value);
}

/* Fills in text ... end - 1. *known: the row has something in all columns that are named. */
static nb_status fill_in(const nb_grid *a, int row, const char *text, const char *end, const char **out, bool *known,
                         nb_ctx *ctx)
{
    nb_string filled = NB_NO_TEXT;
    *known = true;
    for (const char *open; (open = memchr(text, '{', (size_t)(end - text)));) {
        char *name;
        bool has_value;
        size_t length = strcspn(open, "}") - 1;
        NB_NEED(name, nb_format(ctx, "%.*s", (int)length, open + 1));
        NB_TRY(ctx, nb_append_bytes(&filled, ctx, text, (size_t)(open - text)));
        NB_TRY(ctx, add_value(a, row, name, &filled, &has_value, ctx));
        *known = *known && has_value;
        text = open + length + 2;
    }
    NB_TRY(ctx, nb_append_bytes(&filled, ctx, text, (size_t)(end - text)));
    *out = filled.text;
    return NB_OK;
}

nb_status nb_grid_fill_in(const nb_grid *a, int row, const char *text, const char **out, nb_ctx *ctx)
{
    bool known;
    return fill_in(a, row, text, text + strlen(text), out, &known, ctx);
}

/* Puts the first of the texts whose columns are known in the place of a cell. */
static nb_status tell_cell(nb_grid *a, int row, int column, const char *texts, nb_ctx *ctx)
{
    static const char else_[] = " | ";
    while (texts) {
        const char *text, *end = strstr(texts, else_);
        bool known;
        NB_TRY(ctx, fill_in(a, row, texts, end ? end : texts + strlen(texts), &text, &known, ctx));
        if (known) a->cells[row * a->columns + column] = nb_text_cell(text);
        texts = end && !known ? end + strlen(else_) : NULL;
    }
    return NB_OK;
}

nb_status nb_cells_tell(nb_grid *a, const nb_comment *comments, nb_ctx *ctx)
{
    for (; comments->name; comments++) {
        const char *name, *colon = strchr(comments->text, ':');
        if (strcmp(comments->name, "cell") != 0) continue;
        NB_REQUIRE(ctx, colon, NB_EBUG, "-- cell: %s: expected a column and a text", comments->text);
        NB_NEED(name, nb_format(ctx, "%.*s", (int)(colon - comments->text), comments->text));
        int column = nb_grid_column(a, name);
        NB_REQUIRE(ctx, column >= 0, NB_EBUG, "the query has no column '%s', whose cells are texts", name);
        for (int row = 0; row < a->count; row++) NB_TRY(ctx, tell_cell(a, row, column, colon + strlen(": "), ctx));
    }
    return NB_OK;
}

enum { BEFORE, FORMAT, MARK, LOW, HIGH, KINDS };

typedef struct {
    int columns[KINDS]; /* those of a column's numbers; -1: there is none */
    const char *format; /* where a row names none */
} companions;

/* Finds the columns "_mark NAME" and its like; those of _cell are "_mark". *any: there is one. */
static nb_status find_companions(const nb_grid *a, const char *name, companions *of, bool *any, nb_ctx *ctx)
{
    static const char *const kinds[KINDS] = {"_before", "_format", "_mark", "_low", "_high"};
    bool cell = strcmp(name, "_cell") == 0;
    *any = false;
    for (int k = 0; k < KINDS; k++) {
        const char *whole;
        NB_NEED(whole, nb_format(ctx, "%s%s%s", kinds[k], cell ? "" : " ", cell ? "" : name));
        of->columns[k] = nb_grid_column(a, whole);
        *any = *any || of->columns[k] >= 0;
    }
    return NB_OK;
}

/* NULL: nothing stands there. */
static const nb_cell *companion(const nb_grid *a, int row, const companions *of, int kind)
{
    const nb_cell *cell = of->columns[kind] < 0 ? NULL : nb_grid_at(a, row, of->columns[kind]);
    return cell && cell->type != NB_CELL_NONE ? cell : NULL;
}

static const char *text_of(const nb_grid *a, int row, const companions *of, int kind, const char *none)
{
    const nb_cell *cell = companion(a, row, of, kind);
    return cell && cell->text ? cell->text : none;
}

/* Puts the word of an infinite number, which has no digits, before them, and an interval behind the mark. */
static nb_status make_numeral(const nb_grid *a, int row, const companions *of, nb_cell *cell, nb_ctx *ctx)
{
    const nb_cell *low = companion(a, row, of, LOW), *high = companion(a, row, of, HIGH);
    const char *before = text_of(a, row, of, BEFORE, ""), *mark = text_of(a, row, of, MARK, "");
    const char *format = text_of(a, row, of, FORMAT, of->format);
    nb_digits shown = {""};
    if (!isnan(cell->real)) shown = digits_of(format, cell->real);
    const char *digits = "";
    if (isfinite(cell->real))
        NB_NEED(digits, nb_strdup(ctx, shown.text));
    else
        NB_NEED(before, nb_format(ctx, "%s%s", before, shown.text));
    if (low && high)
        NB_NEED(mark, nb_format(ctx, "%s%s[%s, %s]", mark, *mark ? " " : "  ", nb_brief(low->real).text,
                                nb_brief(high->real).text));
    *cell = nb_numeral_cell(before, digits, mark);
    return NB_OK;
}

static nb_status mark_column(nb_grid *a, int column, const companions *of, nb_ctx *ctx)
{
    for (int row = 0; row < a->count; row++) {
        nb_cell *cell = &a->cells[(size_t)row * (size_t)a->columns + (size_t)column];
        bool any = false;
        for (int k = 0; k < KINDS; k++) any = any || companion(a, row, of, k);
        if (any && (cell->type == NB_CELL_REAL || cell->type == NB_CELL_INT || cell->type == NB_CELL_NONE))
            NB_TRY(ctx, make_numeral(a, row, of, cell, ctx));
    }
    return NB_OK;
}

nb_status nb_cells_mark(const nb_grid *a, const nb_comment *comments, nb_grid *marked, nb_ctx *ctx)
{
    size_t all = (size_t)a->count * (size_t)a->columns;
    *marked = *a;
    NB_NEED(marked->cells, nb_alloc(ctx, all + 1, sizeof *marked->cells));
    memcpy(marked->cells, a->cells, all * sizeof *marked->cells);
    NB_TRY(ctx, nb_cells_tell(marked, comments, ctx));
    for (int c = 0; c < a->columns; c++) {
        companions of = {.format = nb_comment_format(comments, a->names[c])};
        bool any;
        NB_TRY(ctx, find_companions(a, a->names[c], &of, &any, ctx));
        if (any) NB_TRY(ctx, mark_column(marked, c, &of, ctx));
    }
    return NB_OK;
}
