/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks_print.c - a block for each scope and stratum: a line a method, the least mean rank first, and a column for each
 * value along; below the lines what the tests say, and who is left out. */
#include "report/ranks_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 4 };

typedef struct {
    double rank; /* the mean over columns; NaN: it has none */
    int code;
} ordered;

static int compare_ordered(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    if (isnan(x->rank) != isnan(y->rank)) return isnan(x->rank) ? 1 : -1;
    if (!isnan(x->rank) && x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->code > y->code) - (x->code < y->code);
}

/* All methods of a block. */
static nb_status order_methods(const nb_standings_view *v, const nb_standings_block *b, int *count, ordered **all)
{
    int values = v->standings.contrasts.values.count;
    NB_NEED(*all, nb_alloc(v->ctx, (size_t)values + 1, sizeof **all));
    *count = 0;
    for (int code = 0; code < values; code++) {
        double sum = 0;
        int planned = 0, ranked = 0;
        for (int i = 0; i < b->count; i++) {
            int k = nb_standing_place(b->items[i], code);
            planned += k >= 0;
            if (k < 0 || isnan(b->items[i]->ranks[k])) continue;
            sum += b->items[i]->ranks[k];
            ranked++;
        }
        if (planned > 0) (*all)[(*count)++] = (ordered){ranked > 0 ? sum / ranked : NAN, code};
    }
    qsort(*all, (size_t)*count, sizeof **all, compare_ordered);
    return NB_OK;
}

/* The groups of a method, as letters. */
static nb_status groups_of(const nb_ranking *s, int method, const char **letters, nb_ctx *ctx)
{
    int place = 0, first = -1, last = -1;
    if (!isnan(s->ranks[method])) {
        while (s->order[place] != method) place++;
        nb_standing_groups(s, place, &first, &last);
    }
    return nb_standing_letters(first, last, letters, ctx);
}

/* The rank, its groups behind it; "-": not ranked; empty: not planned. */
static nb_status add_rank(nb_page *page, const nb_standings_view *v, const nb_ranking *s, int code)
{
    int k = nb_standing_place(s, code);
    const char *letters, *mark;
    if (k < 0 || isnan(s->ranks[k])) {
        nb_page_cell(page, "%s", k < 0 ? "" : "-");
        return NB_OK;
    }
    NB_TRY(v->ctx, groups_of(s, k, &letters, v->ctx));
    NB_NEED(mark, nb_format(v->ctx, "%s%s", *letters ? " " : "", letters));
    nb_page_cell(page, "%.2f", s->ranks[k]);
    nb_page_mark(page, mark);
    return NB_OK;
}

static void add_number(nb_page *page, double x, const char *format)
{
    char digits[32];
    strfromd(digits, sizeof digits, format, x);
    nb_page_cell(page, "%s", isnan(x) ? "-" : isinf(x) ? "infinite" : digits);
}

static void add_sources(nb_page *page, const nb_standings_block *b)
{
    nb_page_row(page);
    nb_page_cell(page, "sources");
    for (int i = 0; i < b->count; i++) {
        const nb_ranking *s = b->items[i];
        if (s->left_out_count)
            nb_page_cell(page, "%d of %d", s->sources, s->planned);
        else
            nb_page_cell(page, "%d", s->sources);
    }
}

static void add_tests(nb_page *page, const nb_standings_block *b)
{
    static const char *const names[] = {"Friedman's chi2", "its p",       "Iman-Davenport's F",
                                        "its p",           "Kendall's W", "critical difference"};
    static const char *const formats[] = {"%.3g", "%.2g", "%.3g", "%.2g", "%.2f", "%.2f"};
    for (int t = 0; t < 6; t++) {
        nb_page_row(page);
        nb_page_cell(page, "%s", names[t]);
        for (int i = 0; i < b->count; i++) {
            const nb_friedman *f = &b->items[i]->test;
            const double values[] = {f->chi2, f->p, f->f, f->f_p, f->w, b->items[i]->difference};
            add_number(page, values[t], formats[t]);
        }
    }
}

static int stratum_of(const nb_standings_view *v, int source)
{
    return (int)nb_answer_at(&v->standings.sources, source, 0)->integer;
}

