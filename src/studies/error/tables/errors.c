/* SPDX-License-Identifier: GPL-3.0-or-later */
/* errors.c - for each problem and core: strategy x m, median error over heads and trials with its interval over
 * sources; the least of each column among those of one pairing and factors marked if it is surely below the next,
 * values not below the constant matrix in brackets, the floor and 1/n beside them. */
#include "report/compare.h"
#include "report/table.h"
#include "studies/error/leads.h"

#include <math.h>

/* As people read it. */
static void print_error(char text[32], double error)
{
    snprintf(text, 32, error >= 1000 ? "%.1e" : "%.3g", error);
}

/* A median, in brackets where it is not below the constant matrix; its marks, and its interval behind them. */
static void add_cell(nb_page *page, const nb_statistic *s, double baseline, bool leads, bool incomplete)
{
    char number[32], low[32], high[32], behind[80];
    bool above = s->count > 0 && !(s->median < baseline);
    print_error(number, s->median);
    print_error(low, s->median_low);
    print_error(high, s->median_high);
    nb_page_cell(page, "%s%s", above ? "(" : "", s->planned == 0 ? "" : s->count == 0 ? "-" : number);
    int marks = snprintf(behind, sizeof behind, "%s%s%s", above ? ")" : "",
                         leads                      ? "*"
                         : nb_statistic_is_noise(s) ? "~"
                                                    : "",
                         incomplete ? "!" : "");
    if (!isnan(s->median_low))
        snprintf(behind + marks, sizeof behind - (size_t)marks, "%s[%s, %s]", marks > 0 ? " " : "  ", low, high);
    nb_page_mark(page, behind);
}

/* Rows that are planned with a core, of one variant or (-1) of all. */
static int count_planned(const nb_summary *s, int panel, int variant, int core)
{
    int count = 0;
    for (int v = 0; v < s->variant_count; v++)
        for (int m = 0; m < s->landmark_count && (variant < 0 || v == variant); m++)
            count += s->errors[nb_summary_cell(s, panel, v, core, m)].planned;
    return count;
}

/* Whether the panel has rows with that many landmarks. */
static bool has_column(const nb_summary *s, int panel, int m)
{
    return s->floors[nb_summary_level(s, panel, m)].planned > 0;
}

static void add_core(nb_page *page, const nb_summary *s, const bool *leads, int panel, int core)
{
    if (count_planned(s, panel, -1, core) == 0) return;
    nb_page_band(page, "core", s->cores[core].label);
    for (int v = 0; v < s->variant_count; v++) {
        if (count_planned(s, panel, v, core) == 0) continue;
        nb_page_row(page);
        nb_page_cell(page, "%s", s->variants[v].label);
        for (int m = 0; m < s->landmark_count; m++) {
            int cell = nb_summary_cell(s, panel, v, core, m);
            const nb_statistic *e = &s->errors[cell];
            if (!has_column(s, panel, m)) continue;
            add_cell(page, e, s->baselines[nb_summary_level(s, panel, m)].median, leads[cell],
                     e->count > 0 && e->count < e->planned);
        }
    }
}

static void add_level(nb_page *page, const char *name, const nb_summary *s, int panel, const nb_statistic *levels)
{
    nb_page_row(page);
    nb_page_cell(page, "%s", name);
    for (int m = 0; m < s->landmark_count; m++)
        if (has_column(s, panel, m)) add_cell(page, &levels[nb_summary_level(s, panel, m)], INFINITY, false, false);
}

/* How many of a core's medians, over problems, strategies and m, are below the constant matrix. */
static void add_score(nb_page *page, const nb_summary *s, int core)
{
    int below = 0, all = 0;
    for (int p = 0; p < s->panel_count; p++)
        for (int v = 0; v < s->variant_count; v++)
            for (int m = 0; m < s->landmark_count; m++) {
                const nb_statistic *e = &s->errors[nb_summary_cell(s, p, v, core, m)];
                all += e->count > 0;
                below += e->median < s->baselines[nb_summary_level(s, p, m)].median;
            }
    if (all > 0)
        nb_page_item(page, "%s: %d of %d medians are below the constant matrix %s.", s->cores[core].label, below, all,
                     s->constant);
}

static bool has_holes(const nb_summary *s)
{
    int cells = s->panel_count * s->variant_count * s->core_count * s->landmark_count;
    for (int i = 0; i < cells; i++)
        if (s->errors[i].planned == 0) return true;
    return false;
}

/* Of an interrupted run, say. */
static bool has_results(const nb_summary *s, int panel)
{
    for (int v = 0; v < s->variant_count; v++)
        for (int c = 0; c < s->core_count; c++)
            for (int m = 0; m < s->landmark_count; m++)
                if (s->errors[nb_summary_cell(s, panel, v, c, m)].count > 0) return true;
    return false;
}

/* Where a strategy can lose nothing. */
static void add_rank(nb_page *page, const nb_summary *s, int panel)
{
    const nb_panel *p = &s->panels[panel];
    bool reached = false;
    for (int m = 0; m < s->landmark_count; m++)
        reached = reached || (has_column(s, panel, m) && s->landmarks[m] >= p->d);
    if (p->rank_d && reached)
        nb_page_note(page, NULL, "S has rank d = %d: from m = d on, X = A+ leaves no error, by construction", p->d);
}

