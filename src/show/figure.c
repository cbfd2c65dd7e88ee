/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figure.c - see figure.h */
#include "show/figure.h"

#include "base/builder.h"
#include "base/files.h"
#include "base/texts.h"
#include "show/cells.h"
#include "show/marked_cells.h"
#include "show/query.h"
#include "rows/columns.h"
#include "rows/relation.h"
#include "show/scripts.h"
#include "rows/views.h"
#include "rows/run_facts.h"

#include <gsl/gsl_sort.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DATA = 16, PANEL = -2, SERIES = -3 }; /* PANEL and SERIES stand for a column: its number in the picture */

typedef struct {
    const char *label, *style;
    long long order;
    int look, row; /* row: its first */
} line;

typedef struct {
    const nb_figure *figure;
    const nb_drawing *drawing;
    const nb_grid *csv, *answer;                    /* for programs, and for pictures */
    int picture, panel, series, style, look, order; /* columns; -1: there is none */
    int data_count, data[MOST_DATA];                /* columns, PANEL, SERIES */
    const nb_comment *comments;

    /* The picture at hand. */
    const char *stem;
    int row_count, first_panel, panel_count, line_count;
    int *rows;
    nb_texts panels; /* of all parts of the figure */
    line *lines;
    int *block; /* by panel and line, from 0; -1: there is none */
    nb_ctx *ctx;
} graph;

static const char *text_at(const graph *g, int row, int column)
{
    const nb_cell *cell = column < 0 ? NULL : nb_grid_at(g->answer, row, column);
    return cell && cell->text ? cell->text : "";
}

static double real_at(const graph *g, int row, int column)
{
    return nb_grid_at(g->answer, row, column)->real;
}

static bool is_null(const graph *g, int row, int column)
{
    return column >= 0 && nb_grid_at(g->answer, row, column)->type == NB_CELL_NONE;
}

static bool is_drawn(const graph *g, int row)
{
    for (int i = 0; i < g->data_count; i++)
        if (g->data[i] >= 0 && !isfinite(nb_grid_at(g->answer, row, g->data[i])->real)) return false;
    return true;
}

/* Returns the column of that name, "_panel", or else the one without the '_'. */
static int find_role(const graph *g, const char *name)
{
    int column = nb_grid_column(g->answer, name);
    return column >= 0 ? column : nb_grid_column(g->answer, name + 1);
}

/* The next of a list of columns, or PANEL or SERIES. */
static nb_status next_column(const graph *g, const char **list, int *column)
{
    const char *name;
    size_t length = strcspn(*list, " ");
    NB_NEED(name, nb_format(g->ctx, "%.*s", (int)length, *list));
    *list += length + strspn(*list + length, " ");
    *column = nb_grid_column(g->answer, name);
    if (strcmp(name, "panel") == 0) *column = PANEL;
    if (strcmp(name, "series") == 0) *column = SERIES;
    NB_REQUIRE(g->ctx, *column != -1, NB_EBUG, "%s.sql: no column '%s' for the script", g->figure->component.name,
               name);
    return NB_OK;
}

static nb_status find_columns(graph *g)
{
    const char *names = nb_comment_text(g->comments, "data");
    g->picture = find_role(g, "_figure");
    g->panel = find_role(g, "_panel");
    g->series = find_role(g, "_series");
    g->style = nb_grid_column(g->answer, "_style");
    g->look = nb_grid_column(g->answer, "_look");
    g->order = nb_grid_column(g->answer, "_order");
    while (*names) {
        NB_REQUIRE(g->ctx, g->data_count < MOST_DATA, NB_EBUG, "%s.sql: more than %d columns of data",
                   g->figure->component.name, MOST_DATA);
        NB_TRY(g->ctx, next_column(g, &names, &g->data[g->data_count++]));
    }
    return NB_OK;
}

static void print_number(FILE *out, const nb_cell *cell)
{
    char text[32] = "";
    if (cell->type == NB_CELL_INT)
        snprintf(text, sizeof text, "%lld", cell->integer);
    else if (isfinite(cell->real))
        strfromd(text, sizeof text, "%.16e", cell->real);
    fputs(text, out);
}

