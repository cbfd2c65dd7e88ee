/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot.c - nysbench plot RUN [FIGURE], or --landmarks */
#include "commands/command.h"

#include "base/builder.h"
#include "base/fields.h"
#include "base/gnuplot.h"
#include "base/machine.h"
#include "base/text.h"
#include "components/study.h"
#include "studies/error/runner.h"
#include "show/figure.h"
#include "run/run_folder.h"
#include "show/full_study.h"
#include "show/results.h"
#include "show/scripts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PAPER_FOLDER NB_PLOTS_FOLDER "/paper"
#define SELECTED "selected"

enum { PANELS_OF_A_PAGE = 12 };

static void count_figures(const char *kind, int figures, const char *folder, bool draw)
{
    if (figures == 0)
        nb_figure_warn(kind);
    else
        printf("%s: %d figure%s in %s%s\n", kind, figures, figures == 1 ? "" : "s", folder,
               draw ? "" : ", data and scripts only");
}

/* The figures of a study out of the tree, which draws those of its config itself. */
static nb_status draw_own(const nb_drawing *d, const nb_study *study, nb_ctx *ctx)
{
    nb_config config;
    nb_plan plan;
    const nb_results results = {.folder = d->run, .plan = &plan, .relation = d->relation, .gnuplots = d->gnuplots};
    NB_TRY(ctx, nb_experiment_of_run(d->run, d->programs, &config, &plan, ctx));
    NB_TRY(ctx, nb_full_study_of(study)->draw(&results, ctx));
    NB_TRY(ctx, nb_gnuplots_wait(d->gnuplots, ctx));
    printf("%s/%s: the figures of its config%s\n", d->run, NB_PLOTS_FOLDER,
           d->gnuplots ? "" : ", data and scripts only");
    return NB_OK;
}

/* The folder of figures in that style, whose style.gp says so; those of some rows leave those of all as they are. */
static nb_status open_folder(const char *run, const nb_plot_style *style, bool some, const char **folder, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_run_path(run, style->paper ? PAPER_FOLDER : NB_PLOTS_FOLDER, folder, ctx));
    if (some) NB_NEED(*folder, nb_format(ctx, "%s/" SELECTED, *folder));
    return nb_plot_write_style(*folder, style, ctx);
}

/* Finds whether it is `only`, or, without one, a figure of the study that the config names or that the rows are
 * offered. */
static nb_status is_wanted(const nb_figure *figure, const nb_figure *only, const nb_study *study,
                           const nb_relation *relation, const char *const *named, bool *wanted, nb_ctx *ctx)
{
    *wanted = figure == only;
    if (only || strcmp(figure->study, study->component.name) != 0) return NB_OK;
    NB_TRY(ctx, nb_figure_is_offered(figure, relation, wanted, ctx));
    for (; *named && !figure->again; named++) *wanted = *wanted || strcmp(*named, figure->component.name) == 0;
    return NB_OK;
}

static nb_status draw_figures(const nb_figure *only, const nb_study *study, const nb_drawing *drawing, nb_ctx *ctx)
{
    struct {
        const char *name;
        int figures;
    } *drawn = NULL;
    const char **named;
    int count = 0, room = 0;
    NB_TRY(ctx, nb_run_plots(drawing->run, &named, ctx));
    for (const nb_entry *e = nb_figures.entries; e->component; e++) {
        const nb_figure *figure = (const nb_figure *)e->component;
        bool wanted;
        NB_TRY(ctx, is_wanted(figure, only, study, drawing->relation, named, &wanted, ctx));
        if (!wanted) continue;
        NB_GROW(ctx, drawn, count, room);
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, nb_graph_draw(figure, drawing, &drawn[count].figures, ctx));
        nb_ctx_release(ctx, mark);
        drawn[count++].name = figure->component.name;
    }
    NB_TRY(ctx, nb_gnuplots_wait(drawing->gnuplots, ctx));
    for (int i = 0; i < count; i++)
        if (only || drawn[i].figures > 0)
            count_figures(drawn[i].name, drawn[i].figures, drawing->folder, drawing->gnuplots);
    return NB_OK;
}

