/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list.c - reads the list of a suite's heads. */
#include "suite/suite.h"

#include "base/digest.h"
#include "base/files.h"

#include <jansson.h>
#include <string.h>

nb_status nb_suite_place(const nb_suite *s, int input, const char **text, nb_ctx *ctx)
{
    const nb_suite_input *i = &s->inputs[input];
    NB_NEED(*text, nb_format(ctx, "%s, %s, layer %d", s->models[i->model].name, i->source, i->layer));
    return NB_OK;
}

static nb_status read_text(const char *path, json_t *from, const char *key, const char **text, nb_ctx *ctx)
{
    *text = json_string_value(json_object_get(from, key));
    NB_REQUIRE(ctx, *text, NB_EINVAL, "%s: expected '%s', a text, in each object", path, key);
    return NB_OK;
}

static nb_status read_list(const char *path, json_t *from, const char *key, json_t **list, nb_ctx *ctx)
{
    *list = json_object_get(from, key);
    NB_REQUIRE(ctx, json_array_size(*list) > 0, NB_EINVAL, "%s: expected '%s', a list", path, key);
    return NB_OK;
}

static nb_status check_file(const char *list, const nb_suite_input *input, const char *sha256, nb_ctx *ctx)
{
    const char *found;
    long long bytes;
    NB_TRY(ctx, nb_digest_file(input->path, &found, &bytes, ctx));
    NB_REQUIRE(ctx, strcmp(found, sha256) == 0, NB_EIO, "%s: its SHA-256 begins with %.*s, and %s has %.*s",
               input->path, NB_DIGEST_SHOWN, found, list, NB_DIGEST_SHOWN, sha256);
    return NB_OK;
}

static nb_status read_inputs(const char *path, json_t *from, bool heads, int model, nb_suite *s, nb_ctx *ctx)
{
    const char *folder, *sha256;
    json_t *files, *item;
    size_t at;
    NB_TRY(ctx, nb_folder_of(path, &folder, ctx));
    NB_TRY(ctx, read_list(path, from, "inputs", &files, ctx));
    s->models[model].first = s->count;
    s->models[model].count = (int)json_array_size(files);
    json_array_foreach(files, at, item)
    {
        nb_suite_input *input = &s->inputs[s->count++];
        input->model = model;
        input->layer = (int)json_integer_value(json_object_get(item, "layer"));
        NB_TRY(ctx, read_text(path, item, "source", &input->source, ctx));
        NB_TRY(ctx, read_text(path, item, "file", &input->file, ctx));
        NB_TRY(ctx, read_text(path, item, "sha256", &sha256, ctx));
        NB_NEED(input->path, *input->file == '/' ? input->file : nb_format(ctx, "%s/%s", folder, input->file));
        if (heads) NB_TRY(ctx, check_file(path, input, sha256, ctx));
        input->first = s->models[model].first;
        while (strcmp(s->inputs[input->first].source, input->source) != 0) input->first++;
    }
    return NB_OK;
}

static nb_status read_models(const char *path, json_t *from, bool heads, int track, nb_suite *s, nb_ctx *ctx)
{
    json_t *models, *item;
    size_t at;
    NB_TRY(ctx, read_list(path, from, "models", &models, ctx));
    json_array_foreach(models, at, item)
    {
        s->models[s->model_count].track = track;
        NB_TRY(ctx, read_text(path, item, "model", &s->models[s->model_count].name, ctx));
        NB_TRY(ctx, read_inputs(path, item, heads, s->model_count++, s, ctx));
    }
    return NB_OK;
}

static nb_status read_sources(const char *path, json_t *from, nb_suite_damaged *to, nb_ctx *ctx)
{
    json_t *list, *item;
    size_t at;
    const char **sources;
    NB_TRY(ctx, read_list(path, from, "sources", &list, ctx));
    NB_NEED(sources, nb_alloc(ctx, json_array_size(list), sizeof *sources));
    json_array_foreach(list, at, item)
    {
        sources[at] = json_string_value(item);
        NB_REQUIRE(ctx, sources[at], NB_EINVAL, "%s: damage: sources: expected texts", path);
    }
    to->sources = sources;
    to->count = (int)json_array_size(list);
    return NB_OK;
}

