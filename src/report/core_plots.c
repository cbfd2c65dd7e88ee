/* core_plots.c - every kind turns rows into points of series, panels and figures;
 * points of one key are summed up by their median and quantiles. All are drawn by
 * plots/curves.gp. */
#include "report/core_plots.h"

#include "base/files.h"
#include "report/csv.h"
#include "report/plots.h"
#include "report/sweeps.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { CURVE, MARK, LEVEL, CLOUD } style; /* a line; one point; a level all across; points without a line */

typedef struct {
    const char *label;
    style style;
} series;

typedef struct {
    int figure, panel, series, key;
    double x, y;
} point;

typedef struct {
    int figure, panel, series;
    double x; /* the median of them */
    nb_statistic y;
} entry;

typedef struct {
    const nb_summary *summary;
    nb_sweeps sweeps;
    const char *kind, *experiment;
    const char *title, *x_name, *y_name; /* the title may have one %s: the figure's name */
    int figure_count, panel_count, series_count, point_count, capacity, columns;
    const char **figures, **panels;
    series *all;
    bool log_x, log_x_2, level_1; /* scale of x, with base 2; a line at y = 1 */
    point *points;
    int entry_count;
    entry *entries; /* the points of one key summed up, in order */
    int figure;     /* that is written */
} sheet;

static nb_status add_point(sheet *s, point p, nb_ctx *ctx)
{
    if (!isfinite(p.x) || !isfinite(p.y)) return NB_OK;
    if (s->point_count == s->capacity) {
        point *more;
        s->capacity = s->capacity ? 2 * s->capacity : 1024;
        NB_NEED(more, nb_alloc(ctx, (size_t)s->capacity, sizeof *more));
        if (s->point_count > 0) memcpy(more, s->points, (size_t)s->point_count * sizeof *more);
        s->points = more;
    }
    s->points[s->point_count++] = p;
    return NB_OK;
}

static int add_series(sheet *s, const char *label, style style_)
{
    s->all[s->series_count] = (series){label, style_};
    return s->series_count++;
}

/* One figure for each variant, one panel for each problem, unless a kind says otherwise. */
static nb_status sheet_init(sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = s->summary;
    size_t lines = (size_t)(2 * m->core_count + m->variant_count + s->sweeps.family_count + 1);
    NB_NEED(s->figures, nb_alloc(ctx, (size_t)(m->variant_count + s->sweeps.family_count), sizeof *s->figures));
    NB_NEED(s->panels, nb_alloc(ctx, 3 * (size_t)m->panel_count, sizeof *s->panels));
    NB_NEED(s->all, nb_alloc(ctx, lines, sizeof *s->all));
    for (int v = 0; v < m->variant_count; v++) s->figures[s->figure_count++] = m->variants[v].label;
    for (int p = 0; p < m->panel_count; p++) s->panels[s->panel_count++] = m->panels[p].label;
    return NB_OK;
}

static bool good(const nb_row *row)
{
    return strcmp(row->status, "ok") == 0;
}

/* Rows first ... the result - 1 are of the same landmarks. */
static int group_end(const nb_summary *s, int first)
{
    int end = first + 1;
    while (end < s->row_count && nb_same_landmarks(&s->rows[first], &s->rows[end])) end++;
    return end;
}

