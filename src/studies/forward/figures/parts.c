/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts.c - what a pass spends its time on, as stacked bars: a figure for each number of threads, a panel for each
 * family at its largest n, a bar for each attention. Drawn by plots/bars.gp. */
#include "base/files.h"
#include "report/csv.h"
#include "report/scripts.h"
#include "studies/forward/sheets.h"

#include <math.h>

enum { REST = NB_PART_COUNT, ALL_PARTS };
static const char *const part_names[ALL_PARTS] = {"landmarks", "core A, X", "keys B V", "queries F", "output", "rest"};

typedef struct {
    nb_forward_sheet of;
    nb_sheet sheet; /* names of figures */
    int figure;     /* at hand */
    int count;      /* bars: cells of the figure, by panel */
    const nb_forward_cell **bars;
    int *panel, *place; /* of each, from 1 */
    int panels;
    int *most;          /* bars of each panel */
    const char **names; /* of the panels */
    const char *output;
    nb_ctx *ctx;
} picture;

/* The cells of the largest n of each family. */
static nb_status find_bars(picture *p, int figure)
{
    const nb_forward_summary *s = &p->of.summary;
    p->figure = figure;
    p->count = p->panels = 0;
    for (int first = 0, end; first < s->cell_count; first = end) {
        end = nb_forward_next_n(s, first);
        bool last = end == nb_forward_next_family(s, first);
        if (!last || s->cells[first].threads != p->of.threads[figure]) continue;
        NB_NEED(p->names[p->panels++],
                nb_format(p->ctx, "%s, n = %d", s->families[s->cells[first].family], s->cells[first].n));
        p->most[p->panels - 1] = end - first;
        for (int i = first; i < end; i++) {
            p->panel[p->count] = p->panels;
            p->place[p->count] = i - first + 1;
            p->bars[p->count++] = &s->cells[i];
        }
    }
    return NB_OK;
}

/* Where a part begins and ends, in %; what no part has comes last. */
static void edges(const nb_forward_cell *c, int part, double *begin, double *end)
{
    *begin = 0;
    for (int i = 0; i < part; i++) *begin += 100 * c->share[i];
    *end = part == REST ? 100 : *begin + 100 * c->share[part];
    *begin = fmin(*begin, 100);
    *end = fmin(*end, 100);
}

static nb_status print_blocks(FILE *out, const void *what, nb_ctx *ctx)
{
    const picture *p = what;
    (void)ctx;
    fputs("# bar,part,begin,end\n", out);
    for (int b = 0; b < p->count; b++)
        for (int part = 0; part < ALL_PARTS; part++) {
            double begin, end;
            edges(p->bars[b], part, &begin, &end);
            fprintf(out, "%d,%d", b + 1, part + 1);
            nb_plot_print_real(out, begin);
            nb_plot_print_real(out, end);
            fputc('\n', out);
        }
    return NB_OK;
}

static nb_status print_data(FILE *out, const void *what, nb_ctx *ctx)
{
    picture p = *(const picture *)what;
    fputs("figure,panel,attention,latency_s,part,begin_percent,end_percent\n", out);
    for (int f = 0; f < p.of.thread_count; f++) {
        NB_TRY(ctx, find_bars(&p, f));
        for (int b = 0; b < p.count; b++)
            for (int part = 0; part < ALL_PARTS; part++) {
                double begin, end;
                const char *names[] = {p.sheet.figures[f], p.names[p.panel[b] - 1],
                                       nb_forward_name(&p.of.summary, p.bars[b]->attention, true)};
                edges(p.bars[b], part, &begin, &end);
                for (int i = 0; i < 3; i++) {
                    nb_csv_print_text(out, names[i]);
                    fputc(',', out);
                }
                nb_csv_print_real(out, p.bars[b]->latency_s);
                fprintf(out, ",%s", part_names[part]);
                nb_plot_print_real(out, begin);
                nb_plot_print_real(out, end);
                fputc('\n', out);
            }
    }
    return NB_OK;
}

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    static const int looks[ALL_PARTS] = {4, 2, 3, 1, 6, 7};
    const picture *p = what;
    const char **bars, **notes, *title;
    NB_NEED(bars, nb_alloc(ctx, (size_t)p->count + 1, sizeof *bars));
    NB_NEED(notes, nb_alloc(ctx, (size_t)p->count + 1, sizeof *notes));
    for (int b = 0; b < p->count; b++) {
        bars[b] = p->of.summary.labels[p->bars[b]->attention];
        NB_NEED(notes[b], nb_format(ctx, "%.3g ms", 1e3 * p->bars[b]->latency_s));
    }
    NB_NEED(title,
            nb_format(ctx, "%s: what a pass spends its time on, %s", p->sheet.experiment, p->sheet.figures[p->figure]));
    nb_plot_print_head(out, p->output);
    fprintf(out, "data = \"%s.dat\"\n", p->output);
    nb_plot_set_text(out, "title", title);
    fputs("x_name = \"% of the pass with the median time\"\n", out);
    nb_plot_set_texts(out, "panels", p->panels, p->names);
    nb_plot_set_ints(out, "most", p->panels, p->most);
    nb_plot_set_texts(out, "bars", p->count, bars);
    nb_plot_set_texts(out, "notes", p->count, notes);
    nb_plot_set_ints(out, "panel_of", p->count, p->panel);
    nb_plot_set_ints(out, "place", p->count, p->place);
    nb_plot_set_texts(out, "parts", ALL_PARTS, part_names);
    nb_plot_set_ints(out, "looks", ALL_PARTS, looks);
    fputs("load \"bars.gp\"\n", out);
    return NB_OK;
}

