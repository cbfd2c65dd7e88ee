/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid_page.c - see grid_page.h */
#include "show/grid_page.h"

#include <stdio.h>

void nb_cell_show(const nb_cell *cell, const char *format, nb_page *page)
{
    char digits[32];
    switch (cell->type) {
    case NB_CELL_TEXT:
    case NB_CELL_JSON: nb_page_cell(page, "%s", cell->text); break;
    case NB_CELL_FLAG: nb_page_cell(page, cell->integer ? "true" : "false"); break;
    case NB_CELL_INT:
        snprintf(digits, sizeof digits, "%lld", cell->integer);
        nb_page_numeral(page, "", digits, "");
        break;
    case NB_CELL_REAL: nb_page_number(page, format, cell->real); break;
    case NB_CELL_NUMERAL: nb_page_numeral(page, cell->before, cell->text, cell->mark); break;
    case NB_CELL_NONE:
    case NB_CELL_BLANK:
    case NB_CELL_BLOB: nb_page_cell(page, "%s", ""); break;
    }
}

bool nb_column_has_number(const nb_grid *g, int column)
{
    for (int i = 0; i < g->count; i++) {
        nb_cell_type type = nb_grid_at(g, i, column)->type;
        if (type == NB_CELL_INT || type == NB_CELL_REAL || type == NB_CELL_NUMERAL) return true;
    }
    return false;
}

void nb_column_show(nb_page *page, const char *name, bool number, bool label)
{
    int kind = number ? NB_PAGE_NUMBER : label ? NB_PAGE_WORD : NB_PAGE_PROSE;
    nb_page_column(page, kind | (label ? NB_PAGE_LABEL : 0), "%s", name);
}

void nb_grid_show(const nb_grid *g, nb_page *page)
{
    int labels = g->labels;
    while (g->labels == 0 && labels < g->columns && !nb_column_has_number(g, labels)) labels++;
    nb_page_table(page);
    for (int c = 0; c < g->columns; c++) nb_column_show(page, g->names[c], nb_column_has_number(g, c), c < labels);
    for (int i = 0; i < g->count * g->columns; i++) {
        if (i % g->columns == 0) nb_page_row(page);
        nb_cell_show(&g->cells[i], "%.3g", page);
    }
}
