/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_units.c - the units of what is a contrast, and what all units need; claim_lines.c has the others. */
#include "report/claim_units_private.h"

#include "report/contrast.h"
#include "report/where.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Turns an error that says what cannot be asked of these rows into the reason why there is no answer. */
static nb_status excuse(nb_status status, const char **why, nb_ctx *ctx)
{
    if (status != NB_EINVAL) return status;
    NB_NEED(*why, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    return NB_OK;
}

nb_status nb_claim_rows(const nb_relation *r, const char *among, const nb_conditions *where, const char **sql,
                        const char **why, nb_ctx *ctx)
{
    nb_condition_text *conditions;
    int count = 0;
    for (int i = 0; i < where->count; i++) count += where->items[i].count;
    NB_NEED(conditions, nb_alloc(ctx, (size_t)count + 1, sizeof *conditions));
    count = 0;
    for (int i = 0; i < where->count; i++)
        for (int v = 0; v < where->items[i].count; v++)
            conditions[count++] = (nb_condition_text){where->items[i].column, where->items[i].values[v].text};
    *why = NULL;
    return excuse(nb_where(r, among, conditions, sql, ctx), why, ctx);
}

static int compare_items(const void *a, const void *b)
{
    const nb_head_value *x = a, *y = b;
    if (x->unit.source != y->unit.source) return x->unit.source < y->unit.source ? -1 : 1;
    if (x->head != y->head) return x->head < y->head ? -1 : 1;
    return (x->unit.value > y->unit.value) - (x->unit.value < y->unit.value);
}

/* Returns the mean of the items first ... end - 1; of +inf and -inf together it is 0, neither. */
static nb_unit_value mean_of(const nb_head_value *items, int first, int end)
{
    nb_unit_value mean = {.stratum = items[first].unit.stratum, .source = items[first].unit.source};
    for (int i = first; i < end; i++) {
        mean.value += items[i].unit.value / (end - first);
        mean.variance += items[i].unit.variance / ((double)(end - first) * (end - first));
    }
    if (isnan(mean.value)) mean.value = 0;
    return mean;
}

/* Sorts first, so that the order of the settings does not matter. */
nb_status nb_claim_unite(int count, nb_head_value *items, nb_claim_units *u, nb_ctx *ctx)
{
    NB_NEED(u->units, nb_alloc(ctx, (size_t)count + 1, sizeof *u->units));
    if (count > 0) qsort(items, (size_t)count, sizeof *items, compare_items);
    for (int i = 0, next; i < count; i = next) {
        for (next = i; next < count && items[next].unit.source == items[i].unit.source; next++) {
            if (items[next].head != items[i].head) break;
            u->infinite += !isfinite(items[next].unit.value);
        }
        u->units[u->count++] = mean_of(items, i, next);
    }
    return NB_OK;
}

nb_status nb_crossed_add(nb_crossed *c, nb_crossed_value value, nb_ctx *ctx)
{
    NB_GROW(ctx, c->items, c->count, c->room);
    c->items[c->count++] = value;
    return NB_OK;
}

nb_status nb_crossed_draw(nb_crossed *c, int trial, nb_ctx *ctx)
{
    while (c->trials <= trial) {
        NB_GROW(ctx, c->drawn, c->trials, c->trial_room);
        c->drawn[c->trials++] = false;
    }
    NB_REQUIRE(ctx, c->drawn && trial >= 0, NB_EBUG, "a trial of the number %d", trial);
    c->drawn[trial] = true;
    return NB_OK;
}

nb_status nb_claim_find_common(nb_claim_units *u, const nb_crossed *c, const bool *shares, nb_ctx *ctx)
{
    nb_crossed all = {.count = 0};
    for (int i = 0; i < c->count; i++) {
        nb_crossed_value value = c->items[i];
        if (value.trial >= 0) NB_TRY(ctx, nb_crossed_add(&all, value, ctx));
        for (int t = 0; t < c->trials && c->items[i].trial < 0; t++) {
            value.trial = t;
            if (c->drawn[t]) NB_TRY(ctx, nb_crossed_add(&all, value, ctx));
        }
    }
    NB_NEED(u->common, nb_alloc(ctx, (size_t)u->strata.count + 1, sizeof *u->common));
    NB_TRY(ctx, nb_crossed_errors(all.count, all.items, u->strata.count, shares, u->common, ctx));
    u->drawn_trials = nb_drawn_trials(u->strata.count + 1, u->common, shares);
    return NB_OK;
}

/* Crosses the contrasts of all settings. */
static nb_status cross_contrasts(const nb_contrasts *c, int value, nb_claim_units *u, nb_ctx *ctx)
{
    nb_crossed all = {.count = 0};
    bool *shares;
    NB_NEED(shares, nb_alloc(ctx, (size_t)u->strata.count + 1, sizeof *shares));
    for (int i = 0; i < c->count; i++) {
        const nb_contrast *x = &c->items[i];
        bool alone = true;
        if (x->value != value) continue;
        for (int s = 0; s <= u->strata.count; s++) shares[s] |= x->of.shares[s];
        for (int k = 0; k < x->of.crossed_count; k++) alone = alone && x->of.crossed[k].trial == 0;
        for (int k = 0; k < x->of.crossed_count; k++) {
            nb_crossed_value one = x->of.crossed[k];
            NB_TRY(ctx, nb_crossed_draw(&all, one.trial, ctx));
            if (alone) one.trial = -1;
            NB_TRY(ctx, nb_crossed_add(&all, one, ctx));
        }
    }
    return nb_claim_find_common(u, &all, shares, ctx);
}

/* The settings' units of one value of the compared column, and their pairs. Where failures count as the worst, a pair
 * with one result counts as found. */
static nb_status add_contrasts(const nb_contrasts *c, const nb_head_places *places, int value, nb_failures failures,
                               nb_claim_units *u, nb_ctx *ctx)
{
    int total = 0, count = 0;
    nb_head_value *items;
    for (int i = 0; i < c->count; i++) total += c->items[i].value == value ? c->items[i].of.unit_count : 0;
    NB_NEED(items, nb_alloc(ctx, (size_t)total + 1, sizeof *items));
    for (int i = 0; i < c->count; i++) {
        const nb_contrast *x = &c->items[i];
        const nb_pair_counts *all = &x->of.counts[c->strata.count];
        if (x->value != value) continue;
        int single = all->missing + all->missing_baseline;
        if (x->refusal) u->why = x->refusal;
        for (int k = 0; k < x->of.unit_count; k++)
            items[count++] = (nb_head_value){x->of.units[k], nb_head_place(places, x->of.heads[k])};
        u->found += all->pairs + (failures == NB_FAILURES_WORST ? single : 0);
        u->noise += all->noise;
        u->exact += all->exact;
        u->exact_baseline += all->exact_baseline;
        u->disturbed += all->disturbed;
        u->missing += all->neither + (failures == NB_FAILURES_WORST ? 0 : single);
    }
    return nb_claim_unite(count, items, u, ctx);
}

/* A against B, whose rows alone are meant. */
static nb_status contrast(nb_relation *r, const char *both, const nb_claim *claim, int a, int b, nb_claim_units *u,
                          nb_ctx *ctx)
{
    nb_contrasts contrasts;
    nb_head_places places;
    nb_contrast_terms terms = {.by = claim->column,
                               .metric = claim->series[0].metric.text,
                               .baseline = b,
                               .difference = claim->expectation == NB_EXPECT_DIFFERENCE ||
                                             claim->expectation == NB_EXPECT_EQUAL_DIFFERENCE,
                               .confounded = (const char *const *)claim->confounded,
                               .where = both,
                               .failures = claim->failures == NB_CLAIM_WORST ? NB_FAILURES_WORST : NB_FAILURES_DROP};
    NB_TRY(ctx, excuse(nb_contrasts_make(r, &terms, &contrasts, ctx), &u->why, ctx));
    if (u->why) return NB_OK;
    NB_TRY(ctx, nb_head_places_find(r, &places, ctx));
    NB_TRY(ctx, add_contrasts(&contrasts, &places, a, terms.failures, u, ctx));
    u->missing += contrasts.unpaired[a] + contrasts.unmet[a];
    return cross_contrasts(&contrasts, a, u, ctx);
}

static nb_status compare(nb_relation *r, const char *among, const nb_claim *claim, int pair, nb_claim_units *u,
                         nb_ctx *ctx)
{
    nb_value_found found[2];
    const char *both, *const texts[] = {claim->values[pair].text, claim->values[pair + 1].text};
    NB_TRY(ctx, excuse(nb_where_values(r, among, claim->column, 2, texts, found, ctx), &u->why, ctx));
    if (!u->why && found[0].place == found[1].place) u->why = "both are the same";
    if (u->why) return NB_OK;
    NB_NEED(both, nb_format(ctx, "%s AND (%s OR %s)", among, found[0].sql, found[1].sql));
    return contrast(r, both, claim, found[0].place > found[1].place, found[1].place > found[0].place, u, ctx);
}

nb_status nb_claim_units_make(nb_relation *r, const char *among, const nb_claim *claim, int pair, nb_claim_units *u,
                              nb_ctx *ctx)
{
    bool pairs = claim->form == NB_CLAIM_COMPARE || claim->form == NB_CLAIM_ORDER;
    *u = (nb_claim_units){.count = 0};
    NB_TRY(ctx, nb_relation_strata(r, &u->strata, ctx));
    return pairs ? compare(r, among, claim, pair, u, ctx) : nb_claim_lines(r, among, claim, u, ctx);
}
