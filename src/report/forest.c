/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forest.c - see forest.h */
#include "report/forest.h"

#include "base/files.h"
#include "report/csv.h"
#include "report/scripts.h"

#include <math.h>
#include <stdlib.h>

typedef nb_forest_line line;
typedef nb_forest forest;

static int compare_lines(const void *a, const void *b)
{
    const line *x = a, *y = b;
    return (x->pooled > y->pooled) - (x->pooled < y->pooled);
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
        for (int p = -1; p <= f->panel_count; p++) {
            double x = p < 0 ? l->subspace : p == 0 ? l->pooled : l->by_panel[p - 1];
            if (!(x > 0) || !isfinite(x)) continue;
            fprintf(out, "%d,%d", f->count - i, p);
            nb_plot_print_real(out, x);
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

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    const forest *f = what;
    bool fixed = true, subspace = false;
    (void)ctx;
    nb_plot_print_head(out, f->output);
    fprintf(out, "data = \"%s.dat\"\n", f->output);
    nb_plot_set_text(out, "title", f->title);
    nb_plot_set_text(out, "subtitle", f->subtitle);
    nb_plot_set_text(out, "x_name", f->x_name);
    nb_plot_set_text(out, "heading_1", f->headings[0] ? f->headings[0] : "");
    nb_plot_set_text(out, "heading_2", f->headings[1] ? f->headings[1] : "");
    nb_plot_set_texts(out, "panels", f->panel_count, f->panels);
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

static nb_status draw(const nb_drawing *d, forest *f, nb_ctx *ctx)
{
    const char *path, *script;
    qsort(f->lines, (size_t)f->count, sizeof *f->lines, compare_lines);
    NB_NEED(f->output, nb_plot_file_name(nb_format(ctx, "%s_%s", f->kind, f->name)));
    NB_NEED(path, nb_format(ctx, "%s/%s.dat", d->folder, f->output));
    NB_NEED(script, nb_format(ctx, "%s.gp", f->output));
    NB_TRY(ctx, nb_write_file(path, print_points, f, ctx));
    NB_TRY(ctx, nb_plot_print_script(d->folder, script, print_driver, f, ctx));
    return nb_plot_draw(d->gnuplots, d->folder, f->output, ctx);
}

/* All figures, for people and programs. */
static nb_status print_data(FILE *out, const void *what, nb_ctx *ctx)
{
    const forest *f = what;
    (void)ctx;
    fputs("figure,strategy,panel,pairing_held_fixed,ratio,subspace_ratio\n", out);
    for (; f->name; f++)
        for (int i = 0; i < f->count; i++)
            for (int p = 0; p <= f->panel_count; p++) {
                const line *l = &f->lines[i];
                const char *names[] = {f->name, l->label, p == 0 ? "all" : f->panels[p - 1]};
                for (int k = 0; k < 3; k++) {
                    nb_csv_print_text(out, names[k]);
                    fputc(',', out);
                }
                fprintf(out, "%s", l->fixed ? "true" : "false");
                nb_plot_print_real(out, p == 0 ? l->pooled : l->by_panel[p - 1]);
                nb_plot_print_real(out, p == 0 ? l->subspace : NAN);
                fputc('\n', out);
            }
    return NB_OK;
}

nb_status nb_forest_draw(const nb_drawing *d, const char *kind, nb_forest *figures, int *count, nb_ctx *ctx)
{
    const char *path, **stems;
    int kept = 0;
    *count = 0;
    for (int i = 0; figures[i].name; i++)
        if (figures[i].count > 1) figures[kept++] = figures[i];
    figures[kept].name = NULL;
    if (kept == 0) return nb_plot_prune(d->folder, kind, 0, NULL, ctx);
    NB_TRY(ctx, nb_make_folder(d->folder, ctx));
    NB_TRY(ctx, nb_plot_copy_scripts(d->folder, (const char *const[]){"forest.gp", NULL}, ctx));
    NB_NEED(stems, nb_alloc(ctx, (size_t)kept, sizeof *stems));
    for (int i = 0; i < kept; i++) {
        NB_TRY(ctx, draw(d, &figures[i], ctx));
        stems[i] = figures[i].output;
    }
    NB_NEED(path, nb_format(ctx, "%s/%s.csv", d->folder, kind));
    NB_TRY(ctx, nb_write_file(path, print_data, figures, ctx));
    *count = kept;
    return nb_plot_prune(d->folder, kind, kept, stems, ctx);
}
