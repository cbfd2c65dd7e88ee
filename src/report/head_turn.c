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

typedef struct { /* of one stratum, by place: those of place g from first[g] on */
    nb_unit_value *units;
    nb_crossed_value *values;
    int *first_unit, *first_value; /* places + 1 */
} parts;

/* Of the items that are wanted: first[g] <- where those of place g begin, at[i] <- where item i goes. */
static void place(const places *p, int count, const int *heads, const bool *wanted, int *first, int *at)
{
    for (int g = 0; g <= p->count; g++) first[g] = 0;
    for (int i = 0; i < count; i++)
        if (wanted[i]) first[p->of[heads[i]] + 1]++;
    for (int g = 0; g < p->count; g++) first[g + 1] += first[g];
    for (int i = 0; i < count; i++)
        if (wanted[i]) at[i] = first[p->of[heads[i]]]++;
    for (int g = p->count; g > 0; g--) first[g] = first[g - 1];
    first[0] = 0;
}

static nb_status part(const places *p, const nb_contrast *c, int stratum, parts *out, nb_ctx *ctx)
{
    int most = c->unit_count > c->crossed_count ? c->unit_count : c->crossed_count, *at;
    bool *wanted;
    NB_NEED(at, nb_alloc(ctx, (size_t)most + 1, sizeof *at));
    NB_NEED(wanted, nb_alloc(ctx, (size_t)most + 1, sizeof *wanted));
    NB_NEED(out->units, nb_alloc(ctx, (size_t)c->unit_count + 1, sizeof *out->units));
    NB_NEED(out->values, nb_alloc(ctx, (size_t)c->crossed_count + 1, sizeof *out->values));
    NB_NEED(out->first_unit, nb_alloc(ctx, (size_t)p->count + 1, sizeof *out->first_unit));
    NB_NEED(out->first_value, nb_alloc(ctx, (size_t)p->count + 1, sizeof *out->first_value));
    for (int i = 0; i < c->unit_count; i++) wanted[i] = c->units[i].stratum == stratum;
    place(p, c->unit_count, c->heads, wanted, out->first_unit, at);
    for (int i = 0; i < c->unit_count; i++) {
        if (!wanted[i]) continue;
        out->units[at[i]] = c->units[i];
        out->units[at[i]].stratum = 0;
    }
    for (int i = 0; i < c->crossed_count; i++) wanted[i] = c->crossed[i].stratum == stratum;
    place(p, c->crossed_count, c->crossed_heads, wanted, out->first_value, at);
    for (int i = 0; i < c->crossed_count; i++) {
        if (!wanted[i]) continue;
        out->values[at[i]] = c->crossed[i];
        out->values[at[i]].stratum = 0;
    }
    return NB_OK;
}

/* Of the units of place g. */
static nb_status estimate(const parts *of, int g, double confidence, nb_estimate *e, nb_ctx *ctx)
{
    nb_common_error common[2];
    nb_estimate both[2];
    int units = of->first_unit[g], values = of->first_value[g];
    const nb_estimate_terms terms = {.confidence = confidence, .common = common};
    NB_TRY(ctx, nb_crossed_errors(of->first_value[g + 1] - values, of->values + values, 1, common, ctx));
    NB_TRY(ctx, nb_estimate_units(of->first_unit[g + 1] - units, of->units + units, 1, &terms, both, ctx));
    *e = both[0];
    return NB_OK;
}

/* "0.895 [0.878, 0.913] on head 0", with the layer where another head has another one. */
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

static bool differ(const char *a, const char *b)
{
    return a && b && strcmp(a, b) != 0;
}

static nb_status find(const nb_frame *f, const nb_contrast_terms *terms, const places *p, const parts *of, int least,
                      double confidence, const char **turn, nb_ctx *ctx)
{
    int low = -1, high = -1, used = 0;
    nb_estimate ends[2];
    const char *texts[2];
    for (int g = 0; g < p->count; g++) used += of->first_unit[g + 1] > of->first_unit[g];
    for (int g = 0; g < p->count && used > 1; g++) {
        nb_estimate e;
        if (of->first_unit[g + 1] - of->first_unit[g] < least) continue;
        NB_TRY(ctx, estimate(of, g, 1 - (1 - confidence) / used, &e, ctx));
        if (e.sources < least) continue;
        if (e.high < 0 && (low < 0 || e.mean < ends[0].mean)) {
            low = g;
            ends[0] = e;
        }
        if (e.low > 0 && (high < 0 || e.mean > ends[1].mean)) {
            high = g;
            ends[1] = e;
        }
    }
    if (low < 0 || high < 0) return NB_OK;
    const int rows[] = {p->first[low], p->first[high]};
    const nb_row *r[] = {nb_frame_row(f, rows[0]), nb_frame_row(f, rows[1])};
    for (int i = 0; i < 2; i++)
        NB_TRY(ctx, describe(f, terms, &ends[i], rows[i], differ(r[0]->layer, r[1]->layer), &texts[i], ctx));
    NB_NEED(*turn, nb_format(ctx, "%s, %s", texts[0], texts[1]));
    return NB_OK;
}

nb_status nb_head_turn(const nb_frame *frame, const nb_contrast_terms *terms, const nb_contrast *contrast, int stratum,
                       int least, double confidence, const char **turn, nb_ctx *ctx)
{
    places p;
    parts of;
    *turn = NULL;
    if (contrast->unit_count < 2 * least) return NB_OK;
    NB_TRY(ctx, nb_frame_once(frame, make_places, sizeof p, &p));
    NB_TRY(ctx, part(&p, contrast, stratum, &of, ctx));
    return find(frame, terms, &p, &of, least, confidence, turn, ctx);
}
