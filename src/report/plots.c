/* plots.c - one data file a kind, one small driver script a figure, and copies
 * of the kind's script, so that a folder can be redrawn and edited by itself. */
#include "report/plots.h"

#include "base/files.h"
#include "report/core_plots.h"
#include "report/csv.h"
#include "report/forest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const nb_summary *summary;
    const char *kind, *experiment;
    int core; /* of the figure */
} figure;

static void print_real(FILE *out, double x)
{
    fputc(',', out);
    if (isfinite(x)) fprintf(out, "%.16e", x); /* gnuplot takes the text 1e-10 for an integer and what follows for a mistake */
}

/* The numbers of core, panel and series count from 1, as the script's arrays do. */
enum { ANY_CORE = 0, FLOOR = 0, BASELINE = -1 };

static void print_statistic(FILE *out, const nb_summary *s, int core, int panel, int series, int m, const nb_statistic *value)
{
    char constant[32];
    snprintf(constant, sizeof constant, "constant %s", s->constant);
    const char *names[] = {core == ANY_CORE ? "" : s->cores[core - 1].label, s->panels[panel - 1].label,
                           series == FLOOR      ? "best rank m"
                           : series == BASELINE ? constant
                                                : s->variants[series - 1].label};
    fprintf(out, "%d,%d,%d,%d,%d", core, panel, series, s->landmarks[m], value->count);
    print_real(out, value->median);
    print_real(out, value->low);
    print_real(out, value->high);
    for (int i = 0; i < 3; i++) {
        fputc(',', out);
        nb_csv_print_text(out, names[i]);
    }
    fputc('\n', out);
}

static void print_cells(FILE *out, const nb_summary *s, const nb_statistic *cells, int first_core)
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

static void print_error_data(FILE *out, const nb_summary *s)
{
    print_cells(out, s, s->errors, 0);
    print_levels(out, s, FLOOR, s->floors);
    print_levels(out, s, BASELINE, s->baselines);
}

static void print_ratio_data(FILE *out, const nb_summary *s)
{
    print_cells(out, s, s->ratios, 1);
}

typedef struct {
    const char *name;
    void (*print_data)(FILE *out, const nb_summary *s);
    int first_core; /* one figure for each core from this one on */
} plot_kind;

static const plot_kind kinds[] = {
    {"error", print_error_data, 0},
    {"svd_vs_iterative", print_ratio_data, 1},
};

const char *const nb_plot_kinds[] = {"error", "svd_vs_iterative", "cutoff", "steps", "cores", "rows", "precision", "spectrum", "forest", NULL};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* NULL: core_plots.c has it. */
static const plot_kind *find_kind(const char *name)
{
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0) return &kinds[k];
    return NULL;
}

static nb_status print_data(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    (void)ctx;
    fputs("core,panel,series,landmarks,count,median,p10,p90,core_name,panel_name,series_name\n", out);
    find_kind(f->kind)->print_data(out, f->summary);
    return NB_OK;
}

static const char *output_name(const figure *f, nb_ctx *ctx)
{
    return nb_plot_file_name(nb_format(ctx, "%s_%s", f->kind, f->summary->cores[f->core].brief));
}

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    const nb_summary *s = f->summary;
    const char *output, *reference = f->core > 0 ? s->cores[0].label : "";
    NB_NEED(output, output_name(f, ctx));
    fprintf(out, "# draws %s.svg and %s.png; run: gnuplot %s.gp\n", output, output, output);
    fprintf(out, "data = \"%s.csv\"\noutput = \"%s\"\ncore = %d\ncore_name = ", f->kind, output, f->core + 1);
    nb_plot_print_string(out, s->cores[f->core].label);
    fputs("\nreference_name = ", out);
    nb_plot_print_string(out, reference);
    fputs("\nconstant = ", out);
    nb_plot_print_string(out, s->constant);
    fputs("\nexperiment = ", out);
    nb_plot_print_string(out, f->experiment);
    fprintf(out, "\narray landmarks[%d] = [", s->landmark_count);
    for (int m = 0; m < s->landmark_count; m++) fprintf(out, "%s%d", m ? ", " : "", s->landmarks[m]);
    fprintf(out, "]\narray panels[%d] = [", s->panel_count);
    for (int p = 0; p < s->panel_count; p++) {
        fputs(p ? ", " : "", out);
        nb_plot_print_string(out, s->panels[p].label);
    }
    fprintf(out, "]\narray series[%d] = [", s->variant_count);
    for (int v = 0; v < s->variant_count; v++) {
        fputs(v ? ", " : "", out);
        nb_plot_print_string(out, s->variants[v].label);
    }
    fprintf(out, "]\nload \"%s.gp\"\n", f->kind);
    return NB_OK;
}

