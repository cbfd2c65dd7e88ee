/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lookup.c - see lookup.h */
#include "config/lookup.h"

#include "base/builder.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/words.h"
#include "data/head.h"

#include <jansson.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum { HERE, BESIDE, ELSEWHERE, NOWHERE } whereabouts; /* ELSEWHERE: read there, named as before */

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length > tail && path[length - tail - 1] == '/' && strcmp(path + length - tail, end) == 0;
}

static nb_status read_files(const char *folder, const json_t **files, nb_ctx *ctx)
{
    const char *path;
    json_t *manifest;
    *files = NULL;
    NB_NEED(path, nb_format(ctx, "%s/manifest.json", folder));
    if (!nb_is_file(path)) return NB_OK;
    NB_TRY(ctx, nb_read_json(path, &manifest, ctx));
    *files = json_object_get(manifest, "files");
    return NB_OK;
}

static nb_status check_content(const char *text, const char *place, const char *sha256, nb_ctx *ctx)
{
    const char *now;
    long long bytes;
    NB_TRY(ctx, nb_digest_file(place, &now, &bytes, ctx));
    NB_REQUIRE(
        ctx, strcmp(now, sha256) == 0, NB_EIO,
        "%s: is not here, and %s, where the run found it, has other contents now (SHA-256 %.*s..., then %.*s...); "
        "'nysbench run' from a folder that has %s measures its rows anew",
        text, place, NB_DIGEST_SHOWN, now, NB_DIGEST_SHOWN, sha256, text);
    return NB_OK;
}

/* A file of the manifest beside the config, or a folder of some, by the path as it was
 * written or by the end of the place where it was. */
static nb_status find_recorded(const char *text, const char *folder, const char **found, whereabouts *where,
                               nb_ctx *ctx)
{
    const json_t *files, *file;
    size_t i;
    NB_TRY(ctx, read_files(folder, &files, ctx));
    json_array_foreach(files, i, file)
    {
        const char *path = json_string_value(json_object_get(file, "path")),
                   *place = json_string_value(json_object_get(file, "place"));
        const char *sha256 = json_string_value(json_object_get(file, "sha256")), *path_folder, *place_folder;
        if (!path || !place || !sha256) continue;
        NB_TRY(ctx, nb_folder_of(path, &path_folder, ctx));
        NB_TRY(ctx, nb_folder_of(place, &place_folder, ctx));
        bool same = strcmp(path, text) == 0 || ends_with(place, text),
             within = strcmp(path_folder, text) == 0 || ends_with(place_folder, text);
        if ((!same && !within) || !exists(place)) continue;
        NB_TRY(ctx, check_content(text, place, sha256, ctx));
        NB_NEED(*found, nb_strdup(ctx, same ? place : place_folder));
        *where = ELSEWHERE;
        if (same) return NB_OK;
    }
    return NB_OK;
}

static nb_status find_path(const char *text, const char *config, const char **found, whereabouts *where, nb_ctx *ctx)
{
    const char *folder, *beside;
    *found = text;
    *where = HERE;
    if (exists(text)) return NB_OK;
    *where = NOWHERE;
    NB_TRY(ctx, nb_folder_of(config, &folder, ctx));
    NB_NEED(beside, nb_format(ctx, "%s/%s", folder, text));
    if (*text && *text != '/' && exists(beside)) {
        *found = beside;
        *where = BESIDE;
        return NB_OK;
    }
    NB_TRY(ctx, find_recorded(text, folder, found, where, ctx));
    if (*where == NOWHERE) NB_TRY(ctx, nb_shipped_path(text, found, ctx));
    if (*found != text) *where = ELSEWHERE;
    return NB_OK;
}

nb_status nb_lookup_path(const char *path, const char *config, const char **found, nb_ctx *ctx)
{
    whereabouts where;
    return find_path(path, config, found, &where, ctx);
}

/* Words as a shell has them, of which some are paths: the same words, with those that are elsewhere replaced. The
 * first is looked for in PATH if it has no '/'. */
