/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.c - see pairs.h */
#include "statistics/pairs.h"

#include <math.h>
#include <stdlib.h>

static int compare_pairs(const void *p, const void *q)
{
    const nb_row_pair *a = p, *b = q;
    const int keys[][2] = {{a->source, b->source}, {a->head, b->head}, {a->same, b->same}, {a->trial, b->trial}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
    bool same = a->x.value == b->x.value;
    double u = same ? a->y.value : a->x.value, v = same ? b->y.value : b->x.value;
    return (u > v) - (u < v);
}

static bool counts(const nb_row_pair *p, const nb_pair_value *v)
{
    return !isnan(v->value) && !v->noise && !p->exact_x && !p->exact_y;
}

static void count(nb_pair_counts *c, const nb_row_pair *p, const nb_pair_value *v)
{
    bool x = !isnan(p->x.value), y = !isnan(p->y.value);
    c->pairs += counts(p, v);
    c->ties += counts(p, v) && v->tie;
    c->noise += x && y && v->noise;
    c->disturbed += counts(p, v) && p->disturbed;
    c->exact += x && y && p->exact_x;
    c->exact_baseline += x && y && p->exact_y;
    c->missing += !x && y;
    c->missing_baseline += x && !y;
    c->skipped += p->skipped_x && y;
    c->skipped_baseline += x && p->skipped_y;
    c->untimed += p->untimed_x;
    c->untimed_baseline += p->untimed_y;
    c->neither += !x && !y;
}

/* Returns what a pair without a result counts as: the largest difference seen, against whoever has none. NaN: no pair
 * shows one, and so none counts. */
static double worst(int n, const nb_row_pair *pairs, const nb_pair_terms *terms)
{
    double most = NAN;
    for (int i = 0; i < n; i++) {
        const nb_pair_value v = nb_noisy_compare(pairs[i].x, pairs[i].y, terms->difference);
        if (counts(&pairs[i], &v) && isfinite(v.value)) most = fmax(most, fabs(v.value));
    }
    return terms->more ? -most : most;
}

static void add_crossed(const nb_row_pair *p, double value, int strata, nb_paired *out)
{
    if (!isfinite(value)) return;
    out->shares[p->stratum] |= p->shares;
    out->shares[strata] |= p->shares;
    out->crossed_heads[out->crossed_count] = p->head;
    out->crossed[out->crossed_count++] = (nb_crossed_value){p->stratum, p->source, p->trial, value};
}

/* Adds the mean of the n pairs of one head. */
static void add_unit(int n, const nb_row_pair *pairs, int strata, bool difference, double most, nb_paired *out)
{
    nb_unit_value unit = {.stratum = pairs->stratum, .source = pairs->source};
    int used = 0;
    for (const nb_row_pair *p = pairs; p < pairs + n; p++) {
        const nb_pair_value v = nb_noisy_compare(p->x, p->y, difference);
        bool both = counts(p, &v), one = isnan(p->x.value) != isnan(p->y.value);
        count(&out->counts[p->stratum], p, &v);
        count(&out->counts[strata], p, &v);
        if (both) add_crossed(p, v.value, strata, out);
        if (!both && (!one || isnan(most))) continue;
        unit.value += both ? v.value : isnan(p->x.value) ? most : -most;
        unit.variance += v.variance;
        used++;
    }
    if (used == 0) return;
    unit.value /= used;
    unit.variance /= (double)used * used;
    out->heads[out->unit_count] = pairs->head;
    out->units[out->unit_count++] = unit;
}

nb_status nb_pairs_unite(int n, nb_row_pair *pairs, int strata, const nb_pair_terms *terms, nb_paired *out, nb_ctx *ctx)
{
    size_t each = (size_t)strata + 1, all = (size_t)n + 1;
    *out = (nb_paired){.unit_count = 0};
    NB_NEED(out->counts, nb_alloc(ctx, each, sizeof *out->counts));
    NB_NEED(out->common, nb_alloc(ctx, each, sizeof *out->common));
    NB_NEED(out->shares, nb_alloc(ctx, each, sizeof *out->shares));
    NB_NEED(out->units, nb_alloc(ctx, all, sizeof *out->units));
    NB_NEED(out->heads, nb_alloc(ctx, all, sizeof *out->heads));
    NB_NEED(out->crossed, nb_alloc(ctx, all, sizeof *out->crossed));
    NB_NEED(out->crossed_heads, nb_alloc(ctx, all, sizeof *out->crossed_heads));
    if (n > 0) qsort(pairs, (size_t)n, sizeof *pairs, compare_pairs);
    double most = terms->failures == NB_FAILURES_WORST ? worst(n, pairs, terms) : NAN;
    for (int i = 0, next; i < n; i = next) {
        for (next = i; next < n && pairs[next].source == pairs[i].source && pairs[next].head == pairs[i].head;) next++;
        add_unit(next - i, pairs + i, strata, terms->difference, most, out);
    }
    return nb_crossed_errors(out->crossed_count, out->crossed, strata, out->shares, out->common, ctx);
}