/* Error against effective cut-off, at one m. */
static nb_status cutoff(sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = s->summary;
    int at = m->landmarks[(m->landmark_count - 1) / 2], *of_family, *of_core, *mark, best;
    NB_NEED(of_family, nb_alloc(ctx, (size_t)s->sweeps.family_count + 1, sizeof *of_family));
    NB_NEED(of_core, nb_alloc(ctx, (size_t)m->core_count, sizeof *of_core));
    NB_NEED(mark, nb_alloc(ctx, (size_t)m->core_count, sizeof *mark));
    for (int f = 0; f < s->sweeps.family_count; f++) of_family[f] = -1;
    for (int c = 0; c < m->core_count; c++) of_core[c] = mark[c] = -1;
    for (int i = 0; i < m->row_count; i++) { /* which are there */
        int c = nb_summary_find(m, &m->rows[i]).core, f = s->sweeps.cores[c].family;
        bool cuts = isfinite(m->rows[i].measures.core_cutoff);
        if (cuts && f >= 0 && of_family[f] < 0) of_family[f] = add_series(s, s->sweeps.families[f].label, CURVE);
        if (cuts && s->sweeps.cores[c].standard && mark[c] < 0) mark[c] = -2;
        if (!cuts && good(&m->rows[i]) && f < 0 && of_core[c] < 0) of_core[c] = -2;
    }
    for (int c = 0; c < m->core_count; c++) {
        if (mark[c] == -2) mark[c] = add_series(s, m->cores[c].label, MARK);
        if (of_core[c] == -2) of_core[c] = add_series(s, m->cores[c].brief, LEVEL);
    }
    best = add_series(s, "subspace part: the best core", LEVEL);
    for (int i = 0; i < m->row_count; i++) {
        const nb_row *row = &m->rows[i];
        nb_summary_index p = nb_summary_find(m, row);
        int f = s->sweeps.cores[p.core].family;
        if (row->landmarks != at || !good(row)) continue;
        point one = {p.variant, p.panel, best, 0, 1, row->measures.error_subspace};
        NB_TRY(ctx, add_point(s, one, ctx));
        one.y = row->measures.error;
        if (of_core[p.core] >= 0) NB_TRY(ctx, add_point(s, (point){one.figure, one.panel, of_core[p.core], 0, 1, one.y}, ctx));
        one.x = row->measures.core_cutoff;
        if (f >= 0 && of_family[f] >= 0) NB_TRY(ctx, add_point(s, (point){one.figure, one.panel, of_family[f], p.core, one.x, one.y}, ctx));
        if (mark[p.core] >= 0) NB_TRY(ctx, add_point(s, (point){one.figure, one.panel, mark[p.core], p.core, one.x, one.y}, ctx));
    }
    NB_NEED(s->title, nb_format(ctx, "error against cut-off: %%s, m = %d", at));
    s->x_name = "singular value of A, relative to the largest, of which the core inverts half";
    s->y_name = "relative error  |S - FXB|_F / |S|_F";
    s->log_x = true;
    return NB_OK;
}

/* Error, residual and row sums against the number of steps, at one m. */
static nb_status steps(sheet *s, nb_ctx *ctx)
{
    static const char *const what[] = {"error", "|I - AX|_F", "max |row sum - 1|"};
    const nb_summary *m = s->summary;
    int at = m->landmarks[(m->landmark_count - 1) / 2], *of_family;
    NB_NEED(of_family, nb_alloc(ctx, (size_t)s->sweeps.family_count + 1, sizeof *of_family));
    for (int f = 0; f < s->sweeps.family_count; f++)
        of_family[f] = strcmp(s->sweeps.families[f].option, "steps") ? -1 : add_series(s, s->sweeps.families[f].label, CURVE);
    s->columns = 3;
    s->panel_count = 0;
    for (int p = 0; p < m->panel_count; p++)
        for (int k = 0; k < 3; k++) NB_NEED(s->panels[s->panel_count++], nb_format(ctx, "%s: %s", what[k], m->panels[p].label));
    for (int i = 0; i < m->row_count && s->series_count > 0; i++) {
        const nb_row *row = &m->rows[i];
        nb_summary_index p = nb_summary_find(m, row);
        const nb_swept *core = &s->sweeps.cores[p.core];
        if (row->landmarks != at || !good(row) || core->family < 0 || of_family[core->family] < 0) continue;
        const double y[] = {row->measures.error, row->measures.core_residual, row->measures.rowsum_deviation};
        for (int k = 0; k < 3; k++)
            NB_TRY(ctx, add_point(s, (point){p.variant, 3 * p.panel + k, of_family[core->family], p.core, core->x, y[k]}, ctx));
    }
    NB_NEED(s->title, nb_format(ctx, "error, residual and row sums against steps: %%s, m = %d", at));
    s->x_name = "steps";
    s->y_name = "";
    return NB_OK;
}