/* All pictures, for people and programs. */
static nb_status print_csv(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_grid *a = ((const graph *)what)->csv;
    (void)ctx;
    for (int i = -1; i < a->count; i++) {
        bool first = true;
        for (int c = 0; c < a->columns; c++) {
            const nb_cell *cell = i < 0 ? NULL : nb_grid_at(a, i, c);
            if (a->names[c][0] == '_') continue;
            if (!first) fputc(',', out);
            first = false;
            if (!cell)
                fputs(a->names[c], out);
            else if (cell->type == NB_CELL_TEXT)
                nb_csv_print_text(out, cell->text);
            else
                print_number(out, cell);
        }
        fputc('\n', out);
    }
    return NB_OK;
}

/* Below 0: the picture does not have the row's panel. */
static int find_panel(const graph *g, int row)
{
    int panel = nb_texts_find(&g->panels, text_at(g, row, g->panel)) - g->first_panel;
    return panel < g->panel_count ? panel : -1;
}

static long long order_of(const graph *g, int row)
{
    return g->order < 0 ? 0 : nb_grid_at(g->answer, row, g->order)->integer;
}

static int find_line(const graph *g, int row)
{
    for (int s = 0; s < g->line_count; s++)
        if (g->order < 0 ? strcmp(g->lines[s].label, text_at(g, row, g->series)) == 0
                         : g->lines[s].order == order_of(g, row))
            return s;
    return -1;
}

static void add_line(graph *g, int row)
{
    if (find_line(g, row) >= 0) return;
    int at = g->line_count++;
    for (; at > 0 && g->lines[at - 1].order > order_of(g, row); at--) g->lines[at] = g->lines[at - 1];
    const nb_cell *look = g->look < 0 ? NULL : nb_grid_at(g->answer, row, g->look);
    g->lines[at] = (line){text_at(g, row, g->series), text_at(g, row, g->style), order_of(g, row),
                          look && look->type != NB_CELL_NONE ? (int)look->integer + 1 : 0, row};
}

static bool is_of(const graph *g, int row, const char *picture)
{
    return is_drawn(g, row) && !is_null(g, row, g->picture) && strcmp(text_at(g, row, g->picture), picture) == 0;
}

/* The panels from the first that is wanted, as many as one picture may have; those of rows for all pictures only where
 * the picture has others there. */
static nb_status find_rows(graph *g, const char *picture, bool *more)
{
    const nb_grid *a = g->answer;
    int room = g->figure->whole ? 0 : g->drawing->most_panels, seen = 0, panel;
    g->row_count = g->line_count = 0;
    nb_texts_init(&g->panels, g->ctx);
    for (int i = 0; i < a->count; i++)
        if (is_of(g, i, picture)) NB_TRY(g->ctx, nb_texts_number(&g->panels, text_at(g, i, g->panel), &panel));
    *more = room > 0 && g->panels.count > g->first_panel + room;
    g->panel_count = *more ? room : g->panels.count - g->first_panel;
    for (int i = 0; i < a->count; i++) {
        bool of_all = is_null(g, i, g->picture) && is_drawn(g, i);
        if ((!of_all && !is_of(g, i, picture)) || find_panel(g, i) < 0) continue;
        g->rows[g->row_count++] = i;
        add_line(g, i);
    }
    NB_NEED(g->block, nb_alloc(g->ctx, (size_t)g->panel_count * (size_t)g->line_count + 1, sizeof *g->block));
    for (int i = 0; i < g->panel_count * g->line_count; i++) g->block[i] = -1;
    for (int i = 0, last = -1; i < g->row_count; i++) {
        int place = find_panel(g, g->rows[i]) * g->line_count + find_line(g, g->rows[i]);
        if (place == last) continue;
        NB_REQUIRE(g->ctx, g->block[place] < 0, NB_EBUG,
                   "%s.sql: rows of panel '%s' and series '%s' do not stand together", g->figure->component.name,
                   text_at(g, g->rows[i], g->panel), text_at(g, g->rows[i], g->series));
        g->block[last = place] = seen++;
    }
    return NB_OK;
}

