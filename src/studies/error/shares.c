/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shares.c - each cell's rows are paired with its baseline's, by head and trial. */
#include "studies/error/shares.h"

#include "report/pairs.h"

#include <math.h>
#include <string.h>

typedef struct {
    const nb_summary *summary;
    const nb_selection *cells; /* nb_summary_cell */
    nb_row_pairs heads;        /* rows of two cells that are of one head and trial */
    double *values;            /* room for those of two cells, and for one a cell */
} matcher;

typedef struct { /* one cell of a comparison */
    int panel, variant, core, landmark;
} place;

static int count_cells(const nb_summary *s)
{
    return s->panel_count * s->variant_count * s->core_count * s->landmark_count;
}

static int cell_at(const nb_summary *s, place at)
{
    return nb_summary_cell(s, at.panel, at.variant, at.core, at.landmark);
}

static nb_status matcher_init(matcher *m, const nb_summary *s, nb_ctx *ctx)
{
    int cells = count_cells(s);
    nb_selection all, *of_cell;
    nb_groups groups;
    *m = (matcher){.summary = s};
    NB_TRY(ctx, nb_frame_all(&s->frame, &all, ctx));
    NB_TRY(ctx, nb_frame_group(&s->frame, all, (const char *const[]){NB_OF_CELL, NULL}, &groups, ctx));
    NB_TRY(ctx, nb_row_pairs_make(&s->frame, (const char *const[]){NB_OF_HEAD, NULL}, "trial", &m->heads, ctx));
    NB_NEED(of_cell, nb_alloc(ctx, (size_t)cells + 1, sizeof *of_cell));
    NB_NEED(m->values, nb_alloc_reals(ctx, 2 * (size_t)s->row_count + (size_t)cells + 1, 1));
    for (int g = 0; g < groups.count; g++) {
        nb_selection rows = nb_group_rows(&groups, g);
        const nb_summary_index *at = &s->at[rows.at[0]];
        of_cell[nb_summary_cell(s, at->panel, at->variant, at->core, at->landmark)] = rows;
    }
    m->cells = of_cell;
    return NB_OK;
}

static double part_median(const matcher *m, int cell, nb_part part)
{
    nb_selection rows = m->cells[cell];
    int count = rows.count;
    for (int i = 0; i < count; i++) m->values[i] = nb_part_of(&m->summary->rows[rows.at[i]], part);
    return nb_median_of(m->values, &count);
}

