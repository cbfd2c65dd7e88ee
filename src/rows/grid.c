/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid.c - see grid.h */
#include "rows/grid.h"

#include <math.h>
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

nb_cell nb_text_cell(const char *text)
{
    return (nb_cell){.type = text ? NB_CELL_TEXT : NB_CELL_NONE, .text = text, .real = NAN};
}

nb_cell nb_int_cell(long long value)
{
    return (nb_cell){.type = NB_CELL_INT, .integer = value, .real = (double)value};
}

nb_cell nb_real_cell(double value)
{
    if (isnan(value)) return nb_text_cell(NULL);
    return (nb_cell){.type = NB_CELL_REAL, .real = value == 0 ? 0 : value}; /* without the sign of a zero */
}

nb_cell nb_whole_cell(double value)
{
    return isfinite(value) ? nb_int_cell((long long)value) : (nb_cell){.type = NB_CELL_REAL, .real = NAN};
}

nb_cell nb_numeral_cell(const char *before, const char *digits, const char *mark)
{
    return (nb_cell){.type = NB_CELL_NUMERAL, .text = digits, .before = before, .mark = mark, .real = NAN};
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
    return nb_grid_add(g, nb_text_cell(text));
}

nb_status nb_grid_json(nb_grid *g, const char *text)
{
    return nb_grid_add(g, (nb_cell){.type = text ? NB_CELL_JSON : NB_CELL_NONE, .text = text, .real = NAN});
}

nb_status nb_grid_int(nb_grid *g, long long value)
{
    return nb_grid_add(g, nb_int_cell(value));
}

nb_status nb_grid_real(nb_grid *g, double value)
{
    return nb_grid_add(g, (nb_cell){.type = NB_CELL_REAL, .real = value});
}

nb_status nb_grid_whole(nb_grid *g, double value)
{
    return nb_grid_add(g, nb_whole_cell(value));
}

void nb_grid_begin(nb_grid *g, nb_ctx *ctx)
{
    *g = (nb_grid){.ctx = ctx};
}

void nb_grid_row(nb_grid *g)
{
    g->count++;
}

static nb_status append_cell(nb_grid *g, const char *column, nb_cell cell)
{
    const char **names = (const char **)g->names;
    NB_GROW(g->ctx, g->cells, g->filled, g->room);
    if (g->count == 1) {
        NB_GROW(g->ctx, names, g->columns, g->named);
        names[g->columns++] = column;
        g->names = names;
    }
    g->cells[g->filled++] = cell;
    return NB_OK;
}

void nb_grid_put(nb_grid *g, const char *column, nb_cell cell)
{
    if (g->status == NB_OK) g->status = append_cell(g, column, cell);
}

void nb_grid_put_text(nb_grid *g, const char *column, const char *text)
{
    nb_grid_put(g, column, nb_text_cell(text));
}

void nb_grid_put_int(nb_grid *g, const char *column, long long value)
{
    nb_grid_put(g, column, nb_int_cell(value));
}

void nb_grid_put_real(nb_grid *g, const char *column, double value)
{
    nb_grid_put(g, column, nb_real_cell(value));
}

nb_status nb_grid_end(const nb_grid *g)
{
    return g->status;
}

const char *nb_cell_text(const nb_cell *cell, nb_ctx *ctx)
{
    if (cell->type == NB_CELL_INT) return nb_format(ctx, "%lld", cell->integer);
    return cell->text ? cell->text : "";
}
