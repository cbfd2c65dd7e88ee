/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts.c - what a pass spends its time on. */
#include "report/table.h"
#include "studies/forward/summary.h"

static nb_status add_line(nb_grid *g, const nb_forward_summary *s, const nb_forward_cell *c, nb_ctx *ctx)
{
    double rest = 1;
    NB_TRY(ctx, nb_forward_add_keys(s, c, g, ctx));
    NB_TRY(ctx, nb_grid_real(g, "%.4g", (g->exact ? 1 : 1e3) * c->latency_s));
    for (int part = 0; part < NB_PART_COUNT; part++) {
        NB_TRY(ctx, nb_grid_real(g, "%.0f", (g->exact ? 1 : 100) * c->share[part]));
        rest -= c->share[part];
    }
    return nb_grid_real(g, "%.0f", (g->exact ? 1 : 100) * (rest > 0 ? rest : 0));
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    static const char *const text[] = {NB_FORWARD_KEYS, "ms",       "landmarks %", "core %", "B %",
                                       "F %",           "output %", "rest %",      NULL};
    static const char *const columns[] = {NB_FORWARD_KEYS, "latency_s", "landmarks", "core", "b", "f",
                                          "output",        "rest",      NULL};
    nb_forward_summary s;
    nb_grid own, *grid;
    NB_TRY(ctx, nb_forward_summary_make(frame, &s, ctx));
    if (s.cell_count == 0) return NB_OK;
    NB_TRY(ctx, nb_table_grid(form, text, columns, &own, &grid, ctx));
    for (int i = 0; i < s.cell_count; i++) NB_TRY(ctx, add_line(grid, &s, &s.cells[i], ctx));
    if (form->grid) return NB_OK;
    own.labels = NB_FORWARD_KEY_COUNT;
    nb_page_heading(form->page, 2, "What a pass spends its time on, of its median");
    nb_grid_show(&own, form->page);
    return NB_OK;
}

static const char *const references[] = {"none: medians over layers and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_parts = {
    .component = {"parts", "shares of a pass: landmarks, core, what is made of the keys and of the queries", references,
                  options, 0},
    .study = NB_FORWARD_STUDY,
    .file = "parts.csv",
    .make = make,
};
