/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print.c - see compare_print.h. A page has one table of four: all that is known, a line each; a line each; of
 * time and error, a line for each method; or a setting across. Above it stands what all lines have in common, below it
 * what they hold and what is odd, and last what the words of the table mean. */
#include "show/compare_print.h"

#include "base/builder.h"
#include "base/fields.h"
#include "base/text.h"
#include "base/numerals.h"
#include "rows/columns.h"
#include "rows/functions.h"
#include "rows/run_facts.h"
#include "rows/statement.h"
#include "show/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    nb_page *page;
    nb_compare_lines lines;
    const nb_compare_terms *terms;
    const nb_relation *relation;
    const char *by, *metric;  /* columns */
    const nb_column *error;   /* the metric, or that of the comparison beside it */
    const char *scale, *none; /* "ratio" and "1", or "difference" and "0" */
    const char *missing;      /* what pairs with one result do */
    const char *together;     /* " for all 6 verdicts together": the intervals of lines that are shown; "" of one */
    nb_ctx *ctx;
} printer;

static const char *plural(long long count)
{
    return count == 1 ? "" : "s";
}

static const char *range(nb_ctx *ctx, long long least, long long most)
{
    return least < most ? nb_phrase(ctx, "%lld to %lld", least, most) : nb_phrase(ctx, "%lld", most);
}

/* Says of how many verdicts the intervals hold together. */
static const char *tell_together(const nb_compare_lines *lines)
{
    const nb_compared *least = NULL, *most = NULL;
    bool several = false; /* strata */
    for (int i = 0; i < lines->shown_count; i++) {
        const nb_compared *x = lines->shown[i]->of;
        if (x->family == 0) continue;
        several = several || (least && x->stratum != least->stratum);
        if (!least || x->family < least->family) least = x;
        if (!most || x->family > most->family) most = x;
    }
    if (!most || most->family < 2) return "";
    return nb_phrase(lines->ctx, " for all %s verdicts%s together", range(lines->ctx, least->family, most->family),
                     several ? " of a model" : "");
}

static nb_status prepare(printer *p, nb_page *page, const nb_comparison *c, nb_compare_view view, nb_ctx *ctx)
{
    const nb_contrast_terms *of = &c->terms->contrast;
    bool two = c->beside && (!page || !view.full);
    *p = (printer){.page = page,
                   .terms = c->terms,
                   .relation = c->relation,
                   .by = of->by,
                   .metric = of->metric,
                   .error = (two ? c->beside : c)->contrasts->metric,
                   .scale = of->difference ? "difference" : "ratio",
                   .none = of->difference ? "0" : "1",
                   .missing =
                       of->failures == NB_FAILURES_WORST ? "count as the largest difference seen" : "do not count",
                   .ctx = ctx};
    NB_TRY(ctx, nb_compare_lines_find(c, &view, two, &p->lines, ctx));
    p->together = tell_together(&p->lines);
    return NB_OK;
}

/* What stands above the table. */

/* Returns whether a line has no verdict, for a reason that its own words do not tell. */
static bool is_silent(const printer *p, const nb_compare_line *l)
{
    return l->of->verdict == NB_NO_VERDICT &&
           (strcmp(l->verdict, "none") == 0 || p->lines.across || !p->lines.verdicts);
}

/* Says why lines have no verdict, each reason once. */
static void add_reasons(const printer *p)
{
    int lines = p->lines.shown_count;
    for (int i = 0; i < lines; i++) {
        const char *why = p->lines.shown[i]->of->why;
        int first = -1, count = 0;
        for (int k = 0; k < lines && is_silent(p, p->lines.shown[i]); k++) {
            bool same = is_silent(p, p->lines.shown[k]) && strcmp(p->lines.shown[k]->of->why, why) == 0;
            if (same && first < 0) first = k;
            if (first >= 0 && first < i) break;
            count += same;
        }
        if (first == i && count == lines)
            nb_page_prose(p->page, NB_PAGE_ABOVE, "No verdict: %s.", why);
        else if (first == i)
            nb_page_prose(p->page, NB_PAGE_ABOVE, "No verdict in %d of %d %s: %s.", count, lines,
                          p->lines.two ? "comparisons" : "lines", why);
    }
}

static void add_above(const printer *p)
{
    const nb_contrast_terms *of = p->lines.terms;
    const nb_compare_line *first = &p->lines.items[0];
    const char *pooled = of->pool ? nb_phrase(p->ctx, "; mean over %s", of->pool) : "", *same = "", *confounded = "";
    if (p->lines.two)
        nb_page_heading(p->page, 2, "Time and error by %s, on the same heads in the same trials%s", p->by, pooled);
    else
        nb_page_heading(p->page, 2, "%s by %s, %s that of %s, on the same head in the same trial%s%s", p->metric, p->by,
                        of->difference ? "minus" : "divided by", of->all_pairs ? "another" : first->baseline,
                        p->lines.more ? "; more is better" : "", pooled);
    for (int i = 0; i < p->lines.setting_count; i++) {
        const nb_compare_setting *s = &p->lines.settings[i];
        if (!s->varies && !s->hidden)
            same = nb_phrase(p->ctx, "%s%s%s %s", same, *same ? ", " : "", s->name, nb_compare_label(first, i));
    }
    if (*same) nb_page_prose(p->page, NB_PAGE_ABOVE, "%s", same);
    for (const char *const *c = of->confounded; c && *c; c++)
        confounded = nb_phrase(p->ctx, "%s%s%s", confounded, *confounded ? ", " : "", *c);
    if (*confounded) nb_page_prose(p->page, NB_PAGE_ABOVE, "CONFOUNDED: they may differ in %s too", confounded);
    if (p->terms->by_hand)
        nb_page_prose(p->page, NB_PAGE_ABOVE,
                      "Exploratory (%s): the verdicts hold together for the lines shown, not for all that was looked "
                      "at.",
                      p->terms->by_hand);
    if (!p->lines.full) add_reasons(p);
}

