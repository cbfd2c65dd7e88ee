/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blocks.c - the blocks of a result's file that are measured apart: damage to a model, and times. */
#include "suite/json.h"

#include "base/files.h"

#include <math.h>
#include <string.h>

/* Replaces a block of a file. */
static nb_status put_block(const char *path, const char *key, json_t *block, nb_ctx *ctx)
{
    json_t *all;
    NB_REQUIRE(ctx, block, NB_ENOMEM, "out of memory: a result");
    NB_TRY(ctx, nb_defer_json(ctx, block));
    NB_TRY(ctx, nb_read_json(path, &all, ctx));
    json_object_set(all, key, block);
    return nb_write_file(path, nb_suite_json_print, all, ctx);
}

static nb_status pack_damage(const nb_suite_result *r, int track, const char *rows, json_t **item, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    const nb_suite_damaged *d = s->tracks[track].damaged;
    const nb_suite_damage *own = &r->damage[track];
    json_t *sources = json_array(), *digest = NULL, *code = NULL;
    nb_estimate e;
    for (int i = 0; own->values && i < d->count; i++)
        json_array_append_new(sources, json_pack("{s:s, s:f}", "source", d->sources[i], "value", own->values[i]));
    NB_TRY(ctx, nb_suite_damage_estimate(r, track, &e, ctx));
    if (rows) NB_TRY(ctx, nb_suite_json_origin(s, rows, &digest, &code, ctx));
    *item = json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "track", s->tracks[track].name,
                      "model", s->models[d->model].name, "share", nb_suite_parts[d->share], "attention",
                      nb_suite_json_text(own->attention), "value", nb_suite_json_real(e.mean), "low",
                      nb_suite_json_real(e.low), "high", nb_suite_json_real(e.high), "refused",
                      nb_suite_json_text(own->refused), "sources", sources, "rows_sha256",
                      digest ? digest : json_null(), "code", code ? code : json_array());
    return NB_OK;
}

nb_status nb_suite_add_damage(const nb_suite_result *r, const char *const *rows, const char *path, nb_ctx *ctx)
{
    json_t *tracks = json_array(), *item, *program;
    for (int t = 0; t < r->suite->track_count; t++) {
        if (!r->damage[t].attention && !r->damage[t].refused) continue;
        NB_TRY(ctx, pack_damage(r, t, rows[t], &item, ctx));
        json_array_append_new(tracks, item);
    }
    NB_TRY(ctx, nb_suite_json_program(&program, ctx));
    return put_block(path, "damage", json_pack("{s:o, s:O}", "tracks", tracks, "program", program), ctx);
}

static json_t *pack_times(const nb_suite_result *r, int model)
{
    const nb_suite_timing *own = &r->timing[model];
    json_t *times = json_array();
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        const nb_suite_time *t = &own->times[k];
        bool counted = r->settings[model][k].text || r->settings[model][k].why;
        if (!t->attention && !t->refused) continue;
        json_array_append_new(times, json_pack("{s:o, s:o, s:o, s:o, s:o}", "share",
                                               counted ? json_integer(nb_suite_parts[k]) : json_null(), "attention",
                                               nb_suite_json_text(t->attention), "seconds",
                                               nb_suite_json_real(t->seconds), "error", nb_suite_json_real(t->error),
                                               "refused", nb_suite_json_text(t->refused)));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "model", r->suite->models[model].name, "exact_s",
                     nb_suite_json_real(own->exact_s), "load", nb_suite_json_real(own->load), "times", times);
}

nb_status nb_suite_add_times(const nb_suite_result *r, const char *rows, const char *path, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    json_t *models = json_array(), *tracks = json_array(), *digest, *code, *program;
    const char *device = NULL;
    for (int m = 0; m < s->model_count; m++) {
        if (!isfinite(r->timing[m].exact_s)) continue;
        json_array_append_new(models, pack_times(r, m));
        if (r->timing[m].device) device = r->timing[m].device;
    }
    for (int t = 0; t < s->track_count; t++)
        if (nb_suite_is_timed(r, t))
            json_array_append_new(tracks, json_pack("{s:s, s:o, s:b}", "track", s->tracks[t].name, "ratio",
                                                    nb_suite_json_real(nb_suite_time_ratio(r, t, NB_SUITE_TIMED)),
                                                    "disturbed", nb_suite_is_disturbed(r, t)));
    NB_TRY(ctx, nb_suite_json_origin(s, rows, &digest, &code, ctx));
    NB_TRY(ctx, nb_suite_json_program(&program, ctx));
    return put_block(path, "timed",
                     json_pack("{s:s, s:o, s:o, s:o, s:o, s:O}", "device",
                               device ? device : json_string_value(json_object_get(program, "cpu")), "tracks", tracks,
                               "models", models, "rows_sha256", digest, "code", code, "program", program),
                     ctx);
}

