/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictors.c - whether what is measured of the heads puts attentions in the order of what they do to the model:
 * Spearman's correlation over attentions within each source, for each number of landmarks and each core, and over all
 * cores. */
#include "report/table.h"
#include "studies/effect/summary.h"

#include <math.h>

typedef struct {
    const nb_effect_summary *s;
    nb_selection rows;
    const char *core; /* of all of these rows; "all" */
    nb_grid *grid;
    nb_ctx *ctx;
} part;

static nb_status add_keys(const part *p, const char *effect)
{
    NB_TRY(p->ctx, nb_effect_add_keys(p->s, p->rows.at[0], p->grid, p->ctx));
    NB_TRY(p->ctx, nb_grid_int(p->grid, ((const nb_effect_row *)nb_frame_row(&p->s->frame, p->rows.at[0]))->landmarks));
    NB_TRY(p->ctx, nb_grid_text(p->grid, p->core));
    return nb_grid_text(p->grid, effect);
}

static nb_status add_csv_line(const part *p, const char *effect, const char *predictor, const nb_effect_agreement *a)
{
    NB_TRY(p->ctx, add_keys(p, effect));
    NB_TRY(p->ctx, nb_grid_text(p->grid, predictor));
    NB_TRY(p->ctx, nb_grid_int(p->grid, a->sources));
    NB_TRY(p->ctx, nb_grid_int(p->grid, a->attentions));
    NB_TRY(p->ctx, nb_grid_real(p->grid, "%g", a->mean));
    NB_TRY(p->ctx, nb_grid_real(p->grid, "%g", a->low));
    return nb_grid_real(p->grid, "%g", a->high);
}

static nb_status add_csv(const part *p, const char *effect)
{
    for (int i = 0; nb_effect_predictors[i]; i++) {
        nb_effect_agreement a;
        NB_TRY(p->ctx, nb_effect_agree(p->s, p->rows, nb_effect_predictors[i], effect, &a, p->ctx));
        if (a.sources > 0) NB_TRY(p->ctx, add_csv_line(p, effect, nb_effect_predictors[i], &a));
    }
    return NB_OK;
}

static nb_status interval_text(const nb_effect_agreement *a, const char **text, nb_ctx *ctx)
{
    if (a->sources == 0)
        *text = "-";
    else if (isnan(a->low))
        NB_NEED(*text, nb_format(ctx, "%.2f", a->mean));
    else
        NB_NEED(*text, nb_format(ctx, "%.2f [%.2f, %.2f]", a->mean, a->low, a->high));
    return NB_OK;
}

/* A line for the effect, if any predictor has something to say of it. */
static nb_status add_text(const part *p, const char *effect)
{
    enum { MOST = 8 };
    nb_effect_agreement a[MOST] = {{.sources = 0}}, *most = a;
    int count = 0;
    for (; nb_effect_predictors[count]; count++) {
        NB_TRY(p->ctx, nb_effect_agree(p->s, p->rows, nb_effect_predictors[count], effect, &a[count], p->ctx));
        if (a[count].sources > most->sources) most = &a[count];
    }
    if (most->sources == 0) return NB_OK;
    NB_TRY(p->ctx, add_keys(p, effect));
    NB_TRY(p->ctx, nb_grid_int(p->grid, most->sources));
    NB_TRY(p->ctx, nb_grid_int(p->grid, most->attentions));
    for (int i = 0; i < count; i++) {
        const char *text;
        NB_TRY(p->ctx, interval_text(&a[i], &text, p->ctx));
        NB_TRY(p->ctx, nb_grid_text(p->grid, text));
    }
    return NB_OK;
}

static nb_status add_part(const part *p)
{
    for (int e = 0; nb_effect_effects[e]; e++)
        NB_TRY(p->ctx, p->grid->exact ? add_csv(p, nb_effect_effects[e]) : add_text(p, nb_effect_effects[e]));
    return NB_OK;
}

/* The rows of each model, layers and number of landmarks, by core or (not `apart`) all together. */
static nb_status add_parts(const nb_effect_summary *s, bool apart, nb_grid *grid, nb_ctx *ctx)
{
    const char *const by[] = {"stratum", "layer", "n", "landmarks", apart ? "core" : NULL, NULL};
    nb_groups groups;
    NB_TRY(ctx, nb_frame_group(&s->frame, s->ok, by, &groups, ctx));
    for (int g = 0; g < groups.count; g++) {
        part p = {s, nb_group_rows(&groups, g), "all", grid, ctx};
        const nb_effect_row *row = nb_frame_row(&s->frame, p.rows.at[0]);
        if (apart && row->core) p.core = row->core;
        if (!apart || row->core) NB_TRY(ctx, add_part(&p));
    }
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    static const char *const csv[] = {NB_EFFECT_KEYS, "landmarks",   "core", "effect", "predictor", "sources",
                                      "attentions",   "correlation", "low",  "high",   NULL};
    static const char *const text[] = {NB_EFFECT_KEYS, "m",        "core",      "effect", "sources",     "attentions",
                                       "error",        "subspace", "core part", "output", "layer error", NULL};
    nb_effect_summary s;
    nb_grid own, *grid;
    NB_TRY(ctx, nb_effect_summary_make(frame, &s, ctx));
    NB_TRY(ctx, nb_table_grid(form, text, csv, &own, &grid, ctx));
    NB_TRY(ctx, add_parts(&s, true, grid, ctx));
    NB_TRY(ctx, add_parts(&s, false, grid, ctx));
    if (form->grid || own.count == 0) return NB_OK;
    own.labels = NB_EFFECT_KEY_COUNT + 3;
    nb_page_heading(form->page, 2, "Does what is measured of the heads predict the effect?");
    nb_page_paragraph(form->page, "Spearman's correlation over attentions from landmarks within each source, mean over "
                                  "sources [95 %% interval]");
    nb_grid_show(&own, form->page);
    nb_page_paragraph(form->page, "rank_agreement and top10_overlap fall where errors grow. core = all: those of "
                                  "different cores together, of which one may be worse than another whatever the "
                                  "landmarks are.");
    return NB_OK;
}

static const char *const references[] = {"Spearman, The proof and measurement of association between two things, 1904",
                                         NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_predictors = {
    .component = {"predictors", "whether errors of attention put attentions in the order of their effects on the model",
                  references, options, 0},
    .study = NB_EFFECT_STUDY,
    .place = 2,
    .file = "predictors.csv",
    .make = make,
};
