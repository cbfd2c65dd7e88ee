/* shares.c - rows sorted by cell, head and trial; each cell's rows are matched with
 * its baseline's. */
#include "report/shares.h"

#include "report/csv.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int cell, head, trial;
    const nb_row *row;
} entry;

typedef enum { WHOLE, SUBSPACE, SELECTION } quantity;

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

static nb_status matcher_init(matcher *m, int count, const nb_row *rows, const nb_summary *s, nb_ctx *ctx)
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

static double value_of(const entry *e, quantity q)
{
    const nb_measures *measures = &e->row->measures;
    if (strcmp(e->row->status, "ok") != 0) return NAN;
    return q == WHOLE ? measures->error : q == SUBSPACE ? measures->error_subspace : measures->select_s;
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

static double cell_median(const matcher *m, int cell, quantity q)
{
    int count = 0;
    for (int i = m->first[cell]; i < m->first[cell + 1]; i++) m->values[count++] = value_of(&m->entries[i], q);
    return median(m->values, &count);
}

static int head_end(const matcher *m, int i, int end)
{
    int first = i;
    while (i < end && m->entries[i].head == m->entries[first].head) i++;
    return i;
}

/* NaN where both are rounding. */
static double ratio(double a, double b)
{
    return a < NB_ROUNDING && b < NB_ROUNDING ? NAN : a / b;
}

/* The ratios of one head: entries a ... a_end - 1 over b ... b_end - 1. */
static int match_trials(const matcher *m, int a, int a_end, int b, int b_end, quantity q, double *ratios)
{
    bool a_once = a_end - a == 1, b_once = b_end - b == 1;
    int count = 0;
    while (a < a_end && b < b_end) {
        int order = a_once || b_once ? 0 : m->entries[a].trial - m->entries[b].trial;
        if (order == 0) ratios[count++] = ratio(value_of(&m->entries[a], q), value_of(&m->entries[b], q));
        a += b_once || (order <= 0 && !a_once);
        b += (a_once && !b_once) || (order >= 0 && !b_once);
    }
    return count;
}

/* The median ratio of a cell's values to its baseline's. */
static double paired_ratio(const matcher *m, int cell, int base, quantity q, int *pairs)
{
    int a = m->first[cell], a_end = m->first[cell + 1], b = m->first[base], b_end = m->first[base + 1];
    *pairs = 0;
    while (a < a_end && b < b_end) {
        int a_next = head_end(m, a, a_end), b_next = head_end(m, b, b_end), order = m->entries[a].head - m->entries[b].head;
        if (order == 0) *pairs += match_trials(m, a, a_next, b, b_next, q, m->values + *pairs);
        if (order <= 0) a = a_next;
        if (order >= 0) b = b_next;
    }
    return median(m->values, pairs);
}

/* The baseline with the same factors, if it can be with the same pairing; or -1. */
static int baseline_of(const nb_summary *s, const char *baseline, int variant)
{
    const nb_variant *of = &s->variants[variant];
    int found = -1;
    for (int v = 0; v < s->variant_count; v++) {
        const nb_variant *b = &s->variants[v];
        if (strcmp(b->strategy, baseline) != 0 || strcmp(b->factors, of->factors) != 0) continue;
        if (found < 0 || strcmp(b->pairing, of->pairing) == 0) found = v;
    }
    return found;
}

static const double *median_of(const nb_comparison *c, quantity q)
{
    return q == WHOLE ? &c->whole.error : &c->subspace.error;
}

static void compare_cell(const matcher *m, nb_comparison *cells, int panel, int variant, int base, int core, int landmark, quantity q)
{
    const nb_summary *s = m->summary;
    int cell = nb_summary_cell(s, panel, variant, core, landmark), of = nb_summary_cell(s, panel, base, core, landmark);
    nb_share *out = q == WHOLE ? &cells[cell].whole : &cells[cell].subspace;
    double best = INFINITY, from = *median_of(&cells[of], q);
    for (int v = 0; v < s->variant_count; v++)
        if (strcmp(s->variants[v].factors, s->variants[variant].factors) == 0)
            best = fmin(best, *median_of(&cells[nb_summary_cell(s, panel, v, core, landmark)], q));
    out->relative = paired_ratio(m, cell, of, q, &out->pairs);
    if (from < NB_ROUNDING) return;
    out->gain = 1 - out->error / from;
    out->gap = 1 - best / from;
    if (out->gap > 0) out->share = out->gain / out->gap;
}

static const nb_share nothing = {.error = NAN, .relative = NAN, .gain = NAN, .gap = NAN, .share = NAN};

static void compare_all(const matcher *m, const char *baseline, nb_comparison *cells)
{
    const nb_summary *s = m->summary;
    for (int c = 0; c < count_cells(s); c++) {
        cells[c] = (nb_comparison){.whole = nothing, .subspace = nothing, .select_s = cell_median(m, c, SELECTION)};
        cells[c].whole.error = cell_median(m, c, WHOLE);
        cells[c].subspace.error = cell_median(m, c, SUBSPACE);
    }
    for (int v = 0; v < s->variant_count; v++) {
        int base = baseline_of(s, baseline, v);
        for (int p = 0; p < s->panel_count && base >= 0; p++)
            for (int c = 0; c < s->core_count; c++)
                for (int l = 0; l < s->landmark_count; l++)
                    for (quantity q = WHOLE; q <= SUBSPACE; q++) compare_cell(m, cells, p, v, base, c, l, q);
    }
}

/* The median over problems and landmarks of the number at `offset` of a comparison. */
static double pool(const matcher *m, const nb_comparison *cells, int variant, int core, size_t offset, int *count)
{
    const nb_summary *s = m->summary;
    *count = 0;
    for (int p = 0; p < s->panel_count; p++)
        for (int l = 0; l < s->landmark_count; l++)
            m->values[(*count)++] = *(const double *)((const char *)&cells[nb_summary_cell(s, p, variant, core, l)] + offset);
    return median(m->values, count);
}

/* All gains over all gaps: a median of shares would leave out the cells where the
 * baseline is the best, and so those where a strategy loses. */
static double pooled_share(const nb_summary *s, const nb_comparison *cells, int variant, int core, bool whole)
{
    double gain = 0, gap = 0;
    for (int p = 0; p < s->panel_count; p++)
        for (int l = 0; l < s->landmark_count; l++) {
            const nb_comparison *c = &cells[nb_summary_cell(s, p, variant, core, l)];
            const nb_share *share = whole ? &c->whole : &c->subspace;
            if (isnan(share->gain)) continue;
            gain += share->gain;
            gap += share->gap;
        }
    return gap > 0 ? gain / gap : NAN;
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

static nb_comparison pool_all(const matcher *m, const nb_comparison *cells, int variant, int core)
{
    static const size_t numbers[] = {
        offsetof(nb_comparison, whole.error), offsetof(nb_comparison, subspace.error), offsetof(nb_comparison, subspace.relative),
        offsetof(nb_comparison, select_s)};
    nb_comparison out = {.planned = count_levels(m->summary, core)};
    int unused;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *(double *)((char *)&out + numbers[i]) = pool(m, cells, variant, core, numbers[i], &unused);
    out.whole.relative = pool(m, cells, variant, core, offsetof(nb_comparison, whole.relative), &out.cells);
    out.whole.share = pooled_share(m->summary, cells, variant, core, true);
    out.subspace.share = pooled_share(m->summary, cells, variant, core, false);
    return out;
}

nb_status nb_shares_make(int count, const nb_row *rows, const nb_summary *summary, const nb_choice *baseline, nb_shares *shares,
                         nb_ctx *ctx)
{
    matcher m;
    int variants = summary->variant_count, cores = summary->core_count;
    *shares = (nb_shares){.baseline = baseline->label};
    NB_NEED(shares->cells, nb_alloc(ctx, (size_t)count_cells(summary), sizeof *shares->cells));
    NB_NEED(shares->pooled, nb_alloc(ctx, (size_t)variants * (size_t)cores, sizeof *shares->pooled));
    NB_TRY(ctx, matcher_init(&m, count, rows, summary, ctx));
    compare_all(&m, baseline->canonical, shares->cells);
    for (int v = 0; v < variants; v++)
        for (int c = 0; c < cores; c++) shares->pooled[v * cores + c] = pool_all(&m, shares->cells, v, c);
    return NB_OK;
}

static void print_number(FILE *out, const char *format, int width, double x)
{
    char text[32];
    snprintf(text, sizeof text, format, x);
    fprintf(out, "%*s", width, isnan(x) ? "-" : text);
}

static void print_core(FILE *out, const nb_summary *s, const nb_shares *shares, int core, int width)
{
    fprintf(out, "  %s\n", s->cores[core].label);
    for (int v = 0; v < s->variant_count; v++) {
        const nb_comparison *c = &shares->pooled[v * s->core_count + core];
        if (c->cells == 0) continue;
        fprintf(out, "    %-*.*s", width, width, s->variants[v].label);
        print_number(out, "%.3g", 10, c->whole.relative);
        print_number(out, "%.2f", 9, c->whole.share);
        print_number(out, "%.3g", 12, c->subspace.relative);
        print_number(out, "%.2f", 9, c->subspace.share);
        print_number(out, "%.1e", 12, c->select_s);
        fputs(c->cells < c->planned ? " !\n" : "\n", out);
    }
}

void nb_shares_print(FILE *out, const nb_summary *s, const nb_shares *shares)
{
    enum { LONGEST = 40 };
    int width = 0, compared = 0;
    for (int v = 0; v < s->variant_count; v++) {
        int length = (int)strlen(s->variants[v].label);
        width = length > width ? length : width;
        bool any = false;
        for (int c = 0; c < s->core_count; c++) any |= shares->pooled[v * s->core_count + c].cells > 0;
        compared += any;
    }
    if (compared < 2) return;
    width = width < LONGEST ? width : LONGEST;
    fprintf(out, "\nRelative to %s\n    %-*s%10s%9s%12s%9s%12s\n", shares->baseline, width, "", "error", "share", "subspace", "share", "select_s");
    for (int c = 0; c < s->core_count; c++) print_core(out, s, shares, c, width);
    fputs("error: over the baseline's in the same trial; subspace: the same of the least error that any core reaches;\n"
          "share: of the gap between the baseline (0) and the best strategy here (1), below 0 where worse than the\n"
          "baseline, all gains over all gaps. Else medians over problems and landmarks of each cell's median;\n"
          "! some cells are missing. select_s: seconds.\n",
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
    const char *texts[] = {panel ? panel->label : "all", panel ? panel->problem : NULL, panel ? panel->kernel : NULL, v->label, v->strategy, v->pairing, v->factors, s->cores[core].core};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        nb_csv_print_text(out, texts[i]);
        fputc(',', out);
    }
    if (panel)
        fprintf(out, "%d,%d", s->landmarks[landmark], c->whole.pairs);
    else
        fprintf(out, ",%d", c->cells);
    print_csv_share(out, &c->whole);
    print_csv_share(out, &c->subspace);
    print_csv_real(out, c->select_s);
    fputc('\n', out);
}

void nb_shares_print_csv(FILE *out, const nb_summary *s, const nb_shares *shares)
{
    fputs("panel,problem,kernel,label,strategy,pairing,factors,core,landmarks,count,error,error_relative,error_share,"
          "subspace,subspace_relative,subspace_share,select_s\n", out);
    for (int v = 0; v < s->variant_count; v++)
        for (int c = 0; c < s->core_count; c++) {
            for (int p = 0; p < s->panel_count; p++)
                for (int l = 0; l < s->landmark_count; l++)
                    print_csv_line(out, s, &s->panels[p], v, c, l, &shares->cells[nb_summary_cell(s, p, v, c, l)]);
            print_csv_line(out, s, NULL, v, c, 0, &shares->pooled[v * s->core_count + c]);
        }
}
