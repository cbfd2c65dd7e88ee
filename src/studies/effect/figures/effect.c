/* SPDX-License-Identifier: GPL-3.0-or-later */
/* effect.c - what replaced attention does to the model against its error on the heads: each attention a point, its
 * median over sources and trials, in the colour of its strategy. A panel for each model, layers and n. */
#include "report/figure.h"
#include "report/labels.h"
#include "report/sheet.h"
#include "studies/effect/summary.h"

#include <string.h>

enum { ERROR, SUBSPACE, OUTPUT, FIGURES };
static const char *const columns[FIGURES] = {"error", "error_subspace", "output_error"};
static const char *const x_names[FIGURES] = {"relative error of S (error)",
                                             "the least error that any X reaches (error_subspace)",
                                             "relative error of the heads' outputs (output_error)"};

typedef struct {
    nb_effect_summary summary;
    nb_sheet sheet;
    nb_codes panels;
    int *series; /* by attention */
} picture;

/* What attentions of one colour have in common: the strategy, or the name. */
static nb_status kind_of(const nb_effect_row *row, const char **kind, nb_ctx *ctx)
{
    *kind = row->strategy;
    if (row->strategy) return NB_OK;
    NB_NEED(*kind, nb_format(ctx, "%.*s", (int)strcspn(row->attention, "("), row->attention));
    return NB_OK;
}

static nb_status find_series(picture *p, nb_ctx *ctx)
{
    const nb_codes *a = &p->summary.attentions;
    NB_NEED(p->series, nb_alloc(ctx, (size_t)a->count + 1, sizeof *p->series));
    NB_NEED(p->sheet.series, nb_alloc(ctx, (size_t)a->count + 1, sizeof *p->sheet.series));
    for (int v = 0; v < a->count; v++) {
        const nb_effect_row *row = nb_frame_row(&p->summary.frame, a->first[v]);
        const char *kind;
        int s = 0;
        NB_TRY(ctx, kind_of(row, &kind, ctx));
        while (s < p->sheet.series_count && strcmp(p->sheet.series[s].label, kind) != 0) s++;
        p->series[v] = s < p->sheet.series_count ? s : nb_sheet_series(&p->sheet, kind, NB_CLOUD, s);
    }
    return NB_OK;
}

/* `sizes`: n is told, since there are several. */
static nb_status name_panel(picture *p, int v, bool sizes, nb_ctx *ctx)
{
    const nb_replicates *r = &p->summary.replicates;
    const nb_effect_row *row = nb_frame_row(&p->summary.frame, p->panels.first[v]);
    const char *label = r->labels[r->stratum[p->panels.first[v]]], *size = "";
    if (sizes) NB_NEED(size, nb_format(ctx, ", n = %d", row->n));
    NB_NEED(p->sheet.panels[v], nb_format(ctx, "%s, layers: %s%s", label, row->layer ? row->layer : "?", size));
    return NB_OK;
}

static nb_status find_panels(picture *p, nb_ctx *ctx)
{
    nb_codes strata, layers, sizes;
    nb_frame *frame = &p->summary.frame;
    int *panel;
    NB_TRY(ctx, nb_frame_codes(frame, "stratum", &strata, ctx));
    NB_TRY(ctx, nb_frame_codes(frame, "layer", &layers, ctx));
    NB_TRY(ctx, nb_frame_codes(frame, "n", &sizes, ctx));
    NB_NEED(panel, nb_alloc(ctx, (size_t)frame->count + 1, sizeof *panel));
    for (int i = 0; i < frame->count; i++)
        panel[i] = (strata.of[i] * layers.count + layers.of[i]) * sizes.count + sizes.of[i];
    NB_TRY(ctx, nb_frame_derive(frame, "panel", panel, ctx));
    NB_TRY(ctx, nb_frame_codes(frame, "panel", &p->panels, ctx));
    NB_NEED(p->sheet.panels, nb_alloc(ctx, (size_t)p->panels.count + 1, sizeof *p->sheet.panels));
    for (int v = 0; v < p->panels.count; v++) NB_TRY(ctx, name_panel(p, v, sizes.count > 1, ctx));
    p->sheet.panel_count = p->panels.count;
    return NB_OK;
}

static nb_status add_points(picture *p, nb_ctx *ctx)
{
    const nb_effect_summary *s = &p->summary;
    const double *y;
    NB_TRY(ctx, nb_frame_reals(&s->frame, "model_error", &y, ctx));
    for (int f = 0; f < FIGURES; f++) {
        const double *x;
        NB_TRY(ctx, nb_frame_reals(&s->frame, columns[f], &x, ctx));
        for (int i = 0; i < s->ok.count; i++) {
            int row = s->ok.at[i], attention = s->attentions.of[row];
            NB_TRY(ctx,
                   nb_sheet_add(&p->sheet,
                                (nb_sheet_point){f, p->panels.of[row], p->series[attention], attention, x[row], y[row]},
                                ctx));
        }
    }
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    const char *names[FIGURES];
    picture p = {.sheet = {.kind = self->component.name,
                           .experiment = d->experiment,
                           .title = "effect on the model against %s",
                           .y_name = "error of the model's output (model_error)",
                           .x_names = x_names,
                           .figure_count = FIGURES,
                           .figures = names,
                           .log_x = true}};
    memcpy(names, columns, sizeof names);
    *figures = 0;
    NB_TRY(ctx, nb_effect_summary_make(frame, &p.summary, ctx));
    NB_TRY(ctx, find_series(&p, ctx));
    NB_TRY(ctx, find_panels(&p, ctx));
    NB_TRY(ctx, add_points(&p, ctx));
    return nb_sheet_draw(d->folder, &p.sheet, d->gnuplots, figures, ctx);
}

static const char *const references[] = {"none: medians over sources and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_effect = {
    .component = {"effect", "the effect on the model against errors of attention, each attention a point", references,
                  options, 0},
    .study = NB_EFFECT_STUDY,
    .standard = true,
    .draw = draw,
};
