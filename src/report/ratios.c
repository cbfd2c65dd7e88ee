/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ratios.c - estimates of nb_compare as points with intervals, units of its contrasts as dots. */
#include "report/ratios.h"

#include "base/files.h"
#include "report/compare.h"
#include "report/csv.h"
#include "report/scopes.h"
#include "report/scripts.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    int scope, stratum, value, along;
    const nb_estimate *estimate;
    int missing;
} point;

typedef struct {
    const nb_drawing *d;
    const nb_ratios *of;
    nb_comparison comparison;
    const nb_contrasts *contrasts;
    int planned;
    nb_planned *rows;
    nb_scopes scopes;
    int count, room;
    point *points;
    bool *several; /* by scope: it has several strata */

    /* Of the figure that is being written. */
    int scope;
    const char *output;
    int panel_count, series_count, along_count;
    int *panels, *series, *along; /* strata; codes; values */
    nb_ctx *ctx;
} figure;

static bool has_ratio(const nb_compared *x)
{
    return !x->contrast->refusal && isfinite(x->estimate.mean);
}

static nb_status add_point(figure *f, const nb_compared *x, int stratum)
{
    int setting = x->contrast->setting;
    NB_GROW(f->ctx, f->points, f->count, f->room);
    f->points[f->count++] = (point){.scope = f->scopes.of[setting],
                                    .stratum = stratum,
                                    .value = x->contrast->value,
                                    .along = f->scopes.along[setting],
                                    .estimate = &x->estimate,
                                    .missing = x->pairs->missing + x->pairs->missing_baseline};
    return NB_OK;
}

/* Which scopes have units of several strata. */
static nb_status find_several(figure *f)
{
    int *first;
    NB_NEED(f->several, nb_alloc(f->ctx, (size_t)f->scopes.count + 1, sizeof *f->several));
    NB_NEED(first, nb_alloc(f->ctx, (size_t)f->scopes.count + 1, sizeof *first));
    for (int s = 0; s < f->scopes.count; s++) first[s] = -1;
    for (int i = 0; i < f->contrasts->count; i++) {
        const nb_contrast *c = &f->contrasts->items[i];
        int scope = f->scopes.of[c->setting];
        for (int u = 0; u < c->unit_count; u++) {
            if (first[scope] < 0) first[scope] = c->units[u].stratum;
            f->several[scope] = f->several[scope] || c->units[u].stratum != first[scope];
        }
    }
    return NB_OK;
}

/* What is over strata stands for the one stratum of a contrast that has no other. */
static nb_status add_points(figure *f)
{
    const nb_comparison *c = &f->comparison;
    for (int i = 0; i < c->count; i++) {
        const nb_compared *x = &c->items[i];
        if (!has_ratio(x)) continue;
        bool over = x->stratum == NB_OVER_STRATA;
        bool alone = over && (i + 1 == c->count || c->items[i + 1].contrast != x->contrast);
        if (!over || f->several[f->scopes.of[x->contrast->setting]]) NB_TRY(f->ctx, add_point(f, x, x->stratum));
        if (alone) NB_TRY(f->ctx, add_point(f, x, x->contrast->units[0].stratum));
    }
    return NB_OK;
}

