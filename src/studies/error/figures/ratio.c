/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ratio.c - each strategy's error over the baseline's against the number of landmarks, with intervals over sources. */
#include "report/ratios.h"

#include "report/scripts.h"
#include "studies/error/summary.h"

#include <string.h>

/* The code of the baseline: of the run's, or the first that is no oracle; -1: it has no rows. */
static nb_status find_baseline(const nb_summary *s, const char *wanted, int *code, nb_ctx *ctx)
{
    const char *const *texts;
    nb_codes codes;
    for (int v = 0; v < s->variant_count && !wanted; v++)
        if (!s->variants[v].oracle) wanted = s->variants[v].strategy;
    NB_TRY(ctx, nb_frame_codes(&s->frame, "strategy", &codes, ctx));
    NB_TRY(ctx, nb_frame_texts(&s->frame, "strategy", &texts, ctx));
    *code = -1;
    for (int v = 0; v < codes.count && wanted; v++)
        if (strcmp(texts[codes.first[v]], wanted) == 0) *code = v;
    return NB_OK;
}

/* Of more strategies than curves tell apart, the figure `forest`. */
static nb_status draw(const nb_figure *self, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    nb_frame frame;
    nb_summary s;
    nb_ratios of = {.kind = self->component.name,
                    .by = "strategy",
                    .metric = "error",
                    .along = "landmarks",
                    .named = "core",
                    .x_name = "landmarks m"};
    *figures = 0;
    NB_TRY(ctx, nb_frame_of_relation(d->relation, &frame, ctx));
    NB_TRY(ctx, nb_summary_make(&frame, &s, ctx));
    NB_TRY(ctx, find_baseline(&s, d->baseline, &of.baseline, ctx));
    NB_TRY(ctx, nb_frame_ints(&s.frame, NB_OF_VARIANT, &of.looks, ctx));
    if (of.baseline < 0) return nb_plot_prune(d->folder, of.kind, 0, NULL, ctx);
    if (s.variant_count <= 12) return nb_ratios_draw(d, s.frame.relation, &of, figures, ctx);
    fprintf(stderr, "nysbench: note: plot %s: %d strategies are too many for curves; drawn as the figure 'forest'\n",
            of.kind, s.variant_count);
    NB_TRY(ctx, nb_plot_prune(d->folder, of.kind, 0, NULL, ctx));
    const nb_figure *forest = (const nb_figure *)nb_registry_find(&nb_figures, "forest");
    return forest->draw(forest, d, figures, ctx);
}

static const char *const references[] = {"none: geometric means, and Student's t intervals over sources", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_ratio = {
    .component = {"ratio", "each strategy's error over the baseline's against landmarks, with intervals over sources",
                  references, options, 0},
    .study = NB_ERROR_STUDY,
    .place = 1,
    .draw = draw,
};
