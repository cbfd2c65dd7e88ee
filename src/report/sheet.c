/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sheet.c - see sheet.h */
#include "report/sheet.h"

#include "base/files.h"
#include "report/csv.h"
#include "report/scripts.h"
#include "report/statistic.h"
#include "statistics/ranks.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct nb_sheet_entry { /* the points of one key */
    int figure, panel, series;
    double x; /* the median of them */
    nb_statistic y;
    double median_low, median_high;
} entry;

nb_status nb_sheet_room(nb_sheet *s, size_t points, nb_ctx *ctx)
{
    nb_sheet_point *more;
    NB_REQUIRE(ctx, points <= INT_MAX, NB_EINVAL, "a figure of %zu points is too large", points);
    if (points <= (size_t)s->capacity) return NB_OK;
    NB_NEED(more, nb_alloc(ctx, points, sizeof *more));
    if (s->point_count > 0) memcpy(more, s->points, (size_t)s->point_count * sizeof *more);
    s->points = more;
    s->capacity = (int)points;
    return NB_OK;
}

nb_status nb_sheet_add(nb_sheet *s, nb_sheet_point p, nb_ctx *ctx)
{
    if (!isfinite(p.x) || !isfinite(p.y)) return NB_OK;
    if (s->point_count == s->capacity) NB_TRY(ctx, nb_sheet_room(s, s->capacity ? 2 * (size_t)s->capacity : 1024, ctx));
    s->points[s->point_count++] = p;
    return NB_OK;
}

int nb_sheet_series(nb_sheet *s, const char *label, nb_series_style style, int look)
{
    s->series[s->series_count] = (nb_series){label, style, look};
    return s->series_count++;
}

static int compare(const void *left, const void *right)
{
    const nb_sheet_point *a = left, *b = right;
    const int order[] = {a->figure - b->figure, a->panel - b->panel, a->series - b->series,
                         (a->key > b->key) - (a->key < b->key)};
    for (int i = 0; i < 4; i++)
        if (order[i]) return order[i];
    return 0;
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

static nb_status sum_up(nb_sheet *s, nb_ctx *ctx)
{
    double *x, *y;
    int keys = 0;
    qsort(s->points, (size_t)s->point_count, sizeof *s->points, compare);
    for (int i = 0; i < s->point_count; i++) keys += i == 0 || compare(&s->points[i - 1], &s->points[i]) != 0;
    NB_NEED(s->entries, nb_alloc(ctx, (size_t)keys, sizeof *s->entries));
    NB_NEED(x, nb_alloc_reals(ctx, (size_t)s->point_count, 2));
    y = x + s->point_count;
    for (int i = 0, end; i < s->point_count; i = end) {
        const nb_sheet_point *p = &s->points[i];
        for (end = i; end < s->point_count && compare(p, &s->points[end]) == 0; end++) {
            x[end - i] = s->points[end].x;
            y[end - i] = s->points[end].y;
        }
        entry *e = &s->entries[s->entry_count++];
        *e = (entry){p->figure, p->panel, p->series, nb_statistic_of(end - i, x).median, nb_statistic_of(end - i, y),
                     NAN,       NAN};
        nb_median_interval(end - i, y, &e->median_low, &e->median_high);
    }
    if (!s->by_key) qsort(s->entries, (size_t)s->entry_count, sizeof *s->entries, compare_entries);
    return NB_OK;
}

static void print_reals(FILE *out, int count, const double *x)
{
    for (int i = 0; i < count; i++) nb_plot_print_real(out, x[i]);
    fputc('\n', out);
}

/* All figures of the kind, for people and programs. */
static nb_status print_data(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_sheet *s = what;
    (void)ctx;
    fputs("figure,panel,series,count,x,median,p10,p90,median_low,median_high\n", out);
    for (const entry *e = s->entries; e < s->entries + s->entry_count; e++) {
        const char *names[] = {s->figures[e->figure], s->panels[e->panel], s->series[e->series].label};
        for (int k = 0; k < 3; k++) {
            nb_csv_print_text(out, names[k]);
            fputc(',', out);
        }
        fprintf(out, "%d", e->y.count);
        print_reals(out, 6, (const double[]){e->x, e->y.median, e->y.low, e->y.high, e->median_low, e->median_high});
    }
    return NB_OK;
}

/* The bar's end, at the median where there is no interval. */
static double bar(const nb_sheet *s, const entry *e, int high)
{
    if (!s->intervals) return high ? e->y.high : e->y.low;
    double end = high ? e->median_high : e->median_low;
    return isfinite(end) ? end : e->y.median;
}

/* One figure for gnuplot: a block for each panel and series. */
static nb_status print_blocks(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_sheet *s = what;
    const entry *before = NULL;
    (void)ctx;
    fputs("# count,x,median,ends of the bar\n", out);
    for (const entry *e = s->entries; e < s->entries + s->entry_count; e++) {
        if (e->figure != s->figure) continue;
        if (before && (before->panel != e->panel || before->series != e->series)) fputs("\n\n", out);
        fprintf(out, "%d", e->y.count);
        print_reals(out, 4, (const double[]){e->x, e->y.median, bar(s, e, 0), bar(s, e, 1)});
        before = e;
    }
    return NB_OK;
}

static const char *output_name(const nb_sheet *s, nb_ctx *ctx)
{
    return nb_plot_file_name(nb_format(ctx, "%s_%s", s->kind, s->figures[s->figure]));
}

/* Which block of the data each panel and series has; -1: none. */
static nb_status print_layout(FILE *out, const nb_sheet *s, nb_ctx *ctx)
{
    int *block, next = 0, count = s->panel_count * s->series_count;
    NB_NEED(block, nb_alloc(ctx, (size_t)count + 1, sizeof *block));
    for (int i = 0; i < count; i++) block[i] = -1;
    for (const entry *e = s->entries; e < s->entries + s->entry_count; e++) {
        int *mine = &block[e->panel * s->series_count + e->series];
        if (e->figure == s->figure && *mine < 0) *mine = next++;
    }
    nb_plot_set_ints(out, "block", count, block);
    return NB_OK;
}

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    static const char *const names[] = {"curve", "mark", "level", "cloud", "shadow", "dashed", "upright", "ring"};
    const nb_sheet *s = what;
    const char *output, *title, **labels, **styles;
    int *looks;
    NB_NEED(output, output_name(s, ctx));
    NB_NEED(title, nb_format(ctx, "%s: ", s->experiment));
    const char *hole = strstr(s->title, "%s");
    NB_NEED(title,
            nb_format(ctx, "%s%.*s%s%s", title, (int)(hole - s->title), s->title, s->figures[s->figure], hole + 2));
    NB_NEED(labels, nb_alloc(ctx, (size_t)s->series_count + 1, sizeof *labels));
    NB_NEED(styles, nb_alloc(ctx, (size_t)s->series_count + 1, sizeof *styles));
    NB_NEED(looks, nb_alloc(ctx, (size_t)s->series_count + 1, sizeof *looks));
    for (int i = 0; i < s->series_count; i++) {
        labels[i] = s->series[i].label;
        styles[i] = names[s->series[i].style];
        looks[i] = s->series[i].look + 1;
    }
    nb_plot_print_head(out, output);
    fprintf(out, "data = \"%s.dat\"\n", output);
    nb_plot_set_text(out, "title", title);
    nb_plot_set_text(out, "x_name", s->x_names ? s->x_names[s->figure] : s->x_name);
    nb_plot_set_text(out, "y_name", s->y_name);
    nb_plot_set_text(out, "shadow", s->shadow ? s->shadow : "");
    if (s->upright) nb_plot_set_text(out, "upright", s->upright);
    if (s->bare) fputs("bare = 1\n", out);
    if (s->powers) fputs("powers = 1\n", out);
    if (s->by_key) fputs("by_key = 1\n", out);
    fprintf(out, "x_scale = %d\nlevel = %d\ncolumns_wanted = %d\nintervals = %d\n",
            s->log_x_2 ? 2
            : s->log_x ? 10
                       : 0,
            s->level_1, s->columns, s->intervals);
    nb_plot_set_texts(out, "panels", s->panel_count, s->panels);
    nb_plot_set_texts(out, "series", s->series_count, labels);
    nb_plot_set_texts(out, "styles", s->series_count, styles);
    nb_plot_set_ints(out, "looks", s->series_count, looks);
    NB_TRY(ctx, print_layout(out, s, ctx));
    fputs("load \"curves.gp\"\n", out);
    return NB_OK;
}

