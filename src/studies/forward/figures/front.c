/* SPDX-License-Identifier: GPL-3.0-or-later */
/* front.c - output error against time: a curve over the number of landmarks for each attention, an upright line for
 * each exact one, rings around those that nothing beats in both. A panel for each family and n. */
#include "studies/forward/sheets.h"

#include <math.h>

static bool is_baseline(const nb_forward_summary *s, int attention)
{
    for (int b = 0; b < s->baseline_count; b++)
        if (s->baselines[b] == attention) return true;
    return false;
}

typedef struct {
    nb_forward_sheet of;
    nb_forward_curves curves;
    nb_sheet sheet;
    int *series; /* by curve */
    int front;
} picture;

static nb_status add_series(picture *p, nb_ctx *ctx)
{
    const nb_forward_summary *s = &p->of.summary;
    NB_NEED(p->series, nb_alloc(ctx, (size_t)p->curves.count + 1, sizeof *p->series));
    for (int c = 0; c < p->curves.count; c++) {
        int v = 0;
        while (p->curves.of[v] != c) v++;
        p->series[c] = nb_sheet_series(&p->sheet, p->curves.labels[c], is_baseline(s, v) ? NB_UPRIGHT : NB_CURVE, c);
    }
    p->front = nb_sheet_series(&p->sheet, "on the front", NB_RING, NB_BLACK);
    return NB_OK;
}

static nb_status add_cell(picture *p, int i, int panel, nb_ctx *ctx)
{
    const nb_forward_summary *s = &p->of.summary;
    const nb_forward_cell *c = &s->cells[i];
    bool exact = is_baseline(s, c->attention);
    nb_sheet_point point = {nb_forward_figure_of(&p->of, c->threads),
                            panel,
                            p->series[p->curves.of[c->attention]],
                            (int)lround(c->landmarks),
                            1e3 * c->time_s,
                            exact ? 1 : c->error};
    NB_TRY(ctx, nb_sheet_add(&p->sheet, point, ctx));
    if (exact || !nb_forward_is_on_front(s, i)) return NB_OK;
    point.series = p->front;
    point.key = i;
    return nb_sheet_add(&p->sheet, point, ctx);
}

/* Whether there is anything but exact attentions beside a cell. */
static bool has_errors(const nb_forward_summary *s, const nb_forward_cell *c)
{
    for (int i = 0; i < s->cell_count; i++)
        if (s->cells[i].family == c->family && s->cells[i].n == c->n && !is_baseline(s, s->cells[i].attention) &&
            !isnan(s->cells[i].error))
            return true;
    return false;
}

/* Cells of one family and n, whatever their threads, are a panel. */
static nb_status add_cells(picture *p, nb_ctx *ctx)
{
    const nb_forward_summary *s = &p->of.summary;
    int *panel;
    NB_NEED(panel, nb_alloc(ctx, (size_t)s->cell_count + 1, sizeof *panel));
    for (int i = 0; i < s->cell_count; i++) {
        int j = 0;
        if (!has_errors(s, &s->cells[i])) continue;
        while (s->cells[j].family != s->cells[i].family || s->cells[j].n != s->cells[i].n) j++;
        panel[i] = j < i ? panel[j] : p->sheet.panel_count;
        if (j == i)
            NB_NEED(p->sheet.panels[p->sheet.panel_count++],
                    nb_format(ctx, "%s, n = %d", s->families[s->cells[i].family], s->cells[i].n));
        NB_TRY(ctx, add_cell(p, i, panel[i], ctx));
    }
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    picture p = {.front = -1};
    NB_TRY(ctx, nb_forward_sheet_make(&p.of, self, frame, d, 1, &p.sheet, ctx));
    NB_TRY(ctx, nb_forward_find_curves(&p.of.summary, &p.curves, ctx));
    for (int t = 0; t < p.of.thread_count; t++) NB_TRY(ctx, nb_forward_name_figure(&p.of, t, "", &p.sheet, ctx));
    NB_TRY(ctx, add_series(&p, ctx));
    NB_TRY(ctx, add_cells(&p, ctx));
    p.sheet.title = "output error against time, %s: medians, curves over the number of landmarks";
    p.sheet.x_name = "milliseconds of a pass over all heads (amortized_s)";
    p.sheet.y_name = "relative error of the outputs";
    p.sheet.bare = p.sheet.log_x = p.sheet.by_key = true;
    return nb_sheet_draw(d->folder, &p.sheet, d->gnuplots, figures, ctx);
}

static const char *const references[] = {"none: medians over layers and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_front = {
    .component = {"front", "output error against time, a curve over the number of landmarks for each attention",
                  references, options, 0},
    .study = NB_FORWARD_STUDY,
    .draw = draw,
};