static nb_status print_blocks(FILE *out, const void *what, nb_ctx *ctx)
{
    const graph *g = what;
    int last = -1;
    (void)ctx;
    for (int k = 0; k < g->data_count; k++) {
        const char *name = g->data[k] == PANEL    ? "panel"
                           : g->data[k] == SERIES ? "series"
                                                  : g->answer->names[g->data[k]];
        fprintf(out, "%s%s", k ? "," : "# ", name + (*name == '_'));
    }
    fputc('\n', out);
    for (int i = 0; i < g->row_count; i++) {
        int place = find_panel(g, g->rows[i]) * g->line_count + find_line(g, g->rows[i]);
        if (last >= 0 && place != last) fputs("\n\n", out);
        for (int k = 0; k < g->data_count; k++) {
            if (k) fputc(',', out);
            if (g->data[k] >= 0)
                print_number(out, nb_grid_at(g->answer, g->rows[i], g->data[k]));
            else
                fprintf(out, "%d", 1 + (g->data[k] == PANEL ? find_panel(g, g->rows[i]) : find_line(g, g->rows[i])));
        }
        fputc('\n', out);
        last = place;
    }
    return NB_OK;
}

/* NAME VALUE: a number as it is, and else a text. */
static nb_status set(FILE *out, const graph *g, const char *text)
{
    const char *name, *value = text + strcspn(text, " ");
    char *end;
    NB_NEED(name, nb_format(g->ctx, "%.*s", (int)(value - text), text));
    NB_TRY(g->ctx, nb_grid_fill_in(g->answer, g->rows[0], value + strspn(value, " "), &value, g->ctx));
    strtod(value, &end);
    if (*value && !*end)
        fprintf(out, "%s = %s\n", name, value);
    else
        nb_plot_set_text(out, name, value);
    return NB_OK;
}

/* Writes what the series have in columns as gnuplot's arrays. */
static nb_status set_arrays(FILE *out, const graph *g)
{
    const char *names = nb_comment_text(g->comments, "arrays");
    while (*names) {
        int column;
        NB_TRY(g->ctx, next_column(g, &names, &column));
        NB_REQUIRE(g->ctx, column >= 0, NB_EBUG, "%s.sql: the script has panels and series", g->figure->component.name);
        const char *name = g->answer->names[column];
        fprintf(out, "array %s[%d] = [", name + (*name == '_'), g->line_count);
        for (int s = 0; s < g->line_count; s++) {
            const nb_cell *cell = nb_grid_at(g->answer, g->lines[s].row, column);
            fputs(s ? ", " : "", out);
            if (cell->type == NB_CELL_INT || cell->type == NB_CELL_REAL)
                print_number(out, cell);
            else
                nb_plot_print_string(out, cell->text ? cell->text : "");
        }
        fputs("]\n", out);
    }
    return NB_OK;
}

static void set_reals(FILE *out, const char *name, int count, const double *x)
{
    fprintf(out, "array %s[%d] = [", name, count);
    for (int i = 0; i < count; i++) fprintf(out, "%s%.17g", i ? ", " : "", x[i]);
    fputs("]\n", out);
}

/* Whether series stand side by side at one x: those with points, and not lines across. */
static bool is_curve(const line *l)
{
    return !*l->style || strcmp(l->style, "curve") == 0 || strcmp(l->style, "dashed") == 0;
}

/* Whether a row has a bar, whose ends are the last two columns, and another series has a point at its x. */
static bool is_hidden(const graph *g, int row, int x)
{
    if (!(real_at(g, row, g->data[g->data_count - 1]) > real_at(g, row, g->data[g->data_count - 2]))) return false;
    for (int i = 0; i < g->row_count; i++) {
        int other = g->rows[i];
        if (real_at(g, other, x) == real_at(g, row, x) && find_line(g, other) != find_line(g, row)) return true;
    }
    return false;
}

/* Whether what is drawn at one x of several series would be drawn over: dots of heads, or bars. */
static bool hides(const graph *g, int x)
{
    if (nb_grid_column(g->answer, "_of_head") >= 0) return true;
    for (int i = 0; i < g->row_count; i++)
        if (is_hidden(g, g->rows[i], x)) return true;
    return false;
}

/* By how much of the axis each series is shifted: by no more than 2 % from the next, and they stay closer to their x
 * than to the next one, which is `gap` of the axis away. */
