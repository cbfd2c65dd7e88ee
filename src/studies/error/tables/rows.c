/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.c - cores that look at rows of S, by problem and number of rows, beside the others: how far above the best
 * core they are, on all rows and on the others, and how often they are below what may be had instead: the first core
 * of the run, alone and with the same number of rows kept exactly. */
#include "report/table.h"
#include "studies/error/duels.h"

#include <math.h>
#include <string.h>

typedef struct {
    const nb_entrants *entrants;
    nb_groups groups; /* of panel and core */
    nb_duels duels;
    nb_grid *grid;
    double *error, *unseen; /* room for a value a row */
} table;

/* Its number of rows as text; NULL: it looks at none. */
static nb_status rows_text(const nb_choice *choice, const char **text, nb_ctx *ctx)
{
    const nb_option *rows = nb_sweeps_option(choice, "rows");
    *text = NULL;
    return rows ? nb_option_text(choice->options, rows, 0, text, ctx) : NB_OK;
}

/* Whether an option of the core is a component, that one. */
static bool is_made_of(const nb_choice *choice, const nb_choice *part)
{
    for (const nb_option *o = choice->component ? choice->component->options : NULL; o && o->key; o++) {
        if (o->type != NB_OPTION_SPEC) continue;
        const nb_choice *of = *(const nb_choice *const *)((const char *)choice->options + o->offset);
        if (of && part->component && strcmp(of->canonical, part->canonical) == 0) return true;
    }
    return false;
}

/* The core that is made of the first one and looks at as many rows; -1: none. */
static nb_status twin_of(const nb_entrants *e, int core, int *twin, nb_ctx *ctx)
{
    const nb_swept *cores = e->sweeps.cores;
    const char *mine, *other;
    *twin = -1;
    NB_TRY(ctx, rows_text(&cores[core].choice, &mine, ctx));
    for (int c = 1; mine && c < e->summary.core_count && *twin < 0; c++) {
        NB_TRY(ctx, rows_text(&cores[c].choice, &other, ctx));
        if (c != core && other && strcmp(mine, other) == 0 && is_made_of(&cores[c].choice, &cores[0].choice)) *twin = c;
    }
    return NB_OK;
}

/* "17 of 18" choices of a panel where core a is below core b; "" where b is none. */
static nb_status below(const table *t, int panel, int a, int b, const char **text, nb_ctx *ctx)
{
    const nb_entrants *e = t->entrants;
    const nb_subset subset = {.kind = NB_OF_PROBLEM, .number = panel};
    *text = "";
    if (a == b || b < 0) return NB_OK;
    for (int i = 0; i < e->choices.count; i++) {
        bool holds = nb_subset_holds(e, &subset, i);
        t->duels.mine[i] = holds ? nb_duels_error(&t->duels, a, i) : NAN;
        t->duels.other[i] = holds ? nb_duels_error(&t->duels, b, i) : NAN;
    }
    nb_duel duel = nb_duel_of(&t->duels);
    if (duel.ratio.count == 0) return NB_OK;
    NB_NEED(*text, nb_format(ctx, "%.0f of %d", duel.below * duel.ratio.count, duel.ratio.count));
    return NB_OK;
}

/* Medians over the rows of one panel and core, each once. */
static void take_medians(const table *t, nb_selection rows, int *count, double *error, double *unseen)
{
    int others = 0;
    *count = 0;
    for (int i = 0; i < rows.count; i++) {
        const nb_error_row *row = &t->entrants->summary.rows[rows.at[i]];
        double above = nb_above_best(row), rest = nb_above_best_unseen(row);
        if (isfinite(above)) t->error[(*count)++] = 1 + above;
        if (isfinite(rest)) t->unseen[others++] = 1 + rest;
    }
    *error = nb_statistic_of(*count, t->error).median;
    *unseen = nb_statistic_of(others, t->unseen).median;
}

static nb_status add_line(table *t, nb_selection rows, nb_ctx *ctx)
{
    const nb_entrants *e = t->entrants;
    nb_summary_index at = e->summary.at[rows.at[0]];
    nb_grid *g = t->grid;
    const char *first, *kept;
    int count, twin;
    double error, unseen;
    take_medians(t, rows, &count, &error, &unseen);
    if (count == 0) return NB_OK;
    NB_TRY(ctx, twin_of(e, at.core, &twin, ctx));
    NB_TRY(ctx, below(t, at.panel, at.core, 0, &first, ctx));
    NB_TRY(ctx, below(t, at.panel, at.core, twin, &kept, ctx));
    if (g->exact) NB_TRY(ctx, nb_grid_text(g, e->summary.panels[at.panel].label));
    NB_TRY(ctx, nb_grid_text(g, g->exact ? e->summary.cores[at.core].core : e->summary.cores[at.core].label));
    NB_TRY(ctx, nb_grid_int(g, count));
    NB_TRY(ctx, nb_grid_real(g, "%.3g", error));
    NB_TRY(ctx, nb_grid_real(g, "%.3g", unseen));
    NB_TRY(ctx, nb_grid_text(g, first));
    return nb_grid_text(g, kept);
}