/* The tables. */

/* Shows a grid whose first columns are labels, `head` those of methods; some look like numbers and are none. */
static nb_status show_grid(const printer *p, const nb_grid *grid, int labels, const char *head)
{
    static const char *const formats[] = {"baseline: %s",  "model: %s",   "interval: %s", "alone: %s",
                                          "bootstrap: %s", "missing: %s", "verdict: %s",  "p, ranks: %.2g",
                                          "p, t: %.2g",    "ICC: %.2f",   "error: %.2g",  "effective: %.1f"};
    enum { FORMATS = sizeof formats / sizeof *formats };
    int words = p->lines.full ? p->lines.setting_count : 0, count = 0;
    nb_comment *comments;
    NB_NEED(comments, nb_alloc(p->ctx, (size_t)words + FORMATS + 3, sizeof *comments));
    comments[count++] = (nb_comment){"labels", nb_phrase(p->ctx, "%d", labels)};
    comments[count++] = (nb_comment){"format", nb_phrase(p->ctx, "%s: %%s", head)};
    for (int i = 0; i < FORMATS; i++) comments[count++] = (nb_comment){"format", formats[i]};
    for (int i = 0; i < words; i++)
        comments[count++] = (nb_comment){"format", nb_phrase(p->ctx, "%s: %%s", p->lines.settings[i].head)};
    return nb_answer_show(p->page, comments, grid, p->ctx);
}

/* Says the verdict with all that is known of it. */
static const char *tell_verdict(const printer *p, const nb_compared *x)
{
    const char *more = "", *word = nb_verdict_names[x->verdict];
    if (x->verdict == NB_REFUSED)
        word = "refused, see below";
    else if (x->why)
        more = nb_phrase(p->ctx, ": %s", x->why);
    else if (x->verdict == NB_UNDECIDED && !isnan(x->more))
        more = nb_phrase(p->ctx, ", about %.0f more source%s", floor(x->more), x->more == 1 ? "" : "s");
    return nb_phrase(p->ctx, "%s%s%s%s", word, more, x->conflict ? "; heads differ" : "",
                     x->pairs->disturbed ? "; times disturbed" : "");
}

static void add_full(const printer *p, nb_grid *grid, const nb_compare_line *l)
{
    const nb_compared *x = l->of;
    const nb_estimate *e = &x->estimate;
    const nb_pair_counts *k = x->pairs;
    nb_grid_row(grid);
    for (int i = 0; i < p->lines.setting_count; i++)
        if (p->lines.settings[i].varies) nb_grid_word(grid, p->lines.settings[i].head, nb_compare_label(l, i));
    nb_grid_word(grid, p->by, l->method);
    if (p->lines.terms->all_pairs) nb_grid_word(grid, "baseline", l->baseline);
    nb_grid_word(grid, "model", l->model);
    nb_grid_word(grid, p->scale, l->shown);
    nb_grid_word(grid, "interval", l->interval);
    nb_grid_word(grid, "alone", nb_compare_interval(&p->lines, "%.3g", e->low, e->high));
    nb_grid_word(grid, "bootstrap", nb_compare_interval(&p->lines, "%.3g", e->boot_low, e->boot_high));
    nb_grid_word(grid, "median", nb_phrase(p->ctx, "%s", nb_numeral(nb_compare_scaled(&p->lines, e->median)).text));
    nb_grid_word(grid, "wins", nb_phrase(p->ctx, "%d/%d", p->lines.more ? e->above : e->below, e->below + e->above));
    nb_grid_number(grid, "p, ranks", e->wilcoxon_p);
    nb_grid_number(grid, "p, t", e->t_p);
    nb_grid_count(grid, "sources", e->sources);
    nb_grid_count(grid, "heads", e->units);
    nb_grid_put(grid, "trials", x->trials ? nb_int_cell(x->trials) : nb_text_cell(NULL));
    nb_grid_number(grid, "ICC", e->icc);
    nb_grid_number(grid, "effective", e->effective);
    nb_grid_word(grid, "missing",
                 k->missing || k->missing_baseline ? nb_phrase(p->ctx, "%d|%d", k->missing, k->missing_baseline) : "-");
    nb_grid_word(grid, "verdict", tell_verdict(p, x));
}

static nb_status show_full(const printer *p)
{
    nb_grid grid;
    nb_grid_begin(&grid, p->ctx);
    for (int i = 0; i < p->lines.count; i++)
        if (p->lines.items[i].of->stratum == NB_OVER_STRATA || p->lines.by_model)
            add_full(p, &grid, &p->lines.items[i]);
    return show_grid(p, &grid, 2 + p->lines.terms->all_pairs + p->lines.varying, p->by);
}

/* Begins a row of a shorter table, and returns how many labels it has so far. */
static int begin_row(const printer *p, nb_grid *grid, const nb_compare_line *l, const char *head)
{
    nb_grid_row(grid);
    nb_grid_word(grid, "_band setting", l->band);
    nb_grid_word(grid, head, l->method);
    if (p->lines.terms->all_pairs) nb_grid_word(grid, "baseline", l->baseline);
    if (p->lines.by_model) nb_grid_word(grid, "model", l->model);
    return 1 + p->lines.terms->all_pairs + p->lines.by_model;
}

