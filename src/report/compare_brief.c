/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_brief.c - a comparison on one screen: a line for each method and m, or, where these are more than a screen
 * has, a line for each method with m across. What differs beside m stands in bands. */
#include "report/compare_print_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 30 };

typedef struct {
    const nb_compared *x;
    const char *band;
    int place; /* of the band: of its first line */
    double along;
} line;

typedef struct {
    const nb_compare_printer *p;
    bool by_model, has_interval, has_verdict;
    int along; /* the setting's column that goes across; -1: none */
    int count;
    line *lines;
    nb_page *page;
    nb_ctx *ctx;
} brief;

/* The first setting column of integers that varies. */
static int find_along(const nb_contrasts *c, const int *varying)
{
    for (; *varying >= 0; varying++)
        if (nb_setting_cell(c, 0, *varying, NB_OF_ROW)->type == NB_CELL_INT) return *varying;
    return -1;
}

/* "core svd, pairing joint" */
static nb_status name_band(const brief *b, const int *varying, const nb_compared *x, const char **name)
{
    *name = "";
    for (; *varying >= 0; varying++)
        if (*varying != b->along)
            NB_NEED(*name, nb_format(b->ctx, "%s%s%s %s", *name, **name ? ", " : "",
                                     x->contrasts->setting_columns[*varying], nb_compare_setting(x, *varying)));
    return NB_OK;
}

static int compare_lines(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    if (x->along != y->along) return x->along < y->along ? -1 : 1;
    return (x->x > y->x) - (x->x < y->x);
}

static nb_status find_lines(brief *b)
{
    const nb_comparison *c = b->p->comparison;
    const char *constant;
    int *varying;
    NB_TRY(b->ctx, nb_compare_varying(b->p, &varying, &constant));
    NB_TRY(b->ctx, nb_compare_title(b->page, b->p, constant));
    NB_NEED(b->lines, nb_alloc(b->ctx, (size_t)c->count + 1, sizeof *b->lines));
    b->along = find_along(c->contrasts, varying);
    bool any = false; /* besides what is refused, which stands below */
    for (int i = 0; i < c->count; i++) any = any || c->items[i].verdict != NB_REFUSED;
    for (int i = 0; i < c->count; i++) {
        const nb_compared *x = &c->items[i];
        line *l = &b->lines[b->count];
        if ((x->stratum != NB_OVER_STRATA && !b->by_model) || (any && x->verdict == NB_REFUSED)) continue;
        *l = (line){.x = x, .place = b->count};
        NB_TRY(b->ctx, name_band(b, varying, x, &l->band));
        for (int k = b->count++ - 1; k >= 0; k--)
            if (strcmp(b->lines[k].band, l->band) == 0) l->place = b->lines[k].place;
        if (b->along >= 0) l->along = nb_setting_cell(x->contrasts, x->contrast->setting, b->along, NB_OF_ROW)->real;
        b->has_interval = b->has_interval || !isnan(x->estimate.low);
        b->has_verdict = b->has_verdict || x->verdict != NB_NO_VERDICT;
    }
    qsort(b->lines, (size_t)b->count, sizeof *b->lines, compare_lines);
    return NB_OK;
}

/* The reasons why there is no verdict, each once: above, as they say why intervals are missing too. */
static void add_reasons(const brief *b)
{
    for (int i = 0; i < b->count; i++) {
        const char *why = b->lines[i].x->why;
        int lines = 0;
        bool told = b->lines[i].x->verdict != NB_NO_VERDICT;
        for (int k = 0; k < b->count && !told; k++) {
            bool same = b->lines[k].x->verdict == NB_NO_VERDICT && strcmp(b->lines[k].x->why, why) == 0;
            told = same && k < i;
            lines += same;
        }
        if (told) continue;
        if (lines == b->count)
            nb_page_paragraph(b->page, "No verdict: %s.", why);
        else
            nb_page_paragraph(b->page, "No verdict in %d of %d lines: %s.", lines, b->count, why);
    }
}

static void add_band(const brief *b, int i)
{
    const line *l = &b->lines[i];
    if (i == 0 ? *l->band : l->place != l[-1].place) nb_page_band(b->page, "setting", l->band);
}

static void add_names(const brief *b, const nb_compared *x)
{
    nb_page_cell(b->page, "%s", nb_compare_method(x));
    if (b->p->terms->all_pairs) nb_page_cell(b->page, "%s", nb_value_label(x->contrasts, x->baseline));
    if (b->by_model) nb_page_cell(b->page, "%s", nb_compare_model(x));
}

