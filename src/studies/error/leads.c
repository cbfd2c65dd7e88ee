/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leads.c - see leads.h. Only the least is compared, and only with the next. */
#include "studies/error/leads.h"

#include "report/compare.h"

#include <string.h>

typedef struct {
    const nb_summary *summary;
    nb_groups cells; /* rows by cell */
    int *group;      /* by cell; -1: it has no rows */
    nb_replicates replicates;
    int *seen; /* room, by source: the last cell that had it */
    nb_ctx *ctx;
} finder;

static nb_status start(finder *f)
{
    static const char *const by[] = {NB_OF_CELL, NULL};
    const nb_summary *s = f->summary;
    int count = s->panel_count * s->variant_count * s->core_count * s->landmark_count;
    nb_selection all;
    const int *cell;
    NB_TRY(f->ctx, nb_replicates_find(&s->frame, &f->replicates, f->ctx));
    NB_TRY(f->ctx, nb_frame_all(&s->frame, &all, f->ctx));
    NB_TRY(f->ctx, nb_frame_group(&s->frame, all, by, &f->cells, f->ctx));
    NB_TRY(f->ctx, nb_frame_ints(&s->frame, NB_OF_CELL, &cell, f->ctx));
    NB_NEED(f->group, nb_alloc(f->ctx, (size_t)count + 1, sizeof *f->group));
    NB_NEED(f->seen, nb_alloc(f->ctx, (size_t)f->replicates.sources + 1, sizeof *f->seen));
    for (int c = 0; c < count; c++) f->group[c] = -1;
    for (int g = 0; g < f->cells.count; g++) f->group[cell[nb_group_rows(&f->cells, g).at[0]]] = g;
    for (int i = 0; i < f->replicates.sources; i++) f->seen[i] = -1;
    return NB_OK;
}

/* The variant whose median is the least among the peers' of `variant`, but for it; -1: there is none. */
static int least_but(const nb_summary *s, nb_summary_index at, int variant)
{
    const nb_statistic *least = NULL;
    int found = -1;
    for (int v = 0; v < s->variant_count; v++) {
        const nb_statistic *e = &s->errors[nb_summary_cell(s, at.panel, v, at.core, at.landmark)];
        if (v == variant || e->count == 0 || !nb_summary_peers(s, at.panel, v, variant)) continue;
        if (!least || e->median < least->median) found = v, least = e;
    }
    return found;
}

static int count_sources(finder *f, int cell)
{
    nb_selection rows = nb_group_rows(&f->cells, f->group[cell]);
    int count = 0;
    for (int i = 0; i < rows.count; i++) {
        int *seen = &f->seen[f->replicates.source[rows.at[i]]];
        count += *seen != cell;
        *seen = cell;
    }
    return count;
}

/* The rows of two cells, ascending. */
static nb_status unite(const finder *f, int a, int b, nb_selection *both)
{
    nb_selection x = nb_group_rows(&f->cells, f->group[a]), y = nb_group_rows(&f->cells, f->group[b]);
    int *at, i = 0, k = 0;
    NB_NEED(at, nb_alloc(f->ctx, (size_t)(x.count + y.count), sizeof *at));
    *both = (nb_selection){x.count + y.count, at};
    while (i + k < both->count) {
        bool first = k == y.count || (i < x.count && x.at[i] < y.at[k]);
        at[i + k] = first ? x.at[i] : y.at[k];
        *(first ? &i : &k) += 1;
    }
    return NB_OK;
}

static nb_status compare(const finder *f, int cell, int next, bool *leads)
{
    nb_compare_terms terms = {.contrast = {.by = "strategy", .metric = "error"}, .confidence = 0.95};
    nb_selection rows;
    nb_frame frame;
    nb_codes strategies;
    nb_comparison comparison;
    const char *const *names;
    NB_TRY(f->ctx, unite(f, cell, next, &rows));
    NB_TRY(f->ctx, nb_frame_take(&f->summary->frame, rows, &frame, f->ctx));
    NB_TRY(f->ctx, nb_frame_codes(&frame, "strategy", &strategies, f->ctx));
    NB_TRY(f->ctx, nb_frame_texts(&frame, "strategy", &names, f->ctx));
    const char *baseline = f->summary->rows[nb_group_rows(&f->cells, f->group[next]).at[0]].strategy;
    while (strcmp(names[strategies.first[terms.contrast.baseline]], baseline) != 0) terms.contrast.baseline++;
    NB_TRY(f->ctx, nb_compare(&frame, &terms, &comparison, f->ctx));
    *leads = comparison.count > 0 && comparison.items[0].verdict == NB_BETTER;
    return NB_OK;
}

/* Of two that are rounding noise neither is less. */
static nb_status find(finder *f, nb_summary_index at, bool *leads)
{
    const nb_summary *s = f->summary;
    int cell = nb_summary_cell(s, at.panel, at.variant, at.core, at.landmark), other = least_but(s, at, at.variant);
    *leads = false;
    if (f->group[cell] < 0 || s->errors[cell].count == 0 || other < 0) return NB_OK;
    int next = nb_summary_cell(s, at.panel, other, at.core, at.landmark);
    if (!(s->errors[cell].median < s->errors[next].median)) return NB_OK;
    if (count_sources(f, cell) < NB_LEAST_SOURCES) return NB_OK;
    nb_mark mark = nb_ctx_mark(f->ctx);
    nb_status status = compare(f, cell, next, leads);
    nb_ctx_release(f->ctx, mark);
    return status;
}

nb_status nb_leads_find(const nb_summary *s, bool **leads, nb_ctx *ctx)
{
    finder f = {.summary = s, .ctx = ctx};
    int cells = s->panel_count * s->variant_count * s->core_count * s->landmark_count;
    NB_NEED(*leads, nb_alloc(ctx, (size_t)cells + 1, sizeof **leads));
    NB_TRY(ctx, start(&f));
    for (int p = 0; p < s->panel_count; p++)
        for (int v = 0; v < s->variant_count; v++)
            for (int c = 0; c < s->core_count; c++)
                for (int m = 0; m < s->landmark_count; m++)
                    NB_TRY(ctx, find(&f, (nb_summary_index){.panel = p, .variant = v, .core = c, .landmark = m},
                                     &(*leads)[nb_summary_cell(s, p, v, c, m)]));
    return NB_OK;
}
