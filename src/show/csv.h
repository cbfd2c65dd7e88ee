/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.h - rows and cells as comma-separated values (RFC 4180) and as JSON: header from the table of columns, numbers
 * with 17 digits, what was not measured empty or null. Rows of a run have their components' labels behind these columns
 * (config/labels.h). Texts are clean (base/text.h), also those of a store that an older program wrote.
 *
 * In CSV a text that a spreadsheet would calculate, since it begins with = + - @, a tab or a carriage return, has an
 * apostrophe before it, as OWASP advises; numbers never have. Texts that begin with apostrophes and then so have one
 * more, so that the mark can be taken away again. */
#ifndef NB_CSV_H
#define NB_CSV_H

#include "components/row.h"
#include "rows/grid.h"

nb_status nb_csv_print(FILE *out, const void *rows, nb_ctx *ctx);         /* an nb_row_list */
void nb_csv_print_text(FILE *out, const char *text);                      /* quoted and marked where it has to be */
nb_status nb_grid_print_csv(FILE *out, const void *grid, nb_ctx *ctx);    /* nothing where there are no rows */
nb_status nb_json_print(FILE *out, const nb_row_list *rows, nb_ctx *ctx); /* an array of objects */

/* A form of a grid for programs: what writes a row behind `before` others, of which the first brings what stands before
 * all, and the end behind all rows. */
typedef struct {
    nb_status (*row)(FILE *out, const nb_grid *grid, int row, long long before, nb_ctx *ctx);
    void (*end)(FILE *out, long long rows);
} nb_grid_writer;

extern const nb_grid_writer nb_grid_csv_writer;  /* nothing where there are no rows */
extern const nb_grid_writer nb_grid_json_writer; /* a list of objects, a line each */

nb_status nb_grid_write(FILE *out, const nb_grid_writer *writer, const nb_grid *grid, nb_ctx *ctx);
/* The rows that the grid has now, behind `before` others, without the end. */
nb_status nb_grid_write_rows(FILE *out, const nb_grid_writer *writer, const nb_grid *grid, long long before,
                             nb_ctx *ctx);

/* A row as an object of jansson's; NULL when out of memory. */
struct json_t *nb_json_row(const nb_grid *grid, int row, nb_ctx *ctx);

/* One object, without a line end; what is empty, not known or infinite is null. */
nb_status nb_json_print_row(FILE *out, const nb_column *columns, const nb_row *row, nb_ctx *ctx);

#endif
