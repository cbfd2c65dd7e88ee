/* SPDX-License-Identifier: GPL-3.0-or-later */
/* precision.c - what single precision costs. */
#include "studies/error/core_sheet.h"

#include <math.h>

/* How far single precision is from double, against the condition of A. */
static nb_status precision(const nb_core_sheet *of, nb_sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = of->summary;
    int *twin, *line;
    NB_NEED(twin, nb_alloc(ctx, (size_t)m->core_count, sizeof *twin));
    NB_NEED(line, nb_alloc(ctx, (size_t)m->core_count, sizeof *line));
    for (int c = 0; c < m->core_count; c++) {
        twin[c] = nb_core_in_double(of, c, ctx);
        if (twin[c] >= 0) line[c] = nb_sheet_series(s, m->cores[c].label, NB_CLOUD, of->sweeps.cores[c].look);
    }
    for (int g = 0; g < m->choices.count; g++) {
        nb_selection same = nb_group_rows(&m->choices, g);
        for (int i = 0; i < same.count; i++) {
            int j = same.at[i];
            const nb_error_row *row = &m->rows[j];
            nb_summary_index p = m->at[j];
            for (int k = 0; twin[p.core] >= 0 && nb_row_is_ok(row) && k < same.count; k++) {
                const nb_error_row *other = &m->rows[same.at[k]];
                if (m->at[same.at[k]].core != twin[p.core] || !nb_row_is_ok(other)) continue;
                if (nb_is_noise(row, NB_WHOLE) && nb_is_noise(other, NB_WHOLE)) continue;
                double distance = fabs(row->measures.error / other->measures.error - 1);
                NB_TRY(ctx, nb_sheet_add(s,
                                         (nb_sheet_point){0, p.panel, line[p.core], j, row->measures.landmark_condition,
                                                          fmax(distance, 1e-9)},
                                         ctx));
            }
        }
    }
    s->figures[0] = "";
    s->figure_count = 1;
    s->title = "single against double precision%s";
    s->x_name = "condition of A";
    s->y_name = "|ratio of errors - 1|  (at least 1e-9)";
    s->log_x = true;
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    return nb_core_sheet_draw(self, frame, d, precision, figures, ctx);
}

static const char *const references[] = {"none: medians over heads and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_precision = {
    .component = {"precision", "errors in single over errors in double precision, against the condition of A",
                  references, options, 0},
    .study = NB_ERROR_STUDY,
    .draw = draw,
};
