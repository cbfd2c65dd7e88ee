/* SPDX-License-Identifier: GPL-3.0-or-later */
/* head_conflict.c - a contrast on each head of a model, see contrast.h */
#include "answers/contrast.h"

#include "base/numerals.h"
#include "rows/made_tables.h"
#include "rows/statement.h"
#include "statistics/estimate.h"
#include "statistics/multiple.h"

#include <math.h>
#include <string.h>

nb_status nb_head_places_find(nb_relation *relation, nb_head_places *p, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_relation_make(relation, "place", "head_conflict.places", NULL, ctx));
    NB_TRY(ctx, nb_sql_ask(relation, "head_conflict.of_heads", NULL, &p->heads, ctx));
    return nb_sql_ask(relation, "head_conflict.items", NULL, &p->items, ctx);
}

int nb_head_place(const nb_head_places *p, int head_id)
{
    return (int)nb_grid_at(&p->heads, head_id, 0)->integer;
}

static const char *layer_of(const nb_head_places *p, int place)
{
    return nb_grid_at(&p->items, place, 1)->text;
}

/* Estimates each place in the stratum as if it were a stratum; of one alone it estimates nothing. */
static nb_status estimate(const nb_head_places *p, const nb_paired *c, int stratum, double confidence,
                          nb_estimate **out, nb_ctx *ctx)
{
    nb_unit_value *units;
    nb_crossed_value *values;
    nb_common_error *common;
    int unit_count = 0, value_count = 0, used = 0;
    bool *there, *shares;
    NB_NEED(units, nb_alloc(ctx, (size_t)c->unit_count + 1, sizeof *units));
    NB_NEED(values, nb_alloc(ctx, (size_t)c->crossed_count + 1, sizeof *values));
    NB_NEED(common, nb_alloc(ctx, (size_t)p->items.count + 1, sizeof *common));
    NB_NEED(there, nb_alloc(ctx, (size_t)p->items.count + 1, sizeof *there));
    NB_NEED(shares, nb_alloc(ctx, (size_t)p->items.count + 1, sizeof *shares));
    for (int i = 0; i <= p->items.count; i++) shares[i] = c->shares[stratum];
    NB_NEED(*out, nb_alloc(ctx, (size_t)p->items.count + 1, sizeof **out));
    for (int i = 0; i < c->unit_count; i++) {
        const nb_unit_value *u = &c->units[i];
        int place = nb_head_place(p, c->heads[i]);
        if (u->stratum != stratum) continue;
        used += !there[place];
        there[place] = true;
        units[unit_count++] = (nb_unit_value){place, u->source, u->value, u->variance};
    }
    for (int i = 0; i < c->crossed_count; i++) {
        const nb_crossed_value *v = &c->crossed[i];
        if (v->stratum != stratum) continue;
        values[value_count++] =
            (nb_crossed_value){nb_head_place(p, c->crossed_heads[i]), v->source, v->trial, v->value};
    }
    if (used < 2) return NB_OK;
    const nb_estimate_terms terms = {.confidence = nb_joint_confidence(confidence, used), .common = common};
    NB_TRY(ctx, nb_crossed_errors(value_count, values, p->items.count, shares, common, ctx));
    return nb_estimate_units(unit_count, units, p->items.count, &terms, *out, ctx);
}

/* Describes a place as "0.895 [0.878, 0.913] on head 0", with the layer where heads have several. */
static nb_status describe(const nb_head_places *p, bool difference, const nb_estimate *e, int place, bool name_layer,
                          const char **text, nb_ctx *ctx)
{
    double numbers[] = {e->mean, e->low, e->high};
    for (int i = 0; i < 3 && !difference; i++) numbers[i] = exp(numbers[i]);
    NB_NEED(*text, nb_format(ctx, "%.3g [%s, %s] on %s%s%shead %d", numbers[0], nb_ratio_bound("%.3g", numbers[1]).text,
                             nb_ratio_bound("%.3g", numbers[2]).text, name_layer ? "layer " : "",
                             name_layer && layer_of(p, place) ? layer_of(p, place) : "", name_layer ? ", " : "",
                             (int)nb_grid_at(&p->items, place, 0)->integer));
    return NB_OK;
}

/* Returns whether the places that have sources are in several layers. */
static bool have_layers(const nb_head_places *p, const nb_estimate *e)
{
    const char *one = NULL;
    for (int g = 0; g < p->items.count; g++) {
        if (e[g].sources == 0 || !layer_of(p, g)) continue;
        if (one && strcmp(layer_of(p, g), one) != 0) return true;
        one = layer_of(p, g);
    }
    return false;
}

nb_status nb_find_head_conflict(const nb_head_places *p, bool difference, const nb_contrast *contrast, int stratum,
                                int least, double confidence, const char **conflict, nb_ctx *ctx)
{
    nb_estimate *e;
    int ends[] = {-1, -1};
    const char *texts[2];
    *conflict = NULL;
    if (contrast->of.unit_count < 2 * least) return NB_OK;
    NB_TRY(ctx, estimate(p, &contrast->of, stratum, confidence, &e, ctx));
    for (int g = 0; g < p->items.count; g++) {
        if (e[g].sources < least) continue;
        if (e[g].high < 0 && (ends[0] < 0 || e[g].mean < e[ends[0]].mean)) ends[0] = g;
        if (e[g].low > 0 && (ends[1] < 0 || e[g].mean > e[ends[1]].mean)) ends[1] = g;
    }
    if (ends[0] < 0 || ends[1] < 0) return NB_OK;
    bool name_layer = have_layers(p, e);
    for (int i = 0; i < 2; i++) NB_TRY(ctx, describe(p, difference, &e[ends[i]], ends[i], name_layer, &texts[i], ctx));
    NB_NEED(*conflict, nb_format(ctx, "%s, %s", texts[0], texts[1]));
    return NB_OK;
}
