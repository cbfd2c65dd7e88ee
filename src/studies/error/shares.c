/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shares.c - rows sorted by cell, head and trial; each cell's rows are matched with
 * its baseline's. */
#include "studies/error/shares.h"

#include "report/csv.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int cell, head, trial;
    const nb_error_row *row;
} entry;

typedef struct {
    const nb_summary *summary;
    const entry *entries; /* sorted */
    int *first;           /* cells + 1: where a cell's entries begin */
    double *values;       /* room for those of two cells */
} matcher;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    if (x->head != y->head) return x->head < y->head ? -1 : 1;
    return (x->trial > y->trial) - (x->trial < y->trial);
}

static int count_cells(const nb_summary *s)
{
    return s->panel_count * s->variant_count * s->core_count * s->landmark_count;
}

static nb_status matcher_init(matcher *m, int count, const nb_error_row *rows, const nb_summary *s, nb_ctx *ctx)
{
    int cells = count_cells(s);
    entry *entries;
    *m = (matcher){.summary = s};
    NB_NEED(entries, nb_alloc(ctx, (size_t)count, sizeof *entries));
    NB_NEED(m->first, nb_alloc(ctx, (size_t)cells + 1, sizeof *m->first));
    NB_NEED(m->values, nb_alloc_reals(ctx, 2 * (size_t)count + (size_t)cells, 1));
    for (int i = 0; i < count; i++) {
        nb_summary_index at = nb_summary_find(s, &rows[i]);
        int cell = nb_summary_cell(s, at.panel, at.variant, at.core, at.landmark);
        entries[i] = (entry){cell, rows[i].head, rows[i].trial, &rows[i]};
        m->first[cell + 1]++;
    }
    for (int c = 0; c < cells; c++) m->first[c + 1] += m->first[c];
    qsort(entries, (size_t)count, sizeof *entries, compare_entries);
    m->entries = entries;
    return NB_OK;
}

static double selection_of(const entry *e)
{
    return strcmp(e->row->status, "ok") == 0 ? e->row->measures.select_s : NAN;
}

/* NaN values are left out; `values` is sorted. */
static double median(double *values, int *count)
{
    int kept = 0;
    for (int i = 0; i < *count; i++)
        if (!isnan(values[i])) values[kept++] = values[i];
    *count = kept;
    gsl_sort(values, 1, (size_t)kept);
    return kept ? gsl_stats_median_from_sorted_data(values, 1, (size_t)kept) : NAN;
}

static double part_median(const matcher *m, int cell, nb_part part)
{
    int count = 0;
    for (int i = m->first[cell]; i < m->first[cell + 1]; i++) m->values[count++] = nb_part_of(m->entries[i].row, part);
    return median(m->values, &count);
}

static double selection_median(const matcher *m, int cell)
{
    int count = 0;
    for (int i = m->first[cell]; i < m->first[cell + 1]; i++) m->values[count++] = selection_of(&m->entries[i]);
    return median(m->values, &count);
}

static int head_end(const matcher *m, int i, int end)
{
    int first = i;
    while (i < end && m->entries[i].head == m->entries[first].head) i++;
    return i;
}

/* NaN where both are rounding noise, which is counted. */
static double ratio(const nb_error_row *a, const nb_error_row *b, nb_part part, int *noise)
{
    double x = nb_part_of(a, part), y = nb_part_of(b, part);
    if (isnan(x) || isnan(y)) return NAN;
    if (!nb_is_noise(a, part) || !nb_is_noise(b, part)) return x / y;
    ++*noise;
    return NAN;
}

/* The ratios of one head: entries a ... a_end - 1 over b ... b_end - 1. */
static int match_trials(const matcher *m, int a, int a_end, int b, int b_end, nb_part part, double *ratios, int *noise)
{
    bool a_once = a_end - a == 1, b_once = b_end - b == 1;
    int count = 0;
    while (a < a_end && b < b_end) {
        int order = a_once || b_once ? 0 : m->entries[a].trial - m->entries[b].trial;
        if (order == 0) ratios[count++] = ratio(m->entries[a].row, m->entries[b].row, part, noise);
        a += b_once || (order <= 0 && !a_once);
        b += (a_once && !b_once) || (order >= 0 && !b_once);
    }
    return count;
}

/* The median ratio of a cell's values to its baseline's. */
static void pair_up(const matcher *m, int cell, int base, nb_part part, nb_share *out)
{
    int a = m->first[cell], a_end = m->first[cell + 1], b = m->first[base], b_end = m->first[base + 1];
    while (a < a_end && b < b_end) {
        int a_next = head_end(m, a, a_end), b_next = head_end(m, b, b_end),
            order = m->entries[a].head - m->entries[b].head;
        if (order == 0) out->pairs += match_trials(m, a, a_next, b, b_next, part, m->values + out->pairs, &out->noise);
        if (order <= 0) a = a_next;
        if (order >= 0) b = b_next;
    }
    out->relative = median(m->values, &out->pairs);
}

