/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wins_print.c - a matrix for each standing: of how many sources the method of the line has less than that of the
 * column. */
#include "report/wins_print.h"

#include <math.h>
#include <string.h>

static int sources_of(const nb_meeting *x)
{
    return x->below + x->above + x->ties;
}

/* "20/24*"; "-": they do not meet. */
static void add_cell(nb_page *page, const nb_meeting *x)
{
    if (sources_of(x) == 0)
        nb_page_cell(page, "-");
    else
        nb_page_cell(page, "%d/%d", x->below, sources_of(x));
    nb_page_mark(page, x->holm_p <= NB_STANDING_ALPHA ? "*" : "");
}

static void add_matrix(nb_page *page, const nb_standings_view *v, const nb_ranking *s)
{
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_NUMBER | NB_PAGE_LABEL, "%s", "");
    nb_page_column(page, NB_PAGE_LABEL, "%s", v->terms.by);
    for (int k = 0; k < s->count; k++) nb_page_column(page, NB_PAGE_NUMBER, "%d", k + 1);
    for (int a = 0; a < s->count; a++) {
        nb_page_row(page);
        nb_page_cell(page, "%d", a + 1);
        nb_page_cell(page, "%s", nb_standing_label(v, s, a));
        for (int b = 0; b < s->count; b++) add_cell(page, &s->meetings[a * s->count + b]);
    }
}

/* Who has no result, and who is not compared. */
static void add_notes(nb_page *page, const nb_standings_view *v, const nb_ranking *s)
{
    int most = 0;
    for (int i = 0; i < s->count * s->count; i++)
        most = sources_of(&s->meetings[i]) > most ? sources_of(&s->meetings[i]) : most;
    if (most == 0) nb_page_note(page, NULL, "no two methods have a result");
    if (most > 0 && most < NB_LEAST_SOURCES)
        nb_page_note(page, NULL, "no test: fewer than %d sources", NB_LEAST_SOURCES);
    for (int k = 0; k < s->count; k++) {
        if (s->missing[k] == s->planned && most > 0)
            nb_page_note(page, NULL, "%s has no result", nb_standing_label(v, s, k));
        for (int b = 0; b < k; b++) {
            const char *refusal = s->meetings[k * s->count + b].refusal;
            if (refusal)
                nb_page_note(page, NULL, "%s against %s: %s", nb_standing_label(v, s, k), nb_standing_label(v, s, b),
                             refusal);
        }
    }
}

static bool has_meetings(const nb_ranking *s)
{
    for (int i = 0; i < s->count * s->count; i++)
        if (sources_of(&s->meetings[i]) > 0) return true;
    return false;
}

static void add_explanation(nb_page *page, const nb_standings_view *v, bool pooled)
{
    nb_page_paragraph(page,
                      "a/b: on a of b sources, the line's method has less %s than the column's; in a source, a method "
                      "has the mean over heads of the mean %sover trials. What is equal up to rounding is not less.%s",
                      v->terms.metric, v->terms.difference ? "" : "logarithm ",
                      pooled ? " \"all\" pools the sources." : "");
    nb_page_note(page, "*",
                 "p of the sign test, with Holm's correction over the matrix, is at most %g; it takes %d sources",
                 NB_STANDING_ALPHA, NB_LEAST_SOURCES);
    nb_page_paragraph(page, NB_TESTS_CAVEAT);
}

nb_status nb_wins_show(nb_page *page, const nb_standings_view *v)
{
    bool pooled = false;
    nb_standings_block *blocks;
    int count;
    NB_TRY(v->ctx, nb_standings_view_blocks(v, &count, &blocks));
    if (count == 0) return NB_OK;
    nb_page_heading(page, 2, "On how many sources one %s has less %s than another", v->terms.by, v->terms.metric);
    if (*v->scopes.constant) nb_page_paragraph(page, "%s", v->scopes.constant);
    for (int i = 0; i < count; i++) {
        if (v->scopes.count > 1 && (i == 0 || blocks[i].scope != blocks[i - 1].scope))
            nb_page_heading(page, 3, "%s", v->scopes.names[blocks[i].scope]);
        pooled = pooled || blocks[i].stratum == NB_OVER_STRATA;
        for (int k = 0; k < blocks[i].count; k++) {
            const nb_ranking *s = blocks[i].items[k];
            nb_page_heading(page, 4, "%s, %s %d", blocks[i].stratum_label, v->along, blocks[i].along[k]);
            if (has_meetings(s)) add_matrix(page, v, s);
            add_notes(page, v, s);
        }
    }
    add_explanation(page, v, pooled);
    return NB_OK;
}

static nb_status add_line(nb_grid *g, const nb_standings_view *v, const nb_ranking *s, int a, int b)
{
    const nb_meeting *x = &s->meetings[a * s->count + b];
    const int counts[] = {x->below, x->above, x->ties, sources_of(x)};
    NB_TRY(v->ctx, nb_standing_add_setting(g, v, s));
    NB_TRY(v->ctx, nb_standing_add_method(g, v, s, a));
    NB_TRY(v->ctx, nb_standing_add_method(g, v, s, b));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) NB_TRY(v->ctx, nb_grid_int(g, counts[i]));
    NB_TRY(v->ctx, nb_grid_real(g, "%g", sources_of(x) > 0 ? (double)x->below / sources_of(x) : NAN));
    NB_TRY(v->ctx, nb_grid_real(g, "%g", x->sign_p));
    NB_TRY(v->ctx, nb_grid_real(g, "%g", x->holm_p));
    return nb_grid_text(g, x->refusal);
}

nb_status nb_wins_fill(nb_grid *g, const nb_standings_view *v)
{
    static const char *const columns[] = {"method",  "label", "over",   "over_label", "below",   "above", "equal",
                                          "sources", "share", "sign_p", "holm_p",     "refusal", NULL};
    NB_TRY(v->ctx, nb_standings_grid(v, columns, g));
    for (int i = 0; i < v->standings.count; i++)
        for (int a = 0; a < v->standings.items[i].count; a++)
            for (int b = 0; b < v->standings.items[i].count; b++)
                if (a != b) NB_TRY(v->ctx, add_line(g, v, &v->standings.items[i], a, b));
    return NB_OK;
}
