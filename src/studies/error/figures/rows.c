/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.c - what exact rows of S are worth. */
#include "studies/error/core_sheet.h"

#include <math.h>
#include <string.h>

/* Error over the subspace part against rows / m, a figure for each sweep over rows. */
static nb_status rows(const nb_core_sheet *of, nb_sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = of->summary;
    int *figure;
    NB_NEED(figure, nb_alloc(ctx, (size_t)of->sweeps.family_count + 1, sizeof *figure));
    s->figure_count = 0;
    for (int f = 0; f < of->sweeps.family_count; f++) {
        bool of_rows = strcmp(of->sweeps.families[f].option, "rows") == 0;
        figure[f] = of_rows ? s->figure_count : -1;
        if (of_rows) s->figures[s->figure_count++] = of->sweeps.families[f].label;
    }
    for (int v = 0; v < m->variant_count; v++) nb_sheet_series(s, m->variants[v].label, NB_CURVE, v);
    for (int i = 0; i < m->row_count && s->figure_count > 0; i++) {
        const nb_error_row *row = &m->rows[i];
        nb_summary_index p = m->at[i];
        const nb_swept *core = &of->sweeps.cores[p.core];
        if (!nb_row_is_ok(row) || core->family < 0 || figure[core->family] < 0 || core->x > row->n)
            continue; /* more rows than there are */
        double x = core->x / row->landmarks;
        NB_TRY(ctx, nb_sheet_add(s,
                                 (nb_sheet_point){figure[core->family], p.panel, p.variant, (int)lround(1e6 * log2(x)),
                                                  x, 1 + nb_above_best(row)},
                                 ctx));
    }
    s->title = "error against exact rows: %s";
    s->x_name = "exact rows of S / landmarks m, all m together";
    s->y_name = "error / subspace part, same landmarks";
    s->log_x = s->log_x_2 = s->level_1 = true;
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    return nb_core_sheet_draw(self, frame, d, rows, figures, ctx);
}

static const char *const references[] = {"none: medians over heads and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_rows = {
    .component = {"rows", "error of fits to exact rows of S against the number of rows", references, options, 0},
    .study = NB_ERROR_STUDY,
    .draw = draw,
};