/* The baseline of a cell, with the same factors and, if that is planned there, with the same
 * pairing; or -1. */
static int baseline_of(const nb_summary *s, const char *baseline, int panel, int variant, int core, int landmark,
                       bool *fixed)
{
    int found = -1;
    *fixed = false;
    for (int v = 0; v < s->variant_count && !*fixed; v++) {
        const nb_variant *b = &s->variants[v];
        if (strcmp(b->strategy, baseline) != 0 || strcmp(b->factors, s->variants[variant].factors) != 0) continue;
        if (s->errors[nb_summary_cell(s, panel, v, core, landmark)].planned == 0) continue;
        *fixed = nb_summary_peers(s, panel, v, variant);
        if (found < 0 || *fixed) found = v;
    }
    return found;
}

static nb_share *share_of(nb_comparison *c, nb_part part)
{
    return part == NB_WHOLE ? &c->whole : &c->subspace;
}

static double share(double relative, double best)
{
    static const double shown = 0.99; /* a gap of less is not one that a share could be of */
    double s = best < shown ? log(relative) / log(best) : NAN;
    return isfinite(s) ? s + 0.0 : NAN; /* -0 becomes 0 */
}

static void compare_cell(const matcher *m, const char *baseline, nb_comparison *cells, int panel, int variant, int core,
                         int landmark)
{
    const nb_summary *s = m->summary;
    int cell = nb_summary_cell(s, panel, variant, core, landmark);
    nb_comparison *c = &cells[cell];
    static const nb_share nothing = {.relative = NAN, .best = NAN, .share = NAN};
    *c = (nb_comparison){.whole = nothing, .subspace = nothing, .select_s = selection_median(m, cell)};
    c->base = baseline_of(s, baseline, panel, variant, core, landmark, &c->fixed);
    for (nb_part part = NB_WHOLE; part <= NB_SUBSPACE; part++) {
        share_of(c, part)->error = part_median(m, cell, part);
        if (c->base >= 0) pair_up(m, cell, nb_summary_cell(s, panel, c->base, core, landmark), part, share_of(c, part));
    }
}

/* Of cells that are compared with one baseline; known where the ratio is. */
static void find_best(const nb_summary *s, nb_comparison *cells, int panel, int variant, int core, int landmark,
                      nb_part part)
{
    nb_comparison *mine = &cells[nb_summary_cell(s, panel, variant, core, landmark)];
    nb_share *out = share_of(mine, part);
    for (int v = 0; v < s->variant_count && mine->fixed && !isnan(out->relative); v++) {
        nb_comparison *other = &cells[nb_summary_cell(s, panel, v, core, landmark)];
        if (other->fixed && other->base == mine->base) out->best = fmin(out->best, share_of(other, part)->relative);
    }
    out->share = share(out->relative, out->best);
}

static void compare_all(const matcher *m, const char *baseline, nb_comparison *cells)
{
    const nb_summary *s = m->summary;
    for (int best = 0; best < 2; best++) /* once all ratios are there */
        for (int v = 0; v < s->variant_count; v++)
            for (int p = 0; p < s->panel_count; p++)
                for (int c = 0; c < s->core_count; c++)
                    for (int l = 0; l < s->landmark_count; l++) {
                        if (!best) compare_cell(m, baseline, cells, p, v, c, l);
                        for (nb_part part = NB_WHOLE; best && part <= NB_SUBSPACE; part++)
                            find_best(s, cells, p, v, c, l, part);
                    }
}

/* The median over problems and landmarks of the number at `offset` of a comparison, of those
 * that hold the pairing fixed or (of those only) that do not. */
static double pool(const matcher *m, const nb_comparison *cells, int variant, int core, bool fixed, size_t offset,
                   int *count)
{
    const nb_summary *s = m->summary;
    *count = 0;
    for (int p = 0; p < s->panel_count; p++)
        for (int l = 0; l < s->landmark_count; l++) {
            const nb_comparison *c = &cells[nb_summary_cell(s, p, variant, core, l)];
            if (c->fixed == fixed) m->values[(*count)++] = *(const double *)((const char *)c + offset);
        }
    return median(m->values, count);
}

