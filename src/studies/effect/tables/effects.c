/* SPDX-License-Identifier: GPL-3.0-or-later */
/* effects.c - what each attention does to the model, and how far it is from the exact one on the same heads. */
#include "report/labels.h"
#include "report/statistic.h"
#include "report/table.h"
#include "studies/effect/summary.h"

#include <math.h>

#define COLUMNS \
    "model_error", "embedding_distance", "rank_agreement", "top10_overlap", "perplexity_ratio", "kl", "layer_error", \
        "error", "error_subspace", "output_error"

static const char *const columns[] = {COLUMNS, NULL};

static nb_status add_median(const nb_effect_summary *s, nb_selection rows, const char *column, nb_grid *g, nb_ctx *ctx)
{
    const double *of;
    int count = 0;
    NB_TRY(ctx, nb_frame_reals(&s->frame, column, &of, ctx));
    for (int i = 0; i < rows.count; i++)
        if (!isnan(of[rows.at[i]])) s->values[count++] = of[rows.at[i]];
    return nb_grid_real(g, "%.3g", nb_median_of(s->values, &count));
}

static nb_status add_line(const nb_effect_summary *s, nb_selection rows, const char *const *labels, nb_grid *g,
                          nb_ctx *ctx)
{
    const nb_effect_row *row = nb_frame_row(&s->frame, rows.at[0]);
    NB_TRY(ctx, nb_effect_add_keys(s, rows.at[0], g, ctx));
    NB_TRY(ctx, nb_grid_text(g, g->exact ? row->attention : labels[s->attentions.of[rows.at[0]]]));
    NB_TRY(ctx, nb_grid_int(g, row->landmarks));
    NB_TRY(ctx, nb_grid_int(g, rows.count));
    for (int c = 0; columns[c]; c++) NB_TRY(ctx, add_median(s, rows, columns[c], g, ctx));
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    static const char *const by[] = {"stratum", "layer", "n", "attention", NULL};
    static const char *const csv[] = {NB_EFFECT_KEYS, "attention", "landmarks", "rows", COLUMNS, NULL};
    static const char *const text[] = {NB_EFFECT_KEYS, "attention", "m",        "rows",   "model error",
                                       "embedding",    "rank",      "top 10",   "perpl.", "KL",
                                       "layer error",  "error",     "subspace", "output", NULL};
    nb_effect_summary s;
    nb_groups groups;
    nb_grid own, *grid;
    const char *const *labels;
    NB_TRY(ctx, nb_effect_summary_make(frame, &s, ctx));
    NB_TRY(ctx, nb_frame_group(&s.frame, s.ok, by, &groups, ctx));
    if (groups.count == 0) return NB_OK;
    NB_TRY(ctx, nb_labels_of_values(&s.frame, "attention", &labels, ctx));
    NB_TRY(ctx, nb_table_grid(form, text, csv, &own, &grid, ctx));
    for (int g = 0; g < groups.count; g++) NB_TRY(ctx, add_line(&s, nb_group_rows(&groups, g), labels, grid, ctx));
    if (form->grid) return NB_OK;
    own.labels = NB_EFFECT_KEY_COUNT + 2;
    nb_page_heading(form->page, 2, "What replaced attention does to the model: medians over sources and trials");
    nb_grid_show(&own, form->page);
    nb_page_paragraph(form->page, "model error: of the last hidden states; embedding: 1 - cosine; rank, top 10: of the "
                                  "corpus; perpl.: over the exact one; layer error: of the layers' outputs within the "
                                  "changed pass. Of the heads of the exact pass: error of S, the least that any X "
                                  "reaches (subspace), error of the outputs.");
    return NB_OK;
}

static const char *const references[] = {"none: medians over sources and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_effects = {
    .component = {"effects", "what replaced attention does to a model, by model, layers and attention", references,
                  options, 0},
    .study = NB_EFFECT_STUDY,
    .place = 1,
    .file = "effects.csv",
    .make = make,
};
