/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shares.c - each strategy against the baseline: the pooled medians as text, every cell as CSV. */
#include "studies/error/shares.h"

#include "report/table.h"

#include <math.h>

/* `noise`: there is nothing else. */
static void add_number(nb_page *page, const char *format, double x, bool noise)
{
    char text[32];
    strfromd(text, sizeof text, format, x);
    nb_page_cell(page, "%s", !isnan(x) ? text : noise ? "~" : "-");
}

/* Whether a line of the table has anything to say. */
static bool is_compared(const nb_comparison *c)
{
    return c->cells > 0 || c->whole.noise > 0;
}

/* Marks that stand for the whole line. */
static void add_remarks(nb_page *page, const nb_summary *s, int variant, const nb_comparison *c)
{
    bool noise = c->whole.noise > 0, missing = c->cells + c->whole.noise < c->planned;
    const char *marks = noise && missing ? "~ !" : noise ? "~" : missing ? "!" : "";
    if (c->fixed)
        nb_page_cell(page, "%s", marks);
    else
        nb_page_cell(page, "%s%spairing %s against %s", marks, *marks ? " " : "", s->variants[variant].pairing,
                     s->variants[c->base].pairing);
}

static void add_core(nb_page *page, const nb_summary *s, const nb_shares *shares, int core, bool remarks)
{
    nb_page_band(page, "core", s->cores[core].label);
    for (int v = 0; v < s->variant_count; v++) {
        const nb_comparison *c = &shares->pooled[v * s->core_count + core];
        if (!is_compared(c)) continue;
        nb_page_row(page);
        nb_page_cell(page, "%s", s->variants[v].label);
        add_number(page, "%.3g", c->whole.relative, c->whole.noise > 0);
        add_number(page, "%.2f", c->whole.share, false);
        add_number(page, "%.3g", c->subspace.relative, c->subspace.noise > 0);
        add_number(page, "%.2f", c->subspace.share, false);
        add_number(page, "%.1e", c->select_s, false);
        if (remarks) add_remarks(page, s, v, c);
    }
}

static void add_table(nb_page *page, const nb_summary *s, const nb_shares *shares, bool remarks)
{
    static const char *const heads[] = {"error", "share", "subspace", "share", "select_s"};
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_LABEL, "strategy");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) nb_page_column(page, NB_PAGE_NUMBER, "%s", heads[i]);
    if (remarks) nb_page_column(page, NB_PAGE_WORD, "%s", "");
    for (int c = 0; c < s->core_count; c++) add_core(page, s, shares, c, remarks);
}

static void add_notes(nb_page *page, bool fixed)
{
    nb_page_paragraph(page, "In the table:");
    nb_page_note(page, "error:",
                 "ratio to the baseline's error in the same trial, with the same pairing, factors, core "
                 "and m");
    nb_page_note(page, "subspace:",
                 "the same for the least error that any core reaches; both are medians, over problems "
                 "and m, of the medians over heads and trials");
    nb_page_note(page, "share:",
                 "of the gap between the baseline (0) and the best strategy of each problem and m (1), "
                 "log(error) / log(best's); below 0: worse than the baseline");
    nb_page_note(page, "-", "the best is less than 1 %% below the baseline");
    nb_page_note(page, "~", "rounding noise on both sides, at the end of a line: for some problems and m");
    nb_page_note(page, "!", "some are missing, or have the baseline only with another pairing");
    nb_page_note(page, "select_s:", "seconds");
    if (!fixed)
        nb_page_paragraph(page,
                          "Where a line names two pairings, the baseline was not run with the first: the ratio is "
                          "the effect of strategy and pairing together, and there is no share.");
}