static nb_status show_brief(const printer *p)
{
    const nb_compare_lines *lines = &p->lines;
    int labels = 0;
    nb_grid grid;
    nb_grid_begin(&grid, p->ctx);
    for (int i = 0; i < lines->shown_count; i++) {
        const nb_compare_line *l = lines->shown[i];
        labels = begin_row(p, &grid, l, p->by) + (lines->along >= 0);
        if (lines->along >= 0)
            nb_grid_put(&grid, lines->settings[lines->along].name,
                        l->whole ? nb_text_cell(NULL) : nb_int_cell(l->along));
        nb_grid_word(&grid, p->scale, l->shown);
        if (lines->intervals) nb_grid_word(&grid, "interval", l->interval);
        if (lines->verdicts) nb_grid_word(&grid, "verdict", l->verdict);
        nb_grid_count(&grid, "sources", l->of->estimate.sources);
    }
    return show_grid(p, &grid, labels, p->by);
}

/* Returns the mark that stands for the verdict of a line where a setting goes across. */
static const char *mark_of(const printer *p, const nb_compare_line *l)
{
    switch (l->of->verdict) {
    case NB_BETTER: return "*";
    case NB_WORSE: return "x";
    case NB_EQUIVALENT: return "=";
    case NB_NO_VERDICT: return p->lines.verdicts ? "?" : "";
    default: return "";
    }
}

static bool same_row(const nb_compare_line *a, const nb_compare_line *b)
{
    return a->whole == b->whole && a->place == b->place && a->of->stratum == b->of->stratum && a->value == b->value &&
           a->base == b->base;
}

/* Lines that differ in what goes across make a row, which stands where the first of them does; a line that stands for
 * all of its method has its cell everywhere. */
static nb_status show_across(const printer *p)
{
    const nb_compare_lines *lines = &p->lines;
    const char *head = lines->settings[lines->along].name; /* of methods too: it stands before the values */
    int labels = 0;
    nb_grid grid;
    nb_grid_begin(&grid, p->ctx);
    for (int i = 0; i < lines->shown_count; i++) {
        const nb_compare_line *l = lines->shown[i];
        int first = 0;
        while (!same_row(lines->shown[first], l)) first++;
        for (int k = 0; k < lines->shown_count && first == i; k++) {
            const nb_compare_line *o = lines->shown[k], *of = l->whole ? l : o;
            bool empty = of->of->verdict == NB_REFUSED || isnan(of->ratio);
            if (l->whole ? o->whole : !same_row(o, l)) continue;
            labels = begin_row(p, &grid, of, head);
            nb_grid_count(&grid, "_across", o->along);
            nb_grid_word(&grid, "_cell",
                         nb_phrase(p->ctx, "%s%c%s%s", of->shown, NB_MARK_BEHIND, empty ? "" : mark_of(p, of),
                                   empty ? "" : of->mark));
        }
    }
    return show_grid(p, &grid, labels, head);
}

/* The table of time and error: a line for each method, also for baselines. */

typedef struct {                               /* a value in a setting and a stratum */
    const nb_compare_line *time, *error, *any; /* by each metric, and one that names it; NULL: none */
    bool base_of_time, base_of_error;
    bool exact;      /* all its errors are */
    nb_cell geomean; /* of its errors */
    double x, y;     /* time and error beside those of the baseline; NaN: not known */
} entrant;

static bool is_timed(const printer *p, const nb_compare_line *l)
{
    return strcmp(l->metric, p->metric) == 0;
}

/* `errors`: of the rows, as compare_print.errors has them. */
static entrant find_entrant(const printer *p, const nb_grid *errors, int setting, int stratum, int value)
{
    enum { VALUE, SETTING, STRATUM, GEOMEAN, EXACT };
    entrant e = {.geomean = nb_text_cell(NULL)};
    for (int i = 0; i < p->lines.shown_count; i++) {
        const nb_compare_line *l = p->lines.shown[i];
        bool here = l->setting == setting && l->of->stratum == stratum, timed = is_timed(p, l);
        if (here && (l->value == value || l->base == value)) e.any = l;
        if (here && l->value == value && timed) e.time = l;
        if (here && l->value == value && !timed) e.error = l;
        if (l->base == value && timed) e.base_of_time = true;
        if (l->base == value && !timed) e.base_of_error = true;
    }
    for (int r = 0; r < errors->count; r++) {
        const nb_cell *row = nb_grid_at(errors, r, 0);
        if (row[VALUE].integer != value || row[SETTING].integer != setting || row[STRATUM].integer != stratum) continue;
        e.geomean = row[GEOMEAN];
        e.exact = row[EXACT].integer;
    }
    e.x = e.base_of_time ? 1 : e.time ? e.time->ratio : NAN;
    e.y = e.exact ? 0 : e.error ? e.error->ratio : NAN;
    if (e.base_of_error && isnan(e.y)) e.y = 1;
    return e;
}

/* Says whether no other is as fast and as good, and better in one of these. */
static const char *tell_front(int count, const entrant *all, const entrant *e)
{
    if (isnan(e->x) || isnan(e->y)) return "-";
    for (const entrant *o = all; o < all + count; o++)
        if (o->any && o->x <= e->x && o->y <= e->y && (o->x < e->x || o->y < e->y)) return "no";
    return "yes";
}

