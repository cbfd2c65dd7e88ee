/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_table.c - see core_table.h */
#include "studies/error/core_table.h"

#include "studies/error/sweeps.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { CELL = 10, LONGEST = 64 };

typedef struct {
    const nb_summary *summary;
    nb_sweeps sweeps;
    nb_statistic *above, *core_s; /* by core and landmarks */
    int *planned;                 /* rows, likewise */
    uint64_t *choices;            /* a digest of the choices of landmarks that `above` is of, likewise */
} table;

static int cell_of(const nb_summary *s, const nb_summary_index *of)
{
    return of->core * s->landmark_count + of->landmark;
}

/* How many trials each row stands for: all of its problem's where its cell is the same in
 * every trial, and so has rows of trial 0 alone. */
static nb_status weigh(const nb_summary *s, const nb_summary_index *of, int *weights, nb_ctx *ctx)
{
    bool *drawn;
    NB_NEED(drawn, nb_alloc(ctx,
                            (size_t)s->panel_count * (size_t)s->variant_count * (size_t)s->core_count *
                                    (size_t)s->landmark_count +
                                1,
                            sizeof *drawn));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->row_count; i++) {
            bool *mine = &drawn[nb_summary_cell(s, of[i].panel, of[i].variant, of[i].core, of[i].landmark)];
            *mine = *mine || s->rows[i].trial > 0;
            weights[i] = *mine ? 1 : s->panels[of[i].panel].trials;
        }
    return NB_OK;
}

