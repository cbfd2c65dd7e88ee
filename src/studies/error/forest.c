/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forest.c - lines of strategies from the comparison with the baseline. */
#include "studies/error/forest.h"

#include "base/files.h"
#include "base/gnuplot.h"
#include "report/csv.h"
#include "studies/error/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *label;
    const char *texts[2];    /* beside the line */
    bool oracle, fixed;      /* fixed: the baseline has its pairing */
    double pooled, subspace; /* subspace: NaN where it is not drawn */
    double *by_panel;
} line;

typedef struct {
    const nb_drawing *d;
    const char *kind, *title, *subtitle, *x_name;
    const char *headings[2]; /* of the texts; NULL: there are none */
    const char *output, *core;
    int count;
    line *lines; /* the least pooled first, which is drawn on top */
} forest;

static int compare_lines(const void *a, const void *b)
{
    const line *x = a, *y = b;
    return (x->pooled > y->pooled) - (x->pooled < y->pooled);
}

static void print_number(FILE *out, double x)
{
    fputc(',', out);
    if (isfinite(x)) fprintf(out, "%.16e", x);
}

/* For gnuplot: place from below, what (0 pooled, -1 the subspace part, else a panel), ratio,
 * whether the pairing is held fixed. */
static nb_status print_points(FILE *out, const void *what, nb_ctx *ctx)
{
    const forest *f = what;
    (void)ctx;
    fputs("# place,what,ratio,pairing held fixed\n", out);
    for (int i = 0; i < f->count; i++) {
        const line *l = &f->lines[i];
        for (int p = -1; p <= f->d->summary->panel_count; p++) {
            double x = p < 0 ? l->subspace : p == 0 ? l->pooled : l->by_panel[p - 1];
            if (!(x > 0) || !isfinite(x)) continue;
            fprintf(out, "%d,%d", f->count - i, p);
            print_number(out, x);
            fprintf(out, ",%d\n", l->fixed);
        }
    }
    return NB_OK;
}

static const char *label_of(const line *l)
{
    return l->label;
}
static const char *first_of(const line *l)
{
    return l->texts[0] ? l->texts[0] : "";
}
static const char *second_of(const line *l)
{
    return l->texts[1] ? l->texts[1] : "";
}

static void print_strings(FILE *out, const forest *f, const char *array, const char *(*text)(const line *))
{
    fprintf(out, "array %s[%d] = [", array, f->count);
    for (int i = f->count - 1; i >= 0; i--) {
        nb_plot_print_string(out, text(&f->lines[i]));
        fputs(i ? ", " : "]\n", out);
    }
}

static void print_string(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s = ", name);
    nb_plot_print_string(out, text);
    fputc('\n', out);
}

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    const forest *f = what;
    const nb_summary *s = f->d->summary;
    bool fixed = true, subspace = false;
    (void)ctx;
    fprintf(out, "# draws %s.svg and %s.png; run: gnuplot %s.gp\n", f->output, f->output, f->output);
    fprintf(out, "data = \"%s.dat\"\noutput = \"%s\"\n", f->output, f->output);
    print_string(out, "title", f->title);
    print_string(out, "subtitle", f->subtitle);
    print_string(out, "x_name", f->x_name);
    print_string(out, "heading_1", f->headings[0] ? f->headings[0] : "");
    print_string(out, "heading_2", f->headings[1] ? f->headings[1] : "");
    fprintf(out, "array panels[%d] = [", s->panel_count);
    for (int p = 0; p < s->panel_count; p++) {
        nb_plot_print_string(out, s->panels[p].label);
        fputs(p + 1 < s->panel_count ? ", " : "]\n", out);
    }
    print_strings(out, f, "names", label_of);
    print_strings(out, f, "texts_1", first_of);
    print_strings(out, f, "texts_2", second_of);
    fprintf(out, "array oracle[%d] = [", f->count);
    for (int i = f->count - 1; i >= 0; i--) fprintf(out, "%d%s", f->lines[i].oracle, i ? ", " : "]\n");
    for (int i = 0; i < f->count; i++) {
        fixed &= f->lines[i].fixed;
        subspace |= f->lines[i].subspace > 0;
    }
    fprintf(out, "subspace = %d\nfixed = %d\nload \"forest.gp\"\n", subspace, fixed);
    return NB_OK;
}

static nb_status draw(forest *f, nb_ctx *ctx)
{
    const char *path, *script;
    qsort(f->lines, (size_t)f->count, sizeof *f->lines, compare_lines);
    NB_NEED(f->output, nb_plot_file_name(nb_format(ctx, "%s_%s", f->kind, f->core)));
    NB_NEED(path, nb_format(ctx, "%s/%s.dat", f->d->folder, f->output));
    NB_NEED(script, nb_format(ctx, "%s.gp", f->output));
    NB_TRY(ctx, nb_write_file(path, print_points, f, ctx));
    NB_TRY(ctx, nb_plot_print_script(f->d->folder, script, print_driver, f, ctx));
    return f->d->draw ? nb_gnuplot_run(f->d->folder, script, ctx) : NB_OK;
}

