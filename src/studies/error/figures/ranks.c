/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.c - critical-difference diagrams of the strategies. */
#include "report/rank_diagram.h"

static nb_status draw(const nb_figure *self, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    static const nb_standing_terms terms = {.by = "strategy", .metric = "error"};
    nb_rank_diagram of = {.kind = self->component.name, .x_name = "m"};
    nb_standings_view view;
    nb_answer variants;
    int *looks;
    NB_TRY(ctx, nb_relation_need(d->relation, "-- needs: cell", d->baseline, ctx));
    NB_TRY(ctx, nb_relation_ask(d->relation, "SELECT variant_id FROM member JOIN key USING (id) ORDER BY number", NULL,
                                &variants, NULL, ctx));
    NB_NEED(looks, nb_alloc(ctx, (size_t)variants.count + 1, sizeof *looks));
    for (int i = 0; i < variants.count; i++) looks[i] = (int)nb_answer_at(&variants, i, 0)->integer;
    of.looks = looks;
    NB_TRY(ctx, nb_standings_view_make(d->relation, &terms, "landmarks", "core", &view, ctx));
    return nb_rank_diagram_draw(d, &view, &of, figures);
}

static const char *const references[] = {
    "J. Demsar, Statistical comparisons of classifiers over multiple data sets, J. Mach. Learn. Res. 7, 2006", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_ranks = {
    .component = {"ranks", "strategies on an axis of mean ranks, with the critical difference", references, options, 0},
    .study = "error",
    .draw = draw,
};
