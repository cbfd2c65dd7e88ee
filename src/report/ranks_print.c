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
static nb_status groups_of(const nb_standing *s, int method, const char **letters, nb_ctx *ctx)
{
    int place = 0, first = -1, last = -1;
    if (!isnan(s->ranks[method])) {
        while (s->order[place] != method) place++;
        nb_standing_groups(s, place, &first, &last);
    }
    return nb_standing_letters(first, last, letters, ctx);
}

/* "1.08 a"; "-": not ranked; empty: not planned. */
static nb_status add_rank(nb_grid *g, const nb_standing *s, int code)
{
    int k = nb_standing_place(s, code);
    const char *letters, *text;
    if (k < 0 || isnan(s->ranks[k])) return nb_grid_text(g, k < 0 ? "" : "-");
    NB_TRY(g->ctx, groups_of(s, k, &letters, g->ctx));
    NB_NEED(text, nb_format(g->ctx, "%*.2f%s%s", s->ranked < 10 ? 4 : 5, s->ranks[k], *letters ? " " : "", letters));
    return nb_grid_text(g, text);
}

static nb_status add_number(nb_grid *g, double x, const char *format)
{
    char digits[32];
    const char *text;
    strfromd(digits, sizeof digits, format, x);
    NB_NEED(text, nb_strdup(g->ctx, isnan(x) ? "-" : isinf(x) ? "infinite" : digits));
    return nb_grid_text(g, text);
}

static nb_status add_sources(nb_grid *g, const nb_standings_block *b)
{
    const char *text;
    NB_TRY(g->ctx, nb_grid_text(g, "sources"));
    for (int i = 0; i < b->count; i++) {
        const nb_standing *s = b->items[i];
        NB_NEED(text, s->left_out_count ? nb_format(g->ctx, "%d of %d", s->sources, s->planned)
                                        : nb_format(g->ctx, "%d", s->sources));
        NB_TRY(g->ctx, nb_grid_text(g, text));
    }
    return NB_OK;
}

static nb_status add_tests(nb_grid *g, const nb_standings_block *b)
{
    static const char *const names[] = {"Friedman's chi2",    "  p", "Iman-Davenport's F", "  p", "Kendall's W",
                                        "critical difference"};
    static const char *const formats[] = {"%.3g", "%.2g", "%.3g", "%.2g", "%.2f", "%.2f"};
    for (int t = 0; t < 6; t++) {
        NB_TRY(g->ctx, nb_grid_text(g, names[t]));
        for (int i = 0; i < b->count; i++) {
            const nb_friedman *f = &b->items[i]->test;
            const double values[] = {f->chi2, f->p, f->f, f->f_p, f->w, b->items[i]->difference};
            NB_TRY(g->ctx, add_number(g, values[t], formats[t]));
        }
    }
    return NB_OK;
}

static nb_status name_source(const nb_standings_view *v, int source, const char **name)
{
    const nb_contrasts *c = &v->standings.contrasts;
    const char *stratum;
    NB_TRY(v->ctx, nb_scopes_stratum(c, c->replicates.stratum_of[source], &stratum, v->ctx));
    NB_NEED(*name, nb_format(v->ctx, "%s: %s", stratum, c->replicates.source_names[source]));
    return NB_OK;
}

/* Those of a stratum that are left out. */
static int count_left_out(const nb_standings_view *v, const nb_standing *s, int stratum)
{
    int count = 0;
    for (int i = 0; i < s->left_out_count; i++)
        count += v->standings.contrasts.replicates.stratum_of[s->left_out[i]] == stratum;
    return count;
}

/* Whether it is all that the setting plans of its stratum. */
static bool is_whole(const nb_standings_view *v, const nb_standing *s, int stratum)
{
    for (int i = 0; i < v->standings.count; i++) {
        const nb_standing *other = &v->standings.items[i];
        if (other->setting == s->setting && other->stratum == stratum)
            return s->stratum == NB_OVER_STRATA && count_left_out(v, s, stratum) == other->planned;
    }
    return false;
}

