/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps.c - what each further step of an iteration changes. */
#include "studies/error/core_sheet.h"

#include <math.h>
#include <string.h>

/* Error, residual and row sums against the number of steps, at one m. */
static nb_status steps(const nb_core_sheet *of, nb_sheet *s, nb_ctx *ctx)
{
    static const char *const what[] = {"error", "|I - AX|_F", "max |row sum - 1|"};
    const nb_summary *m = of->summary;
    int at = of->m, *of_family;
    NB_NEED(of_family, nb_alloc(ctx, (size_t)of->sweeps.family_count + 1, sizeof *of_family));
    for (int f = 0; f < of->sweeps.family_count; f++)
        of_family[f] = strcmp(of->sweeps.families[f].option, "steps")
                           ? -1
                           : nb_sheet_series(s, of->sweeps.families[f].label, NB_CURVE, of->sweeps.families[f].look);
    s->columns = 3;
    s->panel_count = 0;
    for (int p = 0; p < m->panel_count; p++)
        for (int k = 0; k < 3; k++)
            NB_NEED(s->panels[s->panel_count++], nb_format(ctx, "%s: %s", what[k], m->panels[p].label));
    for (int i = 0; i < m->row_count && s->series_count > 0; i++) {
        const nb_error_row *row = &m->rows[i];
        nb_summary_index p = m->at[i];
        const nb_swept *core = &of->sweeps.cores[p.core];
        if (row->landmarks != at || !nb_row_is_ok(row) || core->family < 0 || of_family[core->family] < 0) continue;
        const double y[] = {row->measures.error, row->measures.core_residual, row->measures.rowsum_deviation};
        for (int k = 0; k < 3; k++)
            NB_TRY(ctx,
                   nb_sheet_add(
                       s, (nb_sheet_point){p.variant, 3 * p.panel + k, of_family[core->family], p.core, core->x, y[k]},
                       ctx));
    }
    NB_NEED(s->title, nb_format(ctx, "error, residual and row sums against steps: %%s, m = %d", at));
    s->x_name = "steps";
    s->y_name = "";
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    return nb_core_sheet_draw(self, frame, d, steps, figures, ctx);
}

static const char *const references[] = {"none: medians over heads and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_steps = {
    .component = {"steps", "error, residual and row sums against the number of steps, at one m", references, options,
                  0},
    .study = NB_ERROR_STUDY,
    .of_one_m = true,
    .draw = draw,
};
