/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.c - critical-difference diagrams of the strategies. */
#include "report/rank_diagram.h"

#include "studies/error/summary.h"

static nb_status draw(const nb_figure *self, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    static const nb_standing_terms terms = {.by = "strategy", .metric = "error"};
    nb_rank_diagram of = {.kind = self->component.name, .x_name = "m"};
    nb_frame frame;
    nb_summary s;
    nb_standings_view view;
    NB_TRY(ctx, nb_frame_of_relation(d->relation, &frame, ctx));
    NB_TRY(ctx, nb_summary_make(&frame, &s, ctx));
    NB_TRY(ctx, nb_frame_ints(&s.frame, NB_OF_VARIANT, &of.looks, ctx));
    NB_TRY(ctx, nb_standings_view_make(s.frame.relation, &terms, "landmarks", "core", &view, ctx));
    return nb_rank_diagram_draw(d, &view, &of, figures);
}

static const char *const references[] = {
    "J. Demsar, Statistical comparisons of classifiers over multiple data sets, J. Mach. Learn. Res. 7, 2006", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_ranks = {
    .component = {"ranks", "strategies on an axis of mean ranks, with the critical difference", references, options, 0},
    .study = NB_ERROR_STUDY,
    .draw = draw,
};