static nb_status plot(const char *folder, bool programs, const nb_figure *only, int m, const char *const *where,
                      const nb_plot_style *style, nb_gnuplots *gnuplots, nb_ctx *ctx)
{
    nb_drawing drawing = {.run = folder,
                          .m = m,
                          .most_panels = style->paper ? PANELS_OF_A_PAGE : 0,
                          .programs = programs,
                          .gnuplots = gnuplots};
    NB_TRY(ctx, nb_command_rows(folder, &drawing.relation, &drawing.experiment, ctx));
    const nb_study *study = drawing.relation->study;
    NB_REQUIRE(ctx, !only || strcmp(only->study, study->component.name) == 0, NB_EINVAL,
               "plot: %s is a figure of the study %s; the run is of %s", only ? only->component.name : "",
               only ? only->study : "", study->component.name);
    bool draws = nb_full_study_of(study)->draw;
    NB_REQUIRE(ctx, !draws || !style->paper, NB_EINVAL,
               "plot: the study %s draws its figures itself, for the screen alone", study->component.name);
    NB_REQUIRE(ctx, !draws || !*where, NB_EINVAL, "plot: the study %s draws its figures itself, of all rows",
               study->component.name);
    if (draws) {
        NB_TRY(ctx, open_folder(folder, style, false, &drawing.folder, ctx));
        return draw_own(&drawing, study, ctx);
    }
    NB_TRY(ctx, nb_command_keep(drawing.relation, where, ctx));
    NB_TRY(ctx, open_folder(folder, style, *where, &drawing.folder, ctx));
    return draw_figures(only, study, &drawing, ctx);
}

static nb_status plot_landmarks(const char *folder, const nb_landmark_view *view, const nb_plot_style *style,
                                nb_gnuplots *gnuplots, nb_ctx *ctx)
{
    const char *target;
    int figures;
    NB_TRY(ctx, open_folder(folder, style, false, &target, ctx));
    NB_TRY(ctx, nb_plot_landmarks(folder, view, target, gnuplots, &figures, ctx));
    NB_TRY(ctx, nb_gnuplots_wait(gnuplots, ctx));
    count_figures("landmarks", figures, target, gnuplots);
    return NB_OK;
}

typedef struct { /* the command line's; NULL: not given */
    int landmarks;
    nb_whole_value m, trial, head;
    nb_word_value side, style, dots;
    char *by, *width, *format, *strategies, *cores;
    const char **where;
} choices;

/* Those that are of one m, "a, b and c". */
static const char *names_of_one_m(nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    const char *last = NULL;
    for (const nb_entry *e = nb_figures.entries; e->component; e++) {
        if (!((const nb_figure *)e->component)->of_one_m) continue;
        if (last && nb_append_item(&all, ", ", ctx, "%s", last) != NB_OK) return NULL;
        last = e->component->name;
    }
    return last && *all.text ? nb_format(ctx, "%s and %s", all.text, last) : last ? last : "";
}

/* `figure`: NULL where none is given. */
static nb_status read_view(const choices *c, const nb_figure *figure, nb_landmark_view *view, nb_ctx *ctx)
{
    const char *names;
    *view = (nb_landmark_view){
        .m = (int)c->m.value, .trial = (int)c->trial.value, .head = (int)c->head.value, .queries = c->side.value == 1};
    NB_REQUIRE(ctx, c->landmarks || !(c->trial.text || c->head.text || c->side.text), NB_EINVAL,
               "plot: %s, %s and %s are for %s", nb_spell_option(ctx, "trial", NULL),
               nb_spell_option(ctx, "head", NULL), nb_spell_option(ctx, "side", NULL),
               nb_spell_option(ctx, "landmarks", NULL));
    if (c->landmarks || !c->m.text || (figure && figure->of_one_m)) return NB_OK;
    NB_NEED(names, names_of_one_m(ctx));
    NB_FAIL(ctx, NB_EINVAL, "plot: %s is for %s and the kinds %s", nb_spell_option(ctx, "m", NULL),
            nb_spell_option(ctx, "landmarks", NULL), names);
}

