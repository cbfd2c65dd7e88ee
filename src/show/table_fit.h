/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_fit.h - how a table fits a width as text: the first of these forms that does.
 *
 * A table is printed as it is; with prose in several lines; with long labels shortened; in parts below each other, each
 * with all labels; or as a list of its rows. */
#ifndef NB_TABLE_FIT_H
#define NB_TABLE_FIT_H

#include "show/page_record.h"

typedef struct {
    int count;
    int *columns;
} nb_fitted_part;

typedef struct {
    const nb_page_sheet *table;
    int width, indent;
    int part_count; /* 0: a list of its rows */
    nb_fitted_part *parts;
    int *columns, *marks; /* by column: its width without the marks of numbers, and theirs */
    const char **texts;   /* private: of the cells, column by column */
} nb_fitted_table;

enum { NB_TABLE_GAP = 2 }; /* between columns */

/* Width 0: any is fine. */
nb_status nb_table_fit(const nb_page_sheet *table, int width, nb_fitted_table *fitted, nb_ctx *ctx);

/* Return the text of a cell, set in below a band and perhaps shortened, and the mark of a number, which is apart. */
const char *nb_fitted_text(const nb_fitted_table *fitted, int row, int column);
const char *nb_fitted_mark(const nb_fitted_table *fitted, int row, int column);

#endif