static nb_status find_words(const char *text, const char *config, const char **found, whereabouts *where, nb_ctx *ctx)
{
    const char **words;
    nb_string all = NB_NO_TEXT;
    int count;
    *where = NOWHERE;
    if (poptParseArgvString(text, &count, &words) != 0) return NB_OK; /* whoever uses it says what is wrong with it */
    NB_TRY(ctx, nb_defer(ctx, free, words));
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        whereabouts one = HERE;
        if (i > 0 || strchr(word, '/')) NB_TRY(ctx, find_path(words[i], config, &word, &one, ctx));
        if (one == ELSEWHERE || (one == BESIDE && *where != ELSEWHERE)) *where = one;
        NB_TRY(ctx, nb_shell_word(word, &word, ctx));
        NB_TRY(ctx, nb_append_item(&all, " ", ctx, "%s", word));
    }
    if (*where != NOWHERE) *found = all.text;
    return NB_OK;
}

/* One turn over all options: those beside the config, or those elsewhere. */
static nb_status replace(const nb_component *c, void *options, const char *config, whereabouts wanted, bool *changed,
                         nb_ctx *ctx)
{
    for (const nb_option *o = c->options; o && o->key; o++) {
        const char **field = (const char **)((char *)options + o->offset), *found;
        whereabouts where;
        if (o->type != NB_OPTION_STRING || !o->names_files || !*field) continue; /* a part of a choice may lack it */
        NB_TRY(ctx, find_path(*field, config, &found, &where, ctx));
        if (where == NOWHERE) NB_TRY(ctx, find_words(*field, config, &found, &where, ctx));
        if (where != wanted) continue;
        *field = found;
        *changed = true;
    }
    return NB_OK;
}

/* Those of nested components, whose own texts are part of their parent's. */
static nb_status lookup_nested(const nb_component *c, void *options, const char *config, bool *changed, nb_ctx *ctx)
{
    for (const nb_option *o = c->options; o && o->key; o++) {
        nb_choice **field = (nb_choice **)((char *)options + o->offset);
        const char *before;
        if (o->type != NB_OPTION_SPEC || !*field) continue;
        before = (*field)->resolved;
        NB_TRY(ctx, nb_lookup_choice(*field, config, ctx));
        *changed = *changed || (*field)->resolved != before;
    }
    return NB_OK;
}

nb_status nb_lookup_options(const nb_component *component, void *options, nb_choice *choice, const char *config,
                            bool *changed, nb_ctx *ctx)
{
    bool ignored = false;
    *changed = false;
    NB_TRY(ctx, lookup_nested(component, options, config, changed, ctx));
    NB_TRY(ctx, replace(component, options, config, BESIDE, changed, ctx));
    if (*changed && choice) NB_TRY(ctx, nb_choice_describe(choice, ctx));
    return replace(component, options, config, ELSEWHERE, &ignored, ctx);
}

nb_status nb_lookup_choice(nb_choice *choice, const char *config, nb_ctx *ctx)
{
    bool changed;
    return nb_lookup_options(choice->component, choice->options, choice, config, &changed, ctx);
}

/* True if a relative path is nowhere. */
static bool is_lost(const char *path)
{
    return *path != '/' && *path != '~' && !exists(path);
}

static bool lacks_file(const nb_choice *choice)
{
    for (const nb_option *o = choice->component->options; o && o->key; o++) {
        const void *field = (const char *)choice->options + o->offset;
        if (o->type == NB_OPTION_SPEC && lacks_file(*(const nb_choice *const *)field)) return true;
        if (o->type == NB_OPTION_STRING && o->names_files && is_lost(*(const char *const *)field)) return true;
    }
    return false;
}