/* How far the error is above the subspace part, as a share of it, against m: the cores
 * that stand alone or are the standard of their kind, and of each sweep the best setting
 * of each choice of landmarks. The best core itself has rounding there, and is left out. */
static nb_status cores(sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = s->summary;
    int *of_core, *of_family;
    double *least;
    NB_NEED(of_core, nb_alloc(ctx, (size_t)m->core_count, sizeof *of_core));
    NB_NEED(of_family, nb_alloc(ctx, (size_t)s->sweeps.family_count + 1, sizeof *of_family));
    NB_NEED(least, nb_alloc_reals(ctx, (size_t)s->sweeps.family_count + 1, 1));
    for (int c = 0; c < m->core_count; c++)
        of_core[c] = s->sweeps.cores[c].family < 0 || s->sweeps.cores[c].standard ? add_series(s, m->cores[c].label, CURVE) : -1;
    for (int f = 0; f < s->sweeps.family_count; f++) {
        const char *label;
        NB_NEED(label, nb_format(ctx, "best %s of %s", s->sweeps.families[f].option, s->sweeps.families[f].label));
        of_family[f] = add_series(s, label, CURVE);
    }
    for (int i = 0, end; i < m->row_count; i = end) {
        end = group_end(m, i);
        nb_summary_index p = nb_summary_find(m, &m->rows[i]);
        for (int f = 0; f < s->sweeps.family_count; f++) least[f] = INFINITY;
        for (int j = i; j < end; j++) {
            const nb_row *row = &m->rows[j];
            int c = nb_summary_find(m, row).core, f = s->sweeps.cores[c].family;
            double excess = row->measures.error / row->measures.error_subspace - 1;
            if (!good(row) || !(excess > 1e-8)) continue;
            if (of_core[c] >= 0) NB_TRY(ctx, add_point(s, (point){p.variant, p.panel, of_core[c], row->landmarks, row->landmarks, excess}, ctx));
            if (f >= 0 && excess < least[f]) least[f] = excess;
        }
        for (int f = 0; f < s->sweeps.family_count; f++)
            NB_TRY(ctx, add_point(s, (point){p.variant, p.panel, of_family[f], m->rows[i].landmarks, m->rows[i].landmarks, least[f]}, ctx));
    }
    s->title = "cores above the best core: %s";
    s->x_name = "landmarks m";
    s->y_name = "error / subspace part - 1, same landmarks";
    s->log_x = s->log_x_2 = true;
    return NB_OK;
}

/* Error over the subspace part against rows / m, a figure for each sweep over rows. */
static nb_status rows(sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = s->summary;
    int *figure;
    NB_NEED(figure, nb_alloc(ctx, (size_t)s->sweeps.family_count + 1, sizeof *figure));
    s->figure_count = 0;
    for (int f = 0; f < s->sweeps.family_count; f++) {
        bool of_rows = strcmp(s->sweeps.families[f].option, "rows") == 0;
        figure[f] = of_rows ? s->figure_count : -1;
        if (of_rows) s->figures[s->figure_count++] = s->sweeps.families[f].label;
    }
    for (int v = 0; v < m->variant_count; v++) add_series(s, m->variants[v].label, CURVE);
    for (int i = 0; i < m->row_count && s->figure_count > 0; i++) {
        const nb_row *row = &m->rows[i];
        nb_summary_index p = nb_summary_find(m, row);
        const nb_swept *core = &s->sweeps.cores[p.core];
        if (!good(row) || core->family < 0 || figure[core->family] < 0) continue;
        double x = core->x / row->landmarks;
        NB_TRY(ctx, add_point(s, (point){figure[core->family], p.panel, p.variant, (int)lround(1e6 * log2(x)), x, row->measures.error / row->measures.error_subspace}, ctx));
    }
    s->title = "error against exact rows: %s";
    s->x_name = "exact rows of S / landmarks m";
    s->y_name = "error / subspace part, same landmarks";
    s->log_x = s->log_x_2 = s->level_1 = true;
    return NB_OK;
}