static int compare_points(const void *a, const void *b)
{
    const point *x = a, *y = b;
    const int keys[][2] = {{x->scope, y->scope}, {x->stratum, y->stratum}, {x->value, y->value}, {x->along, y->along}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static int place_of(int count, const int *all, int one)
{
    for (int i = 0; i < count; i++)
        if (all[i] == one) return i;
    return -1;
}

/* Keeps them ascending. */
static void insert(int *count, int *all, int one)
{
    int at = *count;
    if (place_of(*count, all, one) >= 0) return;
    for (; at > 0 && all[at - 1] > one; at--) all[at] = all[at - 1];
    all[at] = one;
    ++*count;
}

/* Panels, series and values along that the figure has. */
static nb_status lay_out(figure *f)
{
    size_t room = (size_t)f->count + 1;
    NB_NEED(f->panels, nb_alloc(f->ctx, room, sizeof *f->panels));
    NB_NEED(f->series, nb_alloc(f->ctx, room, sizeof *f->series));
    NB_NEED(f->along, nb_alloc(f->ctx, room, sizeof *f->along));
    f->panel_count = f->series_count = f->along_count = 0;
    for (const point *p = f->points; p < f->points + f->count; p++) {
        if (p->scope != f->scope) continue;
        insert(&f->panel_count, f->panels, p->stratum);
        insert(&f->series_count, f->series, p->value);
        insert(&f->along_count, f->along, p->along);
    }
    return NB_OK;
}

/* The interval, which few sources do not have. */
static bool has_interval(const point *p)
{
    return p->estimate->sources >= NB_LEAST_SOURCES && isfinite(p->estimate->low) && isfinite(p->estimate->high);
}

static void name_stratum(const figure *f, int scope, int stratum, const char **label)
{
    *label = stratum == NB_OVER_STRATA ? f->scopes.over[scope] : f->contrasts->stratum_labels[stratum];
}

/* All figures, for people and programs. */
static nb_status print_data(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    (void)ctx;
    fprintf(out, "figure,panel,series,%s,ratio,low,high,sources,heads,missing\n", f->of->along);
    for (const point *p = f->points; p < f->points + f->count; p++) {
        const char *names[] = {f->scopes.stems[p->scope], NULL, nb_value_label(f->contrasts, p->value)};
        name_stratum(f, p->scope, p->stratum, &names[1]);
        for (int k = 0; k < 3; k++) {
            nb_csv_print_text(out, names[k]);
            fputc(',', out);
        }
        fprintf(out, "%d", p->along);
        nb_plot_print_real(out, exp(p->estimate->mean));
        nb_plot_print_real(out, has_interval(p) ? exp(p->estimate->low) : NAN);
        nb_plot_print_real(out, has_interval(p) ? exp(p->estimate->high) : NAN);
        fprintf(out, ",%d,%d,%d\n", p->estimate->sources, p->estimate->units, p->missing);
    }
    return NB_OK;
}

static void print_line(FILE *out, int panel, int series, bool head, int along, double low, double value, double high)
{
    fprintf(out, "%d,%d,%d,%d", panel + 1, series + 1, head, along);
    nb_plot_print_real(out, value);
    nb_plot_print_real(out, low);
    nb_plot_print_real(out, high);
    fputc('\n', out);
}

/* Heads of a contrast, in the panel of their stratum and in that over strata. */
static void print_heads(FILE *out, const figure *f, const nb_contrast *c)
{
    int along = f->scopes.along[c->setting], series = place_of(f->series_count, f->series, c->value);
    for (int u = 0; u < c->unit_count && series >= 0; u++) {
        const int strata[] = {NB_OVER_STRATA, c->units[u].stratum};
        double value = exp(c->units[u].value);
        for (int k = 0; k < 2 && isfinite(value); k++) {
            int panel = place_of(f->panel_count, f->panels, strata[k]);
            if (panel >= 0) print_line(out, panel, series, true, along, value, value, value);
        }
    }
}

static nb_status print_points(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    (void)ctx;
    fprintf(out, "# panel,series,of a head,%s,ratio,low,high\n", f->of->along);
    for (const point *p = f->points; p < f->points + f->count; p++) {
        double value = exp(p->estimate->mean);
        if (p->scope != f->scope) continue;
        print_line(out, place_of(f->panel_count, f->panels, p->stratum), place_of(f->series_count, f->series, p->value),
                   false, p->along, has_interval(p) ? exp(p->estimate->low) : value, value,
                   has_interval(p) ? exp(p->estimate->high) : value);
    }
    for (int i = 0; i < f->contrasts->count; i++)
        if (f->scopes.of[f->contrasts->items[i].setting] == f->scope) print_heads(out, f, &f->contrasts->items[i]);
    return NB_OK;
}

typedef struct {
    int least, most;
} span;

static void see(span *s, int x)
{
    s->least = s->most == 0 || x < s->least ? x : s->least;
    s->most = x > s->most ? x : s->most;
}

static const char *span_text(span s, const char *what, nb_ctx *ctx)
{
    return s.least == s.most ? nb_format(ctx, "%d %s%s", s.most, what, s.most == 1 ? "" : "s")
                             : nb_format(ctx, "%d to %d %ss", s.least, s.most, what);
}

/* What a panel is, and of how many sources and heads. */
static nb_status name_panel(const figure *f, int panel, const char **name)
{
    span sources = {0, 0}, heads = {0, 0};
    const char *label, *texts[2];
    for (const point *p = f->points; p < f->points + f->count; p++)
        if (p->scope == f->scope && p->stratum == f->panels[panel]) {
            see(&sources, p->estimate->sources);
            see(&heads, p->estimate->units);
        }
    name_stratum(f, f->scope, f->panels[panel], &label);
    NB_NEED(texts[0], span_text(sources, "source", f->ctx));
    NB_NEED(texts[1], span_text(heads, "head", f->ctx));
    NB_NEED(*name, nb_format(f->ctx, "%s (%s, %s%s)", label, texts[0], texts[1],
                             sources.most < NB_LEAST_SOURCES ? ": too few for intervals" : ""));
    return NB_OK;
}

static nb_status print_names(FILE *out, const figure *f)
{
    int *mine;
    NB_NEED(mine, nb_alloc(f->ctx, (size_t)f->series_count + 1, sizeof *mine));
    fprintf(out, "array panels[%d] = [", f->panel_count);
    for (int p = 0; p < f->panel_count; p++) {
        const char *name;
        NB_TRY(f->ctx, name_panel(f, p, &name));
        fputs(p ? ", " : "", out);
        nb_plot_print_string(out, name);
    }
    fprintf(out, "]\narray series[%d] = [", f->series_count);
    for (int s = 0; s < f->series_count; s++) {
        fputs(s ? ", " : "", out);
        nb_plot_print_string(out, nb_value_label(f->contrasts, f->series[s]));
    }
    fputs("]\n", out);
    for (const nb_planned *p = f->rows; p < f->rows + f->planned; p++) {
        int series = place_of(f->series_count, f->series, p->value);
        if (series >= 0 && f->scopes.of[p->setting] == f->scope) mine[series] = f->of->looks[p->row] + 1;
    }
    nb_plot_set_ints(out, "looks", f->series_count, mine);
    nb_plot_set_ints(out, "landmarks", f->along_count, f->along);
    return NB_OK;
}

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    const char *base = nb_value_label(f->contrasts, f->of->baseline), *title, *y_name;
    NB_NEED(title, nb_format(ctx, "%s: %s / %s of %s (less is better), with %s", f->d->experiment, f->of->metric,
                             f->of->metric, base, f->scopes.stems[f->scope]));
    NB_NEED(y_name, nb_format(ctx, "%s / %s of %s", f->of->metric, f->of->metric, base));
    nb_plot_print_head(out, f->output);
    fprintf(out, "data = \"%s.dat\"\n", f->output);
    nb_plot_set_text(out, "title", title);
    nb_plot_set_text(out, "x_name", f->of->x_name);
    nb_plot_set_text(out, "y_name", y_name);
    nb_plot_set_text(out, "baseline", base);
    NB_TRY(ctx, print_names(out, f));
    fputs("load \"ratio.gp\"\n", out);
    return NB_OK;
}

static nb_status draw_scope(figure *f)
{
    const char *path, *script;
    NB_NEED(path, nb_format(f->ctx, "%s/%s.dat", f->d->folder, f->output));
    NB_NEED(script, nb_format(f->ctx, "%s.gp", f->output));
    NB_TRY(f->ctx, nb_write_file(path, print_points, f, f->ctx));
    NB_TRY(f->ctx, nb_plot_print_script(f->d->folder, script, print_driver, f, f->ctx));
    return nb_plot_draw(f->d->gnuplots, f->d->folder, f->output, f->ctx);
}

/* Methods that are not compared, and strata in which there is no pair. */
static void tell_what_is_missing(const figure *f)
{
    for (int v = 0; v < f->contrasts->values.count; v++) {
        const char *refusal = NULL;
        for (int i = 0; i < f->contrasts->count && !refusal; i++)
            if (f->contrasts->items[i].value == v) refusal = f->contrasts->items[i].refusal;
        if (refusal)
            fprintf(stderr, "nysbench: note: plot %s: %s is left out: %s\n", f->of->kind,
                    nb_value_label(f->contrasts, v), refusal);
    }
    for (int s = 0; s < f->contrasts->strata; s++) {
        bool any = false;
        for (int i = 0; i < f->count; i++) any = any || f->points[i].stratum == s;
        if (!any)
            fprintf(stderr, "nysbench: note: plot %s: %s is left out: no pair has a result\n", f->of->kind,
                    f->contrasts->stratum_labels[s]);
    }
}

static nb_status draw_all(figure *f, int *figures)
{
    static const char *const shared[] = {"common.gp", "direct.gp", "ticks.gp", "ratio.gp", NULL};
    const char *path, **stems;
    NB_TRY(f->ctx, nb_make_folder(f->d->folder, f->ctx));
    NB_NEED(path, nb_format(f->ctx, "%s/%s.csv", f->d->folder, f->of->kind));
    NB_TRY(f->ctx, nb_write_file(path, print_data, f, f->ctx));
    NB_TRY(f->ctx, nb_plot_copy_scripts(f->d->folder, shared, f->ctx));
    NB_NEED(stems, nb_alloc(f->ctx, (size_t)f->scopes.count + 1, sizeof *stems));
    for (f->scope = 0; f->scope < f->scopes.count; f->scope++) {
        NB_TRY(f->ctx, lay_out(f));
        if (f->series_count == 0) continue;
        NB_NEED(f->output, nb_plot_file_name(nb_format(f->ctx, "%s_%s", f->of->kind, f->scopes.stems[f->scope])));
        stems[(*figures)++] = f->output;
        NB_TRY(f->ctx, draw_scope(f));
    }
    return nb_plot_prune(f->d->folder, f->of->kind, *figures, stems, f->ctx);
}

nb_status nb_ratios_draw(const nb_drawing *d, nb_relation *relation, const nb_ratios *of, int *figures, nb_ctx *ctx)
{
    figure f = {.d = d, .of = of, .ctx = ctx};
    const nb_compare_terms terms = {.contrast = {.by = of->by, .metric = of->metric, .baseline = of->baseline},
                                    .confidence = 0.95};
    *figures = 0;
    NB_TRY(ctx, nb_compare(relation, &terms, &f.comparison, ctx));
    f.contrasts = f.comparison.contrasts;
    NB_TRY(ctx, nb_contrasts_planned(relation, &f.planned, &f.rows, ctx));
    NB_TRY(ctx, nb_scopes_find(f.contrasts, f.planned, f.rows, of->along, of->named, &f.scopes, ctx));
    NB_TRY(ctx, find_several(&f));
    NB_TRY(ctx, add_points(&f));
    if (f.count > 0) tell_what_is_missing(&f);
    if (f.count == 0) return nb_plot_prune(d->folder, of->kind, 0, NULL, ctx);
    qsort(f.points, (size_t)f.count, sizeof *f.points, compare_points);
    return draw_all(&f, figures);
}
