/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_sheet.c - see core_sheet.h */
#include "studies/error/core_sheet.h"

#include <math.h>
#include <string.h>

/* One figure for each variant, one panel for each problem, unless a kind says otherwise. */
static nb_status lay_out(const nb_core_sheet *of, nb_sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = of->summary;
    size_t lines = (size_t)(2 * m->core_count + m->variant_count + of->sweeps.family_count + 1);
    NB_NEED(s->figures, nb_alloc(ctx, (size_t)(m->variant_count + of->sweeps.family_count), sizeof *s->figures));
    NB_NEED(s->panels, nb_alloc(ctx, 3 * (size_t)m->panel_count, sizeof *s->panels));
    NB_NEED(s->series, nb_alloc(ctx, lines, sizeof *s->series));
    for (int v = 0; v < m->variant_count; v++) s->figures[s->figure_count++] = m->variants[v].label;
    for (int p = 0; p < m->panel_count; p++) s->panels[s->panel_count++] = m->panels[p].label;
    return NB_OK;
}

bool nb_row_is_ok(const nb_error_row *row)
{
    return strcmp(row->status, "ok") == 0;
}

bool nb_keeps_rows(const nb_error_row *row)
{
    return nb_row_is_ok(row) && isnan(row->measures.error_core) && !isnan(row->measures.error_subspace);
}

int nb_core_in_double(const nb_core_sheet *of, int core, nb_ctx *ctx)
{
    int twin = of->sweeps.cores[core].choice.component
                   ? nb_sweeps_sibling(&of->sweeps, of->summary->core_count, core, "precision", "double", ctx)
                   : -1;
    return twin == core ? -1 : twin;
}

nb_status nb_core_sheet_draw(const nb_figure *figure, const nb_frame *frame, const nb_drawing *d,
                             nb_core_collect *collect, int *figures, nb_ctx *ctx)
{
    nb_summary summary;
    nb_core_sheet of = {.summary = &summary, .m = d->m};
    nb_sheet s = {.kind = figure->component.name, .experiment = d->experiment};
    NB_TRY(ctx, nb_summary_make(frame, &summary, ctx));
    if (figure->of_one_m) NB_TRY(ctx, nb_figure_choose_m(summary.landmark_count, summary.landmarks, &of.m, ctx));
    NB_TRY(ctx, nb_sweeps_find(&summary, &of.sweeps, ctx));
    NB_TRY(ctx, lay_out(&of, &s, ctx));
    NB_TRY(ctx, collect(&of, &s, ctx));
    return nb_sheet_draw(d->folder, &s, d->gnuplots, figures, ctx);
}
