/* SPDX-License-Identifier: GPL-3.0-or-later */
/* head_turn.c - see head_turn.h. Heads of different inputs are one if they have the same number in the same layer. */
#include "report/head_turn.h"

#include <math.h>
#include <string.h>

typedef struct { /* heads of a model */
    int count;
    const int *of;    /* by the code of a problem's head, see nb_replicates */
    const int *first; /* a row of each */
} places;

static nb_status make_places(const nb_frame *f, void *out, nb_ctx *ctx)
{
    static const char *const of_data[] = {"problem", "head", NULL};
    const char *of_model[] = {"model", "head", nb_frame_has(f, "layer") ? "layer" : NULL, NULL};
    places *p = out;
    nb_selection all;
    nb_groups heads, found;
    int *of, *first;
    NB_TRY(ctx, nb_frame_all(f, &all, ctx));
    NB_TRY(ctx, nb_frame_group(f, all, of_data, &heads, ctx));
    NB_TRY(ctx, nb_frame_group(f, all, nb_frame_has(f, "model") ? of_model : of_model + 1, &found, ctx));
    NB_NEED(of, nb_alloc(ctx, (size_t)heads.count + 1, sizeof *of));
    NB_NEED(first, nb_alloc(ctx, (size_t)found.count + 1, sizeof *first));
    for (int h = 0; h < heads.count; h++) of[h] = found.of[heads.rows[heads.first[h]]];
    for (int g = 0; g < found.count; g++) first[g] = found.rows[found.first[g]];
    *p = (places){found.count, of, first};
    return NB_OK;
}

/* Of each place in the stratum, which is a stratum here; of one alone nothing is estimated. */
static nb_status estimate(const places *p, const nb_contrast *c, int stratum, double confidence, nb_estimate **out,
                          nb_ctx *ctx)
{
    nb_unit_value *units;
    nb_crossed_value *values;
    nb_common_error *common;
    int unit_count = 0, value_count = 0, used = 0;
    bool *there;
    NB_NEED(units, nb_alloc(ctx, (size_t)c->unit_count + 1, sizeof *units));
    NB_NEED(values, nb_alloc(ctx, (size_t)c->crossed_count + 1, sizeof *values));
    NB_NEED(common, nb_alloc(ctx, (size_t)p->count + 1, sizeof *common));
    NB_NEED(there, nb_alloc(ctx, (size_t)p->count + 1, sizeof *there));
    NB_NEED(*out, nb_alloc(ctx, (size_t)p->count + 1, sizeof **out));
    for (int i = 0; i < c->unit_count; i++) {
        const nb_unit_value *u = &c->units[i];
        int place = p->of[c->heads[i]];
        if (u->stratum != stratum) continue;
        used += !there[place];
        there[place] = true;
        units[unit_count++] = (nb_unit_value){place, u->source, u->value, u->variance};
    }
    for (int i = 0; i < c->crossed_count; i++) {
        const nb_crossed_value *v = &c->crossed[i];
        if (v->stratum != stratum) continue;
        values[value_count++] = (nb_crossed_value){p->of[c->crossed_heads[i]], v->source, v->trial, v->value};
    }
    if (used < 2) return NB_OK;
    const nb_estimate_terms terms = {.confidence = 1 - (1 - confidence) / used, .common = common};
    NB_TRY(ctx, nb_crossed_errors(value_count, values, p->count, common, ctx));
    return nb_estimate_units(unit_count, units, p->count, &terms, *out, ctx);
}

/* "0.895 [0.878, 0.913] on head 0", with the layer where heads have several. */
static nb_status describe(const nb_frame *f, const nb_contrast_terms *terms, const nb_estimate *e, int row,
                          bool name_layer, const char **text, nb_ctx *ctx)
{
    const nb_row *r = nb_frame_row(f, row);
    double numbers[] = {e->mean, e->low, e->high};
    for (int i = 0; i < 3 && !terms->difference; i++) numbers[i] = exp(numbers[i]);
    NB_NEED(*text, nb_format(ctx, "%.3g [%.3g, %.3g] on %s%s%shead %d", numbers[0], numbers[1], numbers[2],
                             name_layer ? "layer " : "", name_layer ? r->layer : "", name_layer ? ", " : "", r->head));
    return NB_OK;
}

/* Whether the places that have sources are in several layers. */
static bool have_layers(const nb_frame *f, const places *p, const nb_estimate *e)
{
    const char *one = NULL;
    for (int g = 0; g < p->count; g++) {
        const nb_row *row = nb_frame_row(f, p->first[g]);
        if (e[g].sources == 0 || !row->layer) continue;
        if (one && strcmp(row->layer, one) != 0) return true;
        one = row->layer;
    }
    return false;
}

nb_status nb_head_turn(const nb_frame *frame, const nb_contrast_terms *terms, const nb_contrast *contrast, int stratum,
                       int least, double confidence, const char **turn, nb_ctx *ctx)
{
    places p;
    nb_estimate *e;
    int ends[] = {-1, -1};
    const char *texts[2];
    *turn = NULL;
    if (contrast->unit_count < 2 * least) return NB_OK;
    NB_TRY(ctx, nb_frame_once(frame, make_places, sizeof p, &p));
    NB_TRY(ctx, estimate(&p, contrast, stratum, confidence, &e, ctx));
    for (int g = 0; g < p.count; g++) {
        if (e[g].sources < least) continue;
        if (e[g].high < 0 && (ends[0] < 0 || e[g].mean < e[ends[0]].mean)) ends[0] = g;
        if (e[g].low > 0 && (ends[1] < 0 || e[g].mean > e[ends[1]].mean)) ends[1] = g;
    }
    if (ends[0] < 0 || ends[1] < 0) return NB_OK;
    const int rows[] = {p.first[ends[0]], p.first[ends[1]]};
    bool name_layer = have_layers(frame, &p, e);
    for (int i = 0; i < 2; i++) NB_TRY(ctx, describe(frame, terms, &e[ends[i]], rows[i], name_layer, &texts[i], ctx));
    NB_NEED(*turn, nb_format(ctx, "%s, %s", texts[0], texts[1]));
    return NB_OK;
}
