/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid_page.h - a grid as a table of a page, for people: numbers have three digits; the dash of what is not known comes
 * from answer.h. */
#ifndef NB_GRID_PAGE_H
#define NB_GRID_PAGE_H

#include "rows/grid.h"
#include "show/page.h"

bool nb_column_has_number(const nb_grid *grid, int column);
/* The next column of a page's table: of numbers, or of words; a label, as the first are, tells rows apart. */
void nb_column_show(nb_page *page, const char *name, bool number, bool label);
/* The next cell of a page: its text, or its number in a format such as "%.3g". */
void nb_cell_show(const nb_cell *cell, const char *format, nb_page *page);
void nb_grid_show(const nb_grid *grid, nb_page *page); /* a table at the end of the page */

#endif