static void begin_table(const brief *b, const char *head)
{
    nb_page_table(b->page);
    nb_page_column(b->page, NB_PAGE_LABEL, "%s", head);
    if (b->p->terms->all_pairs) nb_page_column(b->page, NB_PAGE_LABEL, "baseline");
    if (b->by_model) nb_page_column(b->page, NB_PAGE_LABEL, "model");
}

static void add_number(const brief *b, double mean)
{
    double x = nb_compare_shown(b->p, mean);
    if (isnan(x))
        nb_page_cell(b->page, "-");
    else if (isinf(x))
        nb_page_cell(b->page, "%sinfinite", x < 0 ? "-" : "");
    else
        nb_page_cell(b->page, "%.3g", x == 0 ? 0 : x);
}

static const char *verdict_of(const nb_compared *x)
{
    return x->verdict == NB_REFUSED ? "refused, see below" : nb_verdict_names[x->verdict];
}

static void add_lines(const brief *b)
{
    begin_table(b, b->p->terms->contrast.by);
    if (b->along >= 0)
        nb_page_column(b->page, NB_PAGE_NUMBER | NB_PAGE_LABEL, "%s",
                       b->p->comparison->contrasts->setting_columns[b->along]);
    nb_page_column(b->page, NB_PAGE_NUMBER, "%s", nb_compare_scale(b->p->terms));
    if (b->has_interval) nb_page_column(b->page, NB_PAGE_WORD, "interval");
    if (b->has_verdict) nb_page_column(b->page, NB_PAGE_WORD, "verdict");
    nb_page_column(b->page, NB_PAGE_NUMBER, "sources");
    for (int i = 0; i < b->count; i++) {
        const nb_compared *x = b->lines[i].x;
        const nb_estimate *e = &x->estimate;
        add_band(b, i);
        nb_page_row(b->page);
        add_names(b, x);
        if (b->along >= 0) nb_page_cell(b->page, "%.0f", b->lines[i].along);
        add_number(b, e->mean);
        if (b->has_interval && isnan(e->low))
            nb_page_cell(b->page, "-");
        else if (b->has_interval)
            nb_page_cell(b->page, "[%.3g, %.3g]", nb_compare_shown(b->p, e->low), nb_compare_shown(b->p, e->high));
        if (b->has_verdict) nb_page_cell(b->page, "%s%s", verdict_of(x), x->turn ? " !" : "");
        nb_page_cell(b->page, "%d", e->sources);
    }
}

static const char *mark_of(const brief *b, const nb_compared *x)
{
    static const char *const marks[] = {
        [NB_NO_VERDICT] = "?", [NB_BETTER] = "*", [NB_WORSE] = "x", [NB_EQUIVALENT] = "=", [NB_UNDECIDED] = ""};
    if (x->verdict == NB_REFUSED || isnan(x->estimate.mean)) return "";
    if (x->turn) return nb_format(b->ctx, "%s!", marks[x->verdict]);
    return x->verdict == NB_NO_VERDICT && !b->has_verdict ? "" : marks[x->verdict];
}