static nb_status name_source(const nb_standings_view *v, int source, const char **name)
{
    NB_NEED(*name, nb_format(v->ctx, "%s: %s", v->standings.contrasts.stratum_labels[stratum_of(v, source)],
                             nb_answer_at(&v->standings.sources, source, 1)->text));
    return NB_OK;
}

/* Those of a stratum that are left out. */
static int count_left_out(const nb_standings_view *v, const nb_ranking *s, int stratum)
{
    int count = 0;
    for (int i = 0; i < s->left_out_count; i++) count += stratum_of(v, s->left_out[i]) == stratum;
    return count;
}

/* Whether it is all that the setting plans of its stratum. */
static bool is_whole(const nb_standings_view *v, const nb_ranking *s, int stratum)
{
    for (int i = 0; i < v->standings.count; i++) {
        const nb_ranking *other = &v->standings.items[i];
        if (other->setting == s->setting && other->stratum == stratum)
            return s->stratum == NB_OVER_STRATA && count_left_out(v, s, stratum) == other->planned;
    }
    return false;
}

/* Strata that are left out as a whole, then single sources, of which a few. */
static nb_status list_sources(const nb_standings_view *v, const nb_ranking *s, const char **list)
{
    int named = 0, others = 0;
    *list = "";
    for (int stratum = 0; stratum < v->standings.contrasts.strata; stratum++) {
        if (!is_whole(v, s, stratum)) continue;
        NB_NEED(*list, nb_format(v->ctx, "%s%s%s: all %d", *list, **list ? "; " : "",
                                 v->standings.contrasts.stratum_labels[stratum], count_left_out(v, s, stratum)));
    }
    for (int i = 0; i < s->left_out_count; i++) {
        const char *name;
        if (is_whole(v, s, stratum_of(v, s->left_out[i]))) continue;
        if (named++ >= MOST_NAMED) {
            others++;
            continue;
        }
        NB_TRY(v->ctx, name_source(v, s->left_out[i], &name));
        NB_NEED(*list, nb_format(v->ctx, "%s%s%s", *list, **list ? "; " : "", name));
    }
    if (others > 0) NB_NEED(*list, nb_format(v->ctx, "%s; and %d more", *list, others));
    return NB_OK;
}

/* "landmarks 8: "; "" for column -1: it is said of all. */
static nb_status name_column(const nb_standings_view *v, const nb_standings_block *b, int column, const char **name)
{
    *name = "";
    if (column >= 0) NB_NEED(*name, nb_format(v->ctx, "%s %d: ", v->along, b->along[column]));
    return NB_OK;
}

static bool same_left_out(const nb_ranking *a, const nb_ranking *b)
{
    return a->left_out_count == b->left_out_count &&
           memcmp(a->left_out, b->left_out, (size_t)a->left_out_count * sizeof *a->left_out) == 0;
}

/* Who has no result in how many of the sources, where it is not the same for all. */
static nb_status name_missing(const nb_standings_view *v, const nb_ranking *s, const char **list)
{
    bool differ = false;
    *list = "";
    for (int k = 1; k < s->count; k++) differ = differ || s->missing[k] != s->missing[0];
    for (int k = 0; k < s->count && differ; k++)
        if (s->missing[k] > 0)
            NB_NEED(*list, nb_format(v->ctx, "%s%s%s in %d", *list, **list ? ", " : "", nb_standing_label(v, s, k),
                                     s->missing[k]));
    return NB_OK;
}

/* Those left out, of each column, or once where all have the same. */
static nb_status add_left_out(nb_page *page, const nb_standings_view *v, const nb_standings_block *b)
{
    bool same = true;
    for (int i = 1; i < b->count; i++) same = same && same_left_out(b->items[0], b->items[i]);
    for (int i = 0; i < b->count && (i == 0 || !same); i++) {
        const nb_ranking *s = b->items[i];
        const char *missing, *column, *sources;
        if (s->left_out_count == 0 || s->ranked < 2) continue;
        NB_TRY(v->ctx, name_missing(v, s, &missing));
        NB_TRY(v->ctx, name_column(v, b, same ? -1 : i, &column));
        NB_TRY(v->ctx, list_sources(v, s, &sources));
        nb_page_note(page, NULL, "%sleft out, since a method has no result there: %s%s%s", column, sources,
                     *missing ? "; without a result: " : "", missing);
    }
    return NB_OK;
}

/* The method that refusals are against: the first with a result; -1: none. */
static int first_with_result(const nb_ranking *s)
{
    for (int k = 0; k < s->count; k++)
        if (s->missing[k] < s->planned) return k;
    return -1;
}