static nb_status draw_figure(picture *p, const nb_drawing *d, const char *output)
{
    const char *script, *data;
    p->output = output;
    NB_NEED(script, nb_format(p->ctx, "%s.gp", output));
    NB_NEED(data, nb_format(p->ctx, "%s/%s.dat", d->folder, output));
    NB_TRY(p->ctx, nb_write_file(data, print_blocks, p, p->ctx));
    NB_TRY(p->ctx, nb_plot_print_script(d->folder, script, print_driver, p, p->ctx));
    return nb_plot_draw(d->gnuplots, d->folder, output, p->ctx);
}

static nb_status make_room(picture *p)
{
    size_t count = (size_t)p->of.summary.cell_count + 1;
    NB_NEED(p->bars, nb_alloc(p->ctx, count, sizeof *p->bars));
    NB_NEED(p->panel, nb_alloc(p->ctx, count, sizeof *p->panel));
    NB_NEED(p->place, nb_alloc(p->ctx, count, sizeof *p->place));
    NB_NEED(p->most, nb_alloc(p->ctx, count, sizeof *p->most));
    NB_NEED(p->names, nb_alloc(p->ctx, count, sizeof *p->names));
    return NB_OK;
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    picture p = {.ctx = ctx};
    const char *path, **stems, *kind = self->component.name;
    *figures = 0;
    NB_TRY(ctx, nb_forward_sheet_make(&p.of, self, frame, d, 1, &p.sheet, ctx));
    if (p.of.summary.cell_count == 0) return nb_plot_prune(d->folder, kind, 0, NULL, ctx);
    for (int t = 0; t < p.of.thread_count; t++) NB_TRY(ctx, nb_forward_name_figure(&p.of, t, "", &p.sheet, ctx));
    NB_TRY(ctx, make_room(&p));
    NB_TRY(ctx, nb_make_folder(d->folder, ctx));
    NB_NEED(path, nb_format(ctx, "%s/%s.csv", d->folder, kind));
    NB_TRY(ctx, nb_write_file(path, print_data, &p, ctx));
    NB_TRY(ctx, nb_plot_copy_scripts(d->folder, (const char *const[]){"bars.gp", NULL}, ctx));
    NB_NEED(stems, nb_alloc(ctx, (size_t)p.of.thread_count, sizeof *stems));
    for (int t = 0; t < p.of.thread_count; t++) {
        NB_TRY(ctx, find_bars(&p, t));
        NB_NEED(stems[*figures], nb_plot_file_name(nb_format(ctx, "%s_%s", kind, p.sheet.figures[t])));
        NB_TRY(ctx, draw_figure(&p, d, stems[*figures]));
        (*figures)++;
    }
    return nb_plot_prune(d->folder, kind, *figures, stems, ctx);
}

static const char *const references[] = {"none: medians over layers and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_parts = {
    .component = {"parts", "shares of a pass as stacked bars, a bar for each attention", references, options, 0},
    .study = NB_FORWARD_STUDY,
    .draw = draw,
};