/* How far single precision is from double, against the condition of A. */
static nb_status precision(sheet *s, nb_ctx *ctx)
{
    const nb_summary *m = s->summary;
    int *twin, *line;
    NB_NEED(twin, nb_alloc(ctx, (size_t)m->core_count, sizeof *twin));
    NB_NEED(line, nb_alloc(ctx, (size_t)m->core_count, sizeof *line));
    for (int c = 0; c < m->core_count; c++) {
        const nb_swept *core = &s->sweeps.cores[c];
        twin[c] = core->choice.component ? nb_sweeps_sibling(&s->sweeps, m->core_count, c, "precision", "double", ctx) : -1;
        if (twin[c] == c) twin[c] = -1;
        if (twin[c] >= 0) line[c] = add_series(s, m->cores[c].label, CLOUD);
    }
    for (int i = 0, end; i < m->row_count; i = end) {
        end = group_end(m, i);
        for (int j = i; j < end; j++) {
            const nb_row *row = &m->rows[j];
            nb_summary_index p = nb_summary_find(m, row);
            for (int k = i; twin[p.core] >= 0 && good(row) && k < end; k++) {
                if (nb_summary_find(m, &m->rows[k]).core != twin[p.core] || !good(&m->rows[k])) continue;
                double distance = fabs(row->measures.error / m->rows[k].measures.error - 1);
                NB_TRY(ctx, add_point(s, (point){0, p.panel, line[p.core], j, row->measures.landmark_condition, fmax(distance, 1e-9)}, ctx));
            }
        }
    }
    s->figures[0] = "";
    s->figure_count = 1;
    s->title = "single against double precision%s";
    s->x_name = "condition of A";
    s->y_name = "|error in single / error in double - 1|";
    s->log_x = true;
    return NB_OK;
}

static const struct {
    const char *name;
    nb_status (*collect)(sheet *s, nb_ctx *ctx);
} kinds[] = {{"cutoff", cutoff}, {"steps", steps}, {"cores", cores}, {"rows", rows}, {"precision", precision}};
enum { KINDS = sizeof kinds / sizeof *kinds };
const char *const nb_core_plot_kinds[] = {"cutoff", "steps", "cores", "rows", "precision", NULL};

static int compare(const void *left, const void *right)
{
    const point *a = left, *b = right;
    const int order[] = {a->figure - b->figure, a->panel - b->panel, a->series - b->series, (a->key > b->key) - (a->key < b->key)};
    for (int i = 0; i < 4; i++)
        if (order[i]) return order[i];
    return 0;
}

static void print_real(FILE *out, double x)
{
    fputc(',', out);
    if (isfinite(x)) fprintf(out, "%.16e", x); /* gnuplot takes the text 1e-10 for an integer and what follows for a mistake */
}

/* Lines go from left to right. */
static int compare_entries(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->figure != b->figure) return a->figure - b->figure;
    if (a->panel != b->panel) return a->panel - b->panel;
    if (a->series != b->series) return a->series - b->series;
    return (a->x > b->x) - (a->x < b->x);
}

static nb_status sum_up(sheet *s, nb_ctx *ctx)
{
    double *x, *y;
    qsort(s->points, (size_t)s->point_count, sizeof *s->points, compare);
    NB_NEED(s->entries, nb_alloc(ctx, (size_t)s->point_count, sizeof *s->entries));
    NB_NEED(x, nb_alloc_reals(ctx, (size_t)s->point_count, 2));
    y = x + s->point_count;
    for (int i = 0, end; i < s->point_count; i = end) {
        const point *p = &s->points[i];
        for (end = i; end < s->point_count && compare(p, &s->points[end]) == 0; end++) {
            x[end - i] = s->points[end].x;
            y[end - i] = s->points[end].y;
        }
        s->entries[s->entry_count++] = (entry){p->figure, p->panel, p->series, nb_statistic_of(end - i, x).median, nb_statistic_of(end - i, y)};
    }
    qsort(s->entries, (size_t)s->entry_count, sizeof *s->entries, compare_entries);
    return NB_OK;
}

