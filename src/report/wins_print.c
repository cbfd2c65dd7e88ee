/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wins_print.c - a matrix for each standing: of how many sources the method of the line has less than that of the
 * column. */
#include "report/wins_print.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 64 };

static int sources_of(const nb_meeting *x)
{
    return x->below + x->above + x->ties;
}

/* "20/24*"; "-": they do not meet. */
static void write_cell(const nb_meeting *x, char *text, size_t size)
{
    if (sources_of(x) == 0)
        snprintf(text, size, "- ");
    else
        snprintf(text, size, "%d/%d%c", x->below, sources_of(x), x->holm_p <= NB_STANDING_ALPHA ? '*' : ' ');
}

static int label_width(const nb_standings_view *v, const nb_standing *s)
{
    size_t width = 0;
    for (int k = 0; k < s->count; k++) {
        size_t length = strlen(nb_standing_label(v, s, k));
        width = length > width ? length : width;
    }
    return (int)(width < LONGEST ? width : LONGEST);
}

static int cell_width(const nb_standing *s)
{
    char text[32];
    size_t width = 0;
    for (int i = 0; i < s->count * s->count; i++) {
        write_cell(&s->meetings[i], text, sizeof text);
        width = strlen(text) > width ? strlen(text) : width;
    }
    return (int)width + 2;
}

static void print_matrix(FILE *out, const nb_standings_view *v, const nb_standing *s)
{
    int labels = label_width(v, s), cells = cell_width(s);
    fprintf(out, "  %-*s", labels + 4, v->terms.by);
    for (int k = 0; k < s->count; k++) fprintf(out, "%*d ", cells - 1, k + 1);
    fputc('\n', out);
    for (int a = 0; a < s->count; a++) {
        fprintf(out, "  %2d  %-*.*s", a + 1, labels, labels, nb_standing_label(v, s, a));
        for (int b = 0; b < s->count; b++) {
            char text[32];
            write_cell(&s->meetings[a * s->count + b], text, sizeof text);
            fprintf(out, "%*s", cells, text);
        }
        fputc('\n', out);
    }
}

/* Who has no result, and who is not compared. */
static void print_notes(FILE *out, const nb_standings_view *v, const nb_standing *s)
{
    int most = 0;
    for (int i = 0; i < s->count * s->count; i++)
        most = sources_of(&s->meetings[i]) > most ? sources_of(&s->meetings[i]) : most;
    if (most == 0) fputs("  no two methods have a result\n", out);
    if (most > 0 && most < NB_LEAST_SOURCES) fprintf(out, "  no test: fewer than %d sources\n", NB_LEAST_SOURCES);
    for (int k = 0; k < s->count; k++) {
        if (s->missing[k] == s->planned && most > 0) fprintf(out, "  %s has no result\n", nb_standing_label(v, s, k));
        for (int b = 0; b < k; b++) {
            const char *refusal = s->meetings[k * s->count + b].refusal;
            if (refusal)
                fprintf(out, "  %s against %s: %s\n", nb_standing_label(v, s, k), nb_standing_label(v, s, b), refusal);
        }
    }
}

static bool has_meetings(const nb_standing *s)
{
    for (int i = 0; i < s->count * s->count; i++)
        if (sources_of(&s->meetings[i]) > 0) return true;
    return false;
}

static const char explanation[] =
    "a/b: on a of b sources, the line's method has less %s than the column's; in a source, a method has the mean over\n"
    "heads of the mean %sover trials. What is equal up to rounding is not less.%s\n"
    "* p of the sign test, with Holm's correction over the matrix, is at most %g; it takes %d sources.\n";

static nb_status print_text(FILE *out, const nb_standings_view *v, int count, const nb_standings_block *blocks)
{
    bool pooled = false;
    fprintf(out, "On how many sources one %s has less %s than another\n%s%s", v->terms.by, v->terms.metric,
            v->scopes.constant, *v->scopes.constant ? "\n" : "");
    for (int i = 0; i < count; i++) {
        if (v->scopes.count > 1 && (i == 0 || blocks[i].scope != blocks[i - 1].scope))
            fprintf(out, "\n%s\n", v->scopes.names[blocks[i].scope]);
        pooled = pooled || blocks[i].stratum == NB_OVER_STRATA;
        for (int k = 0; k < blocks[i].count; k++) {
            const nb_standing *s = blocks[i].items[k];
            fprintf(out, "\n%s, %s %d\n", blocks[i].stratum_label, v->along, blocks[i].along[k]);
            if (has_meetings(s)) print_matrix(out, v, s);
            print_notes(out, v, s);
        }
    }
    fputc('\n', out);
    fprintf(out, explanation, v->terms.metric, v->terms.difference ? "" : "logarithm ",
            pooled ? " \"all\" pools the sources." : "", NB_STANDING_ALPHA, NB_LEAST_SOURCES);
    fputs(NB_TESTS_CAVEAT, out);
    return NB_OK;
}

static nb_status add_line(nb_grid *g, const nb_standings_view *v, const nb_standing *s, int a, int b)
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

static nb_status print_csv(FILE *out, const nb_standings_view *v)
{
    static const char *const columns[] = {"method",  "label", "over",   "over_label", "below",   "above", "equal",
                                          "sources", "share", "sign_p", "holm_p",     "refusal", NULL};
    nb_grid g;
    NB_TRY(v->ctx, nb_standings_grid(v, columns, &g));
    for (int i = 0; i < v->standings.count; i++)
        for (int a = 0; a < v->standings.items[i].count; a++)
            for (int b = 0; b < v->standings.items[i].count; b++)
                if (a != b) NB_TRY(v->ctx, add_line(&g, v, &v->standings.items[i], a, b));
    nb_grid_print(out, &g);
    return NB_OK;
}

nb_status nb_wins_print(FILE *out, const nb_standings_view *v, bool csv)
{
    nb_standings_block *blocks;
    int count;
    NB_TRY(v->ctx, nb_standings_view_blocks(v, &count, &blocks));
    if (count == 0) return NB_OK;
    return csv ? print_csv(out, v) : print_text(out, v, count, blocks);
}
