/* SPDX-License-Identifier: GPL-3.0-or-later */
/* equal_cost.c - a core against others with twice the landmarks, picked by the same strategy on the same head in the
 * same trial: whether a dearer core is worth its cost. */
#include "report/table.h"
#include "studies/error/duels.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    nb_duels duels;
    const int *twice; /* by choice: that with twice the landmarks; -1: there is none */
    int m;            /* of the ratios */
} table;

typedef struct { /* a choice, by what it shares with others in all but landmarks and trial */
    int like, landmarks, repetition, choice;
} kin;

/* The choice aside. */
static int compare_kin(const void *a, const void *b)
{
    const kin *x = a, *y = b;
    if (x->like != y->like) return x->like < y->like ? -1 : 1;
    if (x->landmarks != y->landmarks) return x->landmarks < y->landmarks ? -1 : 1;
    return (x->repetition > y->repetition) - (x->repetition < y->repetition);
}

static nb_status find_kin(const nb_entrants *e, kin **sorted, nb_ctx *ctx)
{
    static const char *const by[] = {"problem", "head", "kernel", "strategy", "pairing", "factors", NULL};
    const nb_pivot *choices = &e->choices;
    nb_selection all;
    nb_groups like;
    NB_TRY(ctx, nb_frame_all(&e->summary.frame, &all, ctx));
    NB_TRY(ctx, nb_frame_group(&e->summary.frame, all, by, &like, ctx));
    NB_NEED(*sorted, nb_alloc(ctx, (size_t)choices->count + 1, sizeof **sorted));
    for (int i = 0; i < choices->count; i++)
        (*sorted)[i] =
            (kin){like.of[choices->any[i]], e->summary.rows[choices->any[i]].landmarks, choices->repetition[i], i};
    qsort(*sorted, (size_t)choices->count, sizeof **sorted, compare_kin);
    return NB_OK;
}

/* In the same trial, or in trial 0 where that stands for all; -1: none. */
static int twice_of(const kin *sorted, int count, kin wanted)
{
    wanted.landmarks *= 2;
    const kin *found = bsearch(&wanted, sorted, (size_t)count, sizeof *sorted, compare_kin);
    if (found) return found->choice;
    wanted.repetition = 0;
    found = bsearch(&wanted, sorted, (size_t)count, sizeof *sorted, compare_kin);
    bool alone = found && (found + 1 == sorted + count || found[1].like != wanted.like ||
                           found[1].landmarks != wanted.landmarks);
    return alone ? found->choice : -1;
}

static nb_status find_twice(table *t, const nb_entrants *e, nb_ctx *ctx)
{
    kin *sorted;
    int *twice, count = e->choices.count;
    NB_TRY(ctx, find_kin(e, &sorted, ctx));
    NB_NEED(twice, nb_alloc(ctx, (size_t)count + 1, sizeof *twice));
    for (int i = 0; i < count; i++) twice[sorted[i].choice] = twice_of(sorted, count, sorted[i]);
    t->twice = twice;
    return NB_OK;
}

static nb_duel compare(const table *t, int a, int b)
{
    const nb_entrants *e = t->duels.entrants;
    for (int i = 0; i < e->choices.count; i++) {
        bool holds = t->twice[i] >= 0 && e->summary.rows[e->choices.any[i]].landmarks == t->m;
        t->duels.mine[i] = holds ? nb_duels_error(&t->duels, a, i) : NAN;
        t->duels.other[i] = holds ? nb_duels_error(&t->duels, b, t->twice[i]) : NAN;
    }
    return nb_duel_of(&t->duels);
}

static nb_status add_line(nb_grid *g, const table *t, int a, int b)
{
    const nb_entrants *e = t->duels.entrants;
    nb_duel duel = compare(t, a, b);
    if (duel.ratio.count == 0) return NB_OK;
    NB_TRY(g->ctx, nb_grid_text(g, e->of[a].core));
    NB_TRY(g->ctx, nb_grid_int(g, t->m));
    NB_TRY(g->ctx, nb_grid_text(g, e->of[b].core));
    NB_TRY(g->ctx, nb_grid_int(g, 2 * t->m));
    NB_TRY(g->ctx, nb_grid_int(g, duel.ratio.count));
    NB_TRY(g->ctx, nb_grid_statistic(g, "%.3g", &duel.ratio));
    return nb_grid_real(g, "%.3g", duel.below);
}

static nb_status fill(nb_grid *grid, table *t, nb_ctx *ctx)
{
    static const char *const heads[] = {"core",  "landmarks", "over", "over_landmarks", "choices",
                                        "ratio", "p10",       "p90",  "below",          NULL};
    const nb_entrants *e = t->duels.entrants;
    NB_TRY(ctx, nb_grid_make(grid, heads, true, ctx));
    for (int m = 0; m < e->summary.landmark_count; m++)
        for (int a = 0; a < e->count; a++)
            for (int b = 0; b < e->count; b++) {
                t->m = e->summary.landmarks[m];
                if (t->duels.shown[a] && t->duels.shown[b]) NB_TRY(ctx, add_line(grid, t, a, b));
            }
    return NB_OK;
}

static nb_status ratio(const void *what, int a, int b, char *text, size_t size)
{
    nb_duel duel = compare(what, a, b);
    double x = duel.ratio.median;
    if (duel.ratio.count == 0)
        snprintf(text, size, "-");
    else
        snprintf(text, size, x >= 9.995 ? "%.0f" : "%.2f", x);
    return NB_OK;
}

static bool has_twice(const table *t)
{
    const nb_entrants *e = t->duels.entrants;
    for (int i = 0; i < e->choices.count; i++)
        if (t->twice[i] >= 0 && e->summary.rows[e->choices.any[i]].landmarks == t->m) return true;
    return false;
}

static nb_status show(nb_page *page, table *t, nb_ctx *ctx)
{
    const nb_summary *s = &t->duels.entrants->summary;
    bool any = false;
    for (int m = 0; m < s->landmark_count; m++) {
        const char *corner;
        t->m = s->landmarks[m];
        if (!has_twice(t)) continue;
        NB_NEED(corner, nb_format(ctx, "m = %d, over m = %d", t->m, 2 * t->m));
        if (!any)
            nb_page_heading(
                page, 2,
                "Median ratio of the error of the line's core to that of the column's core with twice the landmarks");
        any = true;
        NB_TRY(ctx, nb_duels_show(page, &t->duels, corner, ratio, t));
    }
    if (any)
        nb_page_paragraph(page, "Of the same strategy on the same head in the same trial; a row that stands for all "
                                "trials counts in each. With --format csv: quantiles 0.1 and 0.9, and the share of "
                                "choices where the ratio is below 1.");
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    nb_entrants e;
    table t = {.m = 0};
    NB_TRY(ctx, nb_entrants_find(frame, &e, ctx));
    NB_TRY(ctx, nb_duels_make(&t.duels, &e, false, ctx));
    NB_TRY(ctx, find_twice(&t, &e, ctx));
    if (e.summary.core_count < 2) return NB_OK;
    return form->grid ? fill(form->grid, &t, ctx) : show(form->page, &t, ctx);
}

static const char *const references[] = {"none: ratios of errors in the same trial", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_equal_cost = {
    .component = {"equal_cost", "each core that is not an oracle against the others with twice the landmarks",
                  references, options, 0},
    .study = NB_ERROR_STUDY,
    .make = make,
};