static void add_panel(nb_page *page, const nb_summary *s, const bool *leads, int panel)
{
    const nb_panel *p = &s->panels[panel];
    char constant[32];
    nb_page_heading(page, 3, "%s", p->label);
    nb_page_paragraph(page, "n = %d, d = %d, sources: %d, heads: %d, trials: %d", p->n, p->d, p->sources, p->heads,
                      p->trials);
    if (!has_results(s, panel)) {
        nb_page_note(page, NULL, "No results: every row was skipped, failed or not run");
        return;
    }
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_LABEL, "landmarks");
    for (int m = 0; m < s->landmark_count; m++)
        if (has_column(s, panel, m)) nb_page_column(page, NB_PAGE_NUMBER, "%d", s->landmarks[m]);
    for (int c = 0; c < s->core_count; c++) add_core(page, s, leads, panel, c);
    nb_page_band(page, NULL, NULL);
    add_level(page, "best rank m", s, panel, s->floors);
    snprintf(constant, sizeof constant, "constant %s", s->constant);
    add_level(page, constant, s, panel, s->baselines);
    add_rank(page, s, panel);
}

static void show(nb_page *page, const nb_summary *s, const bool *leads)
{
    nb_page_heading(page, 2, "Median relative error |S - FXB|_F / |S|_F over heads and trials");
    for (int p = 0; p < s->panel_count; p++) add_panel(page, s, leads, p);
    nb_page_paragraph(page, "In the tables:");
    nb_page_note(
        page, "*",
        "least of its column and core among strategies with the same pairing and factors, and surely so: the "
        "95 %% t interval of its error over the next one's in the same trial is below 1. It takes %d sources or "
        "more: a head file is most often one; where data are drawn, each trial is one",
        NB_LEAST_SOURCES);
    nb_page_note(page, "[ ]",
                 "95 %% interval of the median over sources, by order statistics of the sources' own medians over "
                 "heads and trials. It takes %d sources or more",
                 NB_LEAST_SOURCES);
    nb_page_note(page, "~", "not above its rounding noise");
    nb_page_note(page, "( )", "not below the constant matrix %s", s->constant);
    nb_page_note(page, "!", "some rows are missing");
    nb_page_note(page, "-", "all of them are: skipped, failed or not run");
    if (has_holes(s)) nb_page_note(page, "blank:", "not planned");
    if (s->pairing) nb_page_note(page, NULL, "The pairing is %s unless a line names another.", s->pairing);
    nb_page_paragraph(page, "Over all tables:");
    for (int c = 0; c < s->core_count; c++) add_score(page, s, c);
}

static nb_status add_line(nb_grid *g, const nb_summary *s, nb_summary_index at)
{
    const nb_statistic *e = &s->errors[nb_summary_cell(s, at.panel, at.variant, at.core, at.landmark)];
    int level = nb_summary_level(s, at.panel, at.landmark);
    const double values[] = {e->median, e->low, e->high, s->floors[level].median, s->baselines[level].median},
                 interval[] = {e->median_low, e->median_high};
    const nb_panel *panel = &s->panels[at.panel];
    const nb_variant *way = &s->variants[at.variant];
    const char *texts[] = {panel->label,  panel->problem, panel->kernel, way->label,
                           way->strategy, way->pairing,   way->factors,  s->cores[at.core].core};
    if (e->planned == 0) return NB_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) NB_TRY(g->ctx, nb_grid_text(g, texts[i]));
    NB_TRY(g->ctx, nb_grid_int(g, s->landmarks[at.landmark]));
    NB_TRY(g->ctx, nb_grid_int(g, e->planned));
    NB_TRY(g->ctx, nb_grid_int(g, e->count));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) NB_TRY(g->ctx, nb_grid_real(g, "%.3g", values[i]));
    NB_TRY(g->ctx, nb_grid_int(g, e->sources));
    for (size_t i = 0; i < 2; i++) NB_TRY(g->ctx, nb_grid_real(g, "%.3g", interval[i]));
    return NB_OK;
}

static nb_status fill(nb_grid *grid, const nb_summary *s, nb_ctx *ctx)
{
    static const char *const heads[] = {"panel",         "problem", "kernel",     "label",       "strategy",
                                        "pairing",       "factors", "core",       "landmarks",   "planned",
                                        "count",         "median",  "p10",        "p90",         "best_rank_m",
                                        "baseline_mean", "sources", "median_low", "median_high", NULL};
    NB_TRY(ctx, nb_grid_make(grid, heads, true, ctx));
    for (int p = 0; p < s->panel_count; p++)
        for (int c = 0; c < s->core_count; c++)
            for (int v = 0; v < s->variant_count; v++)
                for (int m = 0; m < s->landmark_count; m++)
                    NB_TRY(ctx,
                           add_line(grid, s, (nb_summary_index){.panel = p, .variant = v, .core = c, .landmark = m}));
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    nb_summary s;
    bool *leads;
    NB_TRY(ctx, nb_summary_make(frame, &s, ctx));
    if (form->grid) return fill(form->grid, &s, ctx);
    NB_TRY(ctx, nb_leads_find(&s, &leads, ctx));
    show(form->page, &s, leads);
    return NB_OK;
}

static const char *const references[] = {"none: medians over heads and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_errors = {
    .component = {"errors", "median error by problem, core, strategy and number of landmarks", references, options, 0},
    .study = NB_ERROR_STUDY,
    .place = 1,
    .make = make,
};
