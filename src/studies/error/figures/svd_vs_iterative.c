/* SPDX-License-Identifier: GPL-3.0-or-later */
/* svd_vs_iterative.c - the error with each core over the error with the first core of the run, on the same
 * landmarks. It is named after the first question that it answered. */
#include "studies/error/curves.h"

#include "studies/error/forests.h"

static double value(const nb_summary *s, int row)
{
    return s->row_ratios[row];
}

static const nb_statistic *cells(const nb_summary *s)
{
    return s->ratios;
}

static void print_data(FILE *out, const nb_summary *s)
{
    nb_curves_print_cells(out, s, s->ratios, 1);
}

static nb_status draw_many(const nb_figure *self, const nb_summary *s, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    return nb_plot_core_forest(self, s, d, figures, ctx);
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    static const nb_curves kind = {value, cells, print_data, 1, draw_many};
    return nb_curves_draw(self, &kind, frame, d, figures, ctx);
}

static const char *const references[] = {"none: medians of ratios", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_svd_vs_iterative = {
    .component = {"svd_vs_iterative", "error with each core over the error with the first, same landmarks", references,
                  options, 0},
    .study = NB_ERROR_STUDY,
    .compares = "core",
    .draw = draw,
};