static nb_status plot_core(const char *folder, const figure *f, bool draw, nb_ctx *ctx)
{
    const char *output, *script;
    NB_NEED(output, output_name(f, ctx));
    NB_NEED(script, nb_format(ctx, "%s.gp", output));
    NB_TRY(ctx, nb_plot_print_script(folder, script, print_driver, f, ctx));
    return draw ? nb_plot_draw(folder, script, ctx) : NB_OK;
}

bool nb_plot_of_one_m(const char *kind)
{
    return strcmp(kind, "cutoff") == 0 || strcmp(kind, "steps") == 0 || strcmp(kind, "spectrum") == 0;
}

nb_status nb_plot_choose_m(int count, const int *landmarks, int *m, nb_ctx *ctx)
{
    const char *all = "";
    if (count == 0) return NB_OK;
    if (*m == 0) *m = landmarks[(count - 1) / 2];
    for (int i = 0; i < count; i++) {
        if (landmarks[i] == *m) return NB_OK;
        NB_NEED(all, nb_format(ctx, "%s%s%d", all, i ? ", " : "", landmarks[i]));
    }
    NB_FAIL(ctx, NB_EINVAL, "the run has no m = %d; it has %s", *m, all);
}

void nb_plot_warn(const char *kind)
{
    fprintf(stderr, "nysbench: warning: plot %s: the run has no rows that it draws\n", kind);
}

/* A figure for each core from the kind's first on. */
static nb_status plot_curves(const nb_drawing *d, const plot_kind *k, int *figures, nb_ctx *ctx)
{
    figure f = {.summary = d->summary, .kind = k->name, .experiment = d->experiment, .core = k->first_core};
    const char *path, *script, **stems;
    NB_TRY(ctx, nb_make_folder(d->folder, ctx));
    NB_NEED(path, nb_format(ctx, "%s/%s.csv", d->folder, k->name));
    NB_NEED(script, nb_format(ctx, "%s.gp", k->name));
    NB_TRY(ctx, nb_write_file(path, print_data, &f, ctx));
    NB_TRY(ctx, nb_plot_copy_script(d->folder, "looks.gp", ctx));
    NB_TRY(ctx, nb_plot_copy_script(d->folder, "common.gp", ctx));
    NB_TRY(ctx, nb_plot_copy_script(d->folder, "figure.gp", ctx));
    NB_TRY(ctx, nb_plot_copy_script(d->folder, script, ctx));
    NB_NEED(stems, nb_alloc(ctx, (size_t)d->summary->core_count, sizeof *stems));
    for (; f.core < d->summary->core_count; f.core++) {
        NB_NEED(stems[(*figures)++], output_name(&f, ctx));
        NB_TRY(ctx, plot_core(d->folder, &f, d->draw, ctx));
    }
    return nb_plot_prune(d->folder, k->name, *figures, stems, ctx);
}

nb_status nb_plot(const nb_drawing *d, const char *kind, int *figures, nb_ctx *ctx)
{
    const plot_kind *k = find_kind(kind);
    const nb_summary *s = d->summary;
    *figures = 0;
    if (strcmp(kind, "forest") == 0) return nb_plot_forest(d, figures, ctx);
    if (!k) return nb_core_plot(d, kind, figures, ctx);
    if (k->first_core >= s->core_count || s->panel_count == 0) return nb_plot_prune(d->folder, kind, 0, NULL, ctx);
    if (s->variant_count <= NB_MOST_CURVES) return plot_curves(d, k, figures, ctx);
    if (strcmp(kind, "error") != 0) return nb_plot_core_forest(d, kind, figures, ctx);
    printf("plot error: %d strategies are too many for curves; drawn as a forest\n", s->variant_count);
    NB_TRY(ctx, nb_plot_prune(d->folder, kind, 0, NULL, ctx));
    return nb_plot_forest(d, figures, ctx);
}
