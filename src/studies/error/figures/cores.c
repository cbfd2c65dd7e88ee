/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cores.c - each core above the best one. */
#include "studies/error/core_sheet.h"

#include <math.h>
#include <string.h>

/* Series of the cores that stand alone or are the standard of their kind, and, dashed, of
 * the best setting of each sweep; -1: none. The best core is what they are compared with;
 * the most rows are the best; sweeps in single precision lie upon those in double. */
static nb_status name_cores(const nb_core_sheet *of, nb_sheet *s, int *of_core, int *of_family, nb_ctx *ctx)
{
    const nb_summary *m = of->summary;
    for (int c = 0; c < m->core_count; c++) {
        const nb_swept *core = &of->sweeps.cores[c];
        of_core[c] = !nb_swept_is_oracle(core) && (core->family < 0 || core->standard)
                         ? nb_sheet_series(s, m->cores[c].label, NB_CURVE, core->look)
                         : -1;
    }
    for (int f = 0; f < of->sweeps.family_count; f++) {
        const nb_family *family = &of->sweeps.families[f];
        const char *label;
        int one = 0;
        while (of->sweeps.cores[one].family != f) one++;
        of_family[f] = -1;
        if (strcmp(family->option, "rows") == 0 || nb_core_in_double(of, one, ctx) >= 0) continue;
        NB_NEED(label, nb_format(ctx, "best %s of %s (oracle)", family->option, family->label));
        of_family[f] = nb_sheet_series(s, label, NB_DASHED, family->look);
    }
    return NB_OK;
}

/* How far the error is above the subspace part, which is the best core's, as a share of
 * it, against m; of each sweep that of the best setting of each choice of landmarks. Where
 * the subspace part is rounding there is no such share. */
static nb_status cores(const nb_core_sheet *of, nb_sheet *s, nb_ctx *ctx)
{
    static const double shown = 1e-8; /* less has been rounded away */
    const nb_summary *m = of->summary;
    int *of_core, *of_family;
    double *least;
    NB_NEED(of_core, nb_alloc(ctx, (size_t)m->core_count, sizeof *of_core));
    NB_NEED(of_family, nb_alloc(ctx, (size_t)of->sweeps.family_count + 1, sizeof *of_family));
    NB_NEED(least, nb_alloc_reals(ctx, (size_t)of->sweeps.family_count + 1, 1));
    NB_TRY(ctx, name_cores(of, s, of_core, of_family, ctx));
    for (int g = 0; g < m->choices.count; g++) {
        nb_selection same = nb_group_rows(&m->choices, g);
        const nb_error_row *any = &m->rows[same.at[0]];
        nb_summary_index p = m->at[same.at[0]];
        for (int f = 0; f < of->sweeps.family_count; f++) least[f] = INFINITY;
        for (int i = 0; i < same.count; i++) {
            const nb_error_row *row = &m->rows[same.at[i]];
            int c = m->at[same.at[i]].core, f = of->sweeps.cores[c].family;
            double above = nb_above_best(row), excess = fmax(shown, above);
            if (isnan(above) || nb_keeps_rows(row)) continue;
            if (of_core[c] >= 0)
                NB_TRY(ctx,
                       nb_sheet_add(
                           s, (nb_sheet_point){p.variant, p.panel, of_core[c], row->landmarks, row->landmarks, excess},
                           ctx));
            if (f >= 0) least[f] = fmin(least[f], excess);
        }
        for (int f = 0; f < of->sweeps.family_count; f++)
            if (of_family[f] >= 0)
                NB_TRY(ctx, nb_sheet_add(s,
                                         (nb_sheet_point){p.variant, p.panel, of_family[f], any->landmarks,
                                                          any->landmarks, least[f]},
                                         ctx));
    }
    s->title = "cores above the best core: %s";
    s->x_name = "landmarks m";
    s->y_name = "error / best core's - 1  (0.1: 10 % above)";
    s->log_x = s->log_x_2 = s->intervals = true;
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    return nb_core_sheet_draw(self, frame, d, cores, figures, ctx);
}

static const char *const references[] = {"none: medians over heads and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_cores = {
    .component = {"cores", "how far each core is above the best one, against landmarks", references, options, 0},
    .study = NB_ERROR_STUDY,
    .compares = "core",
    .draw = draw,
};