static nb_share pool_part(const matcher *m, const nb_comparison *cells, int variant, int core, bool fixed, nb_part part)
{
    const nb_summary *s = m->summary;
    size_t from = part == NB_WHOLE ? offsetof(nb_comparison, whole) : offsetof(nb_comparison, subspace);
    nb_share out = {.error = NAN};
    int unused;
    out.error = pool(m, cells, variant, core, fixed, from + offsetof(nb_share, error), &unused);
    for (int p = 0; p < s->panel_count; p++)
        for (int l = 0; l < s->landmark_count; l++) {
            const nb_comparison *c = &cells[nb_summary_cell(s, p, variant, core, l)];
            const nb_share *one = part == NB_WHOLE ? &c->whole : &c->subspace;
            out.noise += c->fixed == fixed && one->noise > 0 && one->pairs == 0;
        }
    out.best = pool(m, cells, variant, core, fixed, from + offsetof(nb_share, best), &unused);
    out.relative = pool(m, cells, variant, core, fixed, from + offsetof(nb_share, relative), &out.pairs);
    out.share = share(out.relative, out.best);
    return out;
}

/* Problems and landmarks that any strategy is planned at, with this core: one that
 * lacks some of them is not pooled over the same. */
static int count_levels(const nb_summary *s, int core)
{
    int count = 0;
    for (int p = 0; p < s->panel_count; p++)
        for (int l = 0; l < s->landmark_count; l++) {
            int v = 0;
            while (v < s->variant_count && s->errors[nb_summary_cell(s, p, v, core, l)].planned == 0) v++;
            count += v < s->variant_count;
        }
    return count;
}

/* Cells that hold the pairing fixed are pooled where there are any, else those that do not. */
static nb_comparison pool_all(const matcher *m, const nb_comparison *cells, int variant, int core)
{
    const nb_summary *s = m->summary;
    nb_comparison out = {.planned = count_levels(s, core), .base = -1};
    int unused;
    for (int p = 0; p < s->panel_count; p++)
        for (int l = 0; l < s->landmark_count; l++) {
            const nb_comparison *c = &cells[nb_summary_cell(s, p, variant, core, l)];
            if (c->base < 0 || (out.base >= 0 && out.fixed >= c->fixed)) continue;
            out.base = c->base;
            out.fixed = c->fixed;
        }
    out.whole = pool_part(m, cells, variant, core, out.fixed, NB_WHOLE);
    out.subspace = pool_part(m, cells, variant, core, out.fixed, NB_SUBSPACE);
    out.select_s = pool(m, cells, variant, core, out.fixed, offsetof(nb_comparison, select_s), &unused);
    out.cells = out.whole.pairs;
    return out;
}

/* The first strategy that is no oracle, or the first. */
static const char *default_baseline(const nb_summary *s)
{
    int v = 0;
    while (v < s->variant_count && s->variants[v].oracle) v++;
    return s->variants[v < s->variant_count ? v : 0].strategy;
}

nb_status nb_shares_make(int count, const nb_error_row *rows, const nb_summary *summary, const char *baseline,
                         nb_shares *shares, nb_ctx *ctx)
{
    matcher m;
    int variants = summary->variant_count, cores = summary->core_count;
    *shares = (nb_shares){.baseline = ""};
    if (!baseline && variants > 0) baseline = default_baseline(summary);
    for (int v = 0; v < variants; v++)
        if (strcmp(summary->variants[v].strategy, baseline) == 0) shares->baseline = summary->variants[v].name;
    NB_NEED(shares->cells, nb_alloc(ctx, (size_t)count_cells(summary), sizeof *shares->cells));
    NB_NEED(shares->pooled, nb_alloc(ctx, (size_t)variants * (size_t)cores, sizeof *shares->pooled));
    NB_TRY(ctx, matcher_init(&m, count, rows, summary, ctx));
    compare_all(&m, baseline, shares->cells);
    for (int v = 0; v < variants; v++)
        for (int c = 0; c < cores; c++) shares->pooled[v * cores + c] = pool_all(&m, shares->cells, v, c);
    return NB_OK;
}

/* `noise`: there is nothing else. */
static void print_number(FILE *out, const char *format, int width, double x, bool noise)
{
    char text[32];
    snprintf(text, sizeof text, format, x);
    fprintf(out, "%*s", width, !isnan(x) ? text : noise ? "~" : "-");
}

/* Whether a line of the table has anything to say. */
static bool is_compared(const nb_comparison *c)
{
    return c->cells > 0 || c->whole.noise > 0;
}