/* A line each: strata that are left out as a whole, then single sources, of which a few. */
static nb_status print_sources(FILE *out, const nb_standings_view *v, const nb_standing *s)
{
    const nb_replicates *r = &v->standings.contrasts.replicates;
    int named = 0, others = 0;
    for (int stratum = 0; stratum < r->strata; stratum++) {
        const char *label;
        if (!is_whole(v, s, stratum)) continue;
        NB_TRY(v->ctx, nb_scopes_stratum(&v->standings.contrasts, stratum, &label, v->ctx));
        fprintf(out, "    %s: all %d\n", label, count_left_out(v, s, stratum));
    }
    for (int i = 0; i < s->left_out_count; i++) {
        const char *name;
        if (is_whole(v, s, r->stratum_of[s->left_out[i]])) continue;
        if (named++ >= MOST_NAMED) {
            others++;
            continue;
        }
        NB_TRY(v->ctx, name_source(v, s->left_out[i], &name));
        fprintf(out, "    %s\n", name);
    }
    if (others > 0) fprintf(out, "    and %d more\n", others);
    return NB_OK;
}

/* "  landmarks 8: "; column -1: it is said of all. */
static void print_column(FILE *out, const nb_standings_view *v, const nb_standings_block *b, int column)
{
    fputs("  ", out);
    if (column >= 0) fprintf(out, "%s %d: ", v->along, b->along[column]);
}

static bool same_left_out(const nb_standing *a, const nb_standing *b)
{
    return a->left_out_count == b->left_out_count &&
           memcmp(a->left_out, b->left_out, (size_t)a->left_out_count * sizeof *a->left_out) == 0;
}

/* Who has no result in how many of the sources, where it is not the same for all. */
static nb_status name_missing(const nb_standings_view *v, const nb_standing *s, const char **list)
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
static nb_status print_left_out(FILE *out, const nb_standings_view *v, const nb_standings_block *b)
{
    bool same = true;
    for (int i = 1; i < b->count; i++) same = same && same_left_out(b->items[0], b->items[i]);
    for (int i = 0; i < b->count && (i == 0 || !same); i++) {
        const nb_standing *s = b->items[i];
        const char *missing;
        if (s->left_out_count == 0 || s->ranked < 2) continue;
        NB_TRY(v->ctx, name_missing(v, s, &missing));
        print_column(out, v, b, same ? -1 : i);
        fputs("left out, since a method has no result there:\n", out);
        NB_TRY(v->ctx, print_sources(out, v, s));
        if (*missing) fprintf(out, "    without a result: %s\n", missing);
    }
    return NB_OK;
}

/* The method that refusals are against: the first with a result; -1: none. */
static int first_with_result(const nb_standing *s)
{
    for (int k = 0; k < s->count; k++)
        if (s->missing[k] < s->planned) return k;
    return -1;
}

/* Why a method that is planned is not ranked beside others; "": it is, or no other is. */
static nb_status reason_of(const nb_standings_view *v, const nb_standing *s, int code, const char **why)
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
static nb_status print_unranked(FILE *out, const nb_standings_view *v, const nb_standings_block *b)
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
            if (!*why[i]) continue;
            print_column(out, v, b, same ? -1 : i);
            fprintf(out, "%s %s\n", v->labels[code], why[i]);
        }
    }
    return NB_OK;
}

/* Why there is no test, of each column, or once where it is the same for all. */
static nb_status print_untested(FILE *out, const nb_standings_view *v, const nb_standings_block *b)
{
    const char *first = NULL;
    bool same = true;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < b->count && (pass == 0 || i == 0 || !same); i++) {
            const char *why;
            NB_TRY(v->ctx, nb_standing_untested(b->items[i], &why, v->ctx));
            if (i == 0) first = why;
            same = same && (why && first ? strcmp(why, first) == 0 : why == first);
            if (pass == 0 || !why) continue;
            print_column(out, v, b, same ? -1 : i);
            fprintf(out, "no test: %s\n", why);
        }
    return NB_OK;
}

