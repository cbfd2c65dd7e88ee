/* SPDX-License-Identifier: GPL-3.0-or-later */
/* above.c - each core above the best one over all choices of landmarks: on all rows of S, and on those that it has
 * not looked at. What is the same in all trials counts in each. */
#include "report/table.h"
#include "studies/error/entrants.h"

#include "cores/core.h"

#include <math.h>

typedef struct {
    const nb_entrants *entrants;
    nb_grid *grid;
    double *above, *unseen; /* room for a value a choice */
} table;

static nb_status add_line(table *t, const nb_subset *subset, int entrant)
{
    const nb_entrants *e = t->entrants;
    const nb_entrant *of = &e->of[entrant];
    nb_grid *g = t->grid;
    double scale = g->exact ? 1 : 100;
    int above = 0, unseen = 0;
    for (int i = 0; i < e->choices.count; i++) {
        double x = nb_entrant_above(e, entrant, i), y = nb_entrant_unseen(e, entrant, i);
        if (!nb_subset_holds(e, subset, i)) continue;
        if (isfinite(x)) t->above[above++] = scale * x;
        if (isfinite(y)) t->unseen[unseen++] = scale * y;
    }
    if (above == 0) return NB_OK;
    nb_statistic all = nb_statistic_of(above, t->above), rest = nb_statistic_of(unseen, t->unseen);
    if (g->exact) {
        NB_TRY(g->ctx, nb_grid_text(g, subset->by));
        NB_TRY(g->ctx, nb_grid_text(g, subset->value));
    }
    NB_TRY(g->ctx, nb_grid_text(g, g->exact ? of->core : of->label));
    if (g->exact) NB_TRY(g->ctx, nb_grid_flag(g, of->oracle));
    NB_TRY(g->ctx, nb_grid_int(g, all.count));
    NB_TRY(g->ctx, nb_grid_statistic(g, "%.1f", &all));
    if (g->exact) NB_TRY(g->ctx, nb_grid_int(g, rest.count));
    return nb_grid_statistic(g, "%.1f", &rest);
}

static nb_status fill(table *t, int subsets, const nb_subset *all, nb_ctx *ctx)
{
    static const char *const heads[] = {"by",  "value",          "core",   "oracle",     "choices",    "above", "p10",
                                        "p90", "unseen_choices", "unseen", "unseen_p10", "unseen_p90", NULL};
    NB_TRY(ctx, nb_grid_make(t->grid, heads, true, ctx));
    for (int s = 0; s < subsets; s++)
        for (int i = 0; i + 1 < t->entrants->count; i++) NB_TRY(ctx, add_line(t, &all[s], i));
    return NB_OK;
}

/* Whether the choice has its own row for a core without randomness; if not, it has trial 0's. */
static bool is_different(const nb_entrants *e, int choice)
{
    for (int c = 0; c < e->summary.core_count; c++) {
        const nb_error_row *row = nb_entrants_row(e, c, choice);
        const nb_choice *core = &e->sweeps.cores[c].choice;
        if (row && row->trial == e->choices.repetition[choice] &&
            !(core->component && nb_core_traits(core) & NB_CORE_RANDOM))
            return true;
    }
    return false;
}

static nb_status show(nb_page *page, table *t, const nb_subset *all, nb_ctx *ctx)
{
    static const char *const heads[] = {"core", "choices", "median", "10 %", "90 %", "unseen", "10 %", "90 %", NULL};
    const nb_entrants *e = t->entrants;
    int different = 0;
    NB_TRY(ctx, nb_grid_make(t->grid, heads, false, ctx));
    for (int i = 0; i < e->choices.count; i++) different += is_different(e, i);
    for (int i = 0; i + 1 < e->count; i++)
        if (e->of[i].usual) NB_TRY(ctx, add_line(t, all, i));
    if (t->grid->count == 0) return NB_OK;
    nb_page_heading(page, 2, "Cores, %% above the best one, over %d choices of landmarks, %d of them different",
                    e->choices.count, different);
    nb_grid_show(t->grid, page);
    nb_page_paragraph(page, "100 (error / subspace part - 1): median, and quantiles 0.1 and 0.9, over problems, "
                            "strategies, m, heads and trials.");
    nb_page_note(page, "unseen:", "on the rows of S that the core has not looked at, above the best core for these");
    nb_page_note(page, "oracle:",
                 "of a core with several settings the best for each choice of landmarks is taken, by the errors that "
                 "are compared");
    nb_page_note(page, "below 0:", "rows of S are kept exactly");
    nb_page_paragraph(page, "With --format csv: every setting, also by m, by problem, and where m is a sixteenth of n "
                            "or more.");
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    nb_entrants e;
    nb_subset *subsets;
    int count;
    nb_grid own;
    table t = {.entrants = &e, .grid = form->grid ? form->grid : &own};
    NB_TRY(ctx, nb_entrants_find(frame, &e, ctx));
    NB_TRY(ctx, nb_subsets_find(&e, &count, &subsets, ctx));
    NB_NEED(t.above, nb_alloc_reals(ctx, (size_t)e.choices.count + 1, 1));
    NB_NEED(t.unseen, nb_alloc_reals(ctx, (size_t)e.choices.count + 1, 1));
    return form->grid ? fill(&t, count, subsets, ctx) : show(form->page, &t, subsets, ctx);
}

static const char *const references[] = {"none: the best core is the projection; see 'nysbench describe best'", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_above = {
    .component = {"above",
                  "how far each core is above the best one, over all choices of landmarks, also on unseen rows",
                  references, options, 0},
    .study = NB_ERROR_STUDY,
    .make = make,
};