static nb_status set_shifts(FILE *out, const graph *g, int x, int values, double gap)
{
    double *aside, step = 0;
    int curves = 0, place = 0;
    NB_NEED(aside, nb_alloc_reals(g->ctx, (size_t)g->line_count, 1));
    for (int s = 0; s < g->line_count; s++) curves += is_curve(&g->lines[s]);
    if (values < 2 || hides(g, x)) step = 0.6 * gap / curves;
    if (values > 1 && step > 0.02) step = 0.02;
    for (int s = 0; s < g->line_count; s++)
        if (is_curve(&g->lines[s])) aside[s] = step * (place++ - 0.5 * (curves - 1)) + 0.0; /* no -0 */
    set_reals(out, "aside", g->line_count, aside);
    return NB_OK;
}

/* An axis with its numbers at the values of a column, on the scale that keeps the closest two further apart. */
static nb_status set_ticks(FILE *out, const graph *g)
{
    const char *name = nb_comment_text(g->comments, "ticks");
    double *x, linear = 1, logarithmic = 1;
    int column = nb_grid_column(g->answer, name), count = 0;
    if (!*name) return NB_OK;
    NB_REQUIRE(g->ctx, column >= 0, NB_EBUG, "%s.sql: no column '%s' for ticks", g->figure->component.name, name);
    NB_NEED(x, nb_alloc_reals(g->ctx, (size_t)g->row_count, 1));
    for (int i = 0; i < g->row_count; i++) x[i] = real_at(g, g->rows[i], column);
    gsl_sort(x, 1, (size_t)g->row_count);
    for (int i = 0; i < g->row_count; i++)
        if (i == 0 || x[i] > x[count - 1]) x[count++] = x[i];
    double first = x[0], last = x[count - 1];
    for (int i = 1; i < count; i++) {
        linear = fmin(linear, (x[i] - x[i - 1]) / (last - first));
        logarithmic = fmin(logarithmic, first > 0 ? log(x[i] / x[i - 1]) / log(last / first) : 0);
    }
    bool log_x = logarithmic > linear;
    set_reals(out, "values", count, x);
    fprintf(out, "log_x = %d\n", log_x);
    return set_shifts(out, g, column, count, log_x ? logarithmic : linear);
}

/* What the ends of a bar are. */
static nb_status set_bars(FILE *out, const graph *g)
{
    static const char *const texts[][2] = {{"mean", "95 % interval of each point alone"},
                                           {"median", "95 % interval of each median alone"},
                                           {"spread", "10-90 % of all rows, not uncertainty"}};
    const char *name = nb_comment_text(g->comments, "bars");
    if (!*name) return NB_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(name, texts[i][0]) != 0) continue;
        nb_plot_set_text(out, "bar_text", texts[i][1]);
        return NB_OK;
    }
    NB_FAIL(g->ctx, NB_EBUG, "%s.sql: bars are not '%s'", g->figure->component.name, name);
}

static nb_status print_driver(FILE *out, const void *what, nb_ctx *ctx)
{
    const graph *g = what;
    const char *title;
    NB_TRY(ctx, nb_grid_fill_in(g->answer, g->rows[0], nb_comment_text(g->comments, "title"), &title, ctx));
    NB_NEED(title, nb_format(ctx, "%s: %s", g->drawing->experiment, title));
    nb_plot_print_head(out, g->stem);
    fprintf(out, "data = \"%s.dat\"\n", g->stem);
    nb_plot_set_text(out, "title", title);
    for (const nb_comment *c = g->comments; c->name; c++)
        if (strcmp(c->name, "set") == 0) NB_TRY(ctx, set(out, g, c->text));
    nb_plot_set_texts(out, "panels", g->panel_count, g->panels.items + g->first_panel, sizeof *g->panels.items);
    nb_plot_set_texts(out, "series", g->line_count, &g->lines->label, sizeof *g->lines);
    nb_plot_set_texts(out, "styles", g->line_count, &g->lines->style, sizeof *g->lines);
    nb_plot_set_ints(out, "looks", g->line_count, &g->lines->look, sizeof *g->lines);
    nb_plot_set_ints(out, "block", g->panel_count * g->line_count, g->block, sizeof *g->block);
    NB_TRY(ctx, set_arrays(out, g));
    NB_TRY(ctx, set_ticks(out, g));
    NB_TRY(ctx, set_bars(out, g));
    fprintf(out, "load \"%s\"\n", nb_comment_text(g->comments, "script"));
    return NB_OK;
}

