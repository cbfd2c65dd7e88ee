/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crossovers.c - from which n on an attention is faster than another one: where the lines through their times cross,
 * both axes logarithmic. */
#include "report/table.h"
#include "statistics/line.h"
#include "studies/forward/summary.h"

#include <math.h>

typedef struct {
    const nb_forward_summary *s;
    nb_grid *grid;
    int *a, *b; /* cells of both at the same n; room for all */
    int count;  /* of them */
    nb_ctx *ctx;
} maker;

/* The n that both attentions have. */
static void find_common(maker *m, int first, int end, int a, int b)
{
    const nb_forward_cell *cells = m->s->cells;
    int a_count = nb_forward_of_attention(m->s, first, end, a, m->a);
    int b_count = nb_forward_of_attention(m->s, first, end, b, m->b);
    m->count = 0;
    for (int i = 0, j = 0; i < a_count && j < b_count;) {
        int difference = cells[m->a[i]].n - cells[m->b[j]].n;
        if (difference == 0) {
            m->a[m->count] = m->a[i];
            m->b[m->count++] = m->b[j];
        }
        i += difference <= 0;
        j += difference >= 0;
    }
}

/* The first n from which on `a` is faster, up to the last n: NaN where it is not faster there; the least n where it
 * always is. */
static double crossing(const maker *m)
{
    const nb_forward_cell *cells = m->s->cells;
    double from = NAN;
    for (int i = m->count - 1; i >= 0; i--) {
        const nb_forward_cell *a = &cells[m->a[i]], *b = &cells[m->b[i]];
        if (a->time_s < b->time_s) {
            from = a->n;
            continue;
        }
        if (i + 1 == m->count) return NAN;
        const nb_forward_cell *next_a = &cells[m->a[i + 1]], *next_b = &cells[m->b[i + 1]];
        return exp(nb_line_crossing(log(a->n), log(next_a->n), log(a->time_s), log(next_a->time_s), log(b->time_s),
                                    log(next_b->time_s)));
    }
    return from;
}

static nb_status add_line(const maker *m, int a, int b)
{
    const nb_forward_cell *first = &m->s->cells[m->a[0]], *last = &m->s->cells[m->a[m->count - 1]];
    double n = crossing(m);
    const char *text;
    NB_TRY(m->ctx, nb_grid_text(m->grid, m->s->families[first->family]));
    NB_TRY(m->ctx, nb_grid_int(m->grid, first->threads));
    NB_TRY(m->ctx, nb_grid_text(m->grid, nb_forward_name(m->s, a, m->grid->exact)));
    NB_TRY(m->ctx, nb_grid_text(m->grid, nb_forward_name(m->s, b, m->grid->exact)));
    NB_TRY(m->ctx, nb_grid_int(m->grid, first->n));
    NB_TRY(m->ctx, nb_grid_int(m->grid, last->n));
    if (m->grid->exact) {
        NB_TRY(m->ctx, nb_grid_real(m->grid, "%g", n));
        NB_TRY(m->ctx, nb_grid_real(m->grid, "%g", m->s->cells[m->b[0]].time_s / first->time_s));
        return nb_grid_real(m->grid, "%g", m->s->cells[m->b[m->count - 1]].time_s / last->time_s);
    }
    NB_NEED(text, isnan(n)        ? nb_format(m->ctx, "not up to %d", last->n)
                  : n == first->n ? nb_format(m->ctx, "always, from %d", first->n)
                                  : nb_format(m->ctx, "from %.0f", n));
    NB_TRY(m->ctx, nb_grid_text(m->grid, text));
    NB_TRY(m->ctx, nb_grid_real(m->grid, "%.3g", m->s->cells[m->b[0]].time_s / first->time_s));
    return nb_grid_real(m->grid, "%.3g", m->s->cells[m->b[m->count - 1]].time_s / last->time_s);
}

static bool is_baseline(const nb_forward_summary *s, int attention)
{
    for (int b = 0; b < s->baseline_count; b++)
        if (s->baselines[b] == attention) return true;
    return false;
}

/* Of each attention against each exact one; and of the others those that cross. */
static nb_status add_lines(maker *m)
{
    const nb_forward_summary *s = m->s;
    for (int first = 0, end; first < s->cell_count; first = end) {
        end = nb_forward_next_family(s, first);
        for (int a = 0; a < s->attentions.count; a++)
            for (int b = 0; b < s->attentions.count; b++) {
                find_common(m, first, end, a, b);
                if (a == b || m->count < 2) continue;
                double n = crossing(m);
                bool crosses = n > s->cells[m->a[0]].n;
                if (crosses || (is_baseline(s, b) && !is_baseline(s, a))) NB_TRY(m->ctx, add_line(m, a, b));
            }
    }
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    static const char *const text[] = {"layers", "threads", "attention",  "faster than", "from n",
                                       "to n",   "at n",    "x at first", "x at last",   NULL};
    static const char *const columns[] = {"layers", "threads",    "attention",     "baseline",     "n_from",
                                          "n_to",   "n_crossing", "speedup_first", "speedup_last", NULL};
    nb_forward_summary s;
    nb_grid own;
    maker m = {.s = &s, .ctx = ctx};
    NB_TRY(ctx, nb_forward_summary_make(frame, &s, ctx));
    NB_NEED(m.a, nb_alloc(ctx, (size_t)s.cell_count + 1, sizeof *m.a));
    NB_NEED(m.b, nb_alloc(ctx, (size_t)s.cell_count + 1, sizeof *m.b));
    NB_TRY(ctx, nb_table_grid(form, text, columns, &own, &m.grid, ctx));
    NB_TRY(ctx, add_lines(&m));
    if (form->grid || own.count == 0) return NB_OK;
    own.labels = 4;
    nb_page_heading(form->page, 2, "Where one attention overtakes another one");
    nb_grid_show(&own, form->page);
    nb_page_paragraph(form->page, "Lines between the medians at two neighbouring n, both axes logarithmic: from that n "
                                  "on it is faster, up to the last.");
    return NB_OK;
}

static const char *const references[] = {"none: interpolation on logarithms", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_crossovers = {
    .component = {"crossovers", "from which n on an attention is faster than another one", references, options, 0},
    .study = NB_FORWARD_STUDY,
    .place = 3,
    .file = "crossovers.csv",
    .make = make,
};