/* Why a method that is planned is not ranked beside others; "": it is, or no other is. */
static nb_status reason_of(const nb_standings_view *v, const nb_ranking *s, int code, const char **why)
{
    int k = nb_standing_place(s, code);
    *why = "";
    if (k < 0 || s->ranked == 0) return NB_OK;
    if (s->missing[k] == s->planned)
        *why = "has no result";
    else if (s->refusals[k])
        NB_NEED(*why, nb_format(v->ctx, "is not compared with %s: %s", nb_standing_label(v, s, first_with_result(s)),
                                s->refusals[k]));
    return NB_OK;
}

/* Of each method that is not ranked, of each column, or once where it is the same for all. */
static nb_status add_unranked(nb_page *page, const nb_standings_view *v, const nb_standings_block *b)
{
    const char **why;
    NB_NEED(why, nb_alloc(v->ctx, (size_t)b->count + 1, sizeof *why));
    for (int code = 0; code < v->standings.contrasts.values.count; code++) {
        bool same = true;
        for (int i = 0; i < b->count; i++) {
            NB_TRY(v->ctx, reason_of(v, b->items[i], code, &why[i]));
            same = same && strcmp(why[i], why[0]) == 0;
        }
        for (int i = 0; i < b->count && (i == 0 || !same); i++) {
            const char *column;
            if (!*why[i]) continue;
            NB_TRY(v->ctx, name_column(v, b, same ? -1 : i, &column));
            nb_page_note(page, NULL, "%s%s %s", column, nb_value_label(&v->standings.contrasts, code), why[i]);
        }
    }
    return NB_OK;
}

/* Why there is no test, of each column, or once where it is the same for all. */
static nb_status add_untested(nb_page *page, const nb_standings_view *v, const nb_standings_block *b)
{
    const char *first = NULL;
    bool same = true;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < b->count && (pass == 0 || i == 0 || !same); i++) {
            const char *why, *column;
            NB_TRY(v->ctx, nb_standing_untested(b->items[i], &why, v->ctx));
            if (i == 0) first = why;
            same = same && (why && first ? strcmp(why, first) == 0 : why == first);
            if (pass == 0 || !why) continue;
            NB_TRY(v->ctx, name_column(v, b, same ? -1 : i, &column));
            nb_page_note(page, NULL, "%sno test: %s", column, why);
        }
    return NB_OK;
}

static nb_status add_notes(nb_page *page, const nb_standings_view *v, const nb_standings_block *b)
{
    NB_TRY(v->ctx, add_left_out(page, v, b));
    NB_TRY(v->ctx, add_unranked(page, v, b));
    return add_untested(page, v, b);
}

static bool has_ranks(const nb_standings_block *b)
{
    for (int i = 0; i < b->count; i++)
        if (b->items[i]->sources > 0) return true;
    return false;
}

static bool has_tests(const nb_standings_block *b)
{
    for (int i = 0; i < b->count; i++)
        if (b->items[i]->group_count > 0) return true;
    return false;
}

static nb_status show_block(nb_page *page, const nb_standings_view *v, const nb_standings_block *b)
{
    ordered *methods;
    int count;
    nb_page_heading(page, 4, "%s", b->stratum_label);
    if (!has_ranks(b)) return add_untested(page, v, b);
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_LABEL, "%s", v->along);
    for (int i = 0; i < b->count; i++) nb_page_column(page, NB_PAGE_NUMBER, "%d", b->along[i]);
    NB_TRY(v->ctx, order_methods(v, b, &count, &methods));
    for (int k = 0; k < count; k++) {
        nb_page_row(page);
        nb_page_cell(page, "%s", nb_value_label(&v->standings.contrasts, methods[k].code));
        for (int i = 0; i < b->count; i++) NB_TRY(v->ctx, add_rank(page, v, b->items[i], methods[k].code));
    }
    add_sources(page, b);
    if (has_tests(b)) add_tests(page, b);
    return add_notes(page, v, b);
}

