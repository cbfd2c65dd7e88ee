/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print_words.c - what the words of a comparison's table mean, and which call tells more. */
#include "show/compare_print_private.h"

#include "base/fields.h"
#include "rows/run_facts.h"
#include "rows/statement.h"

#include <math.h>

/* Returns whether a line that is shown has this verdict, and so its word. */
static bool says(const nb_compare_printer *p, nb_verdict verdict)
{
    for (int i = 0; i < p->lines.shown_count; i++)
        if (p->lines.shown[i]->of->verdict == verdict && (verdict == NB_EXACT || !isnan(p->lines.shown[i]->ratio)))
            return true;
    return false;
}

/* Returns the baseline of the first line of time, or of error. */
static const char *baseline_of(const nb_compare_printer *p, bool time)
{
    const nb_compare_line *l = p->lines.items;
    while (l < p->lines.items + p->lines.count && l->by_error == time) l++;
    return l < p->lines.items + p->lines.count ? l->baseline : NULL;
}

static void explain_two(const nb_compare_printer *p)
{
    const char *of_time = baseline_of(p, true), *of_error = baseline_of(p, false);
    if (of_time) nb_page_note(p->page, "time:", "%s, divided by that of %s", p->metric, of_time);
    if (of_error)
        nb_page_note(p->page, "error:", "%s, geometric mean; the verdict is of its ratio to that of %s", p->error->name,
                     of_error);
    nb_page_note(p->page, "on the front:", "by these ratios, none is both as fast and as good");
}

static const char *tell_margin(const nb_compare_printer *p)
{
    double margin = p->terms->margin;
    return p->lines.terms->difference ? nb_phrase(p->ctx, "+-%.3g", margin)
                                      : nb_phrase(p->ctx, "a factor of %.3g", exp(margin));
}

/* Says what a verdict means: where a setting goes across, behind its mark; else behind its word. */
static void explain(const nb_compare_printer *p, nb_verdict verdict, const char *mark, const char *text)
{
    const char *word = nb_verdict_names[verdict];
    if (!says(p, verdict) || (p->lines.across && !*mark)) return;
    if (p->lines.across)
        nb_page_note(p->page, mark, "%s: %s", word, text);
    else
        nb_page_note(p->page, nb_phrase(p->ctx, "%s:", word), "%s", text);
}

static void explain_brief(const nb_compare_printer *p)
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
static void add_hint(const nb_compare_printer *p)
{
    const char *call = nb_call(p->ctx, "compare"), *full = nb_field(p->ctx, "full", NB_IS_SET);
    const char *by_model = nb_phrase(p->ctx, ", %s each model alone", nb_field(p->ctx, "by_model", NB_IS_SET));
    const char *pool = p->lines.terms->pool; /* without it --full would have other numbers */
    bool several = p->lines.contrasts->strata.count > 1 && !p->lines.by_model;
    if (pool) call = nb_phrase(p->ctx, "%s %s", call, nb_field(p->ctx, "pool", pool));
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
static nb_status add_limits(const nb_compare_printer *p)
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

static void explain_full(const nb_compare_printer *p)
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

nb_status nb_compare_add_words(const nb_compare_printer *p)
{
    if (p->lines.full) {
        NB_TRY(p->ctx, add_limits(p));
        explain_full(p);
    } else {
        explain_brief(p);
        add_hint(p);
    }
    return NB_OK;
}