static void print_entry(FILE *out, const entry *e)
{
    fprintf(out, "%d", e->y.count);
    print_real(out, e->x);
    print_real(out, e->y.median);
    print_real(out, e->y.low);
    print_real(out, e->y.high);
}

/* All figures of the kind, for people and programs. */
static nb_status print_data(FILE *out, const void *what, nb_ctx *ctx)
{
    const sheet *s = what;
    (void)ctx;
    fputs("figure,panel,series,count,x,median,p10,p90\n", out);
    for (const entry *e = s->entries; e < s->entries + s->entry_count; e++) {
        const char *names[] = {s->figures[e->figure], s->panels[e->panel], s->all[e->series].label};
        for (int k = 0; k < 3; k++) {
            nb_csv_print_text(out, names[k]);
            fputc(',', out);
        }
        print_entry(out, e);
        fputc('\n', out);
    }
    return NB_OK;
}

/* One figure for gnuplot: a block for each panel and series. */
static nb_status print_blocks(FILE *out, const void *what, nb_ctx *ctx)
{
    const sheet *s = what;
    const entry *before = NULL;
    (void)ctx;
    fputs("# count,x,median,p10,p90\n", out);
    for (const entry *e = s->entries; e < s->entries + s->entry_count; e++) {
        if (e->figure != s->figure) continue;
        if (before && (before->panel != e->panel || before->series != e->series)) fputs("\n\n", out);
        print_entry(out, e);
        fputc('\n', out);
        before = e;
    }
    return NB_OK;
}

static const char *output_name(const sheet *s, nb_ctx *ctx)
{
    return nb_plot_file_name(nb_format(ctx, "%s_%s", s->kind, s->figures[s->figure]));
}

static void print_texts(FILE *out, const char *name, int count, const char *const *texts)
{
    fprintf(out, "array %s[%d] = [", name, count);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        nb_plot_print_string(out, texts[i]);
    }
    fputs("]\n", out);
}

typedef struct {
    double low, high;
} range;

static void see(range *r, double x)
{
    if (!(x > 0) || !isfinite(x)) return;
    if (!(r->high > 0)) *r = (range){x, x};
    r->low = fmin(r->low, x);
    r->high = fmax(r->high, x);
}