/* Adds those of a setting and a stratum. */
static nb_status add_entrants(const printer *p, nb_grid *grid, const nb_grid *errors, int setting, int stratum)
{
    int count = p->lines.contrasts->values.count;
    entrant *all;
    NB_NEED(all, nb_alloc(p->ctx, (size_t)count + 1, sizeof *all));
    for (int v = 0; v < count; v++) all[v] = find_entrant(p, errors, setting, stratum, v);
    for (const entrant *e = all; e < all + count; e++) {
        const char *time = e->time ? e->time->verdict : "-";
        const char *error = e->error ? e->error->verdict : e->exact ? "exact" : "-";
        if (!e->any) continue;
        nb_grid_row(grid);
        nb_grid_word(grid, "_band setting", e->any->settings);
        nb_grid_word(grid, p->by, nb_value_label(p->lines.contrasts, (int)(e - all)));
        if (p->lines.by_model) nb_grid_word(grid, "model", e->any->model);
        nb_grid_word(grid, "time", e->base_of_time ? "1" : e->time ? e->time->shown : "-");
        if (p->lines.verdicts) nb_grid_word(grid, "verdict", e->base_of_time ? "baseline" : time);
        nb_grid_put(grid, "error", e->geomean);
        if (p->lines.verdicts) nb_grid_word(grid, "verdict", e->base_of_error ? "baseline" : error);
        nb_grid_word(grid, "on the front", tell_front(count, all, e));
    }
    return NB_OK;
}

static nb_status show_two(const printer *p)
{
    const nb_contrast_terms *of = p->lines.terms;
    nb_grid grid, errors;
    NB_TRY(p->ctx, nb_sql_ask(p->relation, "compare_print.errors",
                              NB_GIVEN(NB_GIVE_VALUE("question", p->lines.comparison->beside->contrasts->question),
                                       NB_GIVE_INT("pooled", of->pool && !of->apart),
                                       NB_GIVE_INT("by_model", p->lines.by_model)),
                              &errors, p->ctx));
    nb_grid_begin(&grid, p->ctx);
    for (int i = 0; i < p->lines.shown_count; i++) {
        int setting = p->lines.shown[i]->setting, first = 0;
        while (p->lines.shown[first]->setting != setting) first++;
        for (int s = NB_OVER_STRATA; first == i && s < p->lines.contrasts->strata.count; s++)
            NB_TRY(p->ctx, add_entrants(p, &grid, &errors, setting, s));
    }
    return show_grid(p, &grid, 1 + p->lines.by_model, p->by);
}

/* What the table holds, and what is odd. */

/* Says of how many sources and trials the lines are. */
static nb_status tell_data(const printer *p, int least, int most, const char **text)
{
    enum { SHORTEST, LONGEST, TRIALS };
    const char *lengths = "", *trials = "";
    nb_grid data;
    NB_TRY(p->ctx, nb_sql_ask(p->relation, "compare_print.data", NULL, &data, p->ctx));
    const nb_cell *of = nb_grid_at(&data, 0, 0);
    if (of[LONGEST].type == NB_CELL_INT)
        lengths = nb_phrase(p->ctx, ", with n = %s", range(p->ctx, of[SHORTEST].integer, of[LONGEST].integer));
    if (of[TRIALS].type == NB_CELL_INT)
        trials = nb_phrase(p->ctx, " and %lld trial%s", of[TRIALS].integer, plural(of[TRIALS].integer));
    *text =
        nb_phrase(p->ctx, " Each %s is the %smean over %s source%s (texts, images or generated data)%s%s%s.", p->scale,
                  p->lines.terms->difference ? "" : "geometric ", range(p->ctx, least, most), plural(most),
                  p->lines.contrasts->strata.count > 1 ? ", where models count the same" : "", lengths, trials);
    return NB_OK;
}

static nb_status add_holds(const printer *p)
{
    int least = 0, most = 0, lost = 0, exact = 0;
    const char *data = "", *losses = "", *exacts = "";
    for (int i = 0; i < p->lines.shown_count; i++) {
        const nb_pair_counts *k = p->lines.shown[i]->of->pairs;
        int sources = p->lines.shown[i]->of->estimate.sources;
        if (sources > 0 && (least == 0 || sources < least)) least = sources;
        if (sources > most) most = sources;
        if (sources > 0 || k->untimed + k->untimed_baseline == 0) lost += k->missing + k->missing_baseline;
        if (k->pairs > 0) exact += k->exact > k->exact_baseline ? k->exact : k->exact_baseline;
    }
    if (most == 0 && lost == 0) return NB_OK;
    if (most > 0) NB_TRY(p->ctx, tell_data(p, least, most, &data));
    if (lost > 0) losses = nb_phrase(p->ctx, " In %d pairs one of the two has no result; these %s.", lost, p->missing);
    if (exact > 0)
        exacts = nb_phrase(p->ctx, " In %d pairs one of the two is exact but for rounding; these do not count.", exact);
    nb_page_prose(p->page, NB_PAGE_HOLDS, "%s%s is better.%s%s%s",
                  p->lines.two    ? "Less"
                  : p->lines.more ? "Above "
                                  : "Below ",
                  p->lines.two ? "" : p->none, data, losses, exacts);
    return NB_OK;
}

