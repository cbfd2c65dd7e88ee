/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.c - the workspace of a pass, and the growth of the process, against n. */
#include "studies/forward/sheets.h"

enum { WORKSPACE, PEAK, MEASURES };
static const char *const names[MEASURES] = {"workspace", "resident set"};

static nb_status add_cell(const nb_forward_sheet *of, nb_sheet *sheet, const nb_forward_cell *c, int panel, nb_ctx *ctx)
{
    for (int k = 0; k < c->rows.count; k++) {
        const nb_forward_row *row = nb_frame_row(&of->summary.frame, c->rows.at[k]);
        const double values[MEASURES] = {row->measures.workspace_bytes, row->measures.peak_bytes};
        for (int m = 0; m < MEASURES; m++)
            NB_TRY(ctx, nb_sheet_add(sheet,
                                     (nb_sheet_point){MEASURES * nb_forward_figure_of(of, c->threads) + m, panel,
                                                      c->attention, c->n, c->n, 1e-6 * values[m]},
                                     ctx));
    }
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    nb_forward_sheet of;
    nb_sheet sheet;
    int *panels;
    NB_TRY(ctx, nb_forward_sheet_make(&of, self, frame, d, MEASURES, &sheet, ctx));
    const nb_forward_summary *s = &of.summary;
    NB_TRY(ctx, nb_forward_family_panels(&of, &sheet, &panels, ctx));
    for (int t = 0; t < of.thread_count; t++)
        for (int m = 0; m < MEASURES; m++) NB_TRY(ctx, nb_forward_name_figure(&of, t, names[m], &sheet, ctx));
    for (int v = 0; v < s->attentions.count; v++) nb_sheet_series(&sheet, s->labels[v], NB_CURVE, v);
    for (int i = 0; i < s->cell_count; i++)
        if (panels[s->cells[i].family] >= 0)
            NB_TRY(ctx, add_cell(&of, &sheet, &s->cells[i], panels[s->cells[i].family], ctx));
    sheet.title = "memory of a pass over all heads: %s";
    sheet.x_name = "n, tokens";
    sheet.y_name = "MB, without the points";
    sheet.log_x = sheet.log_x_2 = sheet.powers = true;
    return nb_sheet_draw(d->folder, &sheet, d->gnuplots, figures, ctx);
}

static const char *const references[] = {"Xiong et al., Nystromformer, AAAI 2021 (Table 2)", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_memory = {
    .component = {"memory", "workspace and resident set of a pass against n, a curve for each attention", references,
                  options, 0},
    .study = NB_FORWARD_STUDY,
    .draw = draw,
};