/* A width of paper, in points; false where the text is none. */
static bool read_width(const char *text, double *points)
{
    static const struct {
        const char *name;
        double points;
    } units[] = {{"mm", 72 / 25.4}, {"cm", 72 / 2.54}, {"in", 72}, {"pt", 1}};
    static const double least = 60 * 72 / 25.4, most = 500 * 72 / 25.4;
    char *end;
    *points = 0;
    if (strcmp(text, "column") == 0 || strcmp(text, "page") == 0) text = *text == 'c' ? "89mm" : "183mm";
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0) *points = number * units[i].points;
    return end == text + strspn(text, "0123456789.e+-") && *end && *points >= least && *points <= most;
}

/* "svg,pdf": those formats, each once, separated by blanks; NULL where one is unknown. */
static const char *read_formats(const char *text, nb_ctx *ctx)
{
    static const char *const known[] = {"svg", "png", "pdf"};
    nb_string formats = NB_NO_TEXT;
    for (;;) {
        size_t length = strcspn(text, ","), i = 0;
        while (i < 3 && !(length == 3 && strncmp(text, known[i], 3) == 0)) i++;
        if (i == 3) return NULL;
        bool there = strstr(formats.text, known[i]);
        if (!there && nb_append_item(&formats, " ", ctx, "%s", known[i]) != NB_OK) return NULL;
        if (!text[length]) return formats.text;
        text += length + 1;
    }
}

static nb_status read_style(const choices *c, nb_plot_style *style, nb_ctx *ctx)
{
    *style = nb_plot_screen;
    style->paper = c->style.value == 1;
    style->dots = c->dots.text ? c->dots.value == 0 : !style->paper;
    NB_REQUIRE(ctx, !c->width || style->paper, NB_EINVAL,
               "plot: %s is for %s; on a screen, figures are as wide as their panels take",
               nb_spell_option(ctx, "width", NULL), nb_spell_option(ctx, "style", "paper"));
    NB_REQUIRE(ctx, !style->paper || read_width(c->width ? c->width : "column", &style->width), NB_EINVAL,
               "plot: %s is not column, page, or a width from 60mm to 500mm in mm, cm, in or pt",
               nb_spell_option(ctx, "width", c->width));
    if (style->paper) style->formats = "pdf svg";
    if (c->format) style->formats = read_formats(c->format, ctx);
    NB_REQUIRE(ctx, style->formats, NB_EINVAL, "plot: %s: expected svg, png or pdf, or several separated by commas",
               nb_spell_option(ctx, "format", c->format));
    return NB_OK;
}

/* All conditions on the rows, with a NULL behind them. */
static nb_status read_conditions(const choices *c, const char ***where, nb_ctx *ctx)
{
    int count = nb_text_count(c->where);
    NB_NEED(*where, nb_alloc(ctx, (size_t)count + 3, sizeof **where));
    for (int i = 0; i < count; i++) (*where)[i] = c->where[i];
    if (c->strategies) NB_NEED((*where)[count++], nb_format(ctx, "strategy=[%s]", c->strategies));
    if (c->cores) NB_NEED((*where)[count++], nb_format(ctx, "core=[%s]", c->cores));
    return NB_OK;
}

