/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print.c - see compare_print.h. Above the table of a page (compare_print_table.c) stands what all lines have
 * in common, below it what they hold and what is odd (compare_print_below.c), and last what the words of the table mean
 * (compare_print_words.c). */
#include "show/compare_print_private.h"

#include <string.h>

const char *nb_compare_range(nb_ctx *ctx, long long least, long long most)
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
    const char *all = least->family == 2 && most->family == 2
                          ? "both"
                          : nb_phrase(lines->ctx, "all %s", nb_compare_range(lines->ctx, least->family, most->family));
    return nb_phrase(lines->ctx, " for %s verdicts%s together", all, several ? " of a model" : "");
}

nb_status nb_compare_printer_make(nb_compare_printer *p, nb_page *page, const nb_comparison *c, nb_compare_view view,
                                  nb_ctx *ctx)
{
    const nb_contrast_terms *of = &c->terms->contrast;
    bool two = c->by_error && (!page || !view.full);
    *p = (nb_compare_printer){.page = page,
                              .terms = c->terms,
                              .relation = c->relation,
                              .by = of->by,
                              .metric = of->metric,
                              .error = (two ? c->by_error : c)->contrasts->metric,
                              .scale = of->difference ? "difference" : "ratio",
                              .none = of->difference ? "0" : "1",
                              .missing = of->failures == NB_FAILURES_WORST ? "count as the largest difference seen"
                                                                           : "do not count",
                              .ctx = ctx};
    NB_TRY(ctx, nb_compare_lines_find(c, &view, two, &p->lines, ctx));
    p->together = tell_together(&p->lines);
    return NB_OK;
}

/* Returns whether a line has no verdict, for a reason that its own words do not tell. */
static bool is_silent(const nb_compare_printer *p, const nb_compare_line *l)
{
    return l->of->verdict == NB_NO_VERDICT && (!l->of->untimed || p->lines.across || !p->lines.verdicts);
}

/* Says why lines have no verdict, each reason once. */
static void add_reasons(const nb_compare_printer *p)
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

void nb_compare_add_above(const nb_compare_printer *p)
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
    if (*same) nb_page_prose(p->page, NB_PAGE_SHARED, "%s", same);
    for (const char *const *c = of->confounded; c && *c; c++)
        confounded = nb_phrase(p->ctx, "%s%s%s", confounded, *confounded ? ", " : "", *c);
    if (*confounded) nb_page_prose(p->page, NB_PAGE_SHARED, "CONFOUNDED: they may differ in %s too", confounded);
    if (p->terms->by_hand)
        nb_page_prose(p->page, NB_PAGE_ABOVE,
                      "Exploratory (%s): the verdicts hold together for the lines shown, not for all that was looked "
                      "at.",
                      p->terms->by_hand);
    if (!p->lines.full) add_reasons(p);
}

nb_status nb_compare_show(nb_page *page, const nb_comparison *c, const nb_compare_view *view, nb_ctx *ctx)
{
    nb_compare_printer p;
    if (c->count == 0) return NB_OK;
    NB_TRY(ctx, nb_compare_printer_make(&p, page, c, *view, ctx));
    nb_compare_add_above(&p);
    NB_TRY(ctx, nb_compare_add_table(&p));
    NB_TRY(ctx, nb_compare_add_below(&p));
    NB_TRY(ctx, nb_compare_add_words(&p));
    NB_TRY(ctx, nb_phrases_end(ctx));
    return c->by_error && view->full ? nb_compare_show(page, c->by_error, view, ctx) : NB_OK;
}
