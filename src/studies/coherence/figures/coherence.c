/* SPDX-License-Identifier: GPL-3.0-or-later */
/* coherence.c - mu_block / mu of each partition, by model: side by side, against k, and against tau. */
#include "report/figure.h"
#include "report/labels.h"
#include "report/sheet.h"
#include "studies/coherence/summary.h"

#include <math.h>
#include <string.h>

enum { PARTITIONS, CLUSTERS, TAU, FIGURES };
static const char *const names[FIGURES] = {"partitions", "clusters", "tau"};
static const char *const x_names[FIGURES] = {"partitions, in the order of the legend", "k, the number of clusters",
                                             "tau, the threshold of local ranks"};

typedef struct {
    nb_coherence_summary summary;
    nb_frame *frame; /* the summary's */
    nb_sheet sheet;
    nb_codes partitions, clusters, taus, panels;
    int k, tau; /* codes of those that most rows have */
    bool many[FIGURES];
} picture;

/* The code that most of the rows have that are grouped. */
static nb_status most_common(const picture *p, const nb_codes *codes, int *most, nb_ctx *ctx)
{
    int *count;
    NB_NEED(count, nb_alloc(ctx, (size_t)codes->count + 1, sizeof *count));
    for (int i = 0; i < p->frame->count; i++) count[codes->of[i]] += p->summary.groups.of[i] >= 0;
    *most = 0;
    for (int v = 1; v < codes->count; v++)
        if (count[v] > count[*most]) *most = v;
    return NB_OK;
}

/* A panel for each model, layer and side. */
static nb_status find_panels(picture *p, nb_ctx *ctx)
{
    nb_codes strata, layers, sides;
    int *panel;
    NB_TRY(ctx, nb_frame_codes(p->frame, "stratum", &strata, ctx));
    NB_TRY(ctx, nb_frame_codes(p->frame, "layer", &layers, ctx));
    NB_TRY(ctx, nb_frame_codes(p->frame, "side", &sides, ctx));
    NB_NEED(panel, nb_alloc(ctx, (size_t)p->frame->count + 1, sizeof *panel));
    for (int i = 0; i < p->frame->count; i++)
        panel[i] = (strata.of[i] * layers.count + layers.of[i]) * sides.count + sides.of[i];
    NB_TRY(ctx, nb_frame_derive(p->frame, "panel", panel, ctx));
    NB_TRY(ctx, nb_frame_codes(p->frame, "panel", &p->panels, ctx));
    NB_NEED(p->sheet.panels, nb_alloc(ctx, (size_t)p->panels.count + 1, sizeof *p->sheet.panels));
    for (int v = 0; v < p->panels.count; v++) {
        const nb_coherence_row *row = nb_frame_row(p->frame, p->panels.first[v]);
        const nb_replicates *r = &p->summary.replicates;
        const char *label = r->labels[r->stratum[p->panels.first[v]]];
        NB_NEED(p->sheet.panels[v], row->layer ? nb_format(ctx, "%s layer %s, %s", label, row->layer, row->side)
                                               : nb_format(ctx, "%s, %s", label, row->side));
    }
    p->sheet.panel_count = p->panels.count;
    return NB_OK;
}

static nb_status find_codes(picture *p, nb_ctx *ctx)
{
    const char *label;
    NB_TRY(ctx, nb_frame_codes(p->frame, "partition", &p->partitions, ctx));
    NB_TRY(ctx, nb_frame_codes(p->frame, "clusters", &p->clusters, ctx));
    NB_TRY(ctx, nb_frame_codes(p->frame, "tau", &p->taus, ctx));
    NB_TRY(ctx, most_common(p, &p->clusters, &p->k, ctx));
    NB_TRY(ctx, most_common(p, &p->taus, &p->tau, ctx));
    NB_NEED(p->sheet.series, nb_alloc(ctx, (size_t)p->partitions.count + 1, sizeof *p->sheet.series));
    for (int v = 0; v < p->partitions.count; v++) {
        NB_TRY(ctx, nb_label_of(p->frame, "partition", p->partitions.first[v], &label, ctx));
        nb_sheet_series(&p->sheet, label, NB_CURVE, v);
    }
    p->many[PARTITIONS] = true;
    p->many[CLUSTERS] = p->clusters.count > 1;
    p->many[TAU] = p->taus.count > 1;
    return find_panels(p, ctx);
}

static nb_status add_row(picture *p, int i, nb_ctx *ctx)
{
    const nb_coherence_row *row = nb_frame_row(p->frame, i);
    bool of_k = p->clusters.of[i] == p->k, of_tau = p->taus.of[i] == p->tau;
    const bool shown[FIGURES] = {of_k && of_tau, of_tau, of_k};
    const double x[FIGURES] = {p->partitions.of[i] + 1, row->clusters, row->tau};
    const int keys[FIGURES] = {0, p->clusters.of[i], p->taus.of[i]};
    for (int f = 0; f < FIGURES; f++)
        if (shown[f] && p->many[f])
            NB_TRY(ctx, nb_sheet_add(&p->sheet,
                                     (nb_sheet_point){f, p->panels.of[i], p->partitions.of[i], keys[f], x[f],
                                                      row->measures.mu_block_finite / row->measures.mu},
                                     ctx));
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    const char *figure_names[FIGURES], *title;
    picture p = {.sheet = {.kind = self->component.name,
                           .experiment = d->experiment,
                           .y_name = "mu_block / mu, clusters of rank 0 left out",
                           .figure_count = FIGURES,
                           .figures = figure_names,
                           .x_names = x_names,
                           .level_1 = true}};
    p.frame = &p.summary.frame;
    *figures = 0;
    memcpy(figure_names, names, sizeof names);
    NB_TRY(ctx, nb_coherence_summary_make(frame, &p.summary, ctx));
    if (p.summary.groups.count == 0) return nb_sheet_draw(d->folder, &p.sheet, d->gnuplots, figures, ctx);
    NB_TRY(ctx, find_codes(&p, ctx));
    const nb_coherence_row *k = nb_frame_row(p.frame, p.clusters.first[p.k]),
                           *tau = nb_frame_row(p.frame, p.taus.first[p.tau]);
    NB_NEED(title,
            nb_format(ctx, "block-coherence over coherence by %%s; else k = %d, tau = %g", k->clusters, tau->tau));
    p.sheet.title = title;
    for (int i = 0; i < p.frame->count; i++)
        if (p.summary.groups.of[i] >= 0) NB_TRY(ctx, add_row(&p, i, ctx));
    return nb_sheet_draw(d->folder, &p.sheet, d->gnuplots, figures, ctx);
}

static const char *const references[] = {
    "On the geometric selection of landmarks for low-rank self-attention approximation, 2025, OpenReview OdKBFAmCYX "
    "(Table 1)",
    NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_coherence = {
    .component = {"coherence", "block-coherence over coherence by partition, against k and against tau", references,
                  options, 0},
    .study = NB_COHERENCE_STUDY,
    .standard = true,
    .draw = draw,
};
