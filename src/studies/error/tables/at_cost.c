/* SPDX-License-Identifier: GPL-3.0-or-later */
/* at_cost.c - for each problem and core, the least median error that each strategy reaches with a forward pass of at
 * most some shares of exact attention's flops, and with how many landmarks. */
#include "report/table.h"
#include "studies/error/flops.h"
#include "studies/error/summary.h"

#include <math.h>

static const double levels[] = {0.05, 0.1, 0.2, 0.5};
enum { LEVELS = sizeof levels / sizeof *levels };

typedef struct {
    nb_summary summary;
    double *costs; /* by cell: the median of flops over exact attention's; NaN: not known */
} table;

static nb_status find_costs(table *t, nb_ctx *ctx)
{
    static const char *const by[] = {NB_OF_CELL, NULL};
    const nb_summary *s = &t->summary;
    int cells = s->panel_count * s->variant_count * s->core_count * s->landmark_count;
    nb_selection all;
    nb_groups groups;
    double *values;
    NB_NEED(t->costs, nb_alloc_reals(ctx, (size_t)cells + 1, 1));
    NB_NEED(values, nb_alloc_reals(ctx, (size_t)s->row_count + 1, 1));
    for (int i = 0; i < cells; i++) t->costs[i] = NAN;
    NB_TRY(ctx, nb_frame_all(&s->frame, &all, ctx));
    NB_TRY(ctx, nb_frame_group(&s->frame, all, by, &groups, ctx));
    for (int g = 0; g < groups.count; g++) {
        nb_selection rows = nb_group_rows(&groups, g);
        nb_summary_index at = s->at[rows.at[0]];
        int count = rows.count;
        for (int i = 0; i < count; i++) values[i] = nb_flops_of_exact(&s->rows[rows.at[i]]);
        t->costs[nb_summary_cell(s, at.panel, at.variant, at.core, at.landmark)] = nb_median_of(values, &count);
    }
    return NB_OK;
}

/* Of the numbers of landmarks whose cost is at most that, the one of least median error; -1: there is none. */
static int best(const table *t, int panel, int variant, int core, double cost)
{
    const nb_summary *s = &t->summary;
    int found = -1;
    double least = INFINITY;
    for (int m = 0; m < s->landmark_count; m++) {
        int cell = nb_summary_cell(s, panel, variant, core, m);
        if (!(t->costs[cell] <= cost) || !(s->errors[cell].median < least)) continue;
        least = s->errors[cell].median;
        found = m;
    }
    return found;
}

static bool is_counted(const table *t, int panel, int variant, int core)
{
    for (int m = 0; m < t->summary.landmark_count; m++)
        if (!isnan(t->costs[nb_summary_cell(&t->summary, panel, variant, core, m)])) return true;
    return false;
}

static nb_status add_csv(nb_grid *g, const table *t, int panel, int variant, int core)
{
    const nb_summary *s = &t->summary;
    const nb_panel *p = &s->panels[panel];
    const nb_variant *v = &s->variants[variant];
    const char *texts[] = {p->label,    p->problem, p->kernel,  v->label,
                           v->strategy, v->pairing, v->factors, s->cores[core].core};
    for (int l = 0; l < LEVELS; l++) {
        int m = best(t, panel, variant, core, levels[l]);
        if (m < 0) continue;
        int cell = nb_summary_cell(s, panel, variant, core, m);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) NB_TRY(g->ctx, nb_grid_text(g, texts[i]));
        NB_TRY(g->ctx, nb_grid_real(g, "%g", levels[l]));
        NB_TRY(g->ctx, nb_grid_int(g, s->landmarks[m]));
        NB_TRY(g->ctx, nb_grid_real(g, "%g", t->costs[cell]));
        NB_TRY(g->ctx, nb_grid_int(g, s->errors[cell].count));
        NB_TRY(g->ctx, nb_grid_real(g, "%g", s->errors[cell].median));
    }
    return NB_OK;
}

static nb_status fill(nb_grid *grid, const table *t, nb_ctx *ctx)
{
    static const char *const heads[] = {"panel", "problem", "kernel",    "label",    "strategy", "pairing", "factors",
                                        "core",  "at_most", "landmarks", "of_exact", "count",    "median",  NULL};
    const nb_summary *s = &t->summary;
    NB_TRY(ctx, nb_grid_make(grid, heads, true, ctx));
    for (int p = 0; p < s->panel_count; p++)
        for (int c = 0; c < s->core_count; c++)
            for (int v = 0; v < s->variant_count; v++) NB_TRY(ctx, add_csv(grid, t, p, v, c));
    return NB_OK;
}

static nb_status add_line(nb_grid *g, const table *t, int panel, int variant, int core)
{
    const nb_summary *s = &t->summary;
    if (!is_counted(t, panel, variant, core)) return NB_OK;
    NB_TRY(g->ctx, nb_grid_text(g, s->variants[variant].label));
    for (int l = 0; l < LEVELS; l++) {
        int m = best(t, panel, variant, core, levels[l]);
        double error = m < 0 ? NAN : s->errors[nb_summary_cell(s, panel, variant, core, m)].median;
        NB_TRY(g->ctx, nb_grid_real(g, "%.3g", error));
        NB_TRY(g->ctx, nb_grid_real(g, "%.0f", m < 0 ? NAN : (double)s->landmarks[m]));
    }
    return NB_OK;
}

static nb_status show(nb_page *page, const table *t, nb_ctx *ctx)
{
    static const char *const heads[] = {"strategy", "at 5 %", "m", "10 %", "m", "20 %", "m", "50 %", "m", NULL};
    const nb_summary *s = &t->summary;
    bool any = false;
    for (int p = 0; p < s->panel_count; p++)
        for (int c = 0; c < s->core_count; c++) {
            nb_grid grid;
            NB_TRY(ctx, nb_grid_make(&grid, heads, false, ctx));
            for (int v = 0; v < s->variant_count; v++) NB_TRY(ctx, add_line(&grid, t, p, v, c));
            if (grid.count == 0) continue;
            if (!any)
                nb_page_heading(
                    page, 2,
                    "The least median error of a forward pass of at most that share of exact attention's flops");
            any = true;
            nb_page_heading(page, 3, "%s", s->panels[p].label);
            nb_page_paragraph(page, "n = %d, d = %d, %s", s->panels[p].n, s->panels[p].d, s->cores[c].label);
            nb_grid_show(&grid, page);
        }
    if (any) nb_page_paragraph(page, "In the tables:");
    if (any) nb_page_note(page, "-", "no number of landmarks in the run is that cheap");
    if (any) nb_page_paragraph(page, "Strategies and cores without a count have no line.");
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    table t;
    NB_TRY(ctx, nb_summary_make(frame, &t.summary, ctx));
    NB_TRY(ctx, find_costs(&t, ctx));
    return form->grid ? fill(form->grid, &t, ctx) : show(form->page, &t, ctx);
}

static const char *const references[] = {"none: medians over heads and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_at_cost = {
    .component = {"at_cost", "the least error that each strategy reaches for a share of exact attention's flops",
                  references, options, 0},
    .study = NB_ERROR_STUDY,
    .make = make,
};