/* Says what is refused: each reason, with the methods. */
static nb_status add_refusals(const printer *p)
{
    const nb_compare_line *end = p->lines.items + p->lines.count;
    size_t values = (size_t)p->lines.contrasts->values.count + 1;
    const char **methods;
    bool *told, *listed;
    NB_NEED(told, nb_alloc(p->ctx, (size_t)p->lines.count + 1, sizeof *told));
    NB_NEED(methods, nb_alloc(p->ctx, values, sizeof *methods));
    NB_NEED(listed, nb_alloc(p->ctx, values, sizeof *listed));
    for (const nb_compare_line *l = p->lines.items; l < end; l++) {
        int count = 0;
        if (l->of->verdict != NB_REFUSED || told[l->line]) continue;
        memset(listed, 0, values * sizeof *listed);
        for (const nb_compare_line *o = l; o < end; o++) {
            if (o->of->verdict != NB_REFUSED || strcmp(o->of->why, l->of->why) != 0) continue;
            told[o->line] = true;
            if (!listed[o->value]) methods[count++] = o->method;
            listed[o->value] = true;
        }
        nb_page_prose(p->page, NB_PAGE_REMARK, "REFUSED: %s: %s.", nb_list_some(p->ctx, count, methods), l->of->why);
    }
    return NB_OK;
}

/* Says which values have no result. */
static nb_status add_without(const printer *p)
{
    nb_grid without;
    NB_TRY(p->ctx,
           nb_sql_ask(p->relation, "compare_print.without", NB_GIVEN(NB_GIVE_VALUE("by", p->by)), &without, p->ctx));
    for (int i = 0; i < without.count; i++)
        nb_page_prose(p->page, NB_PAGE_REMARK, "%s", nb_grid_at(&without, i, 0)->text);
    return NB_OK;
}

/* Returns whether a line of the value is refused; -1: of any. */
static bool is_refused(const printer *p, int value)
{
    for (const nb_compare_line *l = p->lines.items; l < p->lines.items + p->lines.count; l++)
        if (l->of->verdict == NB_REFUSED && (value < 0 || l->value == value)) return true;
    return false;
}

/* Says which values have rows beside which there is none of the baseline, and which strata have no result. */
static void add_unmet(const printer *p)
{
    const nb_contrasts *c = p->lines.contrasts;
    const nb_comparison *of = p->lines.comparison;
    for (int v = 0; v < c->values.count && !p->lines.terms->all_pairs; v++)
        if (c->unpaired[v] > 0 && !is_refused(p, v))
            nb_page_prose(p->page, NB_PAGE_REMARK, "%s: %d rows have no row of the baseline to be compared with.",
                          nb_value_label(c, v), c->unpaired[v]);
    for (int s = 0; s < c->strata.count && !is_refused(p, -1); s++) {
        int tested = 0; /* pairs of which both rows have a result */
        for (int i = 0; i < of->count; i++) {
            const nb_pair_counts *k = &of->items[i].contrast->of.counts[s];
            tested += k->pairs + k->exact + k->exact_baseline;
        }
        if (tested == 0)
            nb_page_prose(p->page, NB_PAGE_REMARK, "%s: no pair has a result.",
                          nb_grid_at(&c->strata, s, NB_STRATUM_LABEL)->text);
    }
}

/* Warns of times that other work disturbed. */
static nb_status add_disturbed(const printer *p)
{
    const nb_column *metric = p->lines.contrasts->metric;
    const nb_disturbance by = nb_disturbance_of(p->relation->study, metric, p->ctx);
    bool marked = false;
    nb_grid counts;
    if (!metric->time && !metric->disturbed) return NB_OK;
    NB_TRY(p->ctx, nb_sql_ask(p->relation, "compare_print.disturbed",
                              NB_GIVEN(NB_GIVE_VALUE("question", p->lines.contrasts->question)), &counts, p->ctx));
    long long rows = nb_grid_at(&counts, 0, 0)->integer, disturbed = nb_grid_at(&counts, 0, 1)->integer;
    for (int i = 0; i < p->lines.shown_count; i++)
        marked = marked || (p->lines.shown[i]->of->pairs->disturbed && *p->lines.shown[i]->mark);
    if (disturbed > 0)
        nb_page_prose(p->page, NB_PAGE_REMARK, "WARNING: %s ran while %lld of %lld rows were timed (%s).%s", by.who,
                      disturbed, rows, by.hint, marked ? " A verdict marked ! may be due to them." : "");
    return NB_OK;
}

static const char *conflict_of(const nb_compared *x)
{
    return x->conflict;
}

static const char *far_trial_of(const nb_compared *x)
{
    return x->far_trial;
}

/* Warns of what is odd in lines, the first few of them, and returns in how many more it is. */
static int add_odd(const printer *p, const char *what, const char *(*odd)(const nb_compared *), const char *end)
{
    int most = p->lines.full ? 6 : 1, count = 0, told = 0;
    for (int i = 0; i < p->lines.count; i++) count += odd(p->lines.items[i].of) != NULL;
    for (int i = 0; i < p->lines.count && told < most; i++) {
        const char *text = odd(p->lines.items[i].of);
        if (!text) continue;
        told++;
        nb_page_prose(p->page, NB_PAGE_REMARK, "WARNING: %s: %s: %s.%s", what, p->lines.items[i].name, text,
                      told == count ? end : "");
    }
    return count - told;
}

static void add_all_odd(const printer *p)
{
    static const char far[] = "a trial is far from the others", luck[] = " Such luck is rare; only more trials tell "
                                                                         "how rare.";
    int more = add_odd(p, "heads differ", conflict_of, "");
    if (more > 0)
        nb_page_paragraph(p->page, "WARNING: heads differ in %d more line%s; %s has one head alone.", more,
                          plural(more), nb_field(p->ctx, "where", "head=0"));
    more = add_odd(p, far, far_trial_of, luck);
    if (more > 0)
        nb_page_prose(p->page, NB_PAGE_REMARK, "WARNING: %s in %d more line%s.%s", far, more, plural(more), luck);
    for (int i = 0; i < p->lines.count; i++)
        if (p->lines.items[i].of->change)
            nb_page_prose(p->page, NB_PAGE_REMARK,
                          "WARNING: %s: the effect changes sign with %s, over which it is pooled: %s.",
                          p->lines.items[i].name, p->lines.terms->pool, p->lines.items[i].of->change);
}

