/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curves.c - one data file a kind, one small driver script a figure, and copies
 * of the kind's script, so that a folder can be redrawn and edited by itself. */
#include "studies/error/curves.h"

#include "base/files.h"
#include "report/csv.h"
#include "report/scripts.h"
#include "studies/error/forests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { /* the median over trials of one head */
    int panel, variant, core, head, landmark;
    double value;
} head_median;

typedef struct {
    const char *name;
    const nb_curves *kind;
    const nb_summary *summary;
    const char *experiment;
    int core; /* of the figure */
    int head_count;
    head_median *heads; /* of all cores */
} figure;

/* The numbers of core, panel and series count from 1, as the script's arrays do. */
enum { ANY_CORE = 0, FLOOR = 0, BASELINE = -1 };

static void print_statistic(FILE *out, const nb_summary *s, int core, int panel, int series, int m,
                            const nb_statistic *value)
{
    char constant[32];
    snprintf(constant, sizeof constant, "constant %s", s->constant);
    const char *names[] = {core == ANY_CORE ? "" : s->cores[core - 1].label, s->panels[panel - 1].label,
                           series == FLOOR      ? "best rank m"
                           : series == BASELINE ? constant
                                                : s->variants[series - 1].label};
    fprintf(out, "%d,%d,%d,%d,%d", core, panel, series, s->landmarks[m], value->count);
    nb_plot_print_real(out, value->median);
    nb_plot_print_real(out, value->low);
    nb_plot_print_real(out, value->high);
    for (int i = 0; i < 3; i++) {
        fputc(',', out);
        nb_csv_print_text(out, names[i]);
    }
    fputc('\n', out);
}

void nb_curves_print_cells(FILE *out, const nb_summary *s, const nb_statistic *cells, int first_core)
{
    for (int p = 0; p < s->panel_count; p++)
        for (int v = 0; v < s->variant_count; v++)
            for (int c = first_core; c < s->core_count; c++)
                for (int m = 0; m < s->landmark_count; m++)
                    print_statistic(out, s, c + 1, p + 1, v + 1, m, &cells[nb_summary_cell(s, p, v, c, m)]);
}

static void print_levels(FILE *out, const nb_summary *s, int series, const nb_statistic *levels)
{
    for (int p = 0; p < s->panel_count; p++)
        for (int m = 0; m < s->landmark_count; m++)
            print_statistic(out, s, ANY_CORE, p + 1, series, m, &levels[nb_summary_level(s, p, m)]);
}

void nb_curves_print_levels(FILE *out, const nb_summary *s)
{
    print_levels(out, s, FLOOR, s->floors);
    print_levels(out, s, BASELINE, s->baselines);
}

static int compare_heads(const void *a, const void *b)
{
    const head_median *x = a, *y = b;
    const int order[] = {x->core - y->core, x->panel - y->panel, x->variant - y->variant, x->head - y->head,
                         x->landmark - y->landmark};
    for (int i = 0; i < 5; i++)
        if (order[i]) return order[i];
    return 0;
}

/* Medians over trials of the panels that have several heads. */
static nb_status find_heads(figure *f, nb_ctx *ctx)
{
    static const char *const by[] = {NB_OF_CELL, NB_OF_HEAD, NULL};
    const nb_summary *s = f->summary;
    nb_selection all;
    nb_groups groups;
    double *values;
    NB_TRY(ctx, nb_frame_all(&s->frame, &all, ctx));
    NB_TRY(ctx, nb_frame_group(&s->frame, all, by, &groups, ctx));
    NB_NEED(f->heads, nb_alloc(ctx, (size_t)groups.count + 1, sizeof *f->heads));
    NB_NEED(values, nb_alloc_reals(ctx, (size_t)s->row_count + 1, 1));
    for (int g = 0; g < groups.count; g++) {
        nb_selection rows = nb_group_rows(&groups, g);
        const nb_summary_index *at = &s->at[rows.at[0]];
        int count = rows.count;
        for (int i = 0; i < count; i++) values[i] = f->kind->value(s, rows.at[i]);
        double value = nb_median_of(values, &count);
        if (s->panels[at->panel].heads > 1 && count > 0)
            f->heads[f->head_count++] = (head_median){at->panel, at->variant, at->core, at->head, at->landmark, value};
    }
    qsort(f->heads, (size_t)f->head_count, sizeof *f->heads, compare_heads);
    return NB_OK;
}

static bool same_line(const head_median *a, const head_median *b)
{
    return a->panel == b->panel && a->variant == b->variant && a->head == b->head;
}

/* A block for each head of each strategy and panel: landmarks, median. */
static nb_status print_heads(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    const head_median *before = NULL;
    (void)ctx;
    fputs("# landmarks,median of a head\n", out);
    for (const head_median *h = f->heads; h < f->heads + f->head_count; h++) {
        if (h->core != f->core) continue;
        if (before && !same_line(before, h)) fputs("\n\n", out);
        fprintf(out, "%d", f->summary->landmarks[h->landmark]);
        nb_plot_print_real(out, h->value);
        fputc('\n', out);
        before = h;
    }
    return NB_OK;
}

