/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cells.h - rows and grids for programs: comma-separated values (RFC 4180, write_csv.c) and JSON (write_json.c). A
 * figure writes its CSV itself (figure.c).
 *
 * Numbers have 17 digits. What is not known is empty or null; what is infinite is inf, in JSON the text "inf". Rows of
 * a run have their components' labels behind their columns (config/labels.h). Texts are clean (base/text.h), also those
 * of a store that an older program wrote.
 *
 * In CSV a text that a spreadsheet would calculate, since it begins with = + - @, a tab or a carriage return, has an
 * apostrophe before it, as OWASP advises; numbers never have. Texts that begin with apostrophes and then so have one
 * more, so that the mark can be taken away again. */
#ifndef NB_CELLS_H
#define NB_CELLS_H

#include "components/row.h"
#include "config/labels.h"
#include "rows/grid.h"

typedef struct { /* a row */
    int count;
    const char *const *names;
    const nb_cell *cells;
} nb_cells;

/* A form: what writes a row behind `before` others, of which the first brings what stands before all, and the end
 * behind all rows. */
typedef struct {
    nb_status (*row)(FILE *out, const nb_cells *row, long long before, nb_ctx *ctx);
    void (*end)(FILE *out, long long rows);
} nb_cells_writer;

extern const nb_cells_writer nb_csv_writer;  /* nothing where there are no rows */
extern const nb_cells_writer nb_json_writer; /* a list of objects, a line each */

nb_status nb_grid_write(FILE *out, const nb_cells_writer *writer, const nb_grid *grid, nb_ctx *ctx);
/* The rows that the grid has now, behind `before` others, without the end. */
nb_status nb_grid_write_rows(FILE *out, const nb_cells_writer *writer, const nb_grid *grid, long long before,
                             nb_ctx *ctx);
nb_cells nb_grid_cells(const nb_grid *grid, int row);

/* Rows of a study. As CSV they have the names of their columns even where there are none. */
nb_status nb_rows_print_csv(FILE *out, const void *rows, nb_ctx *ctx); /* an nb_row_list */
nb_status nb_rows_print_json(FILE *out, const nb_row_list *rows, nb_ctx *ctx);
/* The object of one row, without a line end. */
nb_status nb_row_print_json(FILE *out, const nb_column *columns, const nb_row *row, nb_ctx *ctx);

/* Room for the cells of one row of a study at a time, with the labels behind them. */
typedef struct {
    nb_cells row; /* the one that was taken last */
    nb_row_labels labels;
    nb_cell *cells;
} nb_row_cells;

nb_status nb_row_cells_make(const nb_row_list *rows, nb_row_cells *cells, nb_ctx *ctx);
void nb_row_cells_take(nb_row_cells *cells, const nb_row *row);

nb_status nb_grid_print_csv(FILE *out, const void *grid, nb_ctx *ctx);
void nb_csv_print_text(FILE *out, const char *text); /* quoted and marked where it has to be */
/* A row as an object of jansson's; NULL when out of memory. */
struct json_t *nb_json_object(const nb_cells *row, nb_ctx *ctx);

#endif
