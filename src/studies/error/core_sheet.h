/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_sheet.h - figures that compare cores: each turns rows into points of a sheet. */
#ifndef NB_CORE_SHEET_H
#define NB_CORE_SHEET_H

#include "report/figure.h"
#include "report/sheet.h"
#include "studies/error/summary.h"
#include "studies/error/sweeps.h"

typedef struct {
    const nb_summary *summary;
    nb_sweeps sweeps;
    int m; /* of figures of one */
} nb_core_sheet;

/* Adds series and points to a sheet that has one figure for each variant and one panel for each
 * problem, unless it says otherwise, and says what its axes are. */
typedef nb_status nb_core_collect(const nb_core_sheet *of, nb_sheet *sheet, nb_ctx *ctx);

nb_status nb_core_sheet_draw(const nb_figure *figure, const nb_frame *frame, const nb_drawing *drawing,
                             nb_core_collect *collect, int *figures, nb_ctx *ctx);

bool nb_row_is_ok(const nb_error_row *row);

/* Whether the core keeps rows of S: then the error is of no F X B, and may be below the best core's. */
bool nb_keeps_rows(const nb_error_row *row);

/* The core that is the same in double precision, another one; -1: there is none. */
int nb_core_in_double(const nb_core_sheet *of, int core, nb_ctx *ctx);

#endif
