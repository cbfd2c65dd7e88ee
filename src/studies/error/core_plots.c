/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_plots.c - every kind turns rows into points of a sheet. */
#include "studies/error/core_plots.h"

#include "studies/error/sheet.h"
#include "studies/error/sweeps.h"

#include <math.h>
#include <string.h>

typedef struct {
    const nb_summary *summary;
    nb_sweeps sweeps;
    int m; /* of figures of one */
} source;

/* One figure for each variant, one panel for each problem, unless a kind says otherwise. */
static nb_status lay_out(const source *of, nb_sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = of->summary;
    size_t lines = (size_t)(2 * m->core_count + m->variant_count + of->sweeps.family_count + 1);
    NB_NEED(s->figures, nb_alloc(ctx, (size_t)(m->variant_count + of->sweeps.family_count), sizeof *s->figures));
    NB_NEED(s->panels, nb_alloc(ctx, 3 * (size_t)m->panel_count, sizeof *s->panels));
    NB_NEED(s->series, nb_alloc(ctx, lines, sizeof *s->series));
    for (int v = 0; v < m->variant_count; v++) s->figures[s->figure_count++] = m->variants[v].label;
    for (int p = 0; p < m->panel_count; p++) s->panels[s->panel_count++] = m->panels[p].label;
    return NB_OK;
}

static bool good(const nb_error_row *row)
{
    return strcmp(row->status, "ok") == 0;
}

/* Whether the core keeps rows of S: then the error is of no F X B, and may be below the best core's. */
static bool keeps_rows(const nb_error_row *row)
{
    return good(row) && isnan(row->measures.error_core) && !isnan(row->measures.error_subspace);
}

/* Rows first ... the result - 1 are of the same landmarks. */
static int group_end(const nb_summary *s, int first)
{
    int end = first + 1;
    while (end < s->row_count && nb_same_landmarks(&s->rows[first], &s->rows[end])) end++;
    return end;
}

/* The variants with a core that has a cut-off: where factors have no middle, none has. */
static nb_status find_cutoffs(const nb_summary *m, bool **has, nb_ctx *ctx)
{
    NB_NEED(*has, nb_alloc(ctx, (size_t)m->variant_count, sizeof **has));
    for (int i = 0; i < m->row_count; i++)
        if (isfinite(m->rows[i].measures.core_cutoff)) (*has)[nb_summary_find(m, &m->rows[i]).variant] = true;
    return NB_OK;
}

