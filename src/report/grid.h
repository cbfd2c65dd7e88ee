/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid.h - cells of text and numbers, row by row: printed as CSV or JSON for programs, or a table of a page for
 * people. */
#ifndef NB_GRID_H
#define NB_GRID_H

#include "report/page.h"

#include <stdio.h>

typedef struct nb_grid_cell nb_grid_cell;
typedef struct nb_grid {
    bool exact;         /* for programs: numbers with 17 digits; else as people read them */
    int columns, count; /* cells so far, row by row */
    int labels;         /* the first columns, which tell rows apart for people; 0: texts before the first number */

    /* Private. */
    nb_ctx *ctx;
    const char *const *heads;
    nb_grid_cell *cells;
    int room;
} nb_grid;

/* `heads`: of the columns, ends with NULL; it is kept, not copied. */
nb_status nb_grid_make(nb_grid *grid, const char *const *heads, bool exact, nb_ctx *ctx);

/* The next cell. Texts are kept, not copied; NULL: there is none. */
nb_status nb_grid_text(nb_grid *grid, const char *text);
nb_status nb_grid_int(nb_grid *grid, int value);
nb_status nb_grid_flag(nb_grid *grid, bool value); /* true or false */
/* For programs with 17 digits, for people in the format; NaN: empty, and `-` for people. */
nb_status nb_grid_real(nb_grid *grid, const char *format, double value);
/* A whole number that may be unknown or infinite: empty then. */
nb_status nb_grid_whole(nb_grid *grid, double value);

void nb_grid_print_csv(FILE *out, const nb_grid *grid); /* nothing where there are no rows */
/* A list of objects, a line each: numbers as numbers, what is empty, not known or infinite as null. */
nb_status nb_grid_print_json(FILE *out, const nb_grid *grid);
void nb_grid_show(const nb_grid *grid, nb_page *page); /* a table at the end of the page */

#endif