static void print_core(FILE *out, const nb_summary *s, const nb_shares *shares, int core, int width)
{
    bool any = false;
    for (int v = 0; v < s->variant_count; v++) {
        const nb_comparison *c = &shares->pooled[v * s->core_count + core];
        if (!is_compared(c)) continue;
        if (!any) fprintf(out, "  %s\n", s->cores[core].label);
        any = true;
        fprintf(out, "    %-*.*s", width, width, s->variants[v].label);
        print_number(out, "%.3g", 10, c->whole.relative, c->whole.noise > 0);
        print_number(out, "%.2f", 9, c->whole.share, false);
        print_number(out, "%.3g", 12, c->subspace.relative, c->subspace.noise > 0);
        print_number(out, "%.2f", 9, c->subspace.share, false);
        print_number(out, "%.1e", 12, c->select_s, false);
        if (c->whole.noise > 0) fputs(" ~", out);
        if (c->cells + c->whole.noise < c->planned) fputs(" !", out);
        if (!c->fixed) fprintf(out, "  pairing %s against %s", s->variants[v].pairing, s->variants[c->base].pairing);
        fputc('\n', out);
    }
}

void nb_shares_print(FILE *out, const nb_summary *s, const nb_shares *shares)
{
    enum { LONGEST = 64 };
    int width = 0, compared = 0;
    bool fixed = true;
    for (int v = 0; v < s->variant_count; v++) {
        int length = (int)strlen(s->variants[v].label);
        width = length > width ? length : width;
        bool any = false;
        for (int c = 0; c < s->core_count; c++) {
            const nb_comparison *of = &shares->pooled[v * s->core_count + c];
            any |= is_compared(of);
            fixed &= !is_compared(of) || of->fixed;
        }
        compared += any;
    }
    if (compared < 2) return;
    width = width < LONGEST ? width : LONGEST;
    fprintf(out, "\nRelative to %s\n    %-*s%10s%9s%12s%9s%12s\n", shares->baseline, width, "", "error", "share",
            "subspace", "share", "select_s");
    for (int c = 0; c < s->core_count; c++) print_core(out, s, shares, c, width);
    fputs(
        "error: ratio to the baseline's error in the same trial, with the same pairing, factors, core and m; subspace: the same\n"
        "for the least error that any core reaches; both are medians over problems and m of each cell's median.\n"
        "share: of the gap between the baseline (0) and the best strategy of each cell (1), log(error) / log(best's);\n"
        "below 0: worse than the baseline; - the best is less than 1 % below the baseline. ~ rounding noise on both sides, at\n"
        "the end of a line: in some cells; ! some cells are missing, or have the baseline only with another pairing.\n"
        "select_s: seconds.\n",
        out);
    if (!fixed)
        fputs("Where a line names two pairings, the baseline was not run with the first: the ratio is the effect\n"
              "of strategy and pairing together, and there is no share.\n",
              out);
}

static void print_csv_real(FILE *out, double x)
{
    fputc(',', out);
    nb_csv_print_real(out, isfinite(x) ? x : NAN);
}

static void print_csv_share(FILE *out, const nb_share *s)
{
    print_csv_real(out, s->error);
    print_csv_real(out, s->relative);
    print_csv_real(out, s->share);
}

/* One line; panel NULL: pooled. */
static void print_csv_line(FILE *out, const nb_summary *s, const nb_panel *panel, int variant, int core, int landmark,
                           const nb_comparison *c)
{
    const nb_variant *v = &s->variants[variant];
    const char *texts[] = {panel ? panel->label : "all",
                           panel ? panel->problem : NULL,
                           panel ? panel->kernel : NULL,
                           v->label,
                           v->strategy,
                           v->pairing,
                           c->base < 0 ? NULL
                           : c->fixed  ? v->pairing
                                       : s->variants[c->base].pairing,
                           v->factors,
                           s->cores[core].core};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        nb_csv_print_text(out, texts[i]);
        fputc(',', out);
    }
    if (panel)
        fprintf(out, "%d,%d,%d", s->landmarks[landmark], c->whole.pairs, c->whole.noise);
    else
        fprintf(out, ",%d,%d", c->cells, c->whole.noise);
    print_csv_share(out, &c->whole);
    print_csv_share(out, &c->subspace);
    print_csv_real(out, c->select_s);
    fputc('\n', out);
}

void nb_shares_print_csv(FILE *out, const nb_summary *s, const nb_shares *shares)
{
    fputs(
        "panel,problem,kernel,label,strategy,pairing,baseline_pairing,factors,core,landmarks,count,noise,error,error_relative,error_share,"
        "subspace,subspace_relative,subspace_share,select_s\n",
        out);
    for (int v = 0; v < s->variant_count; v++)
        for (int c = 0; c < s->core_count; c++) {
            for (int p = 0; p < s->panel_count; p++)
                for (int l = 0; l < s->landmark_count; l++)
                    print_csv_line(out, s, &s->panels[p], v, c, l, &shares->cells[nb_summary_cell(s, p, v, c, l)]);
            print_csv_line(out, s, NULL, v, c, 0, &shares->pooled[v * s->core_count + c]);
        }
}