/* Warns of components that are mostly no better than equal weights. */
static nb_status add_trivial(const printer *p)
{
    const nb_axis *axis = nb_axis_of_column(p->relation->study, p->by);
    const char *by_id;
    nb_grid list;
    if (!p->error->trivial || !axis || axis->type != NB_AXIS_COMPONENT) return NB_OK;
    NB_TRY(p->ctx, nb_key_name(nb_column_find(p->relation->study->columns, p->by), &by_id, p->ctx));
    NB_TRY(p->ctx, nb_sql_ask(p->relation, "compare_print.trivial",
                              NB_GIVEN(NB_GIVE_NAME("by_id", by_id), NB_GIVE_NAME("error", p->error->name),
                                       NB_GIVE_NAME("trivial", p->error->trivial), NB_GIVE_VALUE("by", p->by)),
                              &list, p->ctx));
    if (list.count > 0)
        nb_page_prose(p->page, NB_PAGE_REMARK,
                      "WARNING: mostly no better than equal weights for all tokens (column %s): %s.", p->error->trivial,
                      nb_grid_at(&list, 0, 0)->text);
    return NB_OK;
}

static nb_status add_below(const printer *p)
{
    NB_TRY(p->ctx, add_holds(p));
    NB_TRY(p->ctx, add_refusals(p));
    NB_TRY(p->ctx, add_without(p));
    add_unmet(p);
    NB_TRY(p->ctx, add_disturbed(p));
    add_all_odd(p);
    return add_trivial(p);
}

/* What the words of the table mean. */

/* Returns whether a line that is shown has this verdict, and so its word. */
static bool says(const printer *p, nb_verdict verdict)
{
    for (int i = 0; i < p->lines.shown_count; i++)
        if (p->lines.shown[i]->of->verdict == verdict && (verdict == NB_EXACT || !isnan(p->lines.shown[i]->ratio)))
            return true;
    return false;
}

/* Returns the baseline of the first line of time, or of error. */
static const char *baseline_of(const printer *p, bool time)
{
    const nb_compare_line *l = p->lines.items;
    while (l < p->lines.items + p->lines.count && is_timed(p, l) != time) l++;
    return l < p->lines.items + p->lines.count ? l->baseline : NULL;
}

static void explain_two(const printer *p)
{
    const char *of_time = baseline_of(p, true), *of_error = baseline_of(p, false);
    if (of_time) nb_page_note(p->page, "time:", "%s, divided by that of %s", p->metric, of_time);
    if (of_error)
        nb_page_note(p->page, "error:", "%s, geometric mean; the verdict is of its ratio to that of %s", p->error->name,
                     of_error);
    nb_page_note(p->page, "on the front:", "none is both as fast and as good");
}

static const char *tell_margin(const printer *p)
{
    double margin = p->terms->margin;
    return p->lines.terms->difference ? nb_phrase(p->ctx, "+-%.3g", margin)
                                      : nb_phrase(p->ctx, "a factor of %.3g", exp(margin));
}

/* What a verdict means: where a setting goes across, behind its mark; else behind its word. */
static void explain(const printer *p, nb_verdict verdict, const char *mark, const char *text)
{
    const char *word = nb_verdict_names[verdict];
    if (!says(p, verdict) || (p->lines.across && !*mark)) return;
    if (p->lines.across)
        nb_page_note(p->page, mark, "%s: %s", word, text);
    else
        nb_page_note(p->page, nb_phrase(p->ctx, "%s:", word), "%s", text);
}

static void explain_brief(const printer *p)
{
    nb_ctx *ctx = p->ctx;
    bool told = !p->lines.across && !p->lines.two; /* what the interval is */
    const char *percent = nb_phrase(ctx, "%.0f %%", 100 * p->terms->confidence), *margin = tell_margin(p);
    const char *interval = told ? "the interval" : nb_phrase(ctx, "the %s interval%s", percent, p->together);
    if (p->lines.two) explain_two(p);
    if (told && p->lines.intervals)
        nb_page_note(p->page, "interval:", "%s%s, over sources and trials", percent, p->together);
    explain(p, NB_BETTER, "*", nb_phrase(ctx, "%s is %s %s", interval, p->lines.more ? "above" : "below", p->none));
    explain(p, NB_WORSE, "x", nb_phrase(ctx, "%s is %s %s", interval, p->lines.more ? "below" : "above", p->none));
    explain(p, NB_EQUIVALENT, "=", nb_phrase(ctx, "%s holds %s and is within %s", interval, p->none, margin));
    if (p->lines.across && p->lines.verdicts && says(p, NB_NO_VERDICT))
        nb_page_note(p->page, "?", "no verdict, see above");
    explain(p, NB_UNDECIDED, "", nb_phrase(ctx, "%s holds %s and is not within %s", interval, p->none, margin));
    explain(p, NB_EXACT, "", nb_phrase(ctx, "has no %s but rounding, so that no ratio means anything", p->error->name));
    for (int i = 0; i < p->lines.shown_count; i++) {
        if (!p->lines.shown[i]->of->conflict) continue;
        nb_page_note(p->page, "!", "surely better on one head of a model, surely worse on another");
        break;
    }
}