/* NULL if none is named. `by`: a column, NAME is that figure of its values; NULL: not given. */
static nb_status find_figure(const nb_command *command, const char *name, const char *by, const nb_component **figure,
                             nb_ctx *ctx)
{
    *figure = NULL;
    if (by) NB_NEED(name, nb_format(ctx, "%s_by_%s", name ? name : "ratio", by));
    return name ? nb_command_find(command, &nb_figures, name, figure, ctx) : NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    static const char *const sides[] = {"keys", "queries", NULL}, *const styles[] = {"screen", "paper", NULL},
                             *const dots[] = {"show", "hide", NULL};
    choices chosen = {.m = {.min = 1, .max = INT_MAX},
                      .trial = {.max = INT_MAX},
                      .head = {.max = INT_MAX, .value = -1},
                      .side = {.words = sides},
                      .style = {.words = styles},
                      .dots = {.words = dots}};
    nb_landmark_view view;
    nb_plot_style style;
    const struct poptOption options[] = {
        NB_FLAG_OPTION("landmarks", 'l', chosen.landmarks, "Pick the run's landmarks again and draw where they lie"),
        NB_WHOLE_OPTION("m", 'm', chosen.m,
                        "Number of landmarks, for --landmarks and for kinds that show one number (default: the middle "
                        "one of the run)",
                        "M"),
        NB_WHOLE_OPTION("trial", 't', chosen.trial, "The trial (default: 0)", "T"),
        NB_WHOLE_OPTION("head", '\0', chosen.head, "The head (default: the first of each problem)", "H"),
        NB_WORD_OPTION("side", '\0', chosen.side, "The plane shows keys (default) or queries", "keys|queries"),
        NB_WORD_OPTION("style", '\0', chosen.style,
                       "screen (default), or paper: of a journal's width, small, without a title, in RUN/" PAPER_FOLDER,
                       "screen|paper"),
        NB_TEXT_OPTION(
            "width", '\0', chosen.width,
            "On paper: column (89mm, the default), page (183mm), or a width from 60mm to 500mm, such as 3.25in",
            "WIDTH"),
        NB_WORD_OPTION("dots", '\0', chosen.dots,
                       "Figures of ratios have a grey dot for each head (default; on paper they have none)",
                       "show|hide"),
        NB_TEXT_OPTION("format", '\0', chosen.format,
                       "Formats, of svg, png and pdf (default: svg,png; on paper pdf,svg)", "FORMATS"),
        NB_TEXT_OPTION("by", '\0', chosen.by,
                       "As for compare: ratio --by core is the figure ratio_by_core, with a curve for each core",
                       "COLUMN"),
        NB_LIST_OPTION(
            "where", 'w', chosen.where,
            "Only rows with this value in a column, as for table; may be repeated. Figures of some rows are in a "
            "folder of their own, " SELECTED,
            "COLUMN=VALUE"),
        NB_TEXT_OPTION("strategies", '\0', chosen.strategies, "Only these: --where strategy=[LIST]", "LIST"),
        NB_TEXT_OPTION("cores", '\0', chosen.cores, "Only these: --where core=[LIST]", "LIST"),
        NB_PLUGIN_OPTION(line),
        NB_PROGRAMS_OPTION(line),
        POPT_TABLEEND};
    const char **where, *version;
    const nb_component *found;
    nb_gnuplots *gnuplots;
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    const char *folder = line->arguments[0];
    NB_TRY(ctx, read_conditions(&chosen, &where, ctx));
    NB_TRY(ctx, find_figure(line->command, line->arguments[1], chosen.by, &found, ctx));
    const nb_figure *figure = (const nb_figure *)found;
    NB_TRY(ctx, read_view(&chosen, figure, &view, ctx));
    view.programs = line->programs;
    NB_TRY(ctx, read_style(&chosen, &style, ctx));
    NB_REQUIRE(ctx, !chosen.landmarks || !figure, NB_EINVAL, "plot: %s takes no kind",
               nb_spell_option(ctx, "landmarks", NULL));
    NB_REQUIRE(ctx, !chosen.landmarks || !where[0], NB_EINVAL, "plot: %s, %s and %s are not for %s",
               nb_spell_option(ctx, "where", NULL), nb_spell_option(ctx, "strategies", NULL),
               nb_spell_option(ctx, "cores", NULL), nb_spell_option(ctx, "landmarks", NULL));
    NB_TRY(ctx, nb_check_run(folder, ctx));
    line->stage = where[0] ? NB_ASKS : NB_WORKS;
    bool draw = nb_gnuplot_version(&version, ctx);
    if (!draw) nb_warn_without_gnuplot(NULL);
    NB_TRY(ctx, nb_gnuplots_new(draw ? nb_usable_cpus() : 0, &gnuplots, ctx));
    nb_status status = chosen.landmarks ? plot_landmarks(folder, &view, &style, gnuplots, ctx)
                                        : plot(folder, line->programs, figure, view.m, where, &style, gnuplots, ctx);
    if (status != NB_OK) nb_gnuplots_wait(gnuplots, ctx);
    return status;
}

NB_COMMAND(plot, "RUN [FIGURE]",
           "Draw the figures of a run.\n\n"
           "FIGURE is one that 'nysbench list figures' shows. By default, all are drawn that\n"
           "the rows allow, except 'spectrum' (slow: it picks the landmarks again), and except\n"
           "those that compare cores where there is one",
           true, NB_LOOK_AT_RUN + 30);
