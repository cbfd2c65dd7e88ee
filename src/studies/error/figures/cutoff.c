/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cutoff.c - the error over the singular value of A below which a core leaves out. */
#include "studies/error/core_sheet.h"

#include <math.h>

/* The variants with a core that has a cut-off: where factors have no middle, none has. */
static nb_status find_cutoffs(const nb_summary *m, bool **has, nb_ctx *ctx)
{
    NB_NEED(*has, nb_alloc(ctx, (size_t)m->variant_count, sizeof **has));
    for (int i = 0; i < m->row_count; i++)
        if (isfinite(m->rows[i].measures.core_cutoff)) (*has)[m->at[i].variant] = true;
    return NB_OK;
}

/* Error against effective cut-off, at one m. The best core is the subspace part. */
static nb_status cutoff(const nb_core_sheet *of, nb_sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = of->summary;
    int at = of->m, *of_family, *of_core, *mark, best;
    bool *cuts_at_all;
    NB_TRY(ctx, find_cutoffs(m, &cuts_at_all, ctx));
    NB_NEED(of_family, nb_alloc(ctx, (size_t)of->sweeps.family_count + 1, sizeof *of_family));
    NB_NEED(of_core, nb_alloc(ctx, (size_t)m->core_count, sizeof *of_core));
    NB_NEED(mark, nb_alloc(ctx, (size_t)m->core_count, sizeof *mark));
    for (int f = 0; f < of->sweeps.family_count; f++) of_family[f] = -1;
    for (int c = 0; c < m->core_count; c++) of_core[c] = mark[c] = -1;
    for (int i = 0; i < m->row_count; i++) { /* which are there */
        int c = m->at[i].core, f = of->sweeps.cores[c].family;
        bool cuts = isfinite(m->rows[i].measures.core_cutoff) && !nb_keeps_rows(&m->rows[i]);
        if (cuts && f >= 0 && of_family[f] < 0)
            of_family[f] = nb_sheet_series(s, of->sweeps.families[f].label, NB_CURVE, of->sweeps.families[f].look);
        if (cuts && (f < 0 || of->sweeps.cores[c].standard) && mark[c] < 0) mark[c] = -2;
        if (!cuts && nb_row_is_ok(&m->rows[i]) && f < 0 && of_core[c] < 0 && !nb_swept_is_oracle(&of->sweeps.cores[c]))
            of_core[c] = -2;
    }
    for (int c = 0; c < m->core_count; c++) {
        if (mark[c] == -2) mark[c] = nb_sheet_series(s, m->cores[c].label, NB_MARK, of->sweeps.cores[c].look);
        if (of_core[c] == -2) of_core[c] = nb_sheet_series(s, m->cores[c].brief, NB_LEVEL, of->sweeps.cores[c].look);
    }
    best = nb_sheet_series(s, "subspace part: the best core", NB_LEVEL, NB_BLACK);
    for (int i = 0; i < m->row_count; i++) {
        const nb_error_row *row = &m->rows[i];
        nb_summary_index p = m->at[i];
        int f = of->sweeps.cores[p.core].family;
        if (row->landmarks != at || !nb_row_is_ok(row) || !cuts_at_all[p.variant]) continue;
        nb_sheet_point one = {p.variant, p.panel, best, 0, 1, row->measures.error_subspace};
        NB_TRY(ctx, nb_sheet_add(s, one, ctx));
        one.y = row->measures.error;
        if (of_core[p.core] >= 0)
            NB_TRY(ctx, nb_sheet_add(s, (nb_sheet_point){one.figure, one.panel, of_core[p.core], 0, 1, one.y}, ctx));
        one.x = row->measures.core_cutoff;
        if (f >= 0 && of_family[f] >= 0)
            NB_TRY(ctx,
                   nb_sheet_add(s, (nb_sheet_point){one.figure, one.panel, of_family[f], p.core, one.x, one.y}, ctx));
        if (mark[p.core] >= 0)
            NB_TRY(ctx,
                   nb_sheet_add(s, (nb_sheet_point){one.figure, one.panel, mark[p.core], p.core, one.x, one.y}, ctx));
    }
    NB_NEED(s->title, nb_format(ctx, "error against cut-off: %%s, m = %d", at));
    s->x_name = "singular value of A, relative to the largest, that the core inverts by half";
    s->y_name = "relative error  |S - FXB|_F / |S|_F";
    s->log_x = true;
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    return nb_core_sheet_draw(self, frame, d, cutoff, figures, ctx);
}

static const char *const references[] = {"none: medians over heads and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_cutoff = {
    .component = {"cutoff", "error against effective cut-off of the cores, at one m", references, options, 0},
    .study = NB_ERROR_STUDY,
    .of_one_m = true,
    .compares = "core",
    .draw = draw,
};