/* Says which call tells more. */
static void add_hint(const printer *p)
{
    const char *call = nb_call(p->ctx, "compare"), *full = nb_field(p->ctx, "full", NB_IS_SET);
    const char *by_model = nb_phrase(p->ctx, ", %s each model alone", nb_field(p->ctx, "by_model", NB_IS_SET));
    bool several = p->lines.contrasts->strata.count > 1 && !p->lines.by_model;
    if (p->lines.two)
        nb_page_paragraph(p->page, "%s %s, or %s, has ratios and intervals, %s all numbers.", call,
                          nb_field(p->ctx, "metric", p->metric), p->error->name, full);
    else
        nb_page_paragraph(p->page, "%s %s has %sall numbers%s.", call, full, p->lines.across ? "intervals and " : "",
                          several ? by_model : "");
}

/* Returns whether sources have been measured in the same trials, as those of files are; of drawn data each is a trial.
 */
static bool shares_trials(const nb_compared *x)
{
    for (int s = 0; s < x->contrasts->strata.count; s++)
        if ((x->stratum == NB_OVER_STRATA || x->stratum == s) && x->contrast->of.counts[s].pairs > 0 &&
            !nb_grid_at(&x->contrasts->strata, s, NB_STRATUM_DRAWN)->integer)
            return true;
    return false;
}

/* Warns of what intervals do not cover. */
static nb_status add_limits(const printer *p)
{
    bool one_trial = false, few_sources = false;
    nb_grid draws;
    NB_TRY(p->ctx, nb_sql_ask(p->relation, "compare_print.draws", NULL, &draws, p->ctx));
    for (int i = 0; i < p->lines.count; i++) {
        const nb_compared *x = p->lines.items[i].of;
        const nb_estimate *e = &x->estimate;
        one_trial = one_trial || (e->sources > 0 && x->trials < 2 && shares_trials(x));
        few_sources = few_sources || (e->sources < 20 && isfinite(nb_compare_scaled(&p->lines, e->boot_low)));
    }
    if (one_trial && nb_grid_at(&draws, 0, 0)->integer)
        nb_page_prose(p->page, NB_PAGE_REMARK,
                      "With one trial, or none that all sources have, the intervals do not cover the luck of the "
                      "draws.");
    if (few_sources)
        nb_page_prose(p->page, NB_PAGE_REMARK,
                      "With fewer than 20 sources the bootstrap interval is too short: one of 95 %% covers 84 to "
                      "92 %%.");
    return NB_OK;
}

static void explain_full(const printer *p)
{
    nb_page *page = p->page;
    nb_page_paragraph(page, "In the table:");
    nb_page_note(page, p->lines.terms->difference ? "difference:" : "ratio:",
                 "%smean over sources; a source has the mean over its heads of their means over trials. In lines "
                 "\"all\", models count the same",
                 p->lines.terms->difference ? "" : "geometric ");
    nb_page_note(page, "interval:", "%.0f %% t interval%s, over sources and trials", 100 * p->terms->confidence,
                 p->together);
    nb_page_note(page, "alone:", "the same of each line alone");
    nb_page_note(page, "bootstrap:", "BCa interval over sources");
    nb_page_note(page, "wins:", "sources with %s than the baseline, of those that differ",
                 p->lines.more ? "more" : "less");
    nb_page_note(page, "p:", "of Wilcoxon's signed ranks, and of the t test");
    nb_page_note(page, "ICC:", "how alike the heads of a source are (0: not at all; below: sources are more alike)");
    nb_page_note(page, "effective:", "how many independent heads they are worth");
    nb_page_note(page, "missing:", "pairs without a result of the method | of the baseline, which %s", p->missing);
    nb_page_paragraph(page, "Verdicts:");
    nb_page_note(page, "better, worse:", "the interval excludes %s", p->none);
    nb_page_note(page, "equivalent:", "neither, and the interval is within %s", tell_margin(p));
    nb_page_note(page, "undecided:", "none of these");
    nb_page_note(page, "none:",
                 "rows that have not been run yet, fewer than %d sources, a model with only one, fewer than %d trials "
                 "of what is drawn, more than %.0f %% of the pairs missing, or infinite ratios",
                 NB_LEAST_SOURCES, NB_LEAST_TRIALS, 100 * NB_MOST_MISSING);
    nb_page_note(page, "exact:", "all rows are exact but for rounding, so that no ratio means anything");
    nb_page_note(page, "heads differ:",
                 "on one head of the model it is surely less than the baseline, on another surely more: the verdict is "
                 "of their mean");
}

nb_status nb_compare_show(nb_page *page, const nb_comparison *c, const nb_compare_view *view, nb_ctx *ctx)
{
    printer p;
    if (c->count == 0) return NB_OK;
    NB_TRY(ctx, prepare(&p, page, c, *view, ctx));
    add_above(&p);
    NB_TRY(ctx, view->full       ? show_full(&p)
                : p.lines.two    ? show_two(&p)
                : p.lines.across ? show_across(&p)
                                 : show_brief(&p));
    NB_TRY(ctx, add_below(&p));
    if (view->full) {
        NB_TRY(ctx, add_limits(&p));
        explain_full(&p);
    } else {
        explain_brief(&p);
        add_hint(&p);
    }
    NB_TRY(ctx, nb_error_status(ctx));
    return c->beside && view->full ? nb_compare_show(page, c->beside, view, ctx) : NB_OK;
}

/* For programs. */

