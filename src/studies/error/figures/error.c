/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error.c - the error against the number of landmarks, with the best rank m and the constant matrix. */
#include "studies/error/curves.h"

#include "report/scripts.h"
#include "studies/error/forests.h"

static double value(const nb_summary *s, int row)
{
    return nb_part_of(&s->rows[row], NB_WHOLE);
}

static const nb_statistic *cells(const nb_summary *s)
{
    return s->errors;
}

static void print_data(FILE *out, const nb_summary *s)
{
    nb_curves_print_cells(out, s, s->errors, 0);
    nb_curves_print_levels(out, s);
}

/* The figure `forest` replaces it. */
static nb_status draw_many(const nb_figure *self, const nb_summary *s, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    fprintf(stderr, "nysbench: note: plot error: %d strategies are too many for curves; drawn as the figure 'forest'\n",
            s->variant_count);
    NB_TRY(ctx, nb_plot_prune(d->folder, self->component.name, 0, NULL, ctx));
    return nb_plot_forest("forest", s, d, figures, ctx);
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    static const nb_curves kind = {value, cells, print_data, 0, draw_many};
    return nb_curves_draw(self, &kind, frame, d, figures, ctx);
}

static const char *const references[] = {"none: medians, and the 10-90 % range of trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_error = {
    .component = {"error", "error against landmarks, a figure for each core", references, options, 0},
    .study = NB_ERROR_STUDY,
    .standard = true,
    .place = 1,
    .draw = draw,
};
