/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print_table.c - the table of a comparison, one of four: all that is known, a line each; a line each; of time
 * and error, a line for each method; or a setting across. */
#include "show/compare_print_private.h"

#include "rows/statement.h"
#include "show/answer.h"

#include <math.h>
#include <string.h>

/* Shows a grid whose first columns are labels. */
static nb_status show_grid(const nb_compare_printer *p, const nb_grid *grid, int labels)
{
    const nb_comment comments[] = {{"labels", nb_phrase(p->ctx, "%d", labels)},
                                   {"format", "p, ranks: %.2g"},
                                   {"format", "p, t: %.2g"},
                                   {"format", "ICC: %.2f"},
                                   {"format", "error: %.2g"},
                                   {"format", "effective: %.1f"},
                                   {NULL, NULL}};
    return nb_answer_show(p->page, comments, grid, p->ctx);
}

/* A number as it is shown, which may be none that is finite, and its mark. */
static nb_cell shown_cell(double x, const char *shown, const char *mark)
{
    return nb_numeral_cell(isfinite(x) ? "" : shown, isfinite(x) ? shown : "", mark);
}

/* Says the verdict with all that is known of it. */
static const char *tell_verdict(const nb_compare_printer *p, const nb_compared *x)
{
    const char *more = "", *word = nb_verdict_names[x->verdict];
    if (x->verdict == NB_REFUSED)
        word = "refused, see below";
    else if (x->why)
        more = nb_phrase(p->ctx, ": %s", x->why);
    else if (x->verdict == NB_UNDECIDED && !isnan(x->more))
        more = nb_phrase(p->ctx, ", about %.0f more source%s", floor(x->more), nb_plural(floor(x->more)));
    return nb_phrase(p->ctx, "%s%s%s%s", word, more, x->conflict ? "; heads differ" : "",
                     x->pairs->disturbed ? "; times disturbed" : "");
}

static void add_full(const nb_compare_printer *p, nb_grid *grid, const nb_compare_line *l)
{
    const nb_compared *x = l->of;
    const nb_estimate *e = &x->estimate;
    const nb_pair_counts *k = x->pairs;
    double median = nb_compare_scaled(&p->lines, e->median);
    nb_grid_row(grid);
    for (int i = 0; i < p->lines.setting_count; i++)
        if (p->lines.settings[i].varies) nb_grid_put_text(grid, p->lines.settings[i].head, nb_compare_label(l, i));
    nb_grid_put_text(grid, p->by, l->method);
    if (p->lines.terms->all_pairs) nb_grid_put_text(grid, "baseline", l->baseline);
    nb_grid_put_text(grid, "model", l->model);
    nb_grid_put(grid, p->scale, shown_cell(l->ratio, l->shown, ""));
    nb_grid_put_text(grid, "interval", l->interval);
    nb_grid_put_text(grid, "alone", nb_compare_interval(&p->lines, "%.3g", e->low, e->high));
    nb_grid_put_text(grid, "bootstrap", nb_compare_interval(&p->lines, "%.3g", e->boot_low, e->boot_high));
    nb_grid_put(grid, "median", shown_cell(median, nb_phrase(p->ctx, "%s", nb_numeral(median).text), ""));
    nb_grid_put_text(grid, "wins",
                     nb_phrase(p->ctx, "%d/%d", p->lines.more ? e->above : e->below, e->below + e->above));
    nb_grid_put_real(grid, "p, ranks", e->wilcoxon_p);
    nb_grid_put_real(grid, "p, t", e->t_p);
    nb_grid_put_int(grid, "sources", e->sources);
    nb_grid_put_int(grid, "heads", e->units);
    nb_grid_put(grid, "trials", x->trials ? nb_int_cell(x->trials) : nb_text_cell(NULL));
    nb_grid_put_real(grid, "ICC", e->icc);
    nb_grid_put_real(grid, "effective", e->effective);
    nb_grid_put_text(grid, "missing",
                     k->missing || k->missing_baseline ? nb_phrase(p->ctx, "%d|%d", k->missing, k->missing_baseline)
                                                       : "-");
    nb_grid_put_text(grid, "verdict", tell_verdict(p, x));
}

static nb_status show_full(const nb_compare_printer *p)
{
    nb_grid grid;
    nb_grid_begin(&grid, p->ctx);
    for (int i = 0; i < p->lines.count; i++)
        if (p->lines.items[i].of->stratum == NB_OVER_STRATA || p->lines.by_model)
            add_full(p, &grid, &p->lines.items[i]);
    return show_grid(p, &grid, 2 + p->lines.terms->all_pairs + p->lines.varying);
}

