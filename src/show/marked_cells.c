/* SPDX-License-Identifier: GPL-3.0-or-later */
/* marked_cells.c - see marked_cells.h */
#include "show/marked_cells.h"

#include "base/numerals.h"

#include <math.h>
#include <string.h>

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
    if (!isnan(cell->real)) shown = strcmp(format, "brief") == 0 ? nb_brief(cell->real) : nb_shown(format, cell->real);
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
    for (int c = 0; c < a->columns; c++) {
        companions of = {.format = nb_comment_format(comments, a->names[c])};
        bool any;
        NB_TRY(ctx, find_companions(a, a->names[c], &of, &any, ctx));
        if (any) NB_TRY(ctx, mark_column(marked, c, &of, ctx));
    }
    return NB_OK;
}