/* Draws a figure; those whose panels are too many for one become several, NAME_FIGURE_2 ... behind the first. */
static nb_status draw_pictures(graph *g, const char *picture, const char **stems, int *count)
{
    bool more = true;
    for (int part = 0; more; part++) {
        const char *data, *script, *folder = g->drawing->folder;
        char *stem;
        g->first_panel = part * g->drawing->most_panels;
        NB_TRY(g->ctx, find_rows(g, picture, &more));
        NB_NEED(stem, nb_plot_file_name(nb_format(g->ctx, "%s_%s", g->figure->component.name, picture)));
        if (part > 0) NB_NEED(stem, nb_format(g->ctx, "%s_%d", stem, part + 1));
        g->stem = stems[(*count)++] = stem;
        NB_NEED(data, nb_format(g->ctx, "%s/%s.dat", folder, stem));
        NB_NEED(script, nb_format(g->ctx, "%s.gp", stem));
        NB_TRY(g->ctx, nb_write_file(data, print_blocks, g, g->ctx));
        NB_TRY(g->ctx, nb_plot_print_script(folder, script, print_driver, g, g->ctx));
        NB_TRY(g->ctx, nb_plot_draw(g->drawing->gnuplots, folder, stem, g->ctx));
    }
    return NB_OK;
}

/* Removes what earlier drawings of the figure left, but for `stems`. */
static nb_status prune(const graph *g, int count, const char *const *stems)
{
    const char *name = g->figure->component.name, **others;
    size_t length = strlen(name), more = 0;
    NB_NEED(others, nb_alloc(g->ctx, (size_t)nb_figures.room, sizeof *others));
    for (const nb_entry *e = nb_figures.entries; e->component; e++)
        if (strncmp(e->component->name, name, length) == 0 && e->component->name[length] == '_')
            others[more++] = e->component->name;
    return nb_plot_prune(g->drawing->folder, name, others, count, stems, g->ctx);
}

static nb_status draw(graph *g, int *figures)
{
    const nb_grid *a = g->answer;
    const char *path, *folder = g->drawing->folder, *name = g->figure->component.name, **stems, **pictures;
    int count = 0;
    size_t room = (size_t)a->count + 1;
    NB_NEED(g->rows, nb_alloc(g->ctx, room, sizeof *g->rows));
    NB_NEED(g->lines, nb_alloc(g->ctx, room, sizeof *g->lines));
    NB_NEED(stems, nb_alloc(g->ctx, room, sizeof *stems));
    NB_NEED(pictures, nb_alloc(g->ctx, room, sizeof *pictures));
    for (int i = 0; i < a->count; i++) {
        bool known = !is_drawn(g, i) || is_null(g, i, g->picture);
        for (int k = 0; k < count && !known; k++) known = strcmp(pictures[k], text_at(g, i, g->picture)) == 0;
        if (known) continue;
        pictures[count++] = text_at(g, i, g->picture);
        if (*figures == 0) {
            NB_TRY(g->ctx, nb_make_folder(folder, g->ctx));
            NB_NEED(path, nb_format(g->ctx, "%s/%s.csv", folder, name));
            NB_TRY(g->ctx, nb_write_file(path, print_csv, g, g->ctx));
            NB_TRY(g->ctx, nb_plot_copy_script(folder, nb_comment_text(g->comments, "script"), g->ctx));
        }
        NB_TRY(g->ctx, draw_pictures(g, pictures[count - 1], stems, figures));
    }
    return prune(g, *figures, stems);
}