/* The model is one of the track's. */
static nb_status read_damaged(const char *path, json_t *from, int track, nb_suite *s, nb_ctx *ctx)
{
    nb_suite_damaged *to;
    const char *model;
    json_int_t part = json_integer_value(json_object_get(from, "share"));
    if (!from) return NB_OK;
    NB_NEED(to, nb_alloc(ctx, 1, sizeof *to));
    NB_TRY(ctx, read_text(path, from, "model", &model, ctx));
    NB_TRY(ctx, read_text(path, from, "served", &to->served, ctx));
    NB_TRY(ctx, read_text(path, from, "column", &to->column, ctx));
    to->logarithm = json_is_true(json_object_get(from, "logarithm"));
    while (to->model < s->model_count &&
           (s->models[to->model].track != track || strcmp(s->models[to->model].name, model) != 0))
        to->model++;
    NB_REQUIRE(ctx, to->model < s->model_count, NB_EINVAL, "%s: damage: model: the track has no '%s'", path, model);
    while (to->share < NB_SUITE_SHARES && nb_suite_parts[to->share] != part) to->share++;
    NB_REQUIRE(ctx, to->share < NB_SUITE_SHARES, NB_EINVAL, "%s: damage: share: expected 4, 8, 16 or 32", path);
    s->tracks[track].damaged = to;
    return read_sources(path, from, to, ctx);
}

/* How many models and inputs all tracks have. */
static void count_all(json_t *tracks, size_t *models, size_t *inputs)
{
    json_t *track, *model;
    size_t i, j;
    *models = *inputs = 0;
    json_array_foreach(tracks, i, track)
    {
        *models += json_array_size(json_object_get(track, "models"));
        json_array_foreach(json_object_get(track, "models"), j, model) *inputs +=
            json_array_size(json_object_get(model, "inputs"));
    }
}

nb_status nb_suite_small_list(const char **path, nb_ctx *ctx)
{
    const char *folder;
    NB_TRY(ctx, nb_shipped_folder(&folder, ctx));
    NB_NEED(*path, nb_format(ctx, "%s/suite/small.json", folder));
    return NB_OK;
}

nb_status nb_suite_read(const char *path, bool heads, nb_suite *s, nb_ctx *ctx)
{
    json_t *list, *tracks, *item;
    size_t at, models, inputs;
    long long bytes;
    *s = (nb_suite){.count = 0};
    NB_TRY(ctx, nb_digest_file(path, &s->digest, &bytes, ctx));
    NB_TRY(ctx, nb_read_json(path, &list, ctx));
    NB_TRY(ctx, read_text(path, list, "suite", &s->version, ctx));
    NB_TRY(ctx, read_text(path, list, "form", &s->form, ctx));
    NB_TRY(ctx, read_list(path, list, "tracks", &tracks, ctx));
    count_all(tracks, &models, &inputs);
    NB_NEED(s->tracks, nb_alloc(ctx, json_array_size(tracks), sizeof *s->tracks));
    NB_NEED(s->models, nb_alloc(ctx, models + 1, sizeof *s->models));
    NB_NEED(s->inputs, nb_alloc(ctx, inputs + 1, sizeof *s->inputs));
    json_array_foreach(tracks, at, item)
    {
        nb_suite_track *track = &s->tracks[s->track_count];
        NB_TRY(ctx, read_text(path, item, "track", &track->name, ctx));
        NB_TRY(ctx, read_text(path, item, "baseline", &track->baseline, ctx));
        track->causal = json_is_true(json_object_get(item, "causal"));
        NB_TRY(ctx, read_models(path, item, heads, s->track_count, s, ctx));
        NB_TRY(ctx, read_damaged(path, json_object_get(item, "damage"), s->track_count++, s, ctx));
    }
    return NB_OK;
}