static nb_status print_notes(FILE *out, const nb_standings_view *v, const nb_standings_block *b)
{
    NB_TRY(v->ctx, print_left_out(out, v, b));
    NB_TRY(v->ctx, print_unranked(out, v, b));
    return print_untested(out, v, b);
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

static nb_status print_block(FILE *out, const nb_standings_view *v, const nb_standings_block *b)
{
    nb_grid g;
    ordered *methods;
    const char **heads;
    int count;
    fprintf(out, "%s\n", b->stratum_label);
    if (!has_ranks(b)) return print_untested(out, v, b);
    NB_NEED(heads, nb_alloc(v->ctx, (size_t)b->count + 2, sizeof *heads));
    heads[0] = v->along;
    for (int i = 0; i < b->count; i++) NB_NEED(heads[i + 1], nb_format(v->ctx, "%d", b->along[i]));
    NB_TRY(v->ctx, nb_grid_make(&g, heads, false, v->ctx));
    NB_TRY(v->ctx, order_methods(v, b, &count, &methods));
    for (int k = 0; k < count; k++) {
        NB_TRY(v->ctx, nb_grid_text(&g, v->labels[methods[k].code]));
        for (int i = 0; i < b->count; i++) NB_TRY(v->ctx, add_rank(&g, b->items[i], methods[k].code));
    }
    NB_TRY(v->ctx, add_sources(&g, b));
    if (has_tests(b)) NB_TRY(v->ctx, add_tests(&g, b));
    nb_grid_print(out, &g);
    return print_notes(out, v, b);
}

static const char of_ranks[] =
    "Mean ranks over sources. In a source, rank 1 is the least %s of a block, and equal ones share their "
    "ranks; a method\n"
    "has the mean over heads of the mean %sover trials.\n%s";
static const char of_tests[] =
    "Methods differ by more than the critical difference of Nemenyi's test at %g if they have no letter in common.\n"
    "Where Friedman's p is above %g, the letters say nothing.\n";

static nb_status print_text(FILE *out, const nb_standings_view *v, int count, const nb_standings_block *blocks)
{
    bool pooled = false, tested = false;
    fprintf(out, "Mean rank of each %s by %s, over sources\n%s%s", v->terms.by, v->terms.metric, v->scopes.constant,
            *v->scopes.constant ? "\n" : "");
    for (int i = 0; i < count; i++) {
        if (v->scopes.count > 1 && (i == 0 || blocks[i].scope != blocks[i - 1].scope))
            fprintf(out, "\n%s\n", v->scopes.names[blocks[i].scope]);
        fputc('\n', out);
        NB_TRY(v->ctx, print_block(out, v, &blocks[i]));
        pooled = pooled || blocks[i].stratum == NB_OVER_STRATA;
        tested = tested || has_tests(&blocks[i]);
    }
    fputc('\n', out);
    fprintf(out, of_ranks, v->terms.metric, v->terms.difference ? "" : "logarithm ",
            pooled ? "Blocks of all models or problems pool their sources, so one with more of them counts more.\n"
                   : "");
    if (!tested) return NB_OK;
    fprintf(out, of_tests, NB_STANDING_ALPHA, NB_STANDING_ALPHA);
    fputs(NB_TESTS_CAVEAT, out);
    return NB_OK;
}

/* By name, "STRATUM: SOURCE | ...". */
static nb_status list_left_out(const nb_standings_view *v, const nb_standing *s, const char **list)
{
    *list = "";
    for (int i = 0; i < s->left_out_count; i++) {
        const char *name;
        NB_TRY(v->ctx, name_source(v, s->left_out[i], &name));
        NB_NEED(*list, nb_format(v->ctx, "%s%s%s", *list, **list ? " | " : "", name));
    }
    return NB_OK;
}

static nb_status add_line(nb_grid *g, const nb_standings_view *v, const nb_standing *s, int method)
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

static nb_status print_csv(FILE *out, const nb_standings_view *v)
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
    nb_grid g;
    NB_TRY(v->ctx, nb_standings_grid(v, rest, &g));
    for (int i = 0; i < v->standings.count; i++)
        for (int k = 0; k < v->standings.items[i].count; k++)
            NB_TRY(v->ctx, add_line(&g, v, &v->standings.items[i], k));
    nb_grid_print(out, &g);
    return NB_OK;
}

nb_status nb_ranks_print(FILE *out, const nb_standings_view *v, bool csv)
{
    nb_standings_block *blocks;
    int count;
    NB_TRY(v->ctx, nb_standings_view_blocks(v, &count, &blocks));
    if (count == 0) return NB_OK;
    return csv ? print_csv(out, v) : print_text(out, v, count, blocks);
}
