/* SPDX-License-Identifier: GPL-3.0-or-later */
/* errors.c - for each problem and core: strategy x m, median error over heads and trials, the least of
 * each column among those of one pairing and factors marked if it is surely below the next, values not below the
 * constant matrix in brackets, the floor and 1/n beside them. */
#include "report/compare.h"
#include "report/grid.h"
#include "report/table.h"
#include "studies/error/leads.h"

#include <math.h>
#include <string.h>

enum { CELL = 10, LONGEST = 64 };

static int name_width(const nb_summary *s)
{
    size_t width = strlen("constant ") + strlen(s->constant);
    for (int v = 0; v < s->variant_count; v++)
        width = strlen(s->variants[v].label) > width ? strlen(s->variants[v].label) : width;
    return (int)(width < LONGEST ? width : LONGEST);
}

/* Right-aligned, a place for the mark behind it. */
static void print_cell(FILE *out, const nb_statistic *s, double baseline, bool leads, bool incomplete)
{
    char number[32], text[40];
    const char *mark = leads ? "*" : nb_statistic_is_noise(s) ? "~" : " ";
    snprintf(number, sizeof number, s->median >= 1000 ? "%.1e" : "%.3g", s->median);
    if (s->planned == 0)
        text[0] = '\0';
    else if (s->count == 0)
        snprintf(text, sizeof text, "- ");
    else if (!(s->median < baseline))
        snprintf(text, sizeof text, "(%s)%s", number, *mark == ' ' ? "" : mark);
    else
        snprintf(text, sizeof text, "%s%s", number, mark);
    fprintf(out, "%*s%s", CELL, text, incomplete ? "!" : " ");
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

static void print_core(FILE *out, const nb_summary *s, const bool *leads, int panel, int core, int width)
{
    if (count_planned(s, panel, -1, core) == 0) return;
    fprintf(out, "  %s\n", s->cores[core].label);
    for (int v = 0; v < s->variant_count; v++) {
        if (count_planned(s, panel, v, core) == 0) continue;
        fprintf(out, "    %-*.*s", width, width, s->variants[v].label);
        for (int m = 0; m < s->landmark_count; m++) {
            int cell = nb_summary_cell(s, panel, v, core, m);
            const nb_statistic *e = &s->errors[cell];
            if (!has_column(s, panel, m)) continue;
            print_cell(out, e, s->baselines[nb_summary_level(s, panel, m)].median, leads[cell],
                       e->count > 0 && e->count < e->planned);
        }
        fputc('\n', out);
    }
}

static void print_level(FILE *out, const char *name, const nb_summary *s, int panel, const nb_statistic *levels,
                        int width)
{
    fprintf(out, "  %-*s", width + 2, name);
    for (int m = 0; m < s->landmark_count; m++)
        if (has_column(s, panel, m)) print_cell(out, &levels[nb_summary_level(s, panel, m)], INFINITY, false, false);
    fputc('\n', out);
}

/* How many of a core's medians, over problems, strategies and m, are below the constant matrix. */
static void print_score(FILE *out, const nb_summary *s, int core)
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
        fprintf(out, "%s: %d of %d medians are below the constant matrix %s.\n", s->cores[core].label, below, all,
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
static void print_rank(FILE *out, const nb_summary *s, int panel)
{
    const nb_panel *p = &s->panels[panel];
    bool reached = false;
    for (int m = 0; m < s->landmark_count; m++)
        reached = reached || (has_column(s, panel, m) && s->landmarks[m] >= p->d);
    if (p->rank_d && reached)
        fprintf(out, "  S has rank d = %d: from m = d on, X = A+ leaves no error, by construction\n", p->d);
}

static void print_text(FILE *out, const nb_summary *s, const bool *leads)
{
    int width = name_width(s);
    for (int p = 0; p < s->panel_count; p++) {
        const nb_panel *panel = &s->panels[p];
        fprintf(out, "%s\nn = %d, d = %d, heads: %d, trials: %d\n", panel->label, panel->n, panel->d, panel->heads,
                panel->trials);
        if (!has_results(s, p)) {
            fputs("  no results: skipped, failed, not run\n\n", out);
            continue;
        }
        fprintf(out, "  %-*s", width + 2, "landmarks");
        for (int m = 0; m < s->landmark_count; m++)
            if (has_column(s, p, m)) fprintf(out, "%*d  ", CELL - 1, s->landmarks[m]);
        fputc('\n', out);
        for (int c = 0; c < s->core_count; c++) print_core(out, s, leads, p, c, width);
        print_level(out, "best rank m", s, p, s->floors, width);
        char constant[32];
        snprintf(constant, sizeof constant, "constant %s", s->constant);
        print_level(out, constant, s, p, s->baselines, width);
        print_rank(out, s, p);
        fputc('\n', out);
    }
    fprintf(out,
            "Median relative error |S - FXB|_F / |S|_F over heads and trials.\n"
            "* least of its column and core among strategies with the same pairing and factors, and surely so: the\n"
            "  95 %% t interval of its error over the next one's in the same trial is below 1. It takes %d sources or\n"
            "  more: a head file is most often one; where data are drawn, each trial is one;\n"
            "~ not above its rounding noise; (in brackets) not below the constant matrix %s;\n"
            "! some rows are missing, - all of them: skipped, failed or not run.\n"
            "%s",
            NB_LEAST_SOURCES, s->constant, has_holes(s) ? "Blank: not planned.\n" : "");
    if (s->pairing) fprintf(out, "The pairing is %s unless a line names another.\n", s->pairing);
    for (int c = 0; c < s->core_count; c++) print_score(out, s, c);
}

static nb_status add_line(nb_grid *g, const nb_summary *s, nb_summary_index at)
{
    const nb_statistic *e = &s->errors[nb_summary_cell(s, at.panel, at.variant, at.core, at.landmark)];
    int level = nb_summary_level(s, at.panel, at.landmark);
    const double values[] = {e->median, e->low, e->high, s->floors[level].median, s->baselines[level].median};
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
    return NB_OK;
}

static nb_status print_csv(FILE *out, const nb_summary *s, nb_ctx *ctx)
{
    static const char *const heads[] = {"panel",   "problem", "kernel",      "label",         "strategy", "pairing",
                                        "factors", "core",    "landmarks",   "planned",       "count",    "median",
                                        "p10",     "p90",     "best_rank_m", "baseline_mean", NULL};
    nb_grid grid;
    NB_TRY(ctx, nb_grid_make(&grid, heads, true, ctx));
    for (int p = 0; p < s->panel_count; p++)
        for (int c = 0; c < s->core_count; c++)
            for (int v = 0; v < s->variant_count; v++)
                for (int m = 0; m < s->landmark_count; m++)
                    NB_TRY(ctx,
                           add_line(&grid, s, (nb_summary_index){.panel = p, .variant = v, .core = c, .landmark = m}));
    nb_grid_print(out, &grid);
    return NB_OK;
}

static nb_status print(FILE *out, const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    nb_summary s;
    bool *leads;
    NB_TRY(ctx, nb_summary_make(frame, &s, ctx));
    if (form->csv) return print_csv(out, &s, ctx);
    NB_TRY(ctx, nb_leads_find(&s, &leads, ctx));
    print_text(out, &s, leads);
    return NB_OK;
}

static const char *const references[] = {"none: medians over heads and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_errors = {
    .component = {"errors", "median error by problem, core, strategy and number of landmarks", references, options, 0},
    .study = NB_ERROR_STUDY,
    .place = 1,
    .print = print,
};
