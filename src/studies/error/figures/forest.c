/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forest.c - each strategy's error over the baseline's, a figure for each core. */
#include "studies/error/forests.h"

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    nb_summary s;
    NB_TRY(ctx, nb_summary_make(frame, &s, ctx));
    return nb_plot_forest(self->component.name, &s, d, figures, ctx);
}

static const char *const references[] = {
    "S. Lewis and M. Clarke, Forest plots: trying to see the wood and the trees, BMJ 322, 2001", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_forest = {
    .component = {"forest", "each strategy's error over the baseline's, by problem and pooled", references, options, 0},
    .study = NB_ERROR_STUDY,
    .place = 3,
    .draw = draw,
};
