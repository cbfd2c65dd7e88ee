/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slopes.c - how time and memory grow with n: the exponent of n, from a line through the logarithms of the medians. */
#include "report/table.h"
#include "statistics/line.h"
#include "studies/forward/summary.h"

#include <math.h>

#define CONFIDENCE 0.95

enum { LATENCY, WORKSPACE, PEAK, MEASURES };

static double value_of(const nb_forward_cell *c, int measure)
{
    return measure == LATENCY ? c->time_s : measure == WORKSPACE ? c->workspace : c->peak;
}

typedef struct {
    const nb_forward_summary *s;
    nb_grid *grid;
    int *which;
    double *x, *y; /* room for all cells */
    nb_ctx *ctx;
} maker;

static nb_line fit(const maker *m, int count, int measure)
{
    int used = 0;
    for (int i = 0; i < count; i++) {
        const nb_forward_cell *c = &m->s->cells[m->which[i]];
        if (!(value_of(c, measure) > 0)) continue;
        m->x[used] = log(c->n);
        m->y[used++] = log(value_of(c, measure));
    }
    return nb_line_fit(used, m->x, m->y, CONFIDENCE);
}

static nb_status add_slope(const maker *m, nb_line line)
{
    const char *text;
    if (m->grid->exact) {
        NB_TRY(m->ctx, nb_grid_real(m->grid, "%g", line.slope));
        NB_TRY(m->ctx, nb_grid_real(m->grid, "%g", line.low));
        return nb_grid_real(m->grid, "%g", line.high);
    }
    NB_NEED(text, isnan(line.slope) ? "-"
                  : isnan(line.low) ? nb_format(m->ctx, "%.2f", line.slope)
                                    : nb_format(m->ctx, "%.2f (%.2f to %.2f)", line.slope, line.low, line.high));
    return nb_grid_text(m->grid, text);
}

static nb_status add_line(const maker *m, int count)
{
    const nb_forward_cell *first = &m->s->cells[m->which[0]], *last = &m->s->cells[m->which[count - 1]];
    NB_TRY(m->ctx, nb_grid_text(m->grid, m->s->families[first->family]));
    NB_TRY(m->ctx, nb_grid_int(m->grid, first->threads));
    NB_TRY(m->ctx, nb_grid_text(m->grid, nb_forward_name(m->s, first->attention, m->grid->exact)));
    NB_TRY(m->ctx, nb_grid_int(m->grid, first->n));
    NB_TRY(m->ctx, nb_grid_int(m->grid, last->n));
    NB_TRY(m->ctx, nb_grid_int(m->grid, count));
    for (int measure = 0; measure < MEASURES; measure++) NB_TRY(m->ctx, add_slope(m, fit(m, count, measure)));
    return NB_OK;
}

/* One line for each attention with several n. */
static nb_status add_lines(const maker *m)
{
    const nb_forward_summary *s = m->s;
    for (int first = 0, end; first < s->cell_count; first = end) {
        end = nb_forward_next_family(s, first);
        for (int v = 0; v < s->attentions.count; v++) {
            int count = nb_forward_of_attention(s, first, end, v, m->which);
            if (count > 1) NB_TRY(m->ctx, add_line(m, count));
        }
    }
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    static const char *const text[] = {"layers", "threads", "attention", "from n", "to n",
                                       "n",      "time",    "workspace", "peak",   NULL};
    static const char *const columns[] = {"layers",     "threads",         "attention",     "n_from",
                                          "n_to",       "n_count",         "time_slope",    "time_low",
                                          "time_high",  "workspace_slope", "workspace_low", "workspace_high",
                                          "peak_slope", "peak_low",        "peak_high",     NULL};
    nb_forward_summary s;
    nb_grid own;
    maker m = {.s = &s, .ctx = ctx};
    NB_TRY(ctx, nb_forward_summary_make(frame, &s, ctx));
    NB_NEED(m.which, nb_alloc(ctx, (size_t)s.cell_count + 1, sizeof *m.which));
    NB_NEED(m.x, nb_alloc_reals(ctx, (size_t)s.cell_count + 1, 2));
    m.y = m.x + s.cell_count + 1;
    NB_TRY(ctx, nb_table_grid(form, text, columns, &own, &m.grid, ctx));
    NB_TRY(ctx, add_lines(&m));
    if (form->grid || own.count == 0) return NB_OK;
    own.labels = 3;
    nb_page_heading(form->page, 2, "Growth: the exponent of n in time and memory, with 95 %% t intervals");
    nb_grid_show(&own, form->page);
    nb_page_paragraph(form->page, "Least squares on logarithms of the medians at each n; the intervals are those of "
                                  "points that scatter about a line, and these bend.");
    return NB_OK;
}

static const char *const references[] = {"none: least squares on logarithms", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_slopes = {
    .component = {"slopes", "how time and memory grow with n: the exponent, with t intervals", references, options, 0},
    .study = NB_FORWARD_STUDY,
    .place = 2,
    .file = "slopes.csv",
    .make = make,
};