static nb_status explain(nb_status status, const char *config, nb_ctx *ctx)
{
    const char *message, *folder, *here, *there;
    NB_NEED(message, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    NB_TRY(ctx, nb_shipped_path(config, &config, ctx));
    NB_TRY(ctx, nb_folder_of(config, &folder, ctx));
    NB_TRY(ctx, nb_whole_path(".", &here, ctx));
    NB_TRY(ctx, nb_whole_path(folder, &there, ctx));
    if (strcmp(here, there) == 0) NB_FAIL(ctx, status, "%s; looked for in %s", message, here);
    NB_FAIL(ctx, status, "%s; looked for in %s and in %s", message, here, there);
}

static nb_status list_shipped(const char *text, int *count, const char *const **files, nb_ctx *ctx)
{
    const char *own, *folder;
    if (strncmp(text, "experiments/", strlen("experiments/")) != 0) return NB_OK;
    nb_status status = nb_shipped_folder(&own, ctx);
    if (status == NB_EIO) { /* the program has none */
        nb_error_clear(ctx);
        return NB_OK;
    }
    NB_TRY(ctx, status);
    NB_TRY(ctx, nb_folder_of(own, &folder, ctx));
    NB_NEED(folder, nb_format(ctx, "%s/", folder));
    return nb_head_files(folder, text, count, files, ctx);
}

nb_status nb_lookup_heads(const char *text, const char *config, int *count, const char *const **files, nb_ctx *ctx)
{
    const char *folder, **named;
    NB_TRY(ctx, nb_head_files("", text, count, files, ctx));
    if (*count < 0 && config && *text != '/') {
        NB_TRY(ctx, nb_folder_of(config, &folder, ctx));
        NB_NEED(folder, nb_format(ctx, "%s/", folder));
        NB_TRY(ctx, nb_head_files(folder, text, count, files, ctx));
        NB_NEED(named, nb_alloc(ctx, (size_t)(*count > 0 ? *count : 0) + 1, sizeof *named));
        for (int i = 0; i < *count; i++) NB_NEED(named[i], nb_format(ctx, "%s%s", folder, (*files)[i]));
        *files = named;
    }
    if (*count < 0) NB_TRY(ctx, list_shipped(text, count, files, ctx));
    if (*count >= 0 || !nb_head_files_pattern(text)) return NB_OK;
    nb_error_set(ctx, NB_EIO, __FILE__, __LINE__, "%s: no file matches", text);
    return config ? explain(NB_EIO, config, ctx) : NB_EIO;
}

static nb_status add_value(nb_value *list, int *room, nb_value value, nb_ctx *ctx)
{
    NB_GROW(ctx, list->items, list->count, *room);
    list->items[list->count++] = value;
    return NB_OK;
}

static nb_status list_value(nb_value *value, const char *config, bool *listed, nb_ctx *ctx)
{
    nb_value list = {.kind = NB_LIST, .place = value->place};
    int room = 0;
    const nb_value *items = value->kind == NB_LIST ? value->items : value;
    for (int i = 0; i < (value->kind == NB_LIST ? value->count : 1); i++) {
        const char *const *files;
        int count = 0;
        if (items[i].kind == NB_WORD || items[i].kind == NB_STRING)
            NB_TRY(ctx, nb_lookup_heads(items[i].text, config, &count, &files, ctx));
        *listed = *listed || count > 0;
        if (count <= 0) NB_TRY(ctx, add_value(&list, &room, items[i], ctx));
        for (int f = 0; f < count; f++)
            NB_TRY(ctx, add_value(&list, &room,
                                  (nb_value){.kind = NB_STRING, .place = items[i].place, .text = files[f]}, ctx));
    }
    if (*listed) *value = list;
    return NB_OK;
}

nb_status nb_lookup_files(const nb_registry *registry, nb_spec *spec, const char *config, bool *listed, nb_ctx *ctx)
{
    const nb_component *c = nb_registry_find(registry, spec->name);
    *listed = false;
    for (const nb_option *o = c ? c->options : NULL; o && o->key; o++)
        for (int i = 0; i < spec->count && o->many_files; i++)
            if (strcmp(spec->arguments[i].key, o->key) == 0)
                NB_TRY(ctx, list_value(&spec->arguments[i].value, config, listed, ctx));
    return NB_OK;
}

nb_status nb_lookup_parts(const nb_registry *registry, const char *text, nb_place place, const char *config, int *count,
                          nb_choice_part **parts, bool *listed, nb_mistakes *mistakes, nb_ctx *ctx)
{
    nb_spec *spec;
    *count = 0;
    *listed = false;
    NB_TRY(ctx, nb_spec_parse(text, place, &spec, mistakes, ctx));
    if (!spec) return NB_OK;
    NB_TRY(ctx, nb_lookup_files(registry, spec, config, listed, ctx));
    return nb_choice_parts_of(registry, spec, count, parts, mistakes, ctx);
}

nb_status nb_lookup_explain(nb_status status, const nb_choice *choice, const char *config, nb_ctx *ctx)
{
    return status == NB_EIO && lacks_file(choice) ? explain(status, config, ctx) : status;
}

nb_status nb_lookup_explain_path(nb_status status, const char *path, const char *config, nb_ctx *ctx)
{
    return status == NB_EIO && is_lost(path) ? explain(status, config, ctx) : status;
}
