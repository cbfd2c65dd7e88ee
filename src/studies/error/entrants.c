/* SPDX-License-Identifier: GPL-3.0-or-later */
/* entrants.c - see entrants.h */
#include "studies/error/entrants.h"

#include "cores/core.h"

#include <math.h>
#include <string.h>

static bool acts_on_values(const nb_swept *core)
{
    return core->choice.component && nb_core_traits(&core->choice) & NB_CORE_FILTER;
}

static nb_status add(nb_entrants *e, nb_entrant entrant, const int *cores, nb_ctx *ctx)
{
    int *copy;
    NB_NEED(copy, nb_alloc(ctx, (size_t)entrant.count + 1, sizeof *copy));
    if (entrant.count > 0) memcpy(copy, cores, (size_t)entrant.count * sizeof *copy);
    entrant.cores = copy;
    if (!entrant.core) entrant.core = entrant.label;
    e->of[e->count++] = entrant;
    return NB_OK;
}

static nb_status add_cores(nb_entrants *e, nb_ctx *ctx)
{
    for (int c = 0; c < e->summary.core_count; c++) {
        const nb_swept *core = &e->sweeps.cores[c];
        const nb_entrant one = {.label = e->summary.cores[c].label,
                                .core = e->summary.cores[c].core,
                                .oracle = nb_swept_is_oracle(core),
                                .usual = core->family < 0 || core->standard,
                                .count = 1};
        NB_TRY(ctx, add(e, one, &c, ctx));
    }
    return NB_OK;
}

/* Whether one of the component's cores is in a sweep over something else than rows. */
static bool is_swept(const nb_entrants *e, const nb_component *component)
{
    for (int c = 0; c < e->summary.core_count; c++) {
        const nb_swept *core = &e->sweeps.cores[c];
        if (core->choice.component == component && core->family >= 0 &&
            strcmp(e->sweeps.families[core->family].option, "rows") != 0)
            return true;
    }
    return false;
}

/* The best of the cores of a component, or (NULL) of all that act on singular values. */
static nb_status add_best_of(nb_entrants *e, const nb_component *component, nb_ctx *ctx)
{
    nb_entrant best = {.oracle = true, .usual = true};
    int *cores;
    NB_NEED(cores, nb_alloc(ctx, (size_t)e->summary.core_count + 1, sizeof *cores));
    for (int c = 0; c < e->summary.core_count; c++) {
        const nb_swept *core = &e->sweeps.cores[c];
        if (component ? core->choice.component == component : acts_on_values(core)) cores[best.count++] = c;
    }
    NB_NEED(best.label, component ? nb_format(ctx, "best %s of %d (oracle)", component->name, best.count)
                                  : nb_format(ctx, "best cut-off of %d (oracle)", best.count));
    return add(e, best, cores, ctx);
}

static nb_status add_oracles(nb_entrants *e, nb_ctx *ctx)
{
    const nb_component *filter = NULL;
    bool several = false, swept = false;
    for (int c = 0; c < e->summary.core_count; c++) {
        const nb_swept *core = &e->sweeps.cores[c];
        const nb_component *component = core->choice.component;
        int first = 0;
        if (!component) continue;
        while (e->sweeps.cores[first].choice.component != component) first++;
        if (first == c && is_swept(e, component)) NB_TRY(ctx, add_best_of(e, component, ctx));
        if (!acts_on_values(core)) continue;
        several = several || (filter && filter != component);
        swept = swept || is_swept(e, component);
        filter = component;
    }
    return several && swept ? add_best_of(e, NULL, ctx) : NB_OK;
}

nb_status nb_entrants_find(const nb_frame *frame, nb_entrants *e, nb_ctx *ctx)
{
    nb_selection all;
    *e = (nb_entrants){.count = 0};
    NB_TRY(ctx, nb_summary_make(frame, &e->summary, ctx));
    NB_TRY(ctx, nb_sweeps_find(&e->summary, &e->sweeps, ctx));
    NB_TRY(ctx, nb_frame_all(&e->summary.frame, &all, ctx));
    NB_TRY(ctx, nb_frame_pivot(&e->summary.frame, all, nb_choice_columns, "trial", "core", &e->choices, ctx));
    NB_NEED(e->of, nb_alloc(ctx, 2 * (size_t)e->summary.core_count + 2, sizeof *e->of));
    NB_TRY(ctx, add_cores(e, ctx));
    NB_TRY(ctx, add_oracles(e, ctx));
    return add(e, (nb_entrant){.label = "the best core of F X B", .oracle = true, .usual = true}, NULL, ctx);
}