/* All figures, for people and programs. */
static nb_status print_data(FILE *out, const void *what, nb_ctx *ctx)
{
    const forest *f = what;
    const nb_summary *s = f[0].d->summary;
    (void)ctx;
    fputs("figure,strategy,panel,pairing_held_fixed,ratio,subspace_ratio\n", out);
    for (; f->core; f++)
        for (int i = 0; i < f->count; i++)
            for (int p = 0; p <= s->panel_count; p++) {
                const line *l = &f->lines[i];
                const char *names[] = {f->core, l->label, p == 0 ? "all" : s->panels[p - 1].label};
                for (int k = 0; k < 3; k++) {
                    nb_csv_print_text(out, names[k]);
                    fputc(',', out);
                }
                fprintf(out, "%s", l->fixed ? "true" : "false");
                print_number(out, p == 0 ? l->pooled : l->by_panel[p - 1]);
                print_number(out, p == 0 ? l->subspace : NAN);
                fputc('\n', out);
            }
    return NB_OK;
}

/* `figures` end with one that has no core; those of fewer than two lines are left out. */
static nb_status draw_all(const nb_drawing *d, const char *kind, forest *figures, int *count, nb_ctx *ctx)
{
    const char *path, **stems;
    int kept = 0;
    *count = 0;
    for (int i = 0; figures[i].core; i++)
        if (figures[i].count > 1) figures[kept++] = figures[i];
    figures[kept].core = NULL;
    if (kept == 0) return nb_plot_prune(d->folder, kind, 0, NULL, ctx);
    NB_TRY(ctx, nb_make_folder(d->folder, ctx));
    NB_TRY(ctx, nb_plot_copy_script(d->folder, "forest.gp", ctx));
    NB_NEED(stems, nb_alloc(ctx, (size_t)kept, sizeof *stems));
    for (int i = 0; i < kept; i++) {
        NB_TRY(ctx, draw(&figures[i], ctx));
        stems[i] = figures[i].output;
    }
    NB_NEED(path, nb_format(ctx, "%s/%s.csv", d->folder, kind));
    NB_TRY(ctx, nb_write_file(path, print_data, figures, ctx));
    *count = kept;
    return nb_plot_prune(d->folder, kind, kept, stems, ctx);
}

static nb_status seconds_text(double s, const char **text, nb_ctx *ctx)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}};
    int u = s >= 1 ? 0 : s >= 1e-3 ? 1 : 2;
    double x = s / units[u].unit;
    if (isnan(s))
        NB_NEED(*text, nb_strdup(ctx, ""));
    else
        NB_NEED(*text, nb_format(ctx, "%.*f %s", x >= 9.95 ? 0 : 1, x, units[u].name));
    return NB_OK;
}

/* The median over m of a panel's numbers. */
static nb_status by_panel(const nb_summary *s, double (*number)(const void *of, int cell), const void *of, int variant,
                          int core, line *l, nb_ctx *ctx)
{
    double *values;
    NB_NEED(l->by_panel, nb_alloc_reals(ctx, (size_t)s->panel_count, 1));
    NB_NEED(values, nb_alloc_reals(ctx, (size_t)(s->landmark_count + 1), 1));
    for (int p = 0; p < s->panel_count; p++) {
        int count = 0;
        for (int m = 0; m < s->landmark_count; m++) {
            double x = number(of, nb_summary_cell(s, p, variant, core, m));
            if (!isnan(x)) values[count++] = x;
        }
        l->by_panel[p] = nb_statistic_of(count, values).median;
    }
    return NB_OK;
}

static nb_status start(const nb_drawing *d, const char *kind, forest **figures, nb_ctx *ctx)
{
    const nb_summary *s = d->summary;
    NB_NEED(*figures, nb_alloc(ctx, (size_t)s->core_count + 1, sizeof **figures));
    for (int c = 0; c < s->core_count; c++) {
        forest *f = &(*figures)[c];
        *f = (forest){.d = d, .kind = kind, .core = s->cores[c].brief};
        NB_NEED(f->lines, nb_alloc(ctx, (size_t)s->variant_count + 1, sizeof *f->lines));
    }
    return NB_OK;
}

/* What of the pairing no label says. */
static nb_status pairing_words(const nb_summary *s, const char **words, nb_ctx *ctx)
{
    NB_NEED(*words, s->pairing ? nb_format(ctx, "; pairing %s where none is named", s->pairing) : nb_strdup(ctx, ""));
    return NB_OK;
}

