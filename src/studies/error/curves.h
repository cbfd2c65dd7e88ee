/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curves.h - figures of something against the number of landmarks: a figure for each core, a panel for
 * each problem, a curve for each strategy. Each figure has a script plots/NAME.gp. */
#ifndef NB_CURVES_H
#define NB_CURVES_H

#include "report/figure.h"
#include "studies/error/summary.h"

#include <stdio.h>

typedef struct {
    double (*value)(const nb_summary *summary, int row);
    const nb_statistic *(*cells)(const nb_summary *summary); /* the statistics of these values */
    void (*print_data)(FILE *out, const nb_summary *summary);
    int first_core; /* one figure for each core from this one on */

    /* In place of curves, of more strategies than these tell apart. */
    nb_status (*draw_many)(const nb_figure *figure, const nb_summary *summary, const nb_drawing *drawing, int *figures,
                           nb_ctx *ctx);
} nb_curves;

nb_status nb_curves_draw(const nb_figure *figure, const nb_curves *kind, const nb_frame *frame,
                         const nb_drawing *drawing, int *figures, nb_ctx *ctx);

/* Lines of the CSV: the statistics of each cell from a core on; the best rank m, and the constant matrix. */
void nb_curves_print_cells(FILE *out, const nb_summary *summary, const nb_statistic *cells, int first_core);
void nb_curves_print_levels(FILE *out, const nb_summary *summary);

#endif