static void add_counts(nb_grid *grid, const nb_compared *x)
{
    const nb_pair_counts *k = x->pairs;
    nb_grid_count(grid, "sources_below", x->estimate.below);
    nb_grid_count(grid, "sources_above", x->estimate.above);
    nb_grid_count(grid, "sources_equal", x->estimate.ties);
    nb_grid_count(grid, "sources", x->estimate.sources);
    nb_grid_count(grid, "heads", x->estimate.units);
    nb_grid_count(grid, "pairs", k->pairs);
    nb_grid_count(grid, "ties", k->ties);
    nb_grid_count(grid, "noise", k->noise);
    nb_grid_count(grid, "disturbed", k->disturbed);
    nb_grid_count(grid, "exact", k->exact);
    nb_grid_count(grid, "exact_baseline", k->exact_baseline);
    nb_grid_count(grid, "missing", k->missing);
    nb_grid_count(grid, "missing_baseline", k->missing_baseline);
    nb_grid_count(grid, "skipped", k->skipped);
    nb_grid_count(grid, "skipped_baseline", k->skipped_baseline);
    nb_grid_count(grid, "neither", k->neither);
    nb_grid_count(grid, "infinite", x->estimate.infinite);
}

static void add_tests(nb_grid *grid, const nb_compared *x)
{
    const nb_estimate *e = &x->estimate;
    nb_grid_number(grid, "icc", e->icc);
    nb_grid_number(grid, "design_effect", e->design_effect);
    nb_grid_number(grid, "effective", e->effective);
    nb_grid_number(grid, "sd", e->sd);
    nb_grid_number(grid, "se", e->se);
    nb_grid_number(grid, "se_trials", e->common_se);
    nb_grid_count(grid, "trials", x->trials);
    nb_grid_number(grid, "df", e->df);
    nb_grid_number(grid, "t_p", e->t_p);
    nb_grid_number(grid, "wilcoxon_w", e->wilcoxon_w);
    nb_grid_number(grid, "wilcoxon_p", e->wilcoxon_p);
    nb_grid_number(grid, "sign_p", e->sign_p);
}

/* Adds two ends of an interval, by this name. */
static void add_ends(const printer *p, nb_grid *grid, const char *name, double low, double high)
{
    nb_grid_number(grid, nb_phrase(p->ctx, "%slow", name), nb_compare_scaled(&p->lines, low));
    nb_grid_number(grid, nb_phrase(p->ctx, "%shigh", name), nb_compare_scaled(&p->lines, high));
}

static void add_estimates(const printer *p, nb_grid *grid, const nb_compared *x)
{
    const nb_estimate *e = &x->estimate;
    bool more = p->lines.more;
    nb_grid_number(grid, p->scale, nb_compare_scaled(&p->lines, e->mean));
    add_ends(p, grid, "", e->low, e->high);
    add_ends(p, grid, "joint_", x->joint.low, x->joint.high);
    nb_grid_count(grid, "family", x->family);
    add_ends(p, grid, "bootstrap_", e->boot_low, e->boot_high);
    nb_grid_number(grid, "median", nb_compare_scaled(&p->lines, e->median));
    nb_grid_number(grid, "hodges_lehmann", nb_compare_scaled(&p->lines, e->shift));
    add_ends(p, grid, "hodges_lehmann_", e->shift_low, e->shift_high);
    nb_grid_number(grid, "wins", more ? 1 - e->below_share : e->below_share);
    nb_grid_number(grid, "wins_low", more ? 1 - e->below_high : e->below_low);
    nb_grid_number(grid, "wins_high", more ? 1 - e->below_low : e->below_high);
}

static void add_row(const printer *p, nb_grid *grid, const nb_compare_line *l)
{
    const nb_compared *x = l->of;
    const nb_contrasts *c = x->contrasts;
    bool over = x->stratum == NB_OVER_STRATA;
    nb_grid_row(grid);
    nb_grid_put(grid, "method", *nb_grid_at(&c->values, l->value, NB_OF_ROW));
    nb_grid_put(grid, "baseline", *nb_grid_at(&c->values, l->base, NB_OF_ROW));
    nb_grid_word(grid, "by", p->by);
    nb_grid_word(grid, "metric", l->metric);
    nb_grid_word(grid, "model", over ? "all" : nb_grid_at(&c->strata, x->stratum, NB_STRATUM_NAME)->text);
    for (int i = 0; i < p->lines.setting_count; i++)
        nb_grid_put(grid, p->lines.settings[i].head, *nb_setting_cell(c, l->setting, i, NB_OF_ROW));
    if (!nb_text_among(NB_INPUT, c->setting_columns)) nb_grid_word(grid, NB_INPUT, NULL);
    if (p->lines.terms->pool) nb_grid_word(grid, p->lines.terms->pool, "all");
    add_estimates(p, grid, x);
    add_counts(grid, x);
    add_tests(grid, x);
    nb_grid_put(grid, "more_sources", nb_whole_cell(x->more));
    nb_grid_word(grid, "verdict", nb_verdict_names[x->verdict]);
    nb_grid_word(grid, "why", x->why);
    nb_grid_word(grid, "heads_differ", x->conflict);
    nb_grid_word(grid, "far_trial", x->far_trial);
}

nb_status nb_compare_fill(nb_grid *grid, const nb_comparison *c, nb_ctx *ctx)
{
    printer p;
    nb_grid_begin(grid, ctx);
    if (c->count == 0) return NB_OK;
    NB_TRY(ctx, prepare(&p, NULL, c, (nb_compare_view){true, true}, ctx));
    for (int i = 0; i < p.lines.count; i++) add_row(&p, grid, &p.lines.items[i]);
    NB_TRY(ctx, nb_grid_end(grid));
    return nb_error_status(ctx);
}
