/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid.h - cells of text and numbers, row by row: printed as CSV or JSON for programs, or a table of a page for
 * people. */
#ifndef NB_GRID_H
#define NB_GRID_H

#include "report/page.h"
#include "report/relation.h"

#include <stdio.h>

typedef struct nb_grid {
    int columns, count; /* cells so far, row by row */
    int labels;         /* the first columns, which tell rows apart for people; 0: texts before the first number */

    /* Private. */
    nb_ctx *ctx;
    const char *const *heads;
    nb_cell *cells;
    int room;
} nb_grid;

/* `heads`: of the columns, ends with NULL; it is kept, not copied. */
nb_status nb_grid_make(nb_grid *grid, const char *const *heads, nb_ctx *ctx);

/* The next cell. Texts are kept, not copied; NULL: there is none. */
nb_status nb_grid_text(nb_grid *grid, const char *text);
nb_status nb_grid_int(nb_grid *grid, long long value);
nb_status nb_grid_real(nb_grid *grid, double value);
nb_status nb_grid_whole(nb_grid *grid, double value); /* a whole number that may be unknown or infinite: unknown then */

/* Print a grid: for programs numbers have 17 digits, and what is not known is empty, or null; for people they have
 * three, and `-`. */
nb_status nb_grid_print_csv(FILE *out, const void *grid, nb_ctx *ctx); /* nothing where there are no rows */
/* A list of objects, a line each: numbers as numbers, what is empty, not known or infinite as null. */
nb_status nb_grid_print_json(FILE *out, const nb_grid *grid);
/* The next cell of a page: its text, or its number in a format such as "%.3g". */
void nb_cell_show(const nb_cell *cell, const char *format, nb_page *page);
void nb_grid_show(const nb_grid *grid, nb_page *page); /* a table at the end of the page */

#endif
