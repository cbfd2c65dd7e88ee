/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_units.c - see claim_units.h */
#include "answers/claim_units.h"

#include "rows/where.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

nb_status nb_claim_excuse(nb_status status, const char **why, nb_ctx *ctx)
{
    if (status != NB_EINVAL) return status;
    NB_NEED(*why, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    return NB_OK;
}

nb_status nb_claim_choose(const nb_relation *r, const char *among, const nb_conditions *where, const char *chosen,
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
    return nb_claim_excuse(nb_where(r, among, conditions, chosen, ctx), why, ctx);
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

nb_status nb_claim_units_average(int count, nb_head_value *items, nb_claim_units *u, nb_ctx *ctx)
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

nb_status nb_crossed_add_value(nb_crossed *c, nb_crossed_value value, nb_ctx *ctx)
{
    NB_GROW(ctx, c->items, c->count, c->room);
    c->items[c->count++] = value;
    return NB_OK;
}

nb_status nb_claim_units_find_common(nb_claim_units *u, const nb_crossed *c, const bool *shares, nb_ctx *ctx)
{
    NB_NEED(u->common, nb_alloc(ctx, (size_t)u->strata.count + 1, sizeof *u->common));
    NB_TRY(ctx, nb_crossed_errors(c->count, c->items, u->strata.count, shares, u->common, ctx));
    u->drawn_trials = nb_drawn_trials(u->strata.count + 1, u->common, shares);
    return NB_OK;
}
