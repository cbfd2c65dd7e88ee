/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid.c - see grid.h */
#include "report/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const nb_cell *nb_grid_at(const nb_grid *g, int row, int column)
{
    return &g->cells[(size_t)row * (size_t)g->columns + (size_t)column];
}

int nb_grid_column(const nb_grid *g, const char *name)
{
    for (int c = 0; c < g->columns; c++)
        if (strcmp(g->names[c], name) == 0) return c;
    return -1;
}

nb_status nb_grid_make(nb_grid *g, const char *const *names, nb_ctx *ctx)
{
    *g = (nb_grid){.names = names, .ctx = ctx};
    while (names[g->columns]) g->columns++;
    return NB_OK;
}

nb_status nb_grid_add(nb_grid *g, nb_cell cell)
{
    NB_GROW(g->ctx, g->cells, g->filled, g->room);
    g->count += g->filled % g->columns == 0;
    g->cells[g->filled++] = cell;
    return NB_OK;
}

nb_status nb_grid_text(nb_grid *g, const char *text)
{
    return nb_grid_add(g, (nb_cell){.type = text ? NB_CELL_TEXT : NB_CELL_NONE, .text = text, .real = NAN});
}

nb_status nb_grid_int(nb_grid *g, long long value)
{
    return nb_grid_add(g, (nb_cell){.type = NB_CELL_INT, .integer = value, .real = (double)value});
}

nb_status nb_grid_real(nb_grid *g, double value)
{
    return nb_grid_add(g, (nb_cell){.type = NB_CELL_REAL, .real = value});
}

nb_status nb_grid_whole(nb_grid *g, double value)
{
    return isfinite(value) ? nb_grid_int(g, (long long)value) : nb_grid_real(g, NAN);
}

const char *nb_cell_text(const nb_cell *cell, nb_ctx *ctx)
{
    if (cell->type == NB_CELL_INT) return nb_format(ctx, "%lld", cell->integer);
    return cell->text ? cell->text : "";
}

void nb_cell_show(const nb_cell *cell, const char *format, nb_page *page)
{
    char digits[64];
    switch (cell->type) {
    case NB_CELL_TEXT: nb_page_cell(page, "%s", cell->text); break;
    case NB_CELL_FLAG: nb_page_cell(page, cell->integer ? "true" : "false"); break;
    case NB_CELL_INT: nb_page_cell(page, "%lld", cell->integer); break;
    case NB_CELL_REAL:
        strfromd(digits, sizeof digits, format, cell->real);
        if (strtod(digits, NULL) == 0) strfromd(digits, sizeof digits, format, 0); /* a sign would come from rounding */
        nb_page_cell(page, "%s", isnan(cell->real) ? "-" : digits);
        break;
    case NB_CELL_NONE:
    case NB_CELL_BLOB: nb_page_cell(page, "%s", ""); break;
    }
}

static bool has_number(const nb_grid *g, int column)
{
    for (int i = 0; i < g->count; i++)
        if (nb_grid_at(g, i, column)->type == NB_CELL_INT || nb_grid_at(g, i, column)->type == NB_CELL_REAL)
            return true;
    return false;
}

bool nb_grid_has_prose(const nb_grid *g, int column)
{
    enum { LONGEST_WORD = 32 };
    for (int i = 0; i < g->count; i++) {
        const char *text = nb_grid_at(g, i, column)->text;
        if (text && strlen(text) > LONGEST_WORD) return true;
    }
    return false;
}

void nb_grid_show(const nb_grid *g, nb_page *page)
{
    int labels = g->labels;
    while (g->labels == 0 && labels < g->columns && !has_number(g, labels)) labels++;
    nb_page_table(page);
    for (int c = 0; c < g->columns; c++) {
        int kind = has_number(g, c)                         ? NB_PAGE_NUMBER
                   : c >= labels && nb_grid_has_prose(g, c) ? NB_PAGE_PROSE
                                                            : NB_PAGE_WORD;
        nb_page_column(page, kind | (c < labels ? NB_PAGE_LABEL : 0), "%s", g->names[c]);
    }
    for (int i = 0; i < g->count * g->columns; i++) {
        if (i % g->columns == 0) nb_page_row(page);
        nb_cell_show(&g->cells[i], "%.3g", page);
    }
}
