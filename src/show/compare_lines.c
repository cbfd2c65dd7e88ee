/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_lines.c - see compare_lines.h */
#include "show/compare_lines.h"

#include "base/numerals.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 30 }; /* on a screen */

double nb_compare_scaled(const nb_compare_lines *lines, double x)
{
    return lines->terms->difference ? x : exp(x);
}

const char *nb_compare_interval(const nb_compare_lines *lines, const char *format, double low, double high)
{
    if (isnan(low) || isnan(high)) return "-";
    return nb_phrase(lines->ctx, "[%s, %s]", nb_ratio_bound(format, nb_compare_scaled(lines, low)).text,
                     nb_ratio_bound(format, nb_compare_scaled(lines, high)).text);
}

static const nb_cell *setting_cell(const nb_compare_line *l, int setting, int what)
{
    return nb_setting_cell(l->of->contrasts, l->setting, setting, what);
}

const char *nb_compare_label(const nb_compare_line *l, int setting)
{
    const char *label = setting_cell(l, setting, NB_OF_LABEL)->text;
    return label ? label : "";
}

static bool same_cell(const nb_cell *a, const nb_cell *b)
{
    if (a->type != b->type || a->type == NB_CELL_NONE) return a->type == b->type;
    return a->type == NB_CELL_TEXT ? strcmp(a->text, b->text) == 0 : a->real == b->real;
}

/* Finds whether lines differ in a setting, and what it is called. */
static void find_setting(nb_compare_lines *lines, int at)
{
    static const char *const taken[] = {"method", "baseline", "by",    "metric",  "model", "sources",
                                        "heads",  "trials",   "pairs", "verdict", "why",   NULL};
    nb_compare_setting *s = &lines->settings[at];
    bool integer = true;
    s->name = lines->contrasts->setting_columns[at];
    s->head = nb_text_among(s->name, taken) ? nb_phrase(lines->ctx, "setting_%s", s->name) : s->name;
    for (int i = 0; i < lines->count; i++) {
        const nb_cell *cell = setting_cell(&lines->items[i], at, NB_OF_ROW);
        integer = integer && cell->type == NB_CELL_INT;
        s->varies = s->varies || !same_cell(cell, setting_cell(&lines->items[0], at, NB_OF_ROW));
    }
    s->hidden = !lines->full &&
                nb_study_defaults(lines->comparison->relation->study, s->name, nb_compare_label(&lines->items[0], at));
    if (s->varies && integer && lines->along < 0) lines->along = at;
    lines->varying += s->varies;
}

/* Lists the settings that vary but for one, -1: all of them. */
static const char *list_settings(const nb_compare_lines *lines, const nb_compare_line *l, int but)
{
    const char *all = "";
    for (int i = 0; i < lines->setting_count; i++)
        if (lines->settings[i].varies && i != but)
            all = nb_phrase(lines->ctx, "%s%s%s %s", all, *all ? ", " : "", lines->settings[i].name,
                            nb_compare_label(l, i));
    return all;
}

/* Shows the ratio and its interval: narrow ones around 1 with more digits. */
static void show_numbers(const nb_compare_lines *lines, nb_compare_line *l)
{
    nb_interval joint = l->of->joint;
    double width = nb_compare_scaled(lines, joint.high) - nb_compare_scaled(lines, joint.low);
    bool narrow = !lines->terms->difference && fabs(l->ratio - 1) < 0.01 && width < 0.01;
    l->interval = nb_compare_interval(lines, narrow ? "%.4f" : "%.3g", joint.low, joint.high);
    l->shown = nb_phrase(lines->ctx, "%s", narrow ? nb_shown("%.4f", l->ratio).text : nb_numeral(l->ratio).text);
}

static void tell_line(const nb_compare_lines *lines, nb_compare_line *l)
{
    const nb_compared *x = l->of;
    bool judged = x->verdict != NB_NO_VERDICT && x->verdict != NB_REFUSED && x->verdict != NB_EXACT;
    const char *word = nb_verdict_names[x->verdict];
    if (x->untimed) word = x->why;
    if (x->verdict == NB_REFUSED) word = "refused, see below";
    l->mark = x->conflict || (x->pairs->disturbed && judged) ? "!" : "";
    l->verdict = nb_phrase(lines->ctx, "%s%s%s", word, *l->mark ? " " : "", l->mark);
    l->settings = list_settings(lines, l, -1);
    l->band = list_settings(lines, l, lines->along);
    l->name = nb_phrase(lines->ctx, "%s%s%s%s%s%s%s%s%s", lines->two ? l->metric : "", lines->two ? " of " : "",
                        l->settings, *l->settings ? ", " : "", l->method, lines->terms->all_pairs ? " over " : "",
                        lines->terms->all_pairs ? l->baseline : "", x->stratum == NB_OVER_STRATA ? "" : ", ",
                        x->stratum == NB_OVER_STRATA ? "" : l->model);
    if (lines->along >= 0) l->along = (int)setting_cell(l, lines->along, NB_OF_ROW)->integer;
    show_numbers(lines, l);
}

