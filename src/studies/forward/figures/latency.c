/* SPDX-License-Identifier: GPL-3.0-or-later */
/* latency.c - the time of a pass against n: a panel for each family of layers, a curve for each attention. */
#include "studies/forward/sheets.h"

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    nb_forward_sheet of;
    nb_sheet sheet;
    int *panels;
    NB_TRY(ctx, nb_forward_sheet_make(&of, self, frame, d, 1, &sheet, ctx));
    const nb_forward_summary *s = &of.summary;
    NB_TRY(ctx, nb_forward_family_panels(&of, &sheet, &panels, ctx));
    for (int t = 0; t < of.thread_count; t++) NB_TRY(ctx, nb_forward_name_figure(&of, t, "", &sheet, ctx));
    for (int v = 0; v < s->attentions.count; v++) nb_sheet_series(&sheet, s->labels[v], NB_CURVE, v);
    for (int i = 0; i < s->cell_count; i++) {
        const nb_forward_cell *c = &s->cells[i];
        for (int k = 0; k < c->rows.count && panels[c->family] >= 0; k++) {
            const nb_forward_row *row = nb_frame_row(&s->frame, c->rows.at[k]);
            NB_TRY(ctx, nb_sheet_add(&sheet,
                                     (nb_sheet_point){nb_forward_figure_of(&of, c->threads), panels[c->family],
                                                      c->attention, c->n, c->n, 1e3 * row->measures.amortized_s},
                                     ctx));
        }
    }
    sheet.title = "time of a pass over all heads, %s";
    sheet.x_name = "n, tokens";
    sheet.y_name = "milliseconds (amortized_s)";
    sheet.log_x = sheet.log_x_2 = sheet.powers = true;
    return nb_sheet_draw(d->folder, &sheet, d->gnuplots, figures, ctx);
}

static const char *const references[] = {"Xiong et al., Nystromformer, AAAI 2021 (Table 2)", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_latency = {
    .component = {"latency", "time of a pass against n, a curve for each attention", references, options, 0},
    .study = NB_FORWARD_STUDY,
    .standard = true,
    .draw = draw,
};