/* The figure that stands for this one, where it has too many series; or else NULL. */
static nb_status find_other(graph *g, const nb_figure **other)
{
    const char *most = nb_comment_text(g->comments, "most");
    char *name;
    *other = NULL;
    if (!*most) return NB_OK;
    g->line_count = 0;
    NB_NEED(g->lines, nb_alloc(g->ctx, (size_t)g->answer->count + 1, sizeof *g->lines));
    for (int i = 0; i < g->answer->count; i++)
        if (!is_null(g, i, g->look)) add_line(g, i);
    if (g->line_count <= strtol(most, &name, 10)) return NB_OK;
    *other = (const nb_figure *)nb_registry_find(&nb_figures, name + 1);
    NB_REQUIRE(g->ctx, *other, NB_EBUG, "%s.sql: no figure '%s'", g->figure->component.name, name + 1);
    fprintf(stderr, "nysbench: note: plot %s: %d strategies are too many for curves; drawn as the figure '%s'\n",
            g->figure->component.name, g->line_count, name + 1);
    return NB_OK;
}

static nb_status print_notes(const graph *g, const char *queries)
{
    nb_grid a;
    while (*queries) {
        NB_TRY(g->ctx, nb_relation_ask_next(g->drawing->relation, &queries, &a, g->ctx));
        for (int i = 0; i < a.count; i++)
            fprintf(stderr, "nysbench: note: plot %s: %s\n", g->figure->component.name, nb_grid_at(&a, i, 0)->text);
    }
    return NB_OK;
}

nb_status nb_figure_choose_m(const nb_relation *relation, int *m, nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    nb_grid a;
    NB_TRY(ctx, nb_relation_sizes(relation, INT_MAX, &a, ctx));
    if (a.count > 0 && *m == 0) *m = (int)nb_grid_at(&a, (a.count - 1) / 2, 0)->integer;
    for (int i = 0; i < a.count; i++) {
        long long landmarks = nb_grid_at(&a, i, 0)->integer;
        if (landmarks == *m) return NB_OK;
        NB_TRY(ctx, nb_append_item(&all, ", ", ctx, "%lld", landmarks));
    }
    NB_REQUIRE(ctx, a.count == 0, NB_EINVAL, "m = %d: the run has no such number of landmarks; it has %s", *m,
               all.text);
    return NB_OK;
}

nb_status nb_figure_is_offered(const nb_figure *figure, const nb_relation *relation, bool *offered, nb_ctx *ctx)
{
    nb_grid values;
    *offered = !figure->again;
    if (!figure->compares) return NB_OK;
    NB_TRY(ctx, nb_relation_values(relation, figure->compares, NULL, &values, ctx));
    *offered = *offered && values.count > 1;
    return NB_OK;
}

void nb_figure_warn(const char *name)
{
    fprintf(stderr, "nysbench: warning: plot %s: the run has no rows that it draws\n", name);
}

nb_status nb_graph_draw(const nb_figure *figure, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    const nb_figure *other;
    const char *notes = figure->sql, *second; /* the queries of notes, behind the others */
    nb_grid csv, answer;
    nb_drawing of_m = *d;
    graph g = {.figure = figure, .drawing = d, .csv = &csv, .answer = &answer, .ctx = ctx};
    *figures = 0;
    if (figure->of_one_m) NB_TRY(ctx, nb_figure_choose_m(d->relation, &of_m.m, ctx));
    d->relation->m = of_m.m;
    if (figure->prepare) NB_TRY(ctx, figure->prepare(&of_m, ctx));
    NB_TRY(ctx, nb_relation_need(d->relation, figure->sql, ctx));
    NB_TRY(ctx, nb_relation_ask_next(d->relation, &notes, &csv, ctx));
    answer = csv;
    second = notes;
    if (*notes) NB_TRY(ctx, nb_relation_ask_next(d->relation, &notes, &answer, ctx));
    if (strcmp(answer.names[0], "note") == 0) {
        answer = csv;
        notes = second;
    }
    NB_TRY(ctx, nb_query_comments(figure->sql, &g.comments, ctx));
    NB_TRY(ctx, nb_cells_tell(&answer, g.comments, ctx));
    NB_TRY(ctx, find_columns(&g));
    NB_TRY(ctx, find_other(&g, &other));
    if (!other) {
        NB_TRY(ctx, print_notes(&g, notes));
        return draw(&g, figures);
    }
    NB_TRY(ctx, prune(&g, 0, NULL));
    return nb_graph_draw(other, d, figures, ctx);
}