/* Which block of the data each panel and series has (-1: none), and what they reach. */
static nb_status print_layout(FILE *out, const sheet *s, nb_ctx *ctx)
{
    range x = {1, 0}, *y;
    int *block, next = 0;
    NB_NEED(y, nb_alloc(ctx, (size_t)s->panel_count, sizeof *y));
    NB_NEED(block, nb_alloc(ctx, (size_t)s->panel_count * (size_t)s->series_count, sizeof *block));
    for (const entry *e = s->entries; e < s->entries + s->entry_count; e++) {
        int *mine = &block[e->panel * s->series_count + e->series];
        if (e->figure != s->figure) continue;
        if (*mine == 0) *mine = ++next;
        if (s->all[e->series].style != LEVEL) see(&x, e->x);
        see(&y[e->panel], e->y.median);
        if (s->all[e->series].style != CURVE) continue;
        see(&y[e->panel], e->y.low);
        see(&y[e->panel], e->y.high);
    }
    fprintf(out, "x_low = %g\nx_high = %g\n", x.low, x.high > 0 ? x.high : 1);
    for (int high = 0; high < 2; high++) {
        fprintf(out, "array y_%s[%d] = [", high ? "high" : "low", s->panel_count);
        for (int p = 0; p < s->panel_count; p++) fprintf(out, "%s%g", p ? ", " : "", high ? y[p].high : y[p].low);
        fputs("]\n", out);
    }
    fprintf(out, "array block[%d] = [", s->panel_count * s->series_count);
    for (int i = 0; i < s->panel_count * s->series_count; i++) fprintf(out, "%s%d", i ? ", " : "", block[i] - 1);
    fputs("]\n", out);
    return NB_OK;
}

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    const sheet *s = what;
    const char *output, *title, **labels;
    NB_NEED(output, output_name(s, ctx));
    NB_NEED(title, nb_format(ctx, "%s: ", s->experiment));
    const char *hole = strstr(s->title, "%s");
    NB_NEED(title, nb_format(ctx, "%s%.*s%s%s", title, (int)(hole - s->title), s->title, s->figures[s->figure], hole + 2));
    NB_NEED(labels, nb_alloc(ctx, (size_t)s->series_count, sizeof *labels));
    for (int i = 0; i < s->series_count; i++) labels[i] = s->all[i].label;
    fprintf(out, "# draws %s.svg and %s.png; run: gnuplot %s.gp\n", output, output, output);
    fprintf(out, "data = \"%s.dat\"\noutput = \"%s\"\ntitle = ", output, output);
    nb_plot_print_string(out, title);
    fputs("\nx_name = ", out);
    nb_plot_print_string(out, s->x_name);
    fputs("\ny_name = ", out);
    nb_plot_print_string(out, s->y_name);
    fprintf(out, "\nx_scale = %d\nlevel = %d\ncolumns_wanted = %d\n", s->log_x_2 ? 2 : s->log_x ? 10 : 0, s->level_1, s->columns);
    print_texts(out, "panels", s->panel_count, s->panels);
    print_texts(out, "series", s->series_count, labels);
    fprintf(out, "array styles[%d] = [", s->series_count);
    for (int i = 0; i < s->series_count; i++) fprintf(out, "%s%d", i ? ", " : "", s->all[i].style);
    fputs("]\n", out);
    NB_TRY(ctx, print_layout(out, s, ctx));
    fputs("load \"curves.gp\"\n", out);
    return NB_OK;
}

static bool has_points(const sheet *s, int figure)
{
    for (int i = 0; i < s->point_count; i++)
        if (s->points[i].figure == figure) return true;
    return false;
}

static nb_status draw_figure(const char *folder, const sheet *s, bool draw, nb_ctx *ctx)
{
    const char *name, *script, *path, *data;
    NB_NEED(name, output_name(s, ctx));
    NB_NEED(script, nb_format(ctx, "%s.gp", name));
    NB_NEED(path, nb_format(ctx, "%s/%s", folder, script));
    NB_NEED(data, nb_format(ctx, "%s/%s.dat", folder, name));
    NB_TRY(ctx, nb_write_file(data, print_blocks, s, ctx));
    NB_TRY(ctx, nb_write_file(path, print_driver, s, ctx));
    return draw ? nb_plot_draw(folder, script, ctx) : NB_OK;
}

nb_status nb_core_plot(const char *folder, const char *kind, const char *experiment, const nb_summary *summary, bool draw,
                       int *figures, nb_ctx *ctx)
{
    sheet s = {.summary = summary, .kind = kind, .experiment = experiment};
    const char *path;
    int k = 0;
    *figures = 0;
    while (strcmp(kinds[k].name, kind) != 0) k++;
    NB_TRY(ctx, nb_sweeps_find(summary, &s.sweeps, ctx));
    NB_TRY(ctx, sheet_init(&s, ctx));
    NB_TRY(ctx, kinds[k].collect(&s, ctx));
    if (s.point_count == 0) return NB_OK;
    NB_TRY(ctx, sum_up(&s, ctx));
    NB_TRY(ctx, nb_make_folder(folder, ctx));
    NB_NEED(path, nb_format(ctx, "%s/%s.csv", folder, kind));
    NB_TRY(ctx, nb_write_file(path, print_data, &s, ctx));
    NB_TRY(ctx, nb_plot_copy_script(folder, "common.gp", ctx));
    NB_TRY(ctx, nb_plot_copy_script(folder, "curves.gp", ctx));
    for (s.figure = 0; s.figure < s.figure_count; s.figure++) {
        if (!has_points(&s, s.figure)) continue;
        NB_TRY(ctx, draw_figure(folder, &s, draw, ctx));
        ++*figures;
    }
    return NB_OK;
}