static bool same_row(const line *a, const line *b)
{
    return a->place == b->place && a->x->contrast->value == b->x->contrast->value && a->x->baseline == b->x->baseline &&
           a->x->stratum == b->x->stratum;
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* *values: of `along`, ascending, each once. */
static nb_status find_values(const brief *b, int *count, double **values)
{
    NB_NEED(*values, nb_alloc_reals(b->ctx, (size_t)b->count + 1, 1));
    for (int i = 0; i < b->count; i++) (*values)[i] = b->lines[i].along;
    qsort(*values, (size_t)b->count, sizeof **values, compare_reals);
    *count = 0;
    for (int i = 0; i < b->count; i++)
        if (*count == 0 || (*values)[i] != (*values)[*count - 1]) (*values)[(*count)++] = (*values)[i];
    return NB_OK;
}

/* The cells of the row that begins with line `first`; lines of one row are sorted by `along`. */
static void add_cells(const brief *b, int first, int count, const double *values)
{
    int at = 0;
    for (int i = first; i < b->count && b->lines[i].place == b->lines[first].place; i++) {
        const nb_compared *x = b->lines[i].x;
        if (!same_row(&b->lines[i], &b->lines[first])) continue;
        for (; at < count && values[at] < b->lines[i].along; at++) nb_page_cell(b->page, "%s", "");
        add_number(b, x->estimate.mean);
        nb_page_mark(b->page, mark_of(b, x));
        at++;
    }
}

static nb_status add_across(const brief *b)
{
    double *values;
    int count, last = -1;
    NB_TRY(b->ctx, find_values(b, &count, &values));
    begin_table(b, b->p->comparison->contrasts->setting_columns[b->along]);
    for (int v = 0; v < count; v++) nb_page_column(b->page, NB_PAGE_NUMBER, "%.0f", values[v]);
    for (int i = 0; i < b->count; i++) {
        bool first = true;
        for (int k = i - 1; k >= 0 && first; k--) first = !same_row(&b->lines[k], &b->lines[i]);
        if (!first) continue;
        const line *l = &b->lines[i];
        if (last < 0 ? *l->band : l->place != last) nb_page_band(b->page, "setting", l->band);
        last = l->place;
        nb_page_row(b->page);
        add_names(b, l->x);
        add_cells(b, i, count, values);
    }
    return NB_OK;
}

static bool occurs(const brief *b, nb_verdict verdict)
{
    bool any = false;
    for (int i = 0; i < b->count; i++)
        any = any || (b->lines[i].x->verdict == verdict && !isnan(b->lines[i].x->estimate.mean));
    return any;
}

/* Of how many sources the lines with a ratio are: "8", "1 to 20". */
static const char *sources_text(const brief *b)
{
    int least = 0, most = 0;
    for (int i = 0; i < b->count; i++) {
        int sources = b->lines[i].x->estimate.sources;
        if (sources > 0 && (least == 0 || sources < least)) least = sources;
        most = sources > most ? sources : most;
    }
    return least == most ? nb_format(b->ctx, "%d", most) : nb_format(b->ctx, "%d to %d", least, most);
}

static bool has_turn(const brief *b)
{
    bool any = false;
    for (int i = 0; i < b->count; i++) any = any || b->lines[i].x->turn;
    return any;
}

/* Of the marks and words those that occur. */
static nb_status add_words(const brief *b, bool across)
{
    const nb_compare_terms *t = b->p->terms;
    const nb_contrasts *c = b->p->comparison->contrasts;
    int none = !t->contrast.difference;
    double percent = 100 * t->confidence;
    const char *sources;
    NB_NEED(sources, sources_text(b));
    nb_page_paragraph(
        b->page, "%s %d the %s is better. Each %s is the %smean over %s source%s (texts, images, draws)%s.",
        c->metric->more ? "Above" : "Below", none, t->contrast.by, nb_compare_scale(t), none ? "geometric " : "",
        sources, strcmp(sources, "1") == 0 ? "" : "s", c->strata > 1 ? ", where models count the same" : "");
    if (!across && b->has_interval) nb_page_note(b->page, "interval:", "%.0f %%, over sources and trials", percent);
    for (nb_verdict v = NB_BETTER; v <= NB_WORSE; v++)
        if (occurs(b, v))
            nb_page_note(b->page,
                         across           ? (v == NB_BETTER ? "*" : "x")
                         : v == NB_BETTER ? "better:"
                                          : "worse:",
                         "%sthe %.0f %% interval is %s %d, also when corrected for all lines (Holm)",
                         !across          ? ""
                         : v == NB_BETTER ? "better: "
                                          : "worse: ",
                         percent, (v == NB_BETTER) == c->metric->more ? "above" : "below", none);
    if (occurs(b, NB_EQUIVALENT))
        nb_page_note(b->page, across ? "=" : "equivalent:", "%ssurely within %s%.3g", across ? "equivalent: " : "",
                     none ? "a factor of " : "+-", nb_compare_shown(b->p, t->margin));
    if (across && b->has_verdict && occurs(b, NB_NO_VERDICT)) nb_page_note(b->page, "?", "no verdict, see above");
    if (occurs(b, NB_UNDECIDED) && !across)
        nb_page_note(b->page, "undecided:", "neither; --full says how many more sources would decide");
    if (has_turn(b))
        nb_page_note(b->page, "!", "surely better on one head of a model, surely worse on another; --full names them");
    nb_page_paragraph(b->page, "nysbench compare --full has %sall numbers%s.", across ? "intervals and " : "",
                      c->strata > 1 && !b->by_model ? ", --by-model each model alone" : "");
    return NB_OK;
}

nb_status nb_compare_show_brief(nb_page *page, const nb_compare_printer *p, bool by_model)
{
    brief b = {.p = p, .by_model = by_model, .page = page, .ctx = p->ctx};
    NB_TRY(b.ctx, find_lines(&b));
    bool across = b.along >= 0 && b.count > MOST_LINES;
    add_reasons(&b);
    if (across)
        NB_TRY(b.ctx, add_across(&b));
    else
        add_lines(&b);
    NB_TRY(b.ctx, nb_compare_warnings(page, p));
    NB_TRY(b.ctx, add_words(&b, across));
    return NB_OK;
}
