/* SPDX-License-Identifier: GPL-3.0-or-later */
/* marked_cells.h - numbers of an answer with what stands around them, which is in columns beside theirs
 * (show/query.h). */
#ifndef NB_MARKED_CELLS_H
#define NB_MARKED_CELLS_H

#include "rows/grid.h"
#include "show/comments.h"

/* A grid with the cells of another one, but numerals in the place of numbers that have any such column: where one of
 * these is known in their row. */
nb_status nb_cells_mark(const nb_grid *answer, const nb_comment *comments, nb_grid *marked, nb_ctx *ctx);

#endif