typedef struct {
    const nb_shares *shares;
    bool fixed;
} ratios;

static double ratio_of(const void *of, int cell)
{
    const ratios *r = of;
    const nb_comparison *c = &r->shares->cells[cell];
    return c->fixed == r->fixed ? c->whole.relative : NAN;
}

static nb_status add_line(forest *f, const nb_shares *shares, int variant, int core, nb_ctx *ctx)
{
    const nb_summary *s = f->d->summary;
    const nb_comparison *c = &shares->pooled[variant * s->core_count + core];
    const nb_variant *v = &s->variants[variant];
    line *l = &f->lines[f->count];
    if (c->cells == 0) return NB_OK;
    *l = (line){.label = v->label,
                .oracle = v->oracle,
                .fixed = c->fixed,
                .pooled = c->whole.relative,
                .subspace = c->subspace.relative};
    if (!c->fixed) NB_NEED(l->label, nb_format(ctx, "%s against %s", v->label, s->variants[c->base].pairing));
    NB_TRY(ctx, by_panel(s, ratio_of, &(ratios){shares, c->fixed}, variant, core, l, ctx));
    NB_NEED(l->texts[0], isnan(c->whole.share) ? nb_strdup(ctx, "") : nb_format(ctx, "%.2f", c->whole.share));
    NB_TRY(ctx, seconds_text(c->select_s, &l->texts[1], ctx));
    f->count++;
    return NB_OK;
}

nb_status nb_plot_forest(const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    const nb_summary *s = d->summary;
    nb_shares shares;
    forest *all;
    const char *words;
    NB_TRY(ctx, nb_shares_make(s->row_count, s->rows, s, d->baseline, &shares, ctx));
    NB_TRY(ctx, start(d, "forest", &all, ctx));
    NB_TRY(ctx, pairing_words(s, &words, ctx));
    for (int c = 0; c < s->core_count; c++) {
        forest *f = &all[c];
        NB_NEED(f->title,
                nb_format(ctx, "%s: error relative to %s, %s", d->experiment, shares.baseline, s->cores[c].label));
        NB_NEED(f->subtitle,
                nb_format(ctx, "medians over m, heads and trials of the ratio in the same trial%s", words));
        f->x_name = "error / the baseline's";
        f->headings[0] = "share of gap";
        f->headings[1] = "to select";
        for (int v = 0; v < s->variant_count; v++) NB_TRY(ctx, add_line(f, &shares, v, c, ctx));
    }
    return draw_all(d, "forest", all, figures, ctx);
}

static double core_ratio_of(const void *of, int cell)
{
    const nb_summary *s = of;
    return s->ratios[cell].median;
}

static nb_status add_core_line(forest *f, int variant, int core, nb_ctx *ctx)
{
    const nb_summary *s = f->d->summary;
    line *l = &f->lines[f->count];
    double *values;
    int count = 0;
    *l = (line){
        .label = s->variants[variant].label, .oracle = s->variants[variant].oracle, .fixed = true, .subspace = NAN};
    NB_NEED(values, nb_alloc_reals(ctx, (size_t)s->panel_count * (size_t)s->landmark_count + 1, 1));
    for (int p = 0; p < s->panel_count; p++)
        for (int m = 0; m < s->landmark_count; m++) {
            double x = core_ratio_of(s, nb_summary_cell(s, p, variant, core, m));
            if (!isnan(x)) values[count++] = x;
        }
    if (count == 0) return NB_OK;
    l->pooled = nb_statistic_of(count, values).median;
    NB_TRY(ctx, by_panel(s, core_ratio_of, s, variant, core, l, ctx));
    f->count++;
    return NB_OK;
}

nb_status nb_plot_core_forest(const nb_drawing *d, const char *kind, int *figures, nb_ctx *ctx)
{
    const nb_summary *s = d->summary;
    forest *all;
    const char *words;
    NB_TRY(ctx, start(d, kind, &all, ctx));
    NB_TRY(ctx, pairing_words(s, &words, ctx));
    for (int c = 1; c < s->core_count; c++) {
        forest *f = &all[c];
        NB_NEED(f->title, nb_format(ctx, "%s: error with %s / error with %s", d->experiment, s->cores[c].label,
                                    s->cores[0].label));
        NB_NEED(f->subtitle,
                nb_format(ctx, "medians over m, heads and trials of the ratio on the same landmarks%s", words));
        f->x_name = "ratio of errors, same landmarks";
        for (int v = 0; v < s->variant_count; v++) NB_TRY(ctx, add_core_line(f, v, c, ctx));
    }
    return draw_all(d, kind, all, figures, ctx); /* the first core's has no lines */
}
