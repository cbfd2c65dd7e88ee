/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.c - see summary.h */
#include "studies/coherence/summary.h"

#include "report/labels.h"
#include "statistics/estimate.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#define STRATUM "stratum"

static bool is_ok(const void *row, const void *what)
{
    (void)what;
    return strcmp(((const nb_row *)row)->status, "ok") == 0;
}

nb_status nb_coherence_summary_make(const nb_frame *frame, nb_coherence_summary *s, nb_ctx *ctx)
{
    static const char *const by[] = {STRATUM, "layer", "n", "side", "clusters", "tau", "partition", NULL};
    nb_selection all, ok;
    NB_TRY(ctx, nb_replicates_find(frame, &s->replicates, ctx));
    NB_TRY(ctx, nb_frame_view(frame, &s->frame, ctx));
    NB_TRY(ctx, nb_frame_derive(&s->frame, STRATUM, s->replicates.stratum, ctx));
    NB_TRY(ctx, nb_frame_all(&s->frame, &all, ctx));
    NB_TRY(ctx, nb_frame_select(&s->frame, all, is_ok, NULL, &ok, ctx));
    NB_NEED(s->values, nb_alloc_reals(ctx, (size_t)frame->count + 1, 1));
    return nb_frame_group(&s->frame, ok, by, &s->groups, ctx);
}

double nb_quantile(int count, const double *sorted, double p)
{
    if (count == 0) return NAN;
    double place = p * (count - 1), below = floor(place);
    double low = sorted[(int)below], high = sorted[(int)ceil(place)];
    return place == below || low == high ? low : low + (place - below) * (high - low);
}

static double sd_of(int count, const double *x)
{
    double mean = 0, squares = 0;
    for (int i = 0; i < count; i++) mean += x[i] / count;
    for (int i = 0; i < count; i++) squares += pow(x[i] - mean, 2);
    return count > 1 ? sqrt(squares / (count - 1)) : NAN;
}

/* Each source counts once: its mean. */
static nb_status find_interval(const nb_coherence_summary *s, nb_selection rows, const double *of_row, bool finite,
                               nb_spread *out, nb_ctx *ctx)
{
    nb_unit_value *units;
    nb_estimate estimates[2];
    int count = 0;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(units, nb_alloc(ctx, (size_t)rows.count + 1, sizeof *units));
    for (int i = 0; i < rows.count; i++) {
        double x = of_row[rows.at[i]];
        if (isnan(x) || (finite && isinf(x))) continue;
        units[count++] = (nb_unit_value){.source = s->replicates.source[rows.at[i]], .value = x};
    }
    if (count > 0)
        NB_TRY(ctx, nb_estimate_units(count, units, 1, &(nb_estimate_terms){.confidence = 0.95}, estimates, ctx));
    out->low = count > 0 ? estimates[0].low : NAN;
    out->high = count > 0 ? estimates[0].high : NAN;
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_coherence_spread(const nb_coherence_summary *s, int group, const char *column, bool finite, nb_spread *out,
                              nb_ctx *ctx)
{
    nb_selection rows = nb_group_rows(&s->groups, group);
    const double *of_row;
    double *x = s->values;
    *out = (nb_spread){.mean = NAN};
    NB_TRY(ctx, nb_frame_reals(&s->frame, column, &of_row, ctx));
    for (int i = 0; i < rows.count; i++)
        if (!isnan(of_row[rows.at[i]]) && !(finite && isinf(of_row[rows.at[i]]))) x[out->count++] = of_row[rows.at[i]];
    gsl_sort(x, 1, (size_t)out->count);
    int first = 0, end = out->count;
    while (first < end && isinf(x[first])) first++;
    while (end > first && isinf(x[end - 1])) end--;
    out->infinite = out->count - (end - first);
    if (out->count > 0) out->mean = 0;
    for (int i = 0; i < out->count; i++) out->mean += x[i] / out->count;
    out->sd = sd_of(end - first, x + first);
    out->median = nb_quantile(out->count, x, 0.5);
    out->p10 = nb_quantile(out->count, x, 0.1);
    out->p90 = nb_quantile(out->count, x, 0.9);
    return find_interval(s, rows, of_row, finite, out, ctx);
}

int nb_coherence_sources(const nb_coherence_summary *s, int group)
{
    nb_selection rows = nb_group_rows(&s->groups, group);
    int count = 0;
    for (int i = 0; i < rows.count; i++) {
        int before = 0;
        while (before < i && s->replicates.source[rows.at[before]] != s->replicates.source[rows.at[i]]) before++;
        count += before == i;
    }
    return count;
}

nb_status nb_coherence_add_keys(const nb_coherence_summary *s, int group, nb_grid *g, nb_ctx *ctx)
{
    nb_selection rows = nb_group_rows(&s->groups, group);
    const nb_coherence_row *row = nb_frame_row(&s->frame, rows.at[0]);
    const nb_replicates *r = &s->replicates;
    const char *model = (g->exact ? r->names : r->labels)[r->stratum[rows.at[0]]], *partition = row->partition;
    if (!g->exact) NB_TRY(ctx, nb_label_of(&s->frame, "partition", rows.at[0], &partition, ctx));
    NB_TRY(ctx, nb_grid_text(g, model));
    NB_TRY(ctx, nb_grid_text(g, row->layer ? row->layer : ""));
    NB_TRY(ctx, nb_grid_int(g, row->n));
    NB_TRY(ctx, nb_grid_text(g, row->side));
    NB_TRY(ctx, nb_grid_int(g, row->clusters));
    NB_TRY(ctx, nb_grid_real(g, "%.4g", row->tau));
    NB_TRY(ctx, nb_grid_text(g, partition));
    NB_TRY(ctx, nb_grid_int(g, nb_coherence_sources(s, group)));
    return nb_grid_int(g, rows.count);
}