static double selection_median(const matcher *m, int cell)
{
    nb_selection rows = m->cells[cell];
    int count = rows.count;
    for (int i = 0; i < count; i++) {
        const nb_error_row *row = &m->summary->rows[rows.at[i]];
        m->values[i] = strcmp(row->status, "ok") == 0 ? row->measures.select_s : NAN;
    }
    return nb_median_of(m->values, &count);
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

/* The median ratio of the pairs that were found last. */
static void compare_pairs(const matcher *m, nb_part part, nb_share *out)
{
    const nb_error_row *rows = m->summary->rows;
    out->pairs = m->heads.count;
    for (int i = 0; i < out->pairs; i++)
        m->values[i] = ratio(&rows[m->heads.pairs[i].a], &rows[m->heads.pairs[i].b], part, &out->noise);
    out->relative = nb_median_of(m->values, &out->pairs);
}

/* The baseline of a cell, with the same factors and, if that is planned there, with the same
 * pairing; or -1. */
static int baseline_of(const nb_summary *s, const char *baseline, place at, bool *fixed)
{
    int found = -1;
    *fixed = false;
    for (int v = 0; v < s->variant_count && !*fixed; v++) {
        const nb_variant *b = &s->variants[v];
        if (strcmp(b->strategy, baseline) != 0 || strcmp(b->factors, s->variants[at.variant].factors) != 0) continue;
        if (s->errors[nb_summary_cell(s, at.panel, v, at.core, at.landmark)].planned == 0) continue;
        *fixed = nb_summary_peers(s, at.panel, v, at.variant);
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
    static const double shown = 0.99; /* a smaller gap gives no meaningful share */
    double s = best < shown ? log(relative) / log(best) : NAN;
    return s >= -1 && s <= 1 ? s + 0.0 : NAN; /* -0 becomes 0 */
}

static nb_status compare_cell(matcher *m, const char *baseline, nb_comparison *cells, place at, nb_ctx *ctx)
{
    const nb_summary *s = m->summary;
    int cell = cell_at(s, at);
    nb_comparison *c = &cells[cell];
    static const nb_share nothing = {.relative = NAN, .best = NAN, .share = NAN};
    *c = (nb_comparison){.whole = nothing, .subspace = nothing, .select_s = selection_median(m, cell)};
    c->base = baseline_of(s, baseline, at, &c->fixed);
    for (nb_part part = NB_WHOLE; part <= NB_SUBSPACE; part++) share_of(c, part)->error = part_median(m, cell, part);
    if (c->base < 0) return NB_OK;
    int base = nb_summary_cell(s, at.panel, c->base, at.core, at.landmark);
    NB_TRY(ctx, nb_row_pairs_find(&m->heads, m->cells[cell], m->cells[base]));
    for (nb_part part = NB_WHOLE; part <= NB_SUBSPACE; part++) compare_pairs(m, part, share_of(c, part));
    return NB_OK;
}

/* Of cells that are compared with one baseline; known where the ratio is. */
static void find_best(const nb_summary *s, nb_comparison *cells, place at, nb_part part)
{
    nb_comparison *mine = &cells[cell_at(s, at)];
    nb_share *out = share_of(mine, part);
    for (int v = 0; v < s->variant_count && mine->fixed && !isnan(out->relative); v++) {
        nb_comparison *other = &cells[nb_summary_cell(s, at.panel, v, at.core, at.landmark)];
        if (other->fixed && other->base == mine->base) out->best = fmin(out->best, share_of(other, part)->relative);
    }
    out->share = share(out->relative, out->best);
}

static nb_status compare_all(matcher *m, const char *baseline, nb_comparison *cells, nb_ctx *ctx)
{
    const nb_summary *s = m->summary;
    for (int best = 0; best < 2; best++) /* once all ratios are there */
        for (int v = 0; v < s->variant_count; v++)
            for (int p = 0; p < s->panel_count; p++)
                for (int c = 0; c < s->core_count; c++)
                    for (int l = 0; l < s->landmark_count; l++) {
                        if (!best) NB_TRY(ctx, compare_cell(m, baseline, cells, (place){p, v, c, l}, ctx));
                        for (nb_part part = NB_WHOLE; best && part <= NB_SUBSPACE; part++)
                            find_best(s, cells, (place){p, v, c, l}, part);
                    }
    return NB_OK;
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
    return nb_median_of(m->values, count);
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

nb_status nb_shares_make(const nb_summary *summary, const char *baseline, nb_shares *shares, nb_ctx *ctx)
{
    matcher m;
    int variants = summary->variant_count, cores = summary->core_count;
    *shares = (nb_shares){.baseline = ""};
    if (!baseline && variants > 0) baseline = default_baseline(summary);
    for (int v = 0; v < variants; v++)
        if (strcmp(summary->variants[v].strategy, baseline) == 0) shares->baseline = summary->variants[v].name;
    NB_NEED(shares->cells, nb_alloc(ctx, (size_t)count_cells(summary), sizeof *shares->cells));
    NB_NEED(shares->pooled, nb_alloc(ctx, (size_t)variants * (size_t)cores, sizeof *shares->pooled));
    NB_TRY(ctx, matcher_init(&m, summary, ctx));
    NB_TRY(ctx, compare_all(&m, baseline, shares->cells, ctx));
    for (int v = 0; v < variants; v++)
        for (int c = 0; c < cores; c++) shares->pooled[v * cores + c] = pool_all(&m, shares->cells, v, c);
    return NB_OK;
}