/* Sums of these, which do not depend on the order, tell sets of choices apart. */
static uint64_t digest_of(int panel, int variant, int head)
{
    uint64_t x = ((uint64_t)panel << 42) ^ ((uint64_t)variant << 21) ^ (uint64_t)head;
    x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9; /* splitmix64's */
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* Values of the rows by core and landmarks, as often as they stand for a trial, then
 * their medians. */
static nb_status sum_up(table *t, nb_ctx *ctx)
{
    const nb_summary *s = t->summary;
    int cells = s->core_count * s->landmark_count, *weights;
    size_t *first, values = 0, rows = (size_t)s->row_count;
    nb_summary_index *of;
    double *above, *core_s;
    NB_NEED(t->above, nb_alloc(ctx, (size_t)cells + 1, sizeof *t->above));
    NB_NEED(t->core_s, nb_alloc(ctx, (size_t)cells + 1, sizeof *t->core_s));
    NB_NEED(t->planned, nb_alloc(ctx, (size_t)cells + 1, sizeof *t->planned));
    NB_NEED(t->choices, nb_alloc(ctx, (size_t)cells + 1, sizeof *t->choices));
    NB_NEED(weights, nb_alloc(ctx, rows + 1, sizeof *weights));
    NB_NEED(of, nb_alloc(ctx, rows + 1, sizeof *of));
    NB_NEED(first, nb_alloc(ctx, (size_t)cells + 2, sizeof *first)); /* cell c begins at first[c + 1] */
    for (int i = 0; i < s->row_count; i++) of[i] = nb_summary_find(s, &s->rows[i]);
    NB_TRY(ctx, weigh(s, of, weights, ctx));
    for (int i = 0; i < s->row_count; i++) {
        int cell = cell_of(s, &of[i]);
        t->planned[cell]++;
        if (isnan(nb_above_best(&s->rows[i]))) continue;
        first[cell + 2] += (size_t)weights[i];
        values += (size_t)weights[i];
        t->choices[cell] += (uint64_t)weights[i] * digest_of(of[i].panel, of[i].variant, s->rows[i].head);
    }
    for (int c = 0; c < cells; c++) first[c + 2] += first[c + 1];
    NB_NEED(above, nb_alloc_reals(ctx, values + 1, 2));
    core_s = above + values;
    for (int i = 0; i < s->row_count; i++) {
        double excess = nb_above_best(&s->rows[i]);
        for (int k = 0; k < weights[i] && !isnan(excess); k++) {
            size_t place = first[cell_of(s, &of[i]) + 1]++; /* in the end each cell's first stands at its own number */
            above[place] = excess;
            core_s[place] = s->rows[i].measures.core_s;
        }
    }
    for (int c = 0; c < cells; c++) {
        t->above[c] = nb_statistic_of((int)(first[c + 1] - first[c]), above + first[c]);
        t->core_s[c] = nb_statistic_of((int)(first[c + 1] - first[c]), core_s + first[c]);
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

static void print_core(FILE *out, const table *t, int core, int width)
{
    const nb_summary *s = t->summary;
    char number[32];
    int last = last_m(t, core);
    if (last < 0) return;
    fprintf(out, "  %-*.*s", width, width, s->cores[core].label);
    for (int m = 0; m < s->landmark_count; m++) {
        const nb_statistic *a = at(t, t->above, core, m);
        double percent = 100 * a->median;
        if (fabs(percent) < 0.05) percent = 0; /* a sign would be rounding's */
        snprintf(number, sizeof number, percent >= 1e5 ? "%.0e" : fabs(percent) >= 9.95 ? "%.0f" : "%.1f", percent);
        fprintf(out, "%*s%s%s", CELL,
                a->count                                   ? number
                : t->planned[core * s->landmark_count + m] ? "-"
                                                           : "",
                nearest(t, m) == core ? "*" : " ", a->count && !is_full(t, core, m) ? "!" : " ");
    }
    fprintf(out, "%12.2g\n", at(t, t->core_s, core, last)->median);
}

/* Whether a number below 0 is printed: only a core that keeps rows of S has any. */
static bool any_below(const table *t)
{
    bool below = false;
    for (int i = 0; i < t->summary->core_count * t->summary->landmark_count; i++)
        below |= t->above[i].count && 100 * t->above[i].median <= -0.05;
    return below;
}

/* Whether row i is the first of its n and d that tells what exact attention takes. */
static bool first_of_size(const nb_summary *s, int i)
{
    int k = i - 1; /* what is alike mostly stands together */
    while (k >= 0 &&
           !(s->rows[k].n == s->rows[i].n && s->rows[k].d == s->rows[i].d && !isnan(s->rows[k].measures.exact_s)))
        k--;
    return k < 0 && !isnan(s->rows[i].measures.exact_s);
}

/* What the heads cost without any approximation, by size. */
static nb_status print_exact(FILE *out, const nb_summary *s, nb_ctx *ctx)
{
    double *seconds;
    NB_NEED(seconds, nb_alloc_reals(ctx, (size_t)s->row_count + 1, 1));
    fputs("Exact attention on these heads, S V: multiplications, and median seconds on one core (column exact_s)\n",
          out);
    for (int i = 0; i < s->row_count; i++) {
        const nb_error_row *r = &s->rows[i];
        int count = 0;
        if (!first_of_size(s, i)) continue;
        for (int k = i; k < s->row_count; k++)
            if (s->rows[k].n == r->n && s->rows[k].d == r->d && !isnan(s->rows[k].measures.exact_s))
                seconds[count++] = s->rows[k].measures.exact_s;
        fprintf(out, "  n = %d, d = %d: 2 n^2 d = %.2g, %.2g s\n", r->n, r->d, 2.0 * r->n * r->n * r->d,
                nb_statistic_of(count, seconds).median);
    }
    return NB_OK;
}

nb_status nb_core_table_print(FILE *out, const nb_summary *s, nb_ctx *ctx)
{
    table t = {.summary = s};
    int width = 0, there = 0;
    NB_TRY(ctx, nb_sweeps_find(s, &t.sweeps, ctx));
    NB_TRY(ctx, sum_up(&t, ctx));
    for (int c = 0; c < s->core_count; c++) {
        int length = (int)strlen(s->cores[c].label);
        there += last_m(&t, c) >= 0;
        width = length > width ? length : width;
    }
    if (there < 2) return NB_OK;
    width = width < LONGEST ? width : LONGEST;
    fprintf(out, "\nCores, %% above the best one on the same landmarks\n  %-*s", width, "landmarks");
    for (int m = 0; m < s->landmark_count; m++) fprintf(out, "%*d  ", CELL, s->landmarks[m]);
    fprintf(out, "%12s\n", "core_s");
    for (int c = 0; c < s->core_count; c++) print_core(out, &t, c, width);
    fputs(
        "100 (error / subspace part - 1): medians over problems, strategies with their pairing and factors, heads and trials.\n"
        "* least of the cores, oracles aside, that were measured on all choices of landmarks of the column; ! not measured on\n"
        "all: some were not planned, were skipped or are missing; - on none: skipped, missing, or the subspace part is\n"
        "rounding noise; a blank: not in the plan. core_s: median seconds at the core's largest m.\n",
        out);
    if (any_below(&t))
        fputs("Below 0: the core keeps rows of S exactly, so its result is not of the form F X B.\n", out);
    return print_exact(out, s, ctx);
}