/* Which of these blocks each panel and strategy has, the first and how many, and what they reach. */
static nb_status print_blocks(FILE *out, const figure *f, nb_ctx *ctx)
{
    const nb_summary *s = f->summary;
    const head_median *before = NULL;
    double *low, *high;
    int *first, *count, next = 0, cells = s->panel_count * s->variant_count;
    NB_NEED(first, nb_alloc(ctx, (size_t)cells, sizeof *first));
    NB_NEED(count, nb_alloc(ctx, (size_t)cells, sizeof *count));
    NB_NEED(low, nb_alloc_reals(ctx, (size_t)cells, 1));
    NB_NEED(high, nb_alloc_reals(ctx, (size_t)cells, 1));
    for (const head_median *h = f->heads; h < f->heads + f->head_count; h++) {
        int cell = h->panel * s->variant_count + h->variant;
        if (h->core != f->core) continue;
        if (!before || !same_line(before, h)) {
            if (count[cell]++ == 0) first[cell] = next;
            next++;
        }
        if (h->value > 0) low[cell] = low[cell] > 0 ? fmin(low[cell], h->value) : h->value;
        high[cell] = fmax(high[cell], h->value);
        before = h;
    }
    for (int k = 0; k < 2; k++) {
        fprintf(out, "array heads_%s[%d] = [", k ? "count" : "first", cells);
        for (int i = 0; i < cells; i++) fprintf(out, "%d%s", k ? count[i] : first[i], i + 1 < cells ? ", " : "]\n");
        fprintf(out, "array heads_%s[%d] = [", k ? "high" : "low", cells);
        for (int i = 0; i < cells; i++) fprintf(out, "%g%s", k ? high[i] : low[i], i + 1 < cells ? ", " : "]\n");
    }
    return NB_OK;
}

static nb_status print_data(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    (void)ctx;
    fputs("core,panel,series,landmarks,count,median,p10,p90,core_name,panel_name,series_name\n", out);
    f->kind->print_data(out, f->summary);
    return NB_OK;
}

static const char *output_name(const figure *f, nb_ctx *ctx)
{
    return nb_plot_file_name(nb_format(ctx, "%s_%s", f->name, f->summary->cores[f->core].brief));
}

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    const nb_summary *s = f->summary;
    const char *output, *reference = f->core > 0 ? s->cores[0].label : "";
    NB_NEED(output, output_name(f, ctx));
    nb_plot_print_head(out, output);
    fprintf(out, "data = \"%s.csv\"\ncore = %d\n", f->name, f->core + 1);
    nb_plot_set_text(out, "core_name", s->cores[f->core].label);
    nb_plot_set_text(out, "reference_name", reference);
    nb_plot_set_text(out, "constant", s->constant);
    nb_plot_set_text(out, "pairing", s->pairing ? s->pairing : "");
    nb_plot_set_text(out, "experiment", f->experiment);
    nb_plot_set_ints(out, "landmarks", s->landmark_count, s->landmarks);
    fprintf(out, "array panels[%d] = [", s->panel_count);
    for (int p = 0; p < s->panel_count; p++) {
        fputs(p ? ", " : "", out);
        nb_plot_print_string(out, s->panels[p].label);
    }
    fprintf(out, "]\narray series[%d] = [", s->variant_count);
    for (int v = 0; v < s->variant_count; v++) {
        fputs(v ? ", " : "", out);
        nb_plot_print_string(out, s->variants[v].label);
    }
    fprintf(out, "]\nheads = \"%s.dat\"\n", output);
    NB_TRY(ctx, print_blocks(out, f, ctx));
    fprintf(out, "load \"%s.gp\"\n", f->name);
    return NB_OK;
}

static nb_status plot_core(const char *folder, const figure *f, nb_gnuplots *gnuplots, nb_ctx *ctx)
{
    const char *output, *script, *heads;
    NB_NEED(output, output_name(f, ctx));
    NB_NEED(heads, nb_format(ctx, "%s/%s.dat", folder, output));
    NB_TRY(ctx, nb_write_file(heads, print_heads, f, ctx));
    NB_NEED(script, nb_format(ctx, "%s.gp", output));
    NB_TRY(ctx, nb_plot_print_script(folder, script, print_driver, f, ctx));
    return nb_plot_draw(gnuplots, folder, output, ctx);
}

static nb_status draw_curves(const char *name, const nb_curves *k, const nb_summary *s, const nb_drawing *d,
                             int *figures, nb_ctx *ctx)
{
    figure f = {.name = name, .kind = k, .summary = s, .experiment = d->experiment, .core = k->first_core};
    const char *path, *script, **stems;
    NB_TRY(ctx, find_heads(&f, ctx));
    NB_TRY(ctx, nb_make_folder(d->folder, ctx));
    NB_NEED(path, nb_format(ctx, "%s/%s.csv", d->folder, name));
    NB_NEED(script, nb_format(ctx, "%s.gp", name));
    NB_TRY(ctx, nb_write_file(path, print_data, &f, ctx));
    NB_TRY(ctx, nb_plot_copy_scripts(d->folder,
                                     (const char *const[]){"common.gp", "direct.gp", "figure.gp", script, NULL}, ctx));
    NB_NEED(stems, nb_alloc(ctx, (size_t)s->core_count, sizeof *stems));
    for (; f.core < s->core_count; f.core++) {
        NB_NEED(stems[(*figures)++], output_name(&f, ctx));
        NB_TRY(ctx, plot_core(d->folder, &f, d->gnuplots, ctx));
    }
    return nb_plot_prune(d->folder, name, *figures, stems, ctx);
}

nb_status nb_curves_draw(const nb_figure *self, const nb_curves *k, const nb_frame *frame, const nb_drawing *d,
                         int *figures, nb_ctx *ctx)
{
    nb_summary s;
    const char *name = self->component.name;
    *figures = 0;
    NB_TRY(ctx, nb_summary_make(frame, &s, ctx));
    if (k->first_core >= s.core_count || s.panel_count == 0) return nb_plot_prune(d->folder, name, 0, NULL, ctx);
    if (s.variant_count > NB_MOST_CURVES) return k->draw_many(self, &s, d, figures, ctx);
    return draw_curves(name, k, &s, d, figures, ctx);
}
