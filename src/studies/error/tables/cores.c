/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cores.c - core x m: how far the error is above the subspace part, which is the best core's on the
 * same landmarks, the median over all problems, strategies, heads and trials; and the
 * core's time. What is the same in all trials counts in each. The least is marked among those
 * cores that are measured on the same choices of landmarks. Nothing where fewer than
 * two cores have rows whose subspace part is known and above rounding. */
#include "report/pairs.h"
#include "report/table.h"
#include "studies/error/sweeps.h"

#include <math.h>
#include <stdint.h>

typedef struct {
    const nb_summary *summary;
    nb_sweeps sweeps;
    nb_statistic *above, *core_s; /* by core and landmarks */
    int *planned;                 /* rows, likewise */
    uint64_t *choices;            /* a digest of the choices of landmarks that `above` is of, likewise */
} table;

/* Sums of these, which do not depend on the order, tell sets of choices apart. */
static uint64_t digest_of(int panel, int variant, int head)
{
    uint64_t x = ((uint64_t)panel << 42) ^ ((uint64_t)variant << 21) ^ (uint64_t)head;
    x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9; /* splitmix64's */
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static nb_status sum_up_cell(table *t, nb_selection rows, const int *weights, nb_ctx *ctx)
{
    const nb_summary *s = t->summary;
    int cell = s->at[rows.at[0]].core * s->landmark_count + s->at[rows.at[0]].landmark, count = 0, most = 0;
    double *above, *core_s;
    for (int i = 0; i < rows.count; i++) most += weights[rows.at[i]];
    NB_NEED(above, nb_alloc_reals(ctx, (size_t)most + 1, 1));
    NB_NEED(core_s, nb_alloc_reals(ctx, (size_t)most + 1, 1));
    for (int i = 0; i < rows.count; i++) {
        const nb_error_row *row = &s->rows[rows.at[i]];
        int weight = weights[rows.at[i]];
        double excess = nb_above_best(row);
        t->planned[cell]++;
        if (isnan(excess)) continue;
        t->choices[cell] +=
            (uint64_t)weight * digest_of(s->at[rows.at[i]].panel, s->at[rows.at[i]].variant, s->at[rows.at[i]].head);
        for (int k = 0; k < weight; k++, count++) {
            above[count] = excess;
            core_s[count] = row->measures.core_s;
        }
    }
    t->above[cell] = nb_statistic_of(count, above);
    t->core_s[cell] = nb_statistic_of(count, core_s);
    return NB_OK;
}

/* Values of the rows by core and landmarks, as often as they stand for a trial, then
 * their medians. A row whose cell is the same in every trial, and so has trial 0 alone, stands for all
 * trials of its problem. */
static nb_status sum_up(table *t, nb_ctx *ctx)
{
    static const char *const by[] = {NB_OF_CORE, NB_OF_LANDMARK, NULL}, *const method[] = {NB_OF_CELL, NULL},
                             *const data[] = {NB_OF_PANEL, NULL};
    const nb_summary *s = t->summary;
    size_t cells = (size_t)(s->core_count * s->landmark_count);
    nb_selection all;
    nb_groups groups;
    const int *weights;
    NB_NEED(t->above, nb_alloc(ctx, cells + 1, sizeof *t->above));
    NB_NEED(t->core_s, nb_alloc(ctx, cells + 1, sizeof *t->core_s));
    NB_NEED(t->planned, nb_alloc(ctx, cells + 1, sizeof *t->planned));
    NB_NEED(t->choices, nb_alloc(ctx, cells + 1, sizeof *t->choices));
    NB_TRY(ctx, nb_frame_all(&s->frame, &all, ctx));
    NB_TRY(ctx, nb_frame_weigh(&s->frame, method, data, "trial", &weights, ctx));
    NB_TRY(ctx, nb_frame_group(&s->frame, all, by, &groups, ctx));
    for (int g = 0; g < groups.count; g++) {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = sum_up_cell(t, nb_group_rows(&groups, g), weights, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

static const nb_statistic *at(const table *t, const nb_statistic *of, int core, int m)
{
    return &of[core * t->summary->landmark_count + m];
}

/* The largest m of a core's rows, its number; -1: it has none. */
static int last_m(const table *t, int core)
{
    int m = t->summary->landmark_count - 1;
    while (m >= 0 && at(t, t->above, core, m)->count == 0) m--;
    return m;
}

/* The core with the most choices of landmarks at m; -1: none has any. */
static int fullest(const table *t, int m)
{
    int found = -1, most = 0;
    for (int c = 0; c < t->summary->core_count; c++)
        if (at(t, t->above, c, m)->count > most) most = at(t, t->above, c, m)->count, found = c;
    return found;
}

/* Whether the core is measured on the choices of landmarks that the fullest one is. */
static bool is_full(const table *t, int core, int m)
{
    int of = fullest(t, m), columns = t->summary->landmark_count;
    return of >= 0 && t->choices[core * columns + m] == t->choices[of * columns + m];
}

/* The core that is nearest to the best one on the same choices, without being an oracle, of
 * two at least; -1: none. */
static int nearest(const table *t, int m)
{
    int found = -1, rivals = 0;
    for (int c = 0; c < t->summary->core_count; c++) {
        if (!is_full(t, c, m) || nb_swept_is_oracle(&t->sweeps.cores[c])) continue;
        rivals++;
        if (found < 0 || at(t, t->above, c, m)->median < at(t, t->above, found, m)->median) found = c;
    }
    return rivals > 1 ? found : -1;
}

static void add_core(nb_page *page, const table *t, int core)
{
    const nb_summary *s = t->summary;
    int last = last_m(t, core);
    if (last < 0) return;
    nb_page_row(page);
    nb_page_cell(page, "%s", s->cores[core].label);
    for (int m = 0; m < s->landmark_count; m++) {
        const nb_statistic *a = at(t, t->above, core, m);
        double percent = 100 * a->median;
        char number[32];
        if (fabs(percent) < 0.05) percent = 0; /* a sign would come from rounding */
        snprintf(number, sizeof number, percent >= 1e5 ? "%.0e" : fabs(percent) >= 9.95 ? "%.0f" : "%.1f", percent);
        nb_page_cell(page, "%s", a->count ? number : t->planned[core * s->landmark_count + m] ? "-" : "");
        nb_page_mark(page, nearest(t, m) == core ? "*" : a->count && !is_full(t, core, m) ? "!" : "");
    }
    nb_page_cell(page, "%.2g", at(t, t->core_s, core, last)->median);
}

/* Whether a number below 0 is printed: only a core that keeps rows of S has any. */
static bool any_below(const table *t)
{
    bool below = false;
    for (int i = 0; i < t->summary->core_count * t->summary->landmark_count; i++)
        below |= t->above[i].count && 100 * t->above[i].median <= -0.05;
    return below;
}

static bool tells_exact(const void *row, const void *unused)
{
    (void)unused;
    return !isnan(((const nb_error_row *)row)->measures.exact_s);
}

/* What the heads cost without any approximation, by size. */
static nb_status add_exact(nb_page *page, const nb_summary *s, nb_ctx *ctx)
{
    nb_selection all, timed;
    nb_groups sizes;
    double *seconds;
    NB_NEED(seconds, nb_alloc_reals(ctx, (size_t)s->row_count + 1, 1));
    NB_TRY(ctx, nb_frame_all(&s->frame, &all, ctx));
    NB_TRY(ctx, nb_frame_select(&s->frame, all, tells_exact, NULL, &timed, ctx));
    NB_TRY(ctx, nb_frame_group(&s->frame, timed, (const char *const[]){"n", "d", NULL}, &sizes, ctx));
    nb_page_paragraph(
        page, "Exact attention on these heads, S V: multiplications, and median seconds on one CPU (column exact_s)");
    for (int g = 0; g < sizes.count; g++) {
        nb_selection rows = nb_group_rows(&sizes, g);
        const nb_error_row *r = &s->rows[rows.at[0]];
        for (int i = 0; i < rows.count; i++) seconds[i] = s->rows[rows.at[i]].measures.exact_s;
        nb_page_item(page, "n = %d, d = %d: 2 n^2 d = %.2g, %.2g s", r->n, r->d, 2.0 * r->n * r->n * r->d,
                     nb_statistic_of(rows.count, seconds).median);
    }
    return NB_OK;
}

static nb_status add_line(nb_grid *g, const table *t, int core, int m)
{
    const nb_summary *s = t->summary;
    const nb_statistic *a = at(t, t->above, core, m);
    const double values[] = {a->median, a->low, a->high, at(t, t->core_s, core, m)->median};
    if (t->planned[core * s->landmark_count + m] == 0) return NB_OK;
    NB_TRY(g->ctx, nb_grid_text(g, s->cores[core].core));
    NB_TRY(g->ctx, nb_grid_int(g, s->landmarks[m]));
    NB_TRY(g->ctx, nb_grid_int(g, a->count));
    NB_TRY(g->ctx, nb_grid_flag(g, a->count > 0 && is_full(t, core, m)));
    NB_TRY(g->ctx, nb_grid_flag(g, nb_swept_is_oracle(&t->sweeps.cores[core])));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) NB_TRY(g->ctx, nb_grid_real(g, "%.3g", values[i]));
    return NB_OK;
}

/* For programs 0.1 is 10 % above. */
static nb_status fill(nb_grid *grid, const table *t, nb_ctx *ctx)
{
    static const char *const heads[] = {"core",  "landmarks", "count", "all_choices", "oracle",
                                        "above", "p10",       "p90",   "core_s",      NULL};
    NB_TRY(ctx, nb_grid_make(grid, heads, true, ctx));
    for (int c = 0; c < t->summary->core_count; c++)
        for (int m = 0; m < t->summary->landmark_count; m++) NB_TRY(ctx, add_line(grid, t, c, m));
    return NB_OK;
}

static nb_status show(nb_page *page, const table *t, nb_ctx *ctx)
{
    const nb_summary *s = t->summary;
    nb_page_heading(page, 2, "Cores, %% above the best one on the same landmarks");
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_LABEL, "landmarks");
    for (int m = 0; m < s->landmark_count; m++) nb_page_column(page, NB_PAGE_NUMBER, "%d", s->landmarks[m]);
    nb_page_column(page, NB_PAGE_NUMBER, "core_s");
    for (int c = 0; c < s->core_count; c++) add_core(page, t, c);
    nb_page_paragraph(page, "100 (error / subspace part - 1): medians over problems, strategies with their pairing and "
                            "factors, heads and trials; core_s: median seconds at the core's largest m.");
    nb_page_note(page, "*",
                 "least of the cores, oracles aside, that were measured on all choices of landmarks of the column");
    nb_page_note(page, "!", "not measured on all of them: not planned, skipped or missing");
    nb_page_note(page, "-", "measured on none, or the subspace part is rounding noise");
    nb_page_note(page, "blank:", "not planned");
    if (any_below(t))
        nb_page_note(page, "below 0:", "the core keeps rows of S exactly, so its result is not of the form F X B");
    return add_exact(page, s, ctx);
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    nb_summary summary;
    table t = {.summary = &summary};
    int there = 0;
    NB_TRY(ctx, nb_summary_make(frame, &summary, ctx));
    NB_TRY(ctx, nb_sweeps_find(&summary, &t.sweeps, ctx));
    NB_TRY(ctx, sum_up(&t, ctx));
    for (int c = 0; c < summary.core_count; c++) there += last_m(&t, c) >= 0;
    if (there < 2) return NB_OK;
    return form->grid ? fill(form->grid, &t, ctx) : show(form->page, &t, ctx);
}

static const char *const references[] = {"none: the best core is the projection; see 'nysbench describe best'", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_cores = {
    .component = {"cores", "how far each core is above the best one on the same landmarks, by number of landmarks",
                  references, options, 0},
    .study = NB_ERROR_STUDY,
    .place = 3,
    .make = make,
};
