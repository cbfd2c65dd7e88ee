/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rank_diagram.c - the better half of the methods has its names on the left, the best on top, the others on the right,
 * the worst on top, so that no line crosses another. Bars lie in as many layers as it takes that none touches
 * another. */
#include "report/rank_diagram.h"

#include "base/files.h"
#include "report/csv.h"
#include "report/scripts.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const nb_drawing *d;
    const nb_standings_view *v;
    const nb_rank_diagram *of;
    int count;
    nb_standings_block *blocks;

    const nb_standings_block *block; /* of the figure that is being written */
    const char *output;
} figure;

static bool is_shown(const nb_ranking *s)
{
    return s->ranked > 1 && s->sources > 0;
}

static bool has_panels(const nb_standings_block *b)
{
    for (int i = 0; i < b->count; i++)
        if (is_shown(b->items[i])) return true;
    return false;
}

/* Its scope, and its stratum where the scope has several. */
static nb_status name_block(const figure *f, const nb_standings_block *b, const char **name)
{
    int strata = 0;
    for (int i = 0; i < f->count; i++) strata += f->blocks[i].scope == b->scope;
    *name = f->v->scopes.stems[b->scope];
    if (strata > 1) NB_NEED(*name, nb_format(f->v->ctx, "%s, %s", *name, b->stratum_label));
    return NB_OK;
}

static nb_status print_line(FILE *out, const figure *f, const nb_standings_block *b, int item, int place)
{
    const nb_ranking *s = b->items[item];
    const double tests[] = {s->test.chi2, s->test.p, s->test.f, s->test.f_p, s->test.w, s->difference};
    const char *texts[] = {NULL, nb_standing_label(f->v, s, s->order[place]), NULL};
    int first, last;
    NB_TRY(f->v->ctx, name_block(f, b, &texts[0]));
    nb_standing_groups(s, place, &first, &last);
    NB_TRY(f->v->ctx, nb_standing_letters(first, last, &texts[2], f->v->ctx));
    nb_csv_print_text(out, texts[0]);
    fprintf(out, ",%d,", b->along[item]);
    nb_csv_print_text(out, texts[1]);
    nb_plot_print_real(out, s->ranks[s->order[place]]);
    fprintf(out, ",%s,%d,%d", texts[2], s->sources, s->left_out_count);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) nb_plot_print_real(out, tests[i]);
    fputc('\n', out);
    return NB_OK;
}

/* All figures, for people and programs. */
static nb_status print_data(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    fprintf(out, "figure,%s,%s,rank,groups,sources,left_out,chi2,chi2_p,f,f_p,w,critical_difference\n", f->v->along,
            f->v->terms.by);
    for (const nb_standings_block *b = f->blocks; b < f->blocks + f->count; b++)
        for (int i = 0; i < b->count; i++)
            for (int k = 0; k < b->items[i]->ranked && is_shown(b->items[i]); k++)
                NB_TRY(ctx, print_line(out, f, b, i, k));
    return NB_OK;
}

/* In which layer each bar lies, from 0; returns how many there are. Bars are in order of where they begin. */
static int stack(const nb_ranking *s, int *layers)
{
    int most = 0;
    for (int g = 0; g < s->group_count; g++) {
        bool free = false;
        for (layers[g] = -1; !free;) {
            layers[g]++;
            free = true;
            for (int other = 0; other < g; other++)
                free = free && (s->groups[other].first == s->groups[other].last || layers[other] != layers[g] ||
                                s->groups[other].last < s->groups[g].first);
        }
        if (s->groups[g].first < s->groups[g].last && layers[g] >= most) most = layers[g] + 1;
    }
    return most;
}

/* For gnuplot: methods (0: panel, 0, rank, level, side, number of the name) and bars (panel, 1, from, to, layer). */
static nb_status print_points(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    int panel = 0, name = 0;
    fputs("# panel,0,rank,level from the top,side (0 left),number of the name; panel,1,from,to,layer\n", out);
    for (int i = 0; i < f->block->count; i++) {
        const nb_ranking *s = f->block->items[i];
        int half = (s->ranked + 1) / 2, *layers;
        if (!is_shown(s)) continue;
        panel++;
        for (int k = 0; k < s->ranked; k++) {
            fprintf(out, "%d,0", panel);
            nb_plot_print_real(out, s->ranks[s->order[k]]);
            fprintf(out, ",%d,%d,%d\n", k < half ? k : s->ranked - 1 - k, k >= half, ++name);
        }
        NB_NEED(layers, nb_alloc(ctx, (size_t)s->group_count + 1, sizeof *layers));
        stack(s, layers);
        for (int g = 0; g < s->group_count; g++) {
            if (s->groups[g].first == s->groups[g].last) continue;
            fprintf(out, "%d,1", panel);
            nb_plot_print_real(out, s->ranks[s->order[s->groups[g].first]]);
            nb_plot_print_real(out, s->ranks[s->order[s->groups[g].last]]);
            fprintf(out, ",%d\n", layers[g]);
        }
    }
    return NB_OK;
}

