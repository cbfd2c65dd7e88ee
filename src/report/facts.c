/* SPDX-License-Identifier: GPL-3.0-or-later */
/* facts.c - see facts.h */
#include "report/facts.h"

#include "base/shell.h"

static void release(void *json)
{
    json_decref(json);
}

nb_status nb_facts_read(nb_store *store, json_t **list, nb_ctx *ctx)
{
    nb_signed *manifests;
    json_error_t error;
    int count, failed = 0;
    NB_TRY(ctx, nb_store_manifests(store, &count, &manifests, ctx));
    NB_REQUIRE(ctx, *list = json_array(), NB_ENOMEM, "out of memory: the manifests");
    NB_TRY(ctx, nb_defer(ctx, release, *list));
    for (int i = 0; i < count && !failed; i++) {
        json_t *object = json_pack("{s:I, s:i, s:i}", "manifest", (json_int_t)manifests[i].id, "rows",
                                   manifests[i].rows, "rows_unused", manifests[i].hidden);
        json_t *facts = json_loads(manifests[i].manifest.text, 0, &error);
        failed = !object || json_array_append_new(*list, object);
        NB_REQUIRE(ctx, facts, NB_EIO, "%s: manifest %lld is not JSON: %s", store->path, manifests[i].id, error.text);
        failed = failed || json_object_update(object, facts);
        json_decref(facts);
    }
    NB_REQUIRE(ctx, !failed, NB_ENOMEM, "out of memory: the manifests");
    return NB_OK;
}

const char *nb_fact(const json_t *manifest, const char *name)
{
    const char *text = json_string_value(json_object_get(manifest, name));
    return text ? text : "";
}

nb_status nb_fact_command(const json_t *arguments, const char **line, nb_ctx *ctx)
{
    size_t i;
    const json_t *argument;
    NB_NEED(*line, nb_strdup(ctx, ""));
    json_array_foreach(arguments, i, argument)
    {
        const char *word = json_string_value(argument);
        if (i > 0) NB_TRY(ctx, nb_shell_word(word, &word, ctx)); /* the first is "nysbench run" */
        NB_NEED(*line, nb_format(ctx, "%s%s%s", *line, i ? " " : "", word));
    }
    return NB_OK;
}
