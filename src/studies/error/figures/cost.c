/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.c - the error against what a forward pass costs, over exact attention's: by flops and by measured time, a figure
 * for each core, a curve over m for each strategy. What has no count is not in the figures by flops; cores that look at
 * all of S are in none. */
#include "studies/error/core_sheet.h"
#include "studies/error/flops.h"

#include <math.h>

enum { FLOPS, TIME, MEASURES };

/* Two figures for each core. */
static nb_status name_figures(const nb_core_sheet *of, nb_sheet *s, bool uncounted, nb_ctx *ctx)
{
    static const char *const names[] = {"flops", "time"};
    const nb_summary *m = of->summary;
    const char **x_names;
    int least = m->landmark_count ? m->landmarks[0] : 0,
        most = m->landmark_count ? m->landmarks[m->landmark_count - 1] : 0;
    NB_NEED(s->figures, nb_alloc(ctx, MEASURES * (size_t)m->core_count + 1, sizeof *s->figures));
    NB_NEED(x_names, nb_alloc(ctx, MEASURES * (size_t)m->core_count + 1, sizeof *x_names));
    s->figure_count = 0;
    for (int c = 0; c < m->core_count; c++)
        for (int measure = 0; measure < MEASURES; measure++) {
            const char *text = measure == FLOPS ? "flops of a forward pass / exact attention's (4 n^2 d)"
                                                : "seconds of a forward pass / exact attention's";
            NB_NEED(x_names[s->figure_count],
                    nb_format(ctx, "%s, m = %d to %d%s", text, least, most,
                              measure == FLOPS && uncounted
                                  ? "; not drawn: oracles, plug-ins and programs, whose flops are not counted"
                                  : ""));
            NB_NEED(s->figures[s->figure_count++], nb_format(ctx, "%s with %s", names[measure], m->cores[c].brief));
        }
    s->x_names = x_names;
    return NB_OK;
}

static bool is_shown(const nb_core_sheet *of, int row)
{
    return nb_row_is_ok(&of->summary->rows[row]) && !nb_swept_is_oracle(&of->sweeps.cores[of->summary->at[row].core]);
}

static nb_status cost(const nb_core_sheet *of, nb_sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = of->summary;
    const char *constant;
    bool uncounted = false;
    for (int i = 0; i < m->row_count; i++)
        uncounted |=
            is_shown(of, i) && isnan(nb_flops_of_exact(&m->rows[i])) && isfinite(nb_time_of_exact(&m->rows[i]));
    NB_TRY(ctx, name_figures(of, s, uncounted, ctx));
    NB_NEED(constant, nb_format(ctx, "constant %s", m->constant));
    for (int v = 0; v < m->variant_count; v++) nb_sheet_series(s, m->variants[v].label, NB_CURVE, v);
    int level = nb_sheet_series(s, constant, NB_LEVEL, NB_BLACK);
    for (int i = 0; i < m->row_count; i++) {
        const nb_error_row *row = &m->rows[i];
        nb_summary_index p = m->at[i];
        const double x[MEASURES] = {nb_flops_of_exact(row), nb_time_of_exact(row)};
        for (int measure = 0; measure < MEASURES && is_shown(of, i); measure++) {
            nb_sheet_point one = {MEASURES * p.core + measure, p.panel, p.variant, p.landmark, x[measure],
                                  row->measures.error};
            if (!isfinite(one.x)) continue;
            NB_TRY(ctx, nb_sheet_add(s, one, ctx));
            one = (nb_sheet_point){one.figure, one.panel, level, 0, 1, row->measures.baseline_mean};
            NB_TRY(ctx, nb_sheet_add(s, one, ctx));
        }
    }
    s->title = "error against %s";
    s->y_name = "relative error  |S - FXB|_F / |S|_F";
    s->upright = "1: exact attention";
    s->log_x = s->by_key = true;
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    return nb_core_sheet_draw(self, frame, d, cost, figures, ctx);
}

static const char *const references[] = {"none: medians over heads and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_cost = {
    .component = {"cost", "error against flops and time of a forward pass, a curve over m for each strategy",
                  references, options, 0},
    .study = NB_ERROR_STUDY,
    .draw = draw,
};
