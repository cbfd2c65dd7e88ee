/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print_below.c - what stands below the table of a comparison: what it holds, and what is odd in its lines or
 * in the rows that they are made of. */
#include "show/compare_print_private.h"

#include "answers/caveats.h"
#include "base/builder.h"
#include "base/fields.h"
#include "rows/columns.h"
#include "rows/run_facts.h"
#include "rows/statement.h"

#include <string.h>

/* Says of how many sources and trials the lines are. */
static nb_status tell_data(const nb_compare_printer *p, int least, int most, const char **text)
{
    enum { SHORTEST, LONGEST, TRIALS };
    const char *lengths = "", *trials = "";
    nb_grid data;
    NB_TRY(p->ctx, nb_sql_ask(p->relation, "compare_print.data", NULL, &data, p->ctx));
    const nb_cell *of = nb_grid_at(&data, 0, 0);
    if (of[LONGEST].type == NB_CELL_INT)
        lengths =
            nb_phrase(p->ctx, ", with n = %s", nb_compare_range(p->ctx, of[SHORTEST].integer, of[LONGEST].integer));
    if (of[TRIALS].type == NB_CELL_INT)
        trials = nb_phrase(p->ctx, " and %lld trial%s", of[TRIALS].integer, nb_plural(of[TRIALS].real));
    *text = nb_phrase(p->ctx, " Each %s is the %smean over %s source%s (texts, images or generated data)%s%s%s.",
                      p->scale, p->lines.terms->difference ? "" : "geometric ", nb_compare_range(p->ctx, least, most),
                      nb_plural(most), p->lines.contrasts->strata.count > 1 ? ", where models count the same" : "",
                      lengths, trials);
    return NB_OK;
}

static nb_status add_holds(const nb_compare_printer *p)
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
static nb_status add_refusals(const nb_compare_printer *p)
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
static nb_status add_without(const nb_compare_printer *p)
{
    nb_grid without;
    NB_TRY(p->ctx,
           nb_sql_ask(p->relation, "compare_print.without", NB_GIVEN(NB_GIVE_VALUE("by", p->by)), &without, p->ctx));
    for (int i = 0; i < without.count; i++)
        nb_page_prose(p->page, NB_PAGE_REMARK, "%s", nb_grid_at(&without, i, 0)->text);
    return NB_OK;
}

/* Returns whether a line of the value is refused; -1: of any. */
static bool is_refused(const nb_compare_printer *p, int value)
{
    for (const nb_compare_line *l = p->lines.items; l < p->lines.items + p->lines.count; l++)
        if (l->of->verdict == NB_REFUSED && (value < 0 || l->value == value)) return true;
    return false;
}

/* Says which values have rows beside which there is none of the baseline, and which strata have no result. */
static void add_unmet(const nb_compare_printer *p)
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
static nb_status add_disturbed(const nb_compare_printer *p)
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
static int add_odd(const nb_compare_printer *p, const char *what, const char *(*odd)(const nb_compared *),
                   const char *end)
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

static void add_all_odd(const nb_compare_printer *p)
{
    static const char far[] = "a trial is far from the others", luck[] = " Such luck is rare; only more trials tell "
                                                                         "how rare.";
    int more = add_odd(p, "heads differ", conflict_of, "");
    if (more > 0)
        nb_page_paragraph(p->page, "WARNING: heads differ in %d more line%s; %s has one head alone.", more,
                          nb_plural(more), nb_field(p->ctx, "where", "head=0"));
    more = add_odd(p, far, far_trial_of, luck);
    if (more > 0)
        nb_page_prose(p->page, NB_PAGE_REMARK, "WARNING: %s in %d more line%s.%s", far, more, nb_plural(more), luck);
    for (int i = 0; i < p->lines.count; i++)
        if (p->lines.items[i].of->change)
            nb_page_prose(p->page, NB_PAGE_REMARK,
                          "WARNING: %s: the effect changes sign with %s, over which it is pooled: %s.",
                          p->lines.items[i].name, p->lines.terms->pool, p->lines.items[i].of->change);
}

/* Warns of components that are mostly no better than equal weights on some head. */
static nb_status add_trivial(const nb_compare_printer *p)
{
    const char *text;
    NB_TRY(p->ctx, nb_caveats_find_trivial(p->relation, p->by, p->error, "mostly", &text, p->ctx));
    if (text) nb_page_prose(p->page, NB_PAGE_REMARK, "WARNING: %s", text);
    return NB_OK;
}

nb_status nb_compare_add_below(const nb_compare_printer *p)
{
    NB_TRY(p->ctx, add_holds(p));
    NB_TRY(p->ctx, add_refusals(p));
    NB_TRY(p->ctx, add_without(p));
    add_unmet(p);
    NB_TRY(p->ctx, add_disturbed(p));
    add_all_odd(p);
    return add_trivial(p);
}