const nb_error_row *nb_entrants_row(const nb_entrants *e, int core, int choice)
{
    int row = e->choices.rows[(size_t)choice * (size_t)e->choices.width + (size_t)core];
    return row >= 0 && strcmp(e->summary.rows[row].status, "ok") == 0 ? &e->summary.rows[row] : NULL;
}

/* The subspace part belongs to the landmarks: any core's row has it. */
static const nb_error_row *any_row(const nb_entrants *e, int choice)
{
    const nb_error_row *row = NULL;
    for (int c = 0; c < e->summary.core_count && (!row || isnan(nb_above_best(row))); c++)
        row = nb_entrants_row(e, c, choice);
    return row;
}

/* The least of the entrant's cores, of those where it is a number. */
static double least(const nb_entrants *e, int entrant, int choice, double (*value)(const nb_error_row *row))
{
    const nb_entrant *of = &e->of[entrant];
    double best = NAN;
    for (int i = 0; i < of->count; i++) {
        const nb_error_row *row = nb_entrants_row(e, of->cores[i], choice);
        if (row) best = fmin(best, value(row));
    }
    return best;
}

double nb_entrant_above(const nb_entrants *e, int entrant, int choice)
{
    if (e->of[entrant].count > 0) return least(e, entrant, choice, nb_above_best);
    const nb_error_row *row = any_row(e, choice);
    return row && !isnan(nb_above_best(row)) ? 0 : NAN;
}

double nb_entrant_unseen(const nb_entrants *e, int entrant, int choice)
{
    return e->of[entrant].oracle ? NAN : least(e, entrant, choice, nb_above_best_unseen);
}

static double error(const nb_error_row *row)
{
    return nb_is_noise(row, NB_WHOLE) ? NAN : nb_part_of(row, NB_WHOLE);
}

double nb_entrant_error(const nb_entrants *e, int entrant, int choice)
{
    if (e->of[entrant].count > 0) return least(e, entrant, choice, error);
    const nb_error_row *row = any_row(e, choice);
    return row && !nb_is_noise(row, NB_SUBSPACE) ? nb_part_of(row, NB_SUBSPACE) : NAN;
}

static const nb_summary_index *place_of(const nb_entrants *e, int choice)
{
    return &e->summary.at[e->choices.any[choice]];
}

bool nb_subset_holds(const nb_entrants *e, const nb_subset *subset, int choice)
{
    const nb_error_row *row = &e->summary.rows[e->choices.any[choice]];
    switch (subset->kind) {
    case NB_ALL_CHOICES: return true;
    case NB_OF_M: return place_of(e, choice)->landmark == subset->number;
    case NB_OF_PROBLEM: return place_of(e, choice)->panel == subset->number;
    case NB_OF_SHARE: return (16 * row->landmarks >= row->n) == subset->number;
    }
    return false;
}

nb_status nb_subsets_find(const nb_entrants *e, int *count, nb_subset **subsets, nb_ctx *ctx)
{
    const nb_summary *s = &e->summary;
    nb_subset *all;
    NB_NEED(all, nb_alloc(ctx, (size_t)s->landmark_count + (size_t)s->panel_count + 3, sizeof *all));
    *count = 0;
    all[(*count)++] = (nb_subset){NB_ALL_CHOICES, 0, "all", ""};
    for (int m = 0; m < s->landmark_count; m++) {
        const char *value;
        NB_NEED(value, nb_format(ctx, "%d", s->landmarks[m]));
        all[(*count)++] = (nb_subset){NB_OF_M, m, "landmarks", value};
    }
    for (int p = 0; p < s->panel_count; p++)
        all[(*count)++] = (nb_subset){NB_OF_PROBLEM, p, "problem", s->panels[p].label};
    all[(*count)++] = (nb_subset){NB_OF_SHARE, 0, "16m/n", "below 1"};
    all[(*count)++] = (nb_subset){NB_OF_SHARE, 1, "16m/n", "1 or more"};
    *subsets = all;
    return NB_OK;
}

nb_status nb_grid_statistic(nb_grid *grid, const char *format, const nb_statistic *s)
{
    NB_TRY(grid->ctx, nb_grid_real(grid, format, s->median));
    NB_TRY(grid->ctx, nb_grid_real(grid, format, s->low));
    return nb_grid_real(grid, format, s->high);
}