/* Settings of sweeps over something else than rows have tables of their own. */
static nb_status is_shown(const nb_entrants *e, int core, bool *shown, nb_ctx *ctx)
{
    const char *rows;
    NB_TRY(ctx, rows_text(&e->sweeps.cores[core].choice, &rows, ctx));
    *shown = rows || e->of[core].usual;
    return NB_OK;
}

static nb_status add_panel(table *t, int panel, nb_ctx *ctx)
{
    const nb_entrants *e = t->entrants;
    for (int c = 0; c < e->summary.core_count; c++) {
        bool shown;
        NB_TRY(ctx, is_shown(e, c, &shown, ctx));
        for (int g = 0; g < t->groups.count && shown; g++) {
            nb_selection rows = nb_group_rows(&t->groups, g);
            nb_summary_index at = e->summary.at[rows.at[0]];
            if (at.panel == panel && at.core == c) NB_TRY(ctx, add_line(t, rows, ctx));
        }
    }
    return NB_OK;
}

static nb_status fill(table *t, nb_ctx *ctx)
{
    static const char *const heads[] = {"problem", "core",        "rows",       "error",
                                        "unseen",  "below_first", "below_kept", NULL};
    NB_TRY(ctx, nb_grid_make(t->grid, heads, true, ctx));
    for (int p = 0; p < t->entrants->summary.panel_count; p++) NB_TRY(ctx, add_panel(t, p, ctx));
    return NB_OK;
}

static nb_status show(nb_page *page, table *t, nb_ctx *ctx)
{
    static const char *const heads[] = {"core", "rows", "error", "unseen", "below first", "below kept", NULL};
    const nb_summary *s = &t->entrants->summary;
    nb_page_heading(page, 2, "Cores by the rows of S that they look at");
    for (int p = 0; p < s->panel_count; p++) {
        NB_TRY(ctx, nb_grid_make(t->grid, heads, false, ctx));
        NB_TRY(ctx, add_panel(t, p, ctx));
        if (t->grid->count == 0) continue;
        nb_page_heading(page, 3, "%s", s->panels[p].label);
        nb_grid_show(t->grid, page);
    }
    nb_page_paragraph(page, "In the tables:");
    nb_page_note(page, "error:", "over the best core's, median over the rows of the run");
    nb_page_note(
        page, "unseen:", "the same on the rows of S that the core has not looked at, over the best core's for these");
    nb_page_note(
        page, "below first:", "the number of choices of landmarks on which it is below the first core of the run, %s",
        s->cores[0].label);
    nb_page_note(page, "below kept:", "the same against that core with as many rows of S kept exactly");
    return NB_OK;
}

static bool sweeps_rows(const nb_sweeps *sweeps)
{
    for (int f = 0; f < sweeps->family_count; f++)
        if (strcmp(sweeps->families[f].option, "rows") == 0) return true;
    return false;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    static const char *const by[] = {NB_OF_PANEL, NB_OF_CORE, NULL};
    nb_entrants e;
    nb_selection all;
    nb_grid own;
    table t = {.entrants = &e, .grid = form->grid ? form->grid : &own};
    NB_TRY(ctx, nb_entrants_find(frame, &e, ctx));
    if (!sweeps_rows(&e.sweeps)) return NB_OK;
    NB_TRY(ctx, nb_frame_all(&e.summary.frame, &all, ctx));
    NB_TRY(ctx, nb_frame_group(&e.summary.frame, all, by, &t.groups, ctx));
    NB_TRY(ctx, nb_duels_make(&t.duels, &e, true, ctx));
    NB_NEED(t.error, nb_alloc_reals(ctx, (size_t)frame->count + 1, 1));
    NB_NEED(t.unseen, nb_alloc_reals(ctx, (size_t)frame->count + 1, 1));
    return form->grid ? fill(&t, ctx) : show(form->page, &t, ctx);
}

static const char *const references[] = {"none: medians over heads and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_rows = {
    .component = {"rows", "cores by the number of rows of S that they look at, by problem", references, options, 0},
    .study = NB_ERROR_STUDY,
    .make = make,
};
