/* SPDX-License-Identifier: GPL-3.0-or-later */
/* info.c - nysbench info: the program, the machine and the libraries; of a run, all
 * that have added rows to it. */
#include "cli/command.h"

#include "base/shell.h"
#include "run/provenance.h"
#include "report/builds.h"
#include "run/run_folder.h"

#include <stdio.h>
#include <string.h>

enum { KEY = 20 };

static void print_text(const char *key, const char *text)
{
    for (bool first = true; *text; first = false) { /* a line each */
        int length = (int)strcspn(text, "\n");
        printf("%-*s %.*s\n", KEY, first ? key : "", length, text);
        text += length;
        text += *text == '\n';
    }
}

static void print_file(const char *key, const json_t *file)
{
    printf("%-*s %s, %lld bytes, SHA-256 %s\n", KEY, key, json_string_value(json_object_get(file, "path")),
           (long long)json_integer_value(json_object_get(file, "bytes")),
           json_string_value(json_object_get(file, "sha256")));
}

/* As a shell would read them. */
static nb_status print_arguments(const char *key, const json_t *list, nb_ctx *ctx)
{
    size_t i;
    const json_t *item;
    printf("%-*s", KEY, key);
    json_array_foreach(list, i, item)
    {
        const char *word = json_string_value(item);
        if (i > 0) NB_TRY(ctx, nb_shell_word(word, &word, ctx)); /* the first is "nysbench run" */
        printf(" %s", word);
    }
    putchar('\n');
    return NB_OK;
}

static nb_status print_value(const char *key, const json_t *value, nb_ctx *ctx)
{
    size_t i;
    const json_t *item;
    if (strcmp(key, "arguments") == 0) return print_arguments(key, value, ctx);
    if (json_is_array(value))
        json_array_foreach(value, i, item) NB_TRY(ctx, print_value(i ? "" : key, item, ctx));
    else if (json_is_object(value))
        print_file(key, value);
    else if (json_is_string(value))
        print_text(key, json_string_value(value));
    else if (json_is_integer(value))
        printf("%-*s %lld\n", KEY, key, (long long)json_integer_value(value));
    else
        printf("%-*s %s\n", KEY, key, json_is_true(value) ? "yes" : "no");
    return NB_OK;
}

static nb_status print_facts(json_t *facts, nb_ctx *ctx)
{
    const char *key;
    json_t *value;
    json_object_foreach(facts, key, value) NB_TRY(ctx, print_value(key, value, ctx));
    return NB_OK;
}

static void release(void *json)
{
    json_decref(json);
}

/* The manifests, each with its number and how many rows hang on it. */
static nb_status read_manifests(nb_store *store, json_t **list, nb_ctx *ctx)
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

static nb_status print_run(const char *folder, bool json, nb_ctx *ctx)
{
    const char *path;
    nb_store store;
    json_t *list, *one;
    size_t i;
    NB_TRY(ctx, nb_run_path(folder, NB_STORE_FILE, &path, ctx));
    NB_TRY(ctx, nb_run_load_study(folder, ctx));
    NB_TRY(ctx, nb_store_open(path, false, NULL, &store, ctx));
    NB_TRY(ctx, read_manifests(&store, &list, ctx));
    if (json) {
        NB_REQUIRE(ctx, json_dumpf(list, stdout, JSON_INDENT(2)) == 0, NB_EIO, "standard output cannot be written");
        putchar('\n');
        return NB_OK;
    }
    json_array_foreach(list, i, one)
    {
        if (i) putchar('\n');
        NB_TRY(ctx, print_facts(one, ctx));
    }
    if (json_array_size(list) == 0) puts("no row has been measured yet");
    fflush(stdout);
    return nb_builds_print(stdout, "\nNote: ", "", &store, ctx);
}

static nb_status print_program(bool json, nb_ctx *ctx)
{
    json_t *facts;
    nb_program program;
    NB_TRY(ctx, nb_program_here(1, &program, ctx));
    NB_TRY(ctx, nb_provenance(&program, true, &facts, ctx));
    if (!json) return print_facts(facts, ctx);
    NB_REQUIRE(ctx, json_dumpf(facts, stdout, JSON_INDENT(2)) == 0, NB_EIO, "standard output cannot be written");
    putchar('\n');
    return NB_OK;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    int json = 0;
    struct poptOption options[] = {
        NB_HELP_OPTION, {"json", '\0', POPT_ARG_NONE, &json, 0, "As JSON", NULL}, POPT_TABLEEND};
    const char **arguments;
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){0, 1, &arguments}, ctx);
    if (code == NB_GO_ON && arguments[0]) code = nb_command_check_run(arguments[0], ctx);
    if (code != NB_GO_ON) return code;
    nb_status status = arguments[0] ? print_run(arguments[0], json, ctx) : print_program(json, ctx);
    return status == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, NB_EXIT_FAILED);
}

const nb_command nb_command_info = {
    "info",
    "[RUN]",
    "Show the program, the BLAS and the machine; with RUN, which build and which call measured its "
    "rows",
    run,
    false,
    80};