static void show(nb_page *page, const nb_summary *s, const nb_shares *shares)
{
    int compared = 0;
    bool fixed = true, remarks = false;
    for (int v = 0; v < s->variant_count; v++) {
        bool any = false;
        for (int c = 0; c < s->core_count; c++) {
            const nb_comparison *of = &shares->pooled[v * s->core_count + c];
            any |= is_compared(of);
            fixed &= !is_compared(of) || of->fixed;
            remarks |= is_compared(of) && (of->whole.noise > 0 || of->cells < of->planned || !of->fixed);
        }
        compared += any;
    }
    if (compared < 2) return;
    nb_page_heading(page, 2, "Relative to %s", shares->baseline);
    add_table(page, s, shares, remarks);
    add_notes(page, fixed);
}

static nb_status add_share(nb_grid *g, const nb_share *s)
{
    const double values[] = {s->error, s->relative, s->share};
    for (int i = 0; i < 3; i++) NB_TRY(g->ctx, nb_grid_real(g, "%g", isfinite(values[i]) ? values[i] : NAN));
    return NB_OK;
}

/* One line; panel NULL: pooled. */
static nb_status add_line(nb_grid *g, const nb_summary *s, const nb_panel *panel, nb_summary_index at,
                          const nb_comparison *c)
{
    const nb_variant *v = &s->variants[at.variant];
    const char *base = c->base < 0 ? NULL : c->fixed ? v->pairing : s->variants[c->base].pairing;
    const char *texts[] = {panel ? panel->label : "all",
                           panel ? panel->problem : NULL,
                           panel ? panel->kernel : NULL,
                           v->label,
                           v->strategy,
                           v->pairing,
                           base,
                           v->factors,
                           s->cores[at.core].core};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) NB_TRY(g->ctx, nb_grid_text(g, texts[i]));
    NB_TRY(g->ctx, nb_grid_whole(g, panel ? (double)s->landmarks[at.landmark] : NAN));
    NB_TRY(g->ctx, nb_grid_int(g, panel ? c->whole.pairs : c->cells));
    NB_TRY(g->ctx, nb_grid_int(g, c->whole.noise));
    NB_TRY(g->ctx, add_share(g, &c->whole));
    NB_TRY(g->ctx, add_share(g, &c->subspace));
    return nb_grid_real(g, "%g", isfinite(c->select_s) ? c->select_s : NAN);
}

static nb_status fill(nb_grid *g, const nb_summary *s, const nb_shares *shares, nb_ctx *ctx)
{
    static const char *const heads[] = {"panel",
                                        "problem",
                                        "kernel",
                                        "label",
                                        "strategy",
                                        "pairing",
                                        "baseline_pairing",
                                        "factors",
                                        "core",
                                        "landmarks",
                                        "count",
                                        "noise",
                                        "error",
                                        "error_relative",
                                        "error_share",
                                        "subspace",
                                        "subspace_relative",
                                        "subspace_share",
                                        "select_s",
                                        NULL};
    NB_TRY(ctx, nb_grid_make(g, heads, true, ctx));
    for (int v = 0; v < s->variant_count; v++)
        for (int c = 0; c < s->core_count; c++) {
            nb_summary_index at = {.variant = v, .core = c};
            for (at.panel = 0; at.panel < s->panel_count; at.panel++)
                for (at.landmark = 0; at.landmark < s->landmark_count; at.landmark++)
                    NB_TRY(ctx, add_line(g, s, &s->panels[at.panel], at,
                                         &shares->cells[nb_summary_cell(s, at.panel, v, c, at.landmark)]));
            NB_TRY(ctx, add_line(g, s, NULL, at, &shares->pooled[v * s->core_count + c]));
        }
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    nb_summary s;
    nb_shares shares;
    NB_TRY(ctx, nb_summary_make(frame, &s, ctx));
    NB_TRY(ctx, nb_shares_make(&s, form->baseline, &shares, ctx));
    if (form->grid) return fill(form->grid, &s, &shares, ctx);
    show(form->page, &s, &shares);
    return NB_OK;
}

static const char *const references[] = {
    "none: ratios of errors in the same trial, and shares of the gap on their scale", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_shares = {
    .component = {"shares", "each strategy against the baseline, by problem and pooled", references, options, 0},
    .study = NB_ERROR_STUDY,
    .place = 2,
    .file = "shares.csv",
    .make = make,
};
