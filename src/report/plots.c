/* plots.c - one data file a kind, one small driver script a figure, and copies
 * of the kind's script, so that a folder can be redrawn and edited by itself. */
#include "report/plots.h"

#include "base/files.h"
#include "base/gnuplot.h"
#include "report/core_plots.h"
#include "report/csv.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

const char *const nb_plot_kinds[] = {"error", "svd_vs_iterative", "cutoff", "steps", "cores", "rows", "precision", "spectrum", NULL};

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

/* A gnuplot string in single quotes, where nothing but the quote is special; in
 * double quotes gnuplot would run what stands in backquotes. */
void nb_plot_print_string(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', out);
        fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
    }
    fputc('\'', out);
}

char *nb_plot_file_name(char *text)
{
    for (char *c = text; c && *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(".-+", *c)) *c = '_';
    for (size_t last = text ? strlen(text) : 0; last > 0 && text[last - 1] == '_'; last--) text[last - 1] = '\0';
    return text;
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

nb_status nb_plot_copy_script(const char *folder, const char *name, nb_ctx *ctx)
{
    const char *from, *to;
    NB_TRY(ctx, nb_shared_file("plots", name, &from, ctx));
    NB_NEED(to, nb_format(ctx, "%s/%s", folder, name));
    return nb_copy_file(from, to, ctx);
}

static nb_status plot_core(const char *folder, const figure *f, bool draw, nb_ctx *ctx)
{
    const char *output, *path, *script;
    NB_NEED(output, output_name(f, ctx));
    NB_NEED(script, nb_format(ctx, "%s.gp", output));
    NB_NEED(path, nb_format(ctx, "%s/%s", folder, script));
    NB_TRY(ctx, nb_write_file(path, print_driver, f, ctx));
    return draw ? nb_gnuplot_run(folder, script, ctx) : NB_OK;
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

static nb_status remove_file(const char *path, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, unlink(path) == 0 || errno == ENOENT, NB_EIO, "%s: cannot be removed: %s", path, strerror(errno));
    return NB_OK;
}

/* STEM.gp of a figure that was drawn by this program: its first line says so. */
static nb_status is_ours(const char *folder, const char *stem, bool *ours, nb_ctx *ctx)
{
    const char *path, *wanted, *text;
    NB_NEED(path, nb_format(ctx, "%s/%s.gp", folder, stem));
    NB_NEED(wanted, nb_format(ctx, "# draws %s.svg and %s.png; ", stem, stem));
    *ours = false;
    if (!nb_is_file(path)) return NB_OK;
    NB_TRY(ctx, nb_read_file(path, &text, ctx));
    *ours = strncmp(text, wanted, strlen(wanted)) == 0;
    return NB_OK;
}

static nb_status remove_figure(const char *folder, const char *stem, nb_ctx *ctx)
{
    static const char *const extensions[] = {"svg", "png", "dat", "gp"}; /* last what tells that it is ours */
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        const char *path;
        NB_NEED(path, nb_format(ctx, "%s/%s.%s", folder, stem, extensions[i]));
        NB_TRY(ctx, remove_file(path, ctx));
    }
    return NB_OK;
}

/* The figure whose script has that name, where it is of the kind, and none of `stems`. */
static nb_status prune_script(const char *folder, const char *name, const char *kind, int count, const char *const *stems, nb_ctx *ctx)
{
    size_t length = strlen(name), kind_length = strlen(kind);
    char *stem;
    bool ours;
    if (length < 4 || strcmp(name + length - 3, ".gp") != 0 || strncmp(name, kind, kind_length) != 0) return NB_OK;
    NB_NEED(stem, nb_strdup(ctx, name));
    stem[length - 3] = '\0';
    if (stem[kind_length] && stem[kind_length] != '_') return NB_OK;
    for (int i = 0; i < count; i++)
        if (strcmp(stems[i], stem) == 0) return NB_OK;
    NB_TRY(ctx, is_ours(folder, stem, &ours, ctx));
    return ours ? remove_figure(folder, stem, ctx) : NB_OK;
}

nb_status nb_plot_prune(const char *folder, const char *kind, int count, const char *const *stems, nb_ctx *ctx)
{
    struct dirent **entries;
    nb_status status = NB_OK;
    int found = scandir(folder, &entries, NULL, NULL);
    NB_REQUIRE(ctx, found >= 0 || errno == ENOENT, NB_EIO, "folder %s: cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < found; i++) {
        if (status == NB_OK) status = prune_script(folder, entries[i]->d_name, kind, count, stems, ctx);
        free(entries[i]);
    }
    if (found >= 0) free(entries);
    if (status != NB_OK || found < 0 || count > 0) return status;
    const char *data;
    NB_NEED(data, nb_format(ctx, "%s/%s.csv", folder, kind));
    return remove_file(data, ctx);
}

nb_status nb_plot(const char *folder, const char *kind, const char *experiment, const nb_summary *summary, int m, bool draw,
                  int *figures, nb_ctx *ctx)
{
    const plot_kind *k = find_kind(kind);
    if (!k) return nb_core_plot(folder, kind, experiment, summary, m, draw, figures, ctx);
    figure f = {.summary = summary, .kind = kind, .experiment = experiment, .core = k->first_core};
    const char *path, *script, **stems;
    *figures = 0;
    if (f.core >= summary->core_count || summary->panel_count == 0) return nb_plot_prune(folder, kind, 0, NULL, ctx);
    NB_TRY(ctx, nb_make_folder(folder, ctx));
    NB_NEED(path, nb_format(ctx, "%s/%s.csv", folder, kind));
    NB_NEED(script, nb_format(ctx, "%s.gp", kind));
    NB_TRY(ctx, nb_write_file(path, print_data, &f, ctx));
    NB_TRY(ctx, nb_plot_copy_script(folder, "common.gp", ctx));
    NB_TRY(ctx, nb_plot_copy_script(folder, "figure.gp", ctx));
    NB_TRY(ctx, nb_plot_copy_script(folder, script, ctx));
    NB_NEED(stems, nb_alloc(ctx, (size_t)summary->core_count, sizeof *stems));
    for (; f.core < summary->core_count; f.core++) {
        NB_NEED(stems[(*figures)++], output_name(&f, ctx));
        NB_TRY(ctx, plot_core(folder, &f, draw, ctx));
    }
    return nb_plot_prune(folder, kind, *figures, stems, ctx);
}
