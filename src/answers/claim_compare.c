/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_compare.c - see claim_compare.h */
#include "answers/claim_compare.h"

#include "rows/where.h"
#include "rows/run_facts.h"

/* Crosses the contrasts of all settings. */
static nb_status cross_contrasts(const nb_contrasts *c, int value, nb_claim_units *u, nb_ctx *ctx)
{
    nb_crossed all = {.count = 0};
    bool *shares;
    NB_NEED(shares, nb_alloc(ctx, (size_t)u->strata.count + 1, sizeof *shares));
    for (int i = 0; i < c->count; i++) {
        const nb_paired *of = &c->items[i].of;
        if (c->items[i].value != value) continue;
        for (int s = 0; s <= u->strata.count; s++) shares[s] |= of->shares[s];
        for (int k = 0; k < of->crossed_count; k++) NB_TRY(ctx, nb_crossed_add_value(&all, of->crossed[k], ctx));
    }
    return nb_claim_units_find_common(u, &all, shares, ctx);
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
        u->skipped += all->skipped + all->skipped_baseline;
        u->untimed += all->untimed;
        u->untimed_baseline += all->untimed_baseline;
        u->disturbed += all->disturbed;
        u->missing += failures == NB_FAILURES_WORST ? 0 : single;
    }
    return nb_claim_units_average(count, items, u, ctx);
}

static const char rows_of_both[] = "rows_of_both";

/* A against B, whose rows alone are meant. */
static nb_status compare_values(nb_relation *r, const nb_claim *claim, int a, int b, nb_claim_units *u, nb_ctx *ctx)
{
    nb_contrasts contrasts;
    nb_head_places places;
    nb_contrast_terms terms = {.by = claim->column,
                               .metric = claim->series[0].metric.text,
                               .baseline = b,
                               .difference = claim->expectation == NB_EXPECT_DIFFERENCE ||
                                             claim->expectation == NB_EXPECT_EQUAL_DIFFERENCE,
                               .united = true,
                               .confounded = (const char *const *)claim->confounded,
                               .among = rows_of_both,
                               .failures = claim->failures == NB_CLAIM_WORST ? NB_FAILURES_WORST : NB_FAILURES_DROP};
    NB_TRY(ctx, nb_claim_excuse(nb_contrasts_make(r, &terms, &contrasts, ctx), &u->why, ctx));
    if (u->why) return NB_OK;
    NB_TRY(ctx, nb_head_places_find(r, &places, ctx));
    NB_TRY(ctx, add_contrasts(&contrasts, &places, a, terms.failures, u, ctx));
    u->missing += contrasts.unpaired[a] + contrasts.unmet[a];
    return cross_contrasts(&contrasts, a, u, ctx);
}

nb_status nb_claim_compare(nb_relation *r, const nb_claim *claim, int pair, nb_claim_units *u, nb_ctx *ctx)
{
    int places[2];
    const char *const texts[] = {claim->values[pair].text, claim->values[pair + 1].text};
    *u = (nb_claim_units){.count = 0};
    NB_TRY(ctx, nb_relation_strata(r, &u->strata, ctx));
    NB_TRY(ctx, nb_claim_excuse(nb_where_values(r, NB_PART_ROWS, claim->column, 2, texts, places, rows_of_both, ctx),
                                &u->why, ctx));
    if (!u->why && places[0] == places[1]) u->why = "both are the same";
    return u->why ? NB_OK : compare_values(r, claim, places[0] > places[1], places[1] > places[0], u, ctx);
}