static void add_line(nb_compare_lines *lines, const nb_compared *x)
{
    const nb_contrasts *c = x->contrasts;
    const nb_contrast *of = x->contrast;
    bool over = x->stratum == NB_OVER_STRATA;
    lines->items[lines->count] =
        (nb_compare_line){.of = x,
                          .by_error = c != lines->contrasts,
                          .value = of->value,
                          .base = of->baseline,
                          .setting = of->setting,
                          .metric = c->metric->name,
                          .method = nb_value_label(c, of->value),
                          .baseline = nb_value_label(c, of->baseline),
                          .model = over ? "all" : nb_grid_at(&c->strata, x->stratum, NB_STRATUM_LABEL)->text,
                          .ratio = nb_compare_scaled(lines, x->estimate.mean),
                          .line = lines->count};
    lines->count++;
}

/* Returns whether a line is the first of a method and a baseline all lines of which are refused. */
static bool stands_for_all(const nb_compare_lines *lines, const nb_compare_line *l)
{
    for (const nb_compare_line *o = lines->items; o < lines->items + lines->count; o++)
        if (o->of->contrasts == l->of->contrasts && o->value == l->value && o->base == l->base &&
            (o < l || o->of->verdict != NB_REFUSED))
            return false;
    return true;
}

/* Those that stand for all last; else by band, in the order of the bands' first lines, and by what goes across. */
static int compare_shown(const void *a, const void *b)
{
    const nb_compare_line *x = *(nb_compare_line *const *)a, *y = *(nb_compare_line *const *)b;
    const int keys[][2] = {{x->whole, y->whole}, {x->place, y->place}, {x->along, y->along}, {x->line, y->line}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Chooses the lines that are shown: of a method that is refused everywhere one, else none that is refused, unless all
 * are asked for. */
static void choose_lines(nb_compare_lines *lines)
{
    for (nb_compare_line *l = lines->items; l < lines->items + lines->count; l++) {
        int first = 0;
        l->whole = l->of->verdict == NB_REFUSED && !lines->full && stands_for_all(lines, l);
        if (l->of->stratum != NB_OVER_STRATA && !lines->by_model) continue;
        if (l->of->verdict == NB_REFUSED && !lines->full && !l->whole) continue;
        if (l->whole) l->band = "", l->along = 0;
        lines->intervals = lines->intervals || !isnan(l->of->estimate.low);
        lines->verdicts = lines->verdicts || l->of->verdict != NB_NO_VERDICT;
        lines->shown[lines->shown_count++] = l;
        while (lines->shown[first]->whole != l->whole || strcmp(lines->shown[first]->band, l->band) != 0) first++;
        l->place = lines->shown[first]->line;
    }
    qsort(lines->shown, (size_t)lines->shown_count, sizeof *lines->shown, compare_shown);
}

nb_status nb_compare_lines_find(const nb_comparison *comparison, const nb_compare_view *view, bool two,
                                nb_compare_lines *lines, nb_ctx *ctx)
{
    size_t most = (size_t)comparison->count + (two ? (size_t)comparison->by_error->count : 0) + 1;
    *lines = (nb_compare_lines){.comparison = comparison,
                                .contrasts = comparison->contrasts,
                                .terms = &comparison->terms->contrast,
                                .full = view->full,
                                .by_model = view->by_model,
                                .two = two,
                                .more = comparison->contrasts->metric->more,
                                .setting_count = nb_text_count(comparison->contrasts->setting_columns),
                                .along = -1,
                                .ctx = ctx};
    NB_NEED(lines->items, nb_alloc(ctx, most, sizeof *lines->items));
    NB_NEED(lines->shown, nb_alloc(ctx, most, sizeof *lines->shown));
    NB_NEED(lines->settings, nb_alloc(ctx, (size_t)lines->setting_count + 1, sizeof *lines->settings));
    for (const nb_comparison *c = comparison; c; c = two ? c->by_error : NULL)
        for (int i = 0; i < c->count; i++) add_line(lines, &c->items[i]);
    for (int i = 0; i < lines->setting_count; i++) find_setting(lines, i);
    for (int i = 0; i < lines->count; i++) tell_line(lines, &lines->items[i]);
    choose_lines(lines);
    lines->across = !view->full && !two && lines->along >= 0 && lines->shown_count > MOST_LINES;
    return nb_phrases_end(ctx);
}