/* Begins a row of a shorter table, and returns how many labels it has so far. */
static int begin_row(const nb_compare_printer *p, nb_grid *grid, const nb_compare_line *l, const char *head)
{
    nb_grid_row(grid);
    nb_grid_put_text(grid, "_band setting", l->band);
    nb_grid_put_text(grid, head, l->method);
    if (p->lines.terms->all_pairs) nb_grid_put_text(grid, "baseline", l->baseline);
    if (p->lines.by_model) nb_grid_put_text(grid, "model", l->model);
    return 1 + p->lines.terms->all_pairs + p->lines.by_model;
}

static nb_status show_brief(const nb_compare_printer *p)
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
        nb_grid_put(&grid, p->scale, shown_cell(l->ratio, l->shown, ""));
        if (lines->intervals) nb_grid_put_text(&grid, "interval", l->interval);
        if (lines->verdicts) nb_grid_put_text(&grid, "verdict", l->verdict);
        nb_grid_put_int(&grid, "sources", l->of->estimate.sources);
    }
    return show_grid(p, &grid, labels);
}

/* Returns the mark that stands for the verdict of a line where a setting goes across. */
static const char *mark_of(const nb_compare_printer *p, const nb_compare_line *l)
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
static nb_status show_across(const nb_compare_printer *p)
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
            nb_grid_put_int(&grid, "_across", o->along);
            nb_grid_put(
                &grid, "_cell",
                shown_cell(of->ratio, of->shown, empty ? "" : nb_phrase(p->ctx, "%s%s", mark_of(p, of), of->mark)));
        }
    }
    return show_grid(p, &grid, labels);
}

/* The table of time and error: a line for each method, also for baselines. */

typedef struct {                               /* a value in a setting and a stratum */
    const nb_compare_line *time, *error, *any; /* by each metric, and one that names it; NULL: none */
    bool base_of_time, base_of_error;
    bool exact;      /* all its errors are */
    nb_cell geomean; /* of its errors */
    double x, y;     /* time and error beside those of the baseline; NaN: not known */
} entrant;

/* `errors`: of the rows, as compare_print.errors has them. */
static entrant find_entrant(const nb_compare_printer *p, const nb_grid *errors, int setting, int stratum, int value)
{
    enum { VALUE, SETTING, STRATUM, GEOMEAN, EXACT };
    entrant e = {.geomean = nb_text_cell(NULL)};
    for (int i = 0; i < p->lines.shown_count; i++) {
        const nb_compare_line *l = p->lines.shown[i];
        bool here = l->setting == setting && l->of->stratum == stratum, timed = !l->by_error;
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
static nb_status add_entrants(const nb_compare_printer *p, nb_grid *grid, const nb_grid *errors, int setting,
                              int stratum)
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
        nb_grid_put_text(grid, "_band setting", e->any->settings);
        nb_grid_put_text(grid, p->by, nb_value_label(p->lines.contrasts, (int)(e - all)));
        if (p->lines.by_model) nb_grid_put_text(grid, "model", e->any->model);
        nb_grid_put(grid, "time", shown_cell(e->x, e->base_of_time ? "1" : e->time ? e->time->shown : "-", ""));
        if (p->lines.verdicts) nb_grid_put_text(grid, "verdict", e->base_of_time ? "baseline" : time);
        nb_grid_put(grid, "error", e->geomean);
        if (p->lines.verdicts) nb_grid_put_text(grid, "verdict", e->base_of_error ? "baseline" : error);
        nb_grid_put_text(grid, "on the front", tell_front(count, all, e));
    }
    return NB_OK;
}

static nb_status show_two(const nb_compare_printer *p)
{
    const nb_contrast_terms *of = p->lines.terms;
    nb_grid grid, errors;
    NB_TRY(p->ctx, nb_sql_ask(p->relation, "compare_print.errors",
                              NB_GIVEN(NB_GIVE_VALUE("question", p->lines.comparison->by_error->contrasts->question),
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
    return show_grid(p, &grid, 1 + p->lines.by_model);
}

nb_status nb_compare_add_table(const nb_compare_printer *p)
{
    if (p->lines.full) return show_full(p);
    if (p->lines.two) return show_two(p);
    return p->lines.across ? show_across(p) : show_brief(p);
}
