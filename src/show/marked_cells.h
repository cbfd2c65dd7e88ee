/* SPDX-License-Identifier: GPL-3.0-or-later */
/* marked_cells.h - numbers of an answer as people read them: with what stands around them, which is in columns beside
 * theirs, and within texts (show/query.h). */
#ifndef NB_MARKED_CELLS_H
#define NB_MARKED_CELLS_H

#include "rows/grid.h"
#include "show/comments.h"

/* A text in which each {COLUMN} is what a row has there, {COLUMN: FORMAT} a number in that format; "" where there is no
 * row. */
nb_status nb_grid_fill_in(const nb_grid *answer, int row, const char *text, const char **out, nb_ctx *ctx);
/* Puts the texts in the place of cells that the comments "-- cell: COLUMN: TEXT | TEXT" have for them. */
nb_status nb_cells_tell(nb_grid *answer, const nb_comment *comments, nb_ctx *ctx);

/* A grid with the cells of another one, but numerals in the place of numbers that have any such column, where one of
 * these is known in their row, and texts where comments have them. */
nb_status nb_cells_mark(const nb_grid *answer, const nb_comment *comments, nb_grid *marked, nb_ctx *ctx);

#endif