static nb_status title_panel(const figure *f, int item, const char **title)
{
    const nb_ranking *s = f->block->items[item];
    nb_ctx *ctx = f->v->ctx;
    const char *why, *sources;
    NB_TRY(ctx, nb_standing_untested(s, &why, ctx));
    NB_NEED(sources,
            s->left_out_count ? nb_format(ctx, "%d of %d", s->sources, s->planned) : nb_format(ctx, "%d", s->sources));
    if (why)
        NB_NEED(*title, nb_format(ctx, "%s = %d, no test: %s", f->of->x_name, f->block->along[item], why));
    else
        NB_NEED(*title,
                nb_format(ctx, "%s = %d, %s sources, Friedman's p = %.2g%s", f->of->x_name, f->block->along[item],
                          sources, s->test.p, s->test.p > NB_STANDING_ALPHA ? ": no difference shown" : ""));
    return NB_OK;
}

/* An array of a number for each panel. */
static nb_status print_panels(FILE *out, const figure *f, const char *name,
                              nb_status (*number)(const nb_ranking *s, double *x, nb_ctx *ctx))
{
    const char *comma = "";
    int count = 0;
    for (int i = 0; i < f->block->count; i++) count += is_shown(f->block->items[i]);
    fprintf(out, "array %s[%d] = [", name, count);
    for (int i = 0; i < f->block->count; i++) {
        double x;
        if (!is_shown(f->block->items[i])) continue;
        NB_TRY(f->v->ctx, number(f->block->items[i], &x, f->v->ctx));
        fprintf(out, "%s%.17g", comma, x);
        comma = ", ";
    }
    fputs("]\n", out);
    return NB_OK;
}

static nb_status ranked_of(const nb_ranking *s, double *x, nb_ctx *ctx)
{
    (void)ctx;
    *x = s->ranked;
    return NB_OK;
}

static nb_status difference_of(const nb_ranking *s, double *x, nb_ctx *ctx)
{
    (void)ctx;
    *x = isnan(s->difference) ? 0 : s->difference;
    return NB_OK;
}

static nb_status layers_of(const nb_ranking *s, double *x, nb_ctx *ctx)
{
    int *layers;
    NB_NEED(layers, nb_alloc(ctx, (size_t)s->group_count + 1, sizeof *layers));
    *x = stack(s, layers);
    return NB_OK;
}

/* The colour of each method's number, of the block's scope. */
static nb_status find_looks(const figure *f, int **looks)
{
    const nb_standings *s = &f->v->standings;
    NB_NEED(*looks, nb_alloc(f->v->ctx, (size_t)s->contrasts.values.count + 1, sizeof **looks));
    for (const nb_planned *p = s->rows; p < s->rows + s->planned; p++)
        if (f->v->scopes.of[p->setting] == f->block->scope) (*looks)[p->value] = f->of->looks[p->row] + 1;
    return NB_OK;
}

/* Names and colours of the methods, panel after panel. */
static nb_status print_methods(FILE *out, const figure *f)
{
    int *looks;
    NB_TRY(f->v->ctx, find_looks(f, &looks));
    for (int pass = 0; pass < 2; pass++) {
        const char *comma = "";
        int count = 0;
        for (int i = 0; i < f->block->count; i++)
            count += is_shown(f->block->items[i]) ? f->block->items[i]->ranked : 0;
        fprintf(out, "array %s[%d] = [", pass ? "looks" : "names", count);
        for (int i = 0; i < f->block->count; i++) {
            const nb_ranking *s = f->block->items[i];
            for (int k = 0; k < s->ranked && is_shown(s); k++, comma = ", ") {
                fputs(comma, out);
                if (pass)
                    fprintf(out, "%d", looks[s->methods[s->order[k]]]);
                else
                    nb_plot_print_string(out, nb_standing_label(f->v, s, s->order[k]));
            }
        }
        fputs("]\n", out);
    }
    return NB_OK;
}

