/* SPDX-License-Identifier: GPL-3.0-or-later */
/* author_counts.c - settings whose multiplications a method's author tells, since the program cannot count them. */
#include "suite/suite.h"

#include "base/files.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static nb_status read_setting(const nb_suite *s, int model, const char *path, size_t at, json_t *item,
                              nb_suite_setting *to, int part, nb_ctx *ctx)
{
    nb_layer layer;
    const char *text = json_string_value(json_object_get(item, "attention"));
    json_t *told = json_object_get(item, "multiplications");
    if (!text) return NB_OK; /* a setting that a result has as refused */
    NB_REQUIRE(ctx, json_is_number(told), NB_EINVAL, "%s: item %zu: multiplications: expected a number", path, at);
    NB_TRY(ctx, nb_suite_layer(s, s->models[model].first, &layer, ctx));
    *to = (nb_suite_setting){.multiplications = json_number_value(told), .bytes = NAN, .growth = NAN};
    NB_TRY(ctx, nb_choice_parse(&nb_attentions, text, &to->attention, ctx));
    NB_TRY(ctx,
           nb_suite_enough(s, s->models[model].first, to->attention.label, to->multiplications, &layer.shape, ctx));
    NB_REQUIRE(ctx, to->multiplications * part <= nb_suite_exact(&layer.shape), NB_EINVAL,
               "%s: item %zu: %.0f multiplications are more than 1/%d of exact attention's %.0f", path, at,
               to->multiplications, part, nb_suite_exact(&layer.shape));
    to->text = to->attention.resolved;
    return nb_attention_ready(&to->attention, ctx);
}

static bool is_model(const nb_suite *s, const char *name)
{
    for (int m = 0; name && m < s->model_count; m++)
        if (strcmp(s->models[m].name, name) == 0) return true;
    return false;
}

nb_status nb_suite_read_counts(const nb_suite *s, int model, const nb_suite_method *method,
                               nb_suite_setting settings[NB_SUITE_SHARES], nb_ctx *ctx)
{
    json_t *all, *item;
    const char *path = method->sizes;
    size_t at;
    NB_TRY(ctx, nb_read_json(path, &all, ctx));
    if (json_is_object(all)) all = json_object_get(all, "settings");
    NB_REQUIRE(ctx, json_is_array(all), NB_EINVAL,
               "%s: expected a list of objects with model, share, attention and multiplications", path);
    for (int k = 0; k < NB_SUITE_SHARES; k++)
        settings[k] = (nb_suite_setting){.bytes = NAN, .growth = NAN, .why = NB_SUITE_TOO_DEAR};
    json_array_foreach(all, at, item)
    {
        const char *name = json_string_value(json_object_get(item, "model"));
        json_int_t part = json_integer_value(json_object_get(item, "share"));
        int share = 0;
        while (share < NB_SUITE_SHARES && nb_suite_parts[share] != part) share++;
        NB_REQUIRE(ctx, share < NB_SUITE_SHARES, NB_EINVAL, "%s: item %zu: share: expected 4, 8, 16 or 32", path, at);
        NB_REQUIRE(ctx, is_model(s, name), NB_EINVAL, "%s: item %zu: model: the suite has no '%s'", path, at,
                   name ? name : "");
        if (strcmp(name, s->models[model].name) == 0)
            NB_TRY(ctx, read_setting(s, model, path, at, item, &settings[share], (int)part, ctx));
    }
    return NB_OK;
}