/* Error against effective cut-off, at one m. The best core is the subspace part. */
static nb_status cutoff(const source *of, nb_sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = of->summary;
    int at = of->m, *of_family, *of_core, *mark, best;
    bool *cuts_at_all;
    NB_TRY(ctx, find_cutoffs(m, &cuts_at_all, ctx));
    NB_NEED(of_family, nb_alloc(ctx, (size_t)of->sweeps.family_count + 1, sizeof *of_family));
    NB_NEED(of_core, nb_alloc(ctx, (size_t)m->core_count, sizeof *of_core));
    NB_NEED(mark, nb_alloc(ctx, (size_t)m->core_count, sizeof *mark));
    for (int f = 0; f < of->sweeps.family_count; f++) of_family[f] = -1;
    for (int c = 0; c < m->core_count; c++) of_core[c] = mark[c] = -1;
    for (int i = 0; i < m->row_count; i++) { /* which are there */
        int c = nb_summary_find(m, &m->rows[i]).core, f = of->sweeps.cores[c].family;
        bool cuts = isfinite(m->rows[i].measures.core_cutoff) && !keeps_rows(&m->rows[i]);
        if (cuts && f >= 0 && of_family[f] < 0)
            of_family[f] = nb_sheet_series(s, of->sweeps.families[f].label, NB_CURVE, of->sweeps.families[f].look);
        if (cuts && (f < 0 || of->sweeps.cores[c].standard) && mark[c] < 0) mark[c] = -2;
        if (!cuts && good(&m->rows[i]) && f < 0 && of_core[c] < 0 && !nb_swept_is_oracle(&of->sweeps.cores[c]))
            of_core[c] = -2;
    }
    for (int c = 0; c < m->core_count; c++) {
        if (mark[c] == -2) mark[c] = nb_sheet_series(s, m->cores[c].label, NB_MARK, of->sweeps.cores[c].look);
        if (of_core[c] == -2) of_core[c] = nb_sheet_series(s, m->cores[c].brief, NB_LEVEL, of->sweeps.cores[c].look);
    }
    best = nb_sheet_series(s, "subspace part: the best core", NB_LEVEL, NB_BLACK);
    for (int i = 0; i < m->row_count; i++) {
        const nb_error_row *row = &m->rows[i];
        nb_summary_index p = nb_summary_find(m, row);
        int f = of->sweeps.cores[p.core].family;
        if (row->landmarks != at || !good(row) || !cuts_at_all[p.variant]) continue;
        nb_sheet_point one = {p.variant, p.panel, best, 0, 1, row->measures.error_subspace};
        NB_TRY(ctx, nb_sheet_add(s, one, ctx));
        one.y = row->measures.error;
        if (of_core[p.core] >= 0)
            NB_TRY(ctx, nb_sheet_add(s, (nb_sheet_point){one.figure, one.panel, of_core[p.core], 0, 1, one.y}, ctx));
        one.x = row->measures.core_cutoff;
        if (f >= 0 && of_family[f] >= 0)
            NB_TRY(ctx,
                   nb_sheet_add(s, (nb_sheet_point){one.figure, one.panel, of_family[f], p.core, one.x, one.y}, ctx));
        if (mark[p.core] >= 0)
            NB_TRY(ctx,
                   nb_sheet_add(s, (nb_sheet_point){one.figure, one.panel, mark[p.core], p.core, one.x, one.y}, ctx));
    }
    NB_NEED(s->title, nb_format(ctx, "error against cut-off: %%s, m = %d", at));
    s->x_name = "singular value of A, relative to the largest, of which the core inverts half";
    s->y_name = "relative error  |S - FXB|_F / |S|_F";
    s->log_x = true;
    return NB_OK;
}

/* Error, residual and row sums against the number of steps, at one m. */
static nb_status steps(const source *of, nb_sheet *s, nb_ctx *ctx)
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
        nb_summary_index p = nb_summary_find(m, row);
        const nb_swept *core = &of->sweeps.cores[p.core];
        if (row->landmarks != at || !good(row) || core->family < 0 || of_family[core->family] < 0) continue;
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

/* The core that is the same in double precision, another one; -1: there is none. */
static int double_of(const source *of, int core, nb_ctx *ctx)
{
    int twin = of->sweeps.cores[core].choice.component
                   ? nb_sweeps_sibling(&of->sweeps, of->summary->core_count, core, "precision", "double", ctx)
                   : -1;
    return twin == core ? -1 : twin;
}

/* Series of the cores that stand alone or are the standard of their kind, and, dashed, of
 * the best setting of each sweep; -1: none. The best core is what they are compared with;
 * the most rows are the best; sweeps in single precision lie upon those in double. */
static nb_status name_cores(const source *of, nb_sheet *s, int *of_core, int *of_family, nb_ctx *ctx)
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
        if (strcmp(family->option, "rows") == 0 || double_of(of, one, ctx) >= 0) continue;
        NB_NEED(label, nb_format(ctx, "best %s of %s (oracle)", family->option, family->label));
        of_family[f] = nb_sheet_series(s, label, NB_DASHED, family->look);
    }
    return NB_OK;
}

/* How far the error is above the subspace part, which is the best core's, as a share of
 * it, against m; of each sweep that of the best setting of each choice of landmarks. Where
 * the subspace part is rounding there is no such share. */
