/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.c - see summary.h */
#include "studies/effect/summary.h"

#include "report/labels.h"
#include "statistics/agreement.h"
#include "statistics/estimate.h"

#include <math.h>
#include <string.h>

const char *const nb_effect_predictors[] = {"error",        "error_subspace", "error_core",
                                            "output_error", "layer_error",    NULL};
const char *const nb_effect_effects[] = {
    "model_error", "embedding_distance", "rank_agreement", "top10_overlap", "perplexity_ratio", "kl", NULL};

static bool is_ok(const void *row, const void *what)
{
    (void)what;
    return strcmp(((const nb_row *)row)->status, "ok") == 0;
}

nb_status nb_effect_summary_make(const nb_frame *frame, nb_effect_summary *s, nb_ctx *ctx)
{
    nb_selection all;
    NB_TRY(ctx, nb_replicates_find(frame, &s->replicates, ctx));
    NB_TRY(ctx, nb_frame_view(frame, &s->frame, ctx));
    NB_TRY(ctx, nb_frame_derive(&s->frame, "stratum", s->replicates.stratum, ctx));
    NB_TRY(ctx, nb_frame_codes(&s->frame, "attention", &s->attentions, ctx));
    NB_TRY(ctx, nb_frame_all(&s->frame, &all, ctx));
    NB_NEED(s->values, nb_alloc_reals(ctx, (size_t)frame->count + 1, 1));
    return nb_frame_select(&s->frame, all, is_ok, NULL, &s->ok, ctx);
}

typedef struct { /* two columns of some rows */
    const nb_effect_summary *s;
    nb_selection rows;
    const double *of[2];
    bool *counts; /* by row of the frame: from landmarks, with the effect and all predictors that there are */
    int *trials;  /* by attention: of the source at hand */
    double *sum[2], *mean[2];
} pairing;

static bool has_any(nb_selection rows, const double *values)
{
    for (int i = 0; i < rows.count; i++)
        if (!isnan(values[rows.at[i]])) return true;
    return false;
}

/* A predictor that no row has, as of a model that does not tell it, is no reason to leave out the others. */
static nb_status find_counts(pairing *p, nb_ctx *ctx)
{
    const nb_frame *f = &p->s->frame;
    NB_NEED(p->counts, nb_alloc(ctx, (size_t)f->count + 1, sizeof *p->counts));
    for (int r = 0; r < f->count; r++)
        p->counts[r] = ((const nb_effect_row *)nb_frame_row(f, r))->core && !isnan(p->of[0][r]) && !isnan(p->of[1][r]);
    for (int i = 0; nb_effect_predictors[i]; i++) {
        const double *values;
        NB_TRY(ctx, nb_frame_reals(f, nb_effect_predictors[i], &values, ctx));
        if (!has_any(p->rows, values)) continue;
        for (int r = 0; r < f->count; r++) p->counts[r] = p->counts[r] && !isnan(values[r]);
    }
    return NB_OK;
}

static nb_status make_pairing(pairing *p, const char *predictor, const char *effect, nb_ctx *ctx)
{
    const nb_effect_summary *s = p->s;
    size_t attentions = (size_t)s->attentions.count + 1;
    NB_TRY(ctx, nb_frame_reals(&s->frame, predictor, &p->of[0], ctx));
    NB_TRY(ctx, nb_frame_reals(&s->frame, effect, &p->of[1], ctx));
    NB_NEED(p->trials, nb_alloc(ctx, attentions, sizeof *p->trials));
    for (int i = 0; i < 2; i++) NB_NEED(p->sum[i], nb_alloc_reals(ctx, attentions, 2));
    for (int i = 0; i < 2; i++) p->mean[i] = p->sum[i] + attentions;
    return find_counts(p, ctx);
}

/* The attentions of one source with their means over trials; how many there are. */
static int gather(pairing *p, int source)
{
    const nb_effect_summary *s = p->s;
    int count = 0;
    for (int a = 0; a < s->attentions.count; a++) p->trials[a] = 0, p->sum[0][a] = p->sum[1][a] = 0;
    for (int i = 0; i < p->rows.count; i++) {
        int row = p->rows.at[i], a = s->attentions.of[row];
        if (s->replicates.source[row] != source || !p->counts[row]) continue;
        p->trials[a]++;
        for (int c = 0; c < 2; c++) p->sum[c][a] += p->of[c][row];
    }
    for (int a = 0; a < s->attentions.count; a++) {
        if (p->trials[a] == 0) continue;
        for (int c = 0; c < 2; c++) p->mean[c][count] = p->sum[c][a] / p->trials[a];
        count++;
    }
    return count;
}

/* What a correlation can be; NaN stays. */
static double clipped(double x)
{
    return x > 1 ? 1 : x < -1 ? -1 : x;
}

nb_status nb_effect_agree(const nb_effect_summary *s, nb_selection rows, const char *predictor, const char *effect,
                          nb_effect_agreement *out, nb_ctx *ctx)
{
    enum { FEWEST = 3 };
    pairing p = {.s = s, .rows = rows};
    nb_unit_value *units;
    nb_estimate estimates[2];
    int count = 0;
    nb_mark mark = nb_ctx_mark(ctx);
    *out = (nb_effect_agreement){.mean = NAN, .low = NAN, .high = NAN};
    NB_TRY(ctx, make_pairing(&p, predictor, effect, ctx));
    NB_NEED(units, nb_alloc(ctx, (size_t)s->replicates.sources + 1, sizeof *units));
    for (int source = 0; source < s->replicates.sources; source++) {
        nb_agreement rho;
        int attentions = gather(&p, source);
        if (attentions < FEWEST) continue;
        NB_TRY(ctx, nb_spearman(attentions, p.mean[0], p.mean[1], &rho, ctx));
        if (isnan(rho.value)) continue;
        if (attentions > out->attentions) out->attentions = attentions;
        units[count++] = (nb_unit_value){.source = source, .value = rho.value};
    }
    out->sources = count;
    if (count > 0) {
        NB_TRY(ctx, nb_estimate_units(count, units, 1, &(nb_estimate_terms){.confidence = 0.95}, estimates, ctx));
        out->mean = estimates[0].mean;
        out->low = clipped(estimates[0].low);
        out->high = clipped(estimates[0].high);
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_effect_add_keys(const nb_effect_summary *s, int row, nb_grid *g, nb_ctx *ctx)
{
    const nb_replicates *r = &s->replicates;
    const nb_effect_row *of = nb_frame_row(&s->frame, row);
    NB_TRY(ctx, nb_grid_text(g, (g->exact ? r->names : r->labels)[r->stratum[row]]));
    NB_TRY(ctx, nb_grid_text(g, of->layer ? of->layer : ""));
    return nb_grid_int(g, of->n);
}