static void add_explanation(nb_page *page, const nb_standings_view *v, bool pooled, bool tested)
{
    nb_page_paragraph(page,
                      "Mean ranks over sources. In a source, rank 1 is the least %s of a block, and equal ones share "
                      "their ranks; a method has the mean over heads of the mean %sover trials.%s",
                      v->terms.metric, v->terms.difference ? "" : "logarithm ",
                      pooled ? " Blocks of all models or problems pool their sources, so one with more of them counts "
                               "more."
                             : "");
    if (!tested) return;
    nb_page_paragraph(page,
                      "Methods differ by more than the critical difference of Nemenyi's test at %g if they have no "
                      "letter in common. Where Friedman's p is above %g, the letters say nothing.",
                      NB_STANDING_ALPHA, NB_STANDING_ALPHA);
    nb_page_paragraph(page, NB_TESTS_CAVEAT);
}

nb_status nb_ranks_show(nb_page *page, const nb_standings_view *v)
{
    bool pooled = false, tested = false;
    nb_standings_block *blocks;
    int count;
    NB_TRY(v->ctx, nb_standings_view_blocks(v, &count, &blocks));
    if (count == 0) return NB_OK;
    nb_page_heading(page, 2, "Mean rank of each %s by %s, over sources", v->terms.by, v->terms.metric);
    if (*v->scopes.constant) nb_page_paragraph(page, "%s", v->scopes.constant);
    for (int i = 0; i < count; i++) {
        if (v->scopes.count > 1 && (i == 0 || blocks[i].scope != blocks[i - 1].scope))
            nb_page_heading(page, 3, "%s", v->scopes.names[blocks[i].scope]);
        NB_TRY(v->ctx, show_block(page, v, &blocks[i]));
        pooled = pooled || blocks[i].stratum == NB_OVER_STRATA;
        tested = tested || has_tests(&blocks[i]);
    }
    add_explanation(page, v, pooled, tested);
    return NB_OK;
}

/* By name, "STRATUM: SOURCE | ...". */
static nb_status list_left_out(const nb_standings_view *v, const nb_ranking *s, const char **list)
{
    *list = "";
    for (int i = 0; i < s->left_out_count; i++) {
        const char *name;
        NB_TRY(v->ctx, name_source(v, s->left_out[i], &name));
        NB_NEED(*list, nb_format(v->ctx, "%s%s%s", *list, **list ? " | " : "", name));
    }
    return NB_OK;
}

static nb_status add_line(nb_grid *g, const nb_standings_view *v, const nb_ranking *s, int method)
{
    const char *letters, *list, *why;
    const double values[] = {s->test.chi2, s->test.p, s->test.f, s->test.f_p, s->test.w, s->difference};
    NB_TRY(v->ctx, nb_standing_add_setting(g, v, s));
    NB_TRY(v->ctx, nb_standing_add_method(g, v, s, method));
    NB_TRY(v->ctx, nb_grid_real(g, "%g", s->ranks[method]));
    NB_TRY(v->ctx, groups_of(s, method, &letters, v->ctx));
    NB_TRY(v->ctx, nb_grid_text(g, letters));
    NB_TRY(v->ctx, nb_grid_int(g, s->missing[method]));
    NB_TRY(v->ctx, nb_grid_text(g, s->refusals[method]));
    NB_TRY(v->ctx, nb_grid_int(g, s->ranked));
    NB_TRY(v->ctx, nb_grid_int(g, s->sources));
    NB_TRY(v->ctx, nb_grid_int(g, s->left_out_count));
    NB_TRY(v->ctx, list_left_out(v, s, &list));
    NB_TRY(v->ctx, nb_grid_text(g, list));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) NB_TRY(v->ctx, nb_grid_real(g, "%g", values[i]));
    NB_TRY(v->ctx, nb_standing_untested(s, &why, v->ctx));
    return nb_grid_text(g, why);
}

nb_status nb_ranks_fill(nb_grid *g, const nb_standings_view *v)
{
    static const char *const rest[] = {"method",   "label",
                                       "rank",     "groups",
                                       "missing",  "refusal",
                                       "ranked",   "sources",
                                       "left_out", "left_out_sources",
                                       "chi2",     "chi2_p",
                                       "f",        "f_p",
                                       "w",        "critical_difference",
                                       "untested", NULL};
    NB_TRY(v->ctx, nb_standings_grid(v, rest, g));
    for (int i = 0; i < v->standings.count; i++)
        for (int k = 0; k < v->standings.items[i].count; k++) NB_TRY(v->ctx, add_line(g, v, &v->standings.items[i], k));
    return NB_OK;
}
