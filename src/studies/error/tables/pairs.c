/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.c - cores against each other on the same landmarks in the same trial. */
#include "report/table.h"
#include "studies/error/duels.h"

#include <math.h>

/* On the choices of a subset. */
static nb_duel compare(const nb_duels *d, const nb_subset *subset, int a, int b)
{
    for (int i = 0; i < d->entrants->choices.count; i++) {
        bool holds = nb_subset_holds(d->entrants, subset, i);
        d->mine[i] = holds ? nb_duels_error(d, a, i) : NAN;
        d->other[i] = holds ? nb_duels_error(d, b, i) : NAN;
    }
    return nb_duel_of(d);
}

static nb_status add_line(nb_grid *g, const nb_duels *d, const nb_subset *subset, int a, int b)
{
    nb_duel duel = compare(d, subset, a, b);
    if (duel.ratio.count == 0) return NB_OK;
    const char *texts[] = {subset->by, subset->value, d->entrants->of[a].core, d->entrants->of[b].core};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) NB_TRY(g->ctx, nb_grid_text(g, texts[i]));
    NB_TRY(g->ctx, nb_grid_int(g, duel.ratio.count));
    NB_TRY(g->ctx, nb_grid_statistic(g, "%.3g", &duel.ratio));
    return nb_grid_real(g, "%.3g", duel.below);
}

static nb_status fill(nb_grid *grid, const nb_duels *d, nb_ctx *ctx)
{
    static const char *const heads[] = {"by", "value", "core", "over", "choices", "ratio", "p10", "p90", "below", NULL};
    const nb_entrants *e = d->entrants;
    nb_subset *subsets;
    int count;
    NB_TRY(ctx, nb_grid_make(grid, heads, true, ctx));
    NB_TRY(ctx, nb_subsets_find(e, &count, &subsets, ctx));
    for (int s = 0; s < count; s++)
        for (int a = 0; a < e->count; a++)
            for (int b = 0; b < e->count; b++)
                if (a != b && d->shown[a] && d->shown[b]) NB_TRY(ctx, add_line(grid, d, &subsets[s], a, b));
    return NB_OK;
}

static nb_status share(const void *what, int a, int b, char *text, size_t size)
{
    const nb_subset all = {.kind = NB_ALL_CHOICES};
    nb_duel duel = compare(what, &all, a, b);
    if (a == b || duel.ratio.count == 0)
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%.0f", 100 * duel.below);
    return NB_OK;
}

static nb_status show(nb_page *page, const nb_duels *d, nb_ctx *ctx)
{
    nb_page_heading(page, 2, "On how many %% of the choices of landmarks the core of a line is below that of a column");
    NB_TRY(ctx, nb_duels_show(page, d, "error of", share, d));
    nb_page_paragraph(page,
                      "Errors on the same landmarks in the same trial; a row that stands for all trials counts in "
                      "each. Of a core with several settings (oracle) the best for each choice is taken, by the "
                      "errors that are compared. Errors that are rounding noise are left out. With --format csv: "
                      "the ratios too, also by m, by problem, and where m is a sixteenth of n or more.");
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    nb_entrants e;
    nb_duels d;
    NB_TRY(ctx, nb_entrants_find(frame, &e, ctx));
    NB_TRY(ctx, nb_duels_make(&d, &e, true, ctx));
    if (e.summary.core_count < 2) return NB_OK;
    return form->grid ? fill(form->grid, &d, ctx) : show(form->page, &d, ctx);
}

static const char *const references[] = {"none: shares and ratios on the same landmarks", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_pairs = {
    .component = {"pairs", "cores against each other on the same landmarks: where one is below the other", references,
                  options, 0},
    .study = NB_ERROR_STUDY,
    .make = make,
};
