/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedup.c - how many times faster than each exact attention, beside it in the same rounds, against n. */
#include "studies/forward/sheets.h"

/* Beside each other: a family over each baseline. */
static nb_status find_panels(const nb_forward_sheet *of, nb_sheet *sheet, int **panels, nb_ctx *ctx)
{
    const nb_forward_summary *s = &of->summary;
    nb_sheet families = *sheet;
    NB_NEED(families.panels, nb_alloc(ctx, (size_t)s->cell_count + 1, sizeof *families.panels));
    NB_TRY(ctx, nb_forward_family_panels(of, &families, panels, ctx));
    for (int p = 0; p < families.panel_count; p++)
        for (int b = 0; b < s->baseline_count; b++)
            NB_NEED(sheet->panels[sheet->panel_count++],
                    nb_format(ctx, "over %s: %s", s->labels[s->baselines[b]], families.panels[p]));
    sheet->columns = s->baseline_count;
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    nb_forward_sheet of;
    nb_sheet sheet;
    int *panels;
    NB_TRY(ctx, nb_forward_sheet_make(&of, self, frame, d, 1, &sheet, ctx));
    const nb_forward_summary *s = &of.summary;
    NB_TRY(ctx, find_panels(&of, &sheet, &panels, ctx));
    for (int t = 0; t < of.thread_count; t++) NB_TRY(ctx, nb_forward_name_figure(&of, t, "", &sheet, ctx));
    for (int v = 0; v < s->attentions.count; v++) nb_sheet_series(&sheet, s->labels[v], NB_CURVE, v);
    for (int i = 0; i < s->cell_count; i++) {
        const nb_forward_cell *c = &s->cells[i];
        for (int b = 0; b < s->baseline_count && panels[c->family] >= 0; b++)
            if (c->attention != s->baselines[b])
                NB_TRY(ctx, nb_sheet_add(&sheet,
                                         (nb_sheet_point){nb_forward_figure_of(&of, c->threads),
                                                          panels[c->family] * s->baseline_count + b, c->attention, c->n,
                                                          c->n, c->speedup[b]},
                                         ctx));
    }
    sheet.title = "speed-up, %s: median over layers and trials";
    sheet.x_name = "n, tokens";
    sheet.y_name = "times faster, above 1, or slower, below";
    sheet.bare = sheet.log_x = sheet.log_x_2 = sheet.level_1 = true;
    return nb_sheet_draw(d->folder, &sheet, d->gnuplots, figures, ctx);
}

static const char *const references[] = {"Xiong et al., Nystromformer, AAAI 2021 (Table 2)", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_speedup = {
    .component = {"speedup", "how many times faster than each exact attention, against n", references, options, 0},
    .study = NB_FORWARD_STUDY,
    .draw = draw,
};