static nb_status print_titles(FILE *out, const figure *f)
{
    const char *comma = "";
    int count = 0;
    for (int i = 0; i < f->block->count; i++) count += is_shown(f->block->items[i]);
    fprintf(out, "array panels[%d] = [", count);
    for (int i = 0; i < f->block->count; i++) {
        const char *title;
        if (!is_shown(f->block->items[i])) continue;
        NB_TRY(f->v->ctx, title_panel(f, i, &title));
        fputs(comma, out);
        nb_plot_print_string(out, title);
        comma = ", ";
    }
    fputs("]\n", out);
    return NB_OK;
}

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    const figure *f = what;
    const char *title, *subtitle, *tests = "";
    for (int i = 0; i < f->block->count && !*tests; i++)
        if (f->block->items[i]->group_count > 0)
            NB_NEED(tests, nb_format(ctx,
                                     " | bars join what differs by no more than the critical difference of Nemenyi's "
                                     "test, alpha = %g",
                                     NB_STANDING_ALPHA));
    NB_NEED(title, nb_format(ctx, "%s: mean ranks by %s, with %s, %s", f->d->experiment, f->v->terms.metric,
                             f->v->scopes.stems[f->block->scope], f->block->stratum_label));
    NB_NEED(subtitle, nb_format(ctx, "1: the least %s in every source%s", f->v->terms.metric, tests));
    nb_plot_print_head(out, f->output);
    fprintf(out, "data = \"%s.dat\"\n", f->output);
    nb_plot_set_text(out, "title", title);
    nb_plot_set_text(out, "subtitle", subtitle);
    NB_TRY(ctx, print_titles(out, f));
    NB_TRY(ctx, print_methods(out, f));
    NB_TRY(ctx, print_panels(out, f, "ranked", ranked_of));
    NB_TRY(ctx, print_panels(out, f, "difference", difference_of));
    NB_TRY(ctx, print_panels(out, f, "layers", layers_of));
    fputs("load \"ranks.gp\"\n", out);
    return NB_OK;
}

static nb_status draw_block(figure *f)
{
    const char *path, *script;
    nb_ctx *ctx = f->v->ctx;
    NB_NEED(path, nb_format(ctx, "%s/%s.dat", f->d->folder, f->output));
    NB_NEED(script, nb_format(ctx, "%s.gp", f->output));
    NB_TRY(ctx, nb_write_file(path, print_points, f, ctx));
    NB_TRY(ctx, nb_plot_print_script(f->d->folder, script, print_driver, f, ctx));
    return nb_plot_draw(f->d->gnuplots, f->d->folder, f->output, ctx);
}

static nb_status draw_all(figure *f, int *figures)
{
    const char *path, **stems;
    nb_ctx *ctx = f->v->ctx;
    NB_TRY(ctx, nb_make_folder(f->d->folder, ctx));
    NB_NEED(path, nb_format(ctx, "%s/%s.csv", f->d->folder, f->of->kind));
    NB_TRY(ctx, nb_write_file(path, print_data, f, ctx));
    NB_TRY(ctx, nb_plot_copy_scripts(f->d->folder, (const char *const[]){"ranks.gp", NULL}, ctx));
    NB_NEED(stems, nb_alloc(ctx, (size_t)f->count + 1, sizeof *stems));
    for (int i = 0; i < f->count; i++) {
        const char *name;
        f->block = &f->blocks[i];
        if (!has_panels(f->block)) continue;
        NB_TRY(ctx, name_block(f, f->block, &name));
        NB_NEED(f->output, nb_plot_file_name(nb_format(ctx, "%s_%s", f->of->kind, name)));
        stems[(*figures)++] = f->output;
        NB_TRY(ctx, draw_block(f));
    }
    return nb_plot_prune(f->d->folder, f->of->kind, *figures, stems, ctx);
}

nb_status nb_rank_diagram_draw(const nb_drawing *d, const nb_standings_view *v, const nb_rank_diagram *of, int *figures)
{
    figure f = {.d = d, .v = v, .of = of};
    bool any = false;
    *figures = 0;
    NB_TRY(v->ctx, nb_standings_view_blocks(v, &f.count, &f.blocks));
    for (int i = 0; i < f.count; i++) any = any || has_panels(&f.blocks[i]);
    return any ? draw_all(&f, figures) : nb_plot_prune(d->folder, of->kind, 0, NULL, v->ctx);
}
