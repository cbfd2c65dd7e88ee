/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cells.c - see cells.h */
#include "show/cells.h"

#include <math.h>

nb_cells nb_grid_cells(const nb_grid *g, int row)
{
    return (nb_cells){g->columns, g->names, nb_grid_at(g, row, 0)};
}

nb_status nb_grid_write_rows(FILE *out, const nb_cells_writer *writer, const nb_grid *g, long long before, nb_ctx *ctx)
{
    for (int i = 0; i < g->count; i++) {
        nb_cells row = nb_grid_cells(g, i);
        NB_TRY(ctx, writer->row(out, &row, before + i, ctx));
    }
    return NB_OK;
}

nb_status nb_grid_write(FILE *out, const nb_cells_writer *writer, const nb_grid *g, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_grid_write_rows(out, writer, g, 0, ctx));
    writer->end(out, g->count);
    return NB_OK;
}

nb_status nb_row_cells_make(const nb_row_list *rows, nb_row_cells *c, nb_ctx *ctx)
{
    const char **names;
    NB_TRY(ctx, nb_row_labels_make(rows, &c->labels, ctx));
    int count = nb_column_count(c->labels.columns);
    NB_NEED(names, nb_alloc(ctx, (size_t)count + 1, sizeof *names));
    NB_NEED(c->cells, nb_alloc(ctx, (size_t)count + 1, sizeof *c->cells));
    for (int i = 0; i < count; i++) names[i] = c->labels.columns[i].name;
    c->row = (nb_cells){count, names, c->cells};
    return NB_OK;
}

/* Keeps the sign of a zero. */
static nb_cell real_cell(const nb_column *c, double x)
{
    return c->integer && isfinite(x) ? nb_int_cell((long long)x) : (nb_cell){.type = NB_CELL_REAL, .real = x};
}

static nb_cell cell_of(const nb_column *c, const nb_row *row)
{
    const char *field = (const char *)row + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT: return nb_text_cell(*(const char *const *)field);
    case NB_COLUMN_REAL: return real_cell(c, *(const double *)field);
    case NB_COLUMN_INT: return nb_int_cell(*(const int *)field);
    case NB_COLUMN_SEED: return nb_int_cell(*(const long long *)field);
    }
    return nb_text_cell(NULL);
}

void nb_row_cells_take(nb_row_cells *c, const nb_row *row)
{
    for (int i = 0; i < c->row.count; i++)
        c->cells[i] = i < c->labels.own ? cell_of(&c->labels.columns[i], row)
                                        : nb_text_cell(nb_row_labels_at(&c->labels, i, row));
}