static nb_status cores(const source *of, nb_sheet *s, nb_ctx *ctx)
{
    static const double shown = 1e-8; /* less has been rounded away */
    const nb_summary *m = of->summary;
    int *of_core, *of_family;
    double *least;
    NB_NEED(of_core, nb_alloc(ctx, (size_t)m->core_count, sizeof *of_core));
    NB_NEED(of_family, nb_alloc(ctx, (size_t)of->sweeps.family_count + 1, sizeof *of_family));
    NB_NEED(least, nb_alloc_reals(ctx, (size_t)of->sweeps.family_count + 1, 1));
    NB_TRY(ctx, name_cores(of, s, of_core, of_family, ctx));
    for (int i = 0, end; i < m->row_count; i = end) {
        end = group_end(m, i);
        nb_summary_index p = nb_summary_find(m, &m->rows[i]);
        for (int f = 0; f < of->sweeps.family_count; f++) least[f] = INFINITY;
        for (int j = i; j < end; j++) {
            const nb_error_row *row = &m->rows[j];
            int c = nb_summary_find(m, row).core, f = of->sweeps.cores[c].family;
            double above = nb_above_best(row), excess = fmax(shown, above);
            if (isnan(above) || keeps_rows(row)) continue;
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
                                         (nb_sheet_point){p.variant, p.panel, of_family[f], m->rows[i].landmarks,
                                                          m->rows[i].landmarks, least[f]},
                                         ctx));
    }
    s->title = "cores above the best core: %s";
    s->x_name = "landmarks m";
    s->y_name = "error / best core's - 1  (0.1: 10 % above)";
    s->log_x = s->log_x_2 = s->intervals = true;
    return NB_OK;
}

/* Error over the subspace part against rows / m, a figure for each sweep over rows. */
static nb_status rows(const source *of, nb_sheet *s, nb_ctx *ctx)
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
        nb_summary_index p = nb_summary_find(m, row);
        const nb_swept *core = &of->sweeps.cores[p.core];
        if (!good(row) || core->family < 0 || figure[core->family] < 0 || core->x > row->n)
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

/* How far single precision is from double, against the condition of A. */
static nb_status precision(const source *of, nb_sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = of->summary;
    int *twin, *line;
    NB_NEED(twin, nb_alloc(ctx, (size_t)m->core_count, sizeof *twin));
    NB_NEED(line, nb_alloc(ctx, (size_t)m->core_count, sizeof *line));
    for (int c = 0; c < m->core_count; c++) {
        twin[c] = double_of(of, c, ctx);
        if (twin[c] >= 0) line[c] = nb_sheet_series(s, m->cores[c].label, NB_CLOUD, of->sweeps.cores[c].look);
    }
    for (int i = 0, end; i < m->row_count; i = end) {
        end = group_end(m, i);
        for (int j = i; j < end; j++) {
            const nb_error_row *row = &m->rows[j];
            nb_summary_index p = nb_summary_find(m, row);
            for (int k = i; twin[p.core] >= 0 && good(row) && k < end; k++) {
                if (nb_summary_find(m, &m->rows[k]).core != twin[p.core] || !good(&m->rows[k])) continue;
                if (nb_is_noise(row, NB_WHOLE) && nb_is_noise(&m->rows[k], NB_WHOLE)) continue;
                double distance = fabs(row->measures.error / m->rows[k].measures.error - 1);
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
    s->y_name = "|ratio of errors - 1|  (1e-9: or less)";
    s->log_x = true;
    return NB_OK;
}

static const struct {
    const char *name;
    nb_status (*collect)(const source *of, nb_sheet *s, nb_ctx *ctx);
} kinds[] = {{"cutoff", cutoff}, {"steps", steps}, {"cores", cores}, {"rows", rows}, {"precision", precision}};
enum { KINDS = sizeof kinds / sizeof *kinds };
const char *const nb_core_plot_kinds[] = {"cutoff", "steps", "cores", "rows", "precision", NULL};

nb_status nb_core_plot(const nb_drawing *d, const char *kind, int *figures, nb_ctx *ctx)
{
    const nb_summary *summary = d->summary;
    source of = {.summary = summary, .m = d->m};
    nb_sheet s = {.kind = kind, .experiment = d->experiment};
    int k = 0;
    while (strcmp(kinds[k].name, kind) != 0) k++;
    if (nb_plot_of_one_m(kind)) NB_TRY(ctx, nb_plot_choose_m(summary->landmark_count, summary->landmarks, &of.m, ctx));
    NB_TRY(ctx, nb_sweeps_find(summary, &of.sweeps, ctx));
    NB_TRY(ctx, lay_out(&of, &s, ctx));
    NB_TRY(ctx, kinds[k].collect(&of, &s, ctx));
    return nb_sheet_draw(d->folder, &s, d->draw, figures, ctx);
}