static bool has_points(const nb_sheet *s, int figure)
{
    for (int i = 0; i < s->point_count; i++)
        if (s->points[i].figure == figure) return true;
    return false;
}

static nb_status draw_figure(const char *folder, const nb_sheet *s, nb_gnuplots *gnuplots, nb_ctx *ctx)
{
    const char *name, *script, *data;
    NB_NEED(name, output_name(s, ctx));
    NB_NEED(script, nb_format(ctx, "%s.gp", name));
    NB_NEED(data, nb_format(ctx, "%s/%s.dat", folder, name));
    NB_TRY(ctx, nb_write_file(data, print_blocks, s, ctx));
    NB_TRY(ctx, nb_plot_print_script(folder, script, print_driver, s, ctx));
    return nb_plot_draw(gnuplots, folder, name, ctx);
}

nb_status nb_sheet_draw(const char *folder, nb_sheet *s, nb_gnuplots *gnuplots, int *figures, nb_ctx *ctx)
{
    const char *path, **stems;
    *figures = 0;
    if (s->point_count == 0) return nb_plot_prune(folder, s->kind, 0, NULL, ctx);
    NB_TRY(ctx, sum_up(s, ctx));
    NB_TRY(ctx, nb_make_folder(folder, ctx));
    NB_NEED(path, nb_format(ctx, "%s/%s.csv", folder, s->kind));
    NB_TRY(ctx, nb_write_file(path, print_data, s, ctx));
    NB_TRY(ctx, nb_plot_copy_scripts(folder, (const char *const[]){"common.gp", "direct.gp", "curves.gp", NULL}, ctx));
    NB_NEED(stems, nb_alloc(ctx, (size_t)s->figure_count, sizeof *stems));
    for (s->figure = 0; s->figure < s->figure_count; s->figure++) {
        if (!has_points(s, s->figure)) continue;
        NB_NEED(stems[(*figures)++], output_name(s, ctx));
        NB_TRY(ctx, draw_figure(folder, s, gnuplots, ctx));
    }
    return nb_plot_prune(folder, s->kind, *figures, stems, ctx);
}
