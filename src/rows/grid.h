/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid.h - cells of text and numbers, row by row, such as the answer to a query: printed as CSV or JSON for programs
 * (show/cells.h), or a table of a page for people (show/grid_page.h). */
#ifndef NB_GRID_H
#define NB_GRID_H

#include "base/ctx.h"

typedef enum {
    NB_CELL_NONE,
    NB_CELL_TEXT,
    NB_CELL_INT,
    NB_CELL_FLAG,
    NB_CELL_REAL,
    NB_CELL_BLOB,
    NB_CELL_JSON,    /* a list or an object, whose text is JSON */
    NB_CELL_NUMERAL, /* a number in the digits that people see, with what stands around it */
    NB_CELL_BLANK    /* as none, but people see nothing, where none is a number that is not known */
} nb_cell_type;

typedef struct {
    nb_cell_type type;
    const char *text;          /* of a text or JSON; digits of a numeral, "": it has no number; else NULL */
    const char *before, *mark; /* of a numeral: in front of its digits or in their place, and behind them */
    long long integer;         /* of a flag 0: false */
    double real;               /* of an integer too; else NaN */
} nb_cell;

typedef struct nb_grid {
    int columns, count; /* count: of rows */
    const char *const *names;
    nb_cell *cells;
    int labels; /* the first columns, which tell rows apart for people; 0: texts before the first number */

    /* Private. */
    nb_ctx *ctx;
    int filled, room; /* cells */
    int named;        /* room for names, of a grid that is put together row by row */
    nb_status status;
} nb_grid;

const nb_cell *nb_grid_at(const nb_grid *grid, int row, int column);
int nb_grid_column(const nb_grid *grid, const char *name); /* -1: there is none */

/* `names`: of the columns, ends with NULL; it is kept, not copied. */
nb_status nb_grid_make(nb_grid *grid, const char *const *names, nb_ctx *ctx);

/* The next cell. Texts are kept, not copied; NULL: there is none. */
nb_status nb_grid_add(nb_grid *grid, nb_cell cell);
nb_status nb_grid_text(nb_grid *grid, const char *text);
nb_status nb_grid_json(nb_grid *grid, const char *text);
nb_status nb_grid_int(nb_grid *grid, long long value);
nb_status nb_grid_real(nb_grid *grid, double value);
nb_status nb_grid_whole(nb_grid *grid, double value); /* a whole number that may be unknown or infinite: unknown then */

/* Cells; NULL and NaN are none. */
nb_cell nb_text_cell(const char *text);
nb_cell nb_int_cell(long long value);
nb_cell nb_real_cell(double value);
nb_cell nb_whole_cell(double value); /* of a whole number; one that is not known of what is infinite */
nb_cell nb_numeral_cell(const char *before, const char *digits, const char *mark);

/* A grid whose first row says which columns it has: each row begins with nb_grid_row and has the same ones. If memory
 * runs out, the grid keeps that, and nb_grid_end returns it. Names are kept, not copied. NULL and NaN put none. */
void nb_grid_begin(nb_grid *grid, nb_ctx *ctx);
void nb_grid_row(nb_grid *grid);
void nb_grid_put(nb_grid *grid, const char *column, nb_cell cell);
void nb_grid_put_text(nb_grid *grid, const char *column, const char *text);
void nb_grid_put_int(nb_grid *grid, const char *column, long long value);
void nb_grid_put_real(nb_grid *grid, const char *column, double value);
nb_status nb_grid_end(const nb_grid *grid);

/* A text, or a whole number as one; "" of all else. NULL: out of memory. */
const char *nb_cell_text(const nb_cell *cell, nb_ctx *ctx);

#endif