static int track_named(const nb_suite *s, const char *name)
{
    for (int t = 0; name && t < s->track_count; t++)
        if (strcmp(s->tracks[t].name, name) == 0) return t;
    return -1;
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static nb_status read_values(const char *path, const char *place, json_t *from, const nb_suite_damaged *d,
                             nb_suite_damage *to, nb_ctx *ctx)
{
    double *values;
    NB_REQUIRE(ctx, (int)json_array_size(from) == d->count, NB_EINVAL, "%s: %s: sources: expected %d", path, place,
               d->count);
    NB_NEED(values, nb_alloc(ctx, (size_t)d->count, sizeof *values));
    for (int i = 0; i < d->count; i++) {
        json_t *item = json_array_get(from, (size_t)i);
        values[i] = nb_suite_json_number(item, "value");
        NB_REQUIRE(ctx, is_same(json_string_value(json_object_get(item, "source")), d->sources[i]), NB_EINVAL,
                   "%s: %s: sources[%d]: source: expected '%s'", path, place, i, d->sources[i]);
        NB_REQUIRE(ctx, isfinite(values[i]), NB_EINVAL, "%s: %s: sources[%d]: value: expected a number", path, place,
                   i);
    }
    to->values = values;
    return NB_OK;
}

static nb_status read_damage(const char *path, size_t at, const json_t *from, nb_suite_result *r,
                             nb_suite_damage *damage, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    int track = track_named(s, json_string_value(json_object_get(from, "track")));
    NB_REQUIRE(ctx, track >= 0 && s->tracks[track].damaged && !r->absent[track], NB_EINVAL,
               "%s: damage[%zu]: track: expected one that the method is in, and whose damage the suite measures", path,
               at);
    const nb_suite_damaged *d = s->tracks[track].damaged;
    const char *place;
    nb_estimate e;
    nb_suite_damage *to = &damage[track];
    NB_NEED(place, nb_format(ctx, "damage: %s", s->tracks[track].name));
    *to = (nb_suite_damage){.attention = json_string_value(json_object_get(from, "attention")),
                            .refused = json_string_value(json_object_get(from, "refused"))};
    NB_REQUIRE(ctx, is_same(to->attention, r->settings[d->model][d->share].text), NB_EINVAL,
               "%s: %s: attention: it is not that of %s at 1/%d", path, place, s->models[d->model].name,
               nb_suite_parts[d->share]);
    if (!to->refused) NB_TRY(ctx, read_values(path, place, json_object_get(from, "sources"), d, to, ctx));
    NB_TRY(ctx, nb_suite_damage_estimate(r, track, &e, ctx));
    NB_TRY(ctx, nb_suite_json_compare(path, place, from, "value", e.mean, ctx));
    NB_TRY(ctx, nb_suite_json_compare(path, place, from, "low", e.low, ctx));
    return nb_suite_json_compare(path, place, from, "high", e.high, ctx);
}

static nb_status read_time(const char *path, const nb_suite_result *r, int model, const json_t *from,
                           nb_suite_timing *to, nb_ctx *ctx)
{
    const char *name = r->suite->models[model].name;
    const json_t *share = json_object_get(from, "share");
    int k = 0;
    if (!json_is_null(share))
        while (k < NB_SUITE_SHARES && nb_suite_parts[k] != json_integer_value(share)) k++;
    NB_REQUIRE(ctx, k < NB_SUITE_SHARES, NB_EINVAL, "%s: timed: %s: share: expected 4, 8, 16, 32 or null", path, name);
    nb_suite_time *t = &to->times[k];
    *t = (nb_suite_time){.attention = json_string_value(json_object_get(from, "attention")),
                         .refused = json_string_value(json_object_get(from, "refused")),
                         .seconds = nb_suite_json_number(from, "seconds"),
                         .error = nb_suite_json_number(from, "error")};
    NB_REQUIRE(ctx, t->refused || t->seconds > 0, NB_EINVAL, "%s: timed: %s: seconds: expected a number above 0", path,
               name);
    NB_REQUIRE(ctx, json_is_null(share) || is_same(t->attention, r->settings[model][k].text), NB_EINVAL,
               "%s: timed: %s: attention: it is not that of the settings at 1/%d", path, name, nb_suite_parts[k]);
    return NB_OK;
}

static nb_status read_times(const char *path, const nb_suite_result *r, size_t at, const json_t *from,
                            nb_suite_timing *timing, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    const char *name = json_string_value(json_object_get(from, "model"));
    json_t *item;
    size_t i;
    int m = 0;
    while (m < s->model_count && !is_same(s->models[m].name, name)) m++;
    NB_REQUIRE(ctx, m < s->model_count, NB_EINVAL, "%s: timed: models[%zu]: model: the suite has no '%s'", path, at,
               name ? name : "");
    timing[m].exact_s = nb_suite_json_number(from, "exact_s");
    timing[m].load = nb_suite_json_number(from, "load");
    NB_REQUIRE(ctx, timing[m].exact_s > 0, NB_EINVAL, "%s: timed: %s: exact_s: expected a number above 0", path, name);
    json_array_foreach(json_object_get(from, "times"), i, item)
        NB_TRY(ctx, read_time(path, r, m, item, &timing[m], ctx));
    return NB_OK;
}

static nb_status check_times(const char *path, const nb_suite_result *r, const json_t *tracks, nb_ctx *ctx)
{
    size_t count = 0;
    for (int t = 0; t < r->suite->track_count; t++) {
        if (!nb_suite_is_timed(r, t)) continue;
        const char *name = r->suite->tracks[t].name;
        const json_t *says = json_array_get(tracks, count++);
        NB_REQUIRE(ctx, is_same(json_string_value(json_object_get(says, "track")), name), NB_EINVAL,
                   "%s: timed: tracks[%zu]: track: expected '%s'", path, count - 1, name);
        NB_TRY(ctx,
               nb_suite_json_compare(path, "timed", says, "ratio", nb_suite_time_ratio(r, t, NB_SUITE_TIMED), ctx));
        NB_REQUIRE(ctx, json_is_true(json_object_get(says, "disturbed")) == nb_suite_is_disturbed(r, t), NB_EINVAL,
                   "%s: timed: %s: disturbed: its loads say otherwise", path, name);
    }
    NB_REQUIRE(ctx, json_array_size(tracks) == count, NB_EINVAL, "%s: timed: tracks: expected %zu", path, count);
    return NB_OK;
}

nb_status nb_suite_json_blocks(const char *path, const json_t *all, nb_suite_result *r, nb_ctx *ctx)
{
    const json_t *damaged = json_object_get(all, "damage"), *timed = json_object_get(all, "timed");
    nb_suite_damage *damage;
    nb_suite_timing *timing;
    json_t *item;
    size_t at;
    if (damaged) {
        NB_NEED(damage, nb_alloc(ctx, (size_t)r->suite->track_count, sizeof *damage));
        r->damage = damage;
        json_array_foreach(json_object_get(damaged, "tracks"), at, item)
            NB_TRY(ctx, read_damage(path, at, item, r, damage, ctx));
    }
    if (!timed) return NB_OK;
    NB_NEED(timing, nb_alloc(ctx, (size_t)r->suite->model_count, sizeof *timing));
    r->timing = timing;
    r->device = json_string_value(json_object_get(timed, "device"));
    NB_REQUIRE(ctx, r->device, NB_EINVAL, "%s: timed: device: expected a text", path);
    json_array_foreach(json_object_get(timed, "models"), at, item)
        NB_TRY(ctx, read_times(path, r, at, item, timing, ctx));
    return check_times(path, r, json_object_get(timed, "tracks"), ctx);
}
