/* SPDX-License-Identifier: GPL-3.0-or-later */
/* info.c - nysbench info: the program, the machine and the libraries; of a run, all
 * that have added rows to it. */
#include "commands/command.h"

#include "base/files.h"
#include "base/words.h"
#include "components/plugin.h"
#include "run/provenance.h"
#include "answers/caveats.h"
#include "run/run_folder.h"

#include <string.h>

typedef struct { /* the facts of one manifest, or of the program */
    nb_grid *grid;
    int manifest; /* its number; 0: of the program */
    bool people;
} facts;

static nb_status add_fact(const facts *f, const char *key, const char *value)
{
    nb_grid *g = f->grid;
    if (f->manifest > 0) NB_TRY(g->ctx, nb_grid_int(g, f->manifest));
    NB_NEED(key, nb_strdup(g->ctx, key)); /* JSON may be gone before the grid */
    NB_TRY(g->ctx, nb_grid_text(g, key));
    NB_NEED(value, nb_strdup(g->ctx, value));
    return nb_grid_text(g, value);
}

/* For people a line each. */
static nb_status add_text(const facts *f, const char *key, const char *text)
{
    if (!f->people) return add_fact(f, key, text);
    for (bool first = true; *text; first = false) {
        int length = (int)strcspn(text, "\n");
        const char *line;
        NB_NEED(line, nb_format(f->grid->ctx, "%.*s", length, text));
        NB_TRY(f->grid->ctx, add_fact(f, first ? key : "", line));
        text += length;
        text += *text == '\n';
    }
    return NB_OK;
}

/* A manifest's arguments as a line that a shell would read as them. */
static nb_status find_command(const json_t *arguments, const char **line, nb_ctx *ctx)
{
    const char *first = json_string_value(json_array_get(arguments, 0)); /* "nysbench run" */
    nb_string all = NB_NO_TEXT;
    NB_TRY(ctx, nb_append(&all, ctx, "%s", first ? first : ""));
    for (size_t i = 1; i < json_array_size(arguments); i++)
        NB_TRY(ctx, nb_shell_add(ctx, &all, json_string_value(json_array_get(arguments, i)), NULL));
    *line = all.text;
    return NB_OK;
}

static nb_status add_value(const facts *f, const char *key, const json_t *value)
{
    size_t i;
    const json_t *item;
    const char *text;
    if (strcmp(key, "arguments") == 0) {
        NB_TRY(f->grid->ctx, find_command(value, &text, f->grid->ctx));
        return add_fact(f, key, text);
    }
    if (json_is_object(value)) { /* a file */
        NB_NEED(text,
                nb_format(f->grid->ctx, "%s, %lld bytes, SHA-256 %s", json_string_value(json_object_get(value, "path")),
                          (long long)json_integer_value(json_object_get(value, "bytes")),
                          json_string_value(json_object_get(value, "sha256"))));
        return add_fact(f, key, text);
    }
    if (json_is_string(value)) return add_text(f, key, json_string_value(value));
    if (json_is_array(value)) {
        json_array_foreach(value, i, item) NB_TRY(f->grid->ctx, add_value(f, i && f->people ? "" : key, item));
        return NB_OK;
    }
    if (!json_is_integer(value)) return add_fact(f, key, json_is_true(value) ? "yes" : "no");
    NB_NEED(text, nb_format(f->grid->ctx, "%lld", (long long)json_integer_value(value)));
    return add_fact(f, key, text);
}

static nb_status add_facts(const facts *f, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) NB_TRY(f->grid->ctx, add_value(f, key, value));
    return NB_OK;
}

static nb_status show_facts(nb_page *page, json_t *object, nb_ctx *ctx)
{
    static const char *const heads[] = {"key", "value", NULL};
    nb_grid grid;
    const facts f = {&grid, 0, true};
    NB_TRY(ctx, nb_grid_make(&grid, heads, ctx));
    NB_TRY(ctx, add_facts(&f, object));
    grid.labels = 1;
    nb_grid_show(&grid, page);
    nb_page_headless(page);
    nb_page_flush(page);
    return NB_OK;
}

/* Prints the facts of the program, or those of a list of manifests. */
static nb_status print_facts(json_t *all, nb_output_format format, nb_ctx *ctx)
{
    static const char *const heads[] = {"manifest", "key", "value", NULL};
    bool list = json_is_array(all);
    nb_page page;
    nb_grid grid;
    if (format == NB_FORMAT_JSON) {
        NB_REQUIRE(ctx, json_dumpf(all, stdout, JSON_INDENT(2)) == 0, NB_EIO, "standard output cannot be written");
        putchar('\n');
        return NB_OK;
    }
    nb_page_make(&page, ctx);
    NB_TRY(ctx, nb_grid_make(&grid, list ? heads : heads + 1, ctx));
    for (size_t i = 0; i < (list ? json_array_size(all) : 1); i++) {
        json_t *one = list ? json_array_get(all, i) : all;
        const facts f = {&grid, (int)json_integer_value(json_object_get(one, "manifest")), false};
        NB_TRY(ctx, nb_format_is_page(format) ? show_facts(&page, one, ctx) : add_facts(&f, one));
    }
    if (list && json_array_size(all) == 0) nb_page_paragraph(&page, "no row has been measured yet");
    return nb_format_is_page(format) ? nb_format_page(&page, format) : nb_format_grid(&grid, format);
}

/* *list <- an object for each manifest, in the order in which they came: its number, how many rows hang on it, how many
 * of rows that the plan does not hold ("rows_unused"), and what it says (run/provenance.h). ctx's. */
static nb_status read_manifests(nb_store *store, json_t **list, nb_ctx *ctx)
{
    nb_signed *manifests;
    json_error_t error;
    int count, failed = 0;
    NB_TRY(ctx, nb_store_manifests(store, &count, &manifests, ctx));
    NB_REQUIRE(ctx, *list = json_array(), NB_ENOMEM, "out of memory: the manifests");
    NB_TRY(ctx, nb_defer_json(ctx, *list));
    for (int i = 0; i < count && !failed; i++) {
        json_t *object = json_pack("{s:I, s:i, s:i}", "manifest", (json_int_t)manifests[i].id, "rows",
                                   manifests[i].rows, "rows_unused", manifests[i].hidden);
        json_t *said = json_loads(manifests[i].manifest.text, 0, &error);
        failed = !object || json_array_append_new(*list, object);
        NB_REQUIRE(ctx, said, NB_EIO, "%s: manifest %lld is not JSON: %s", store->path, manifests[i].id, error.text);
        failed = failed || json_object_update(object, said);
        json_decref(said);
    }
    NB_REQUIRE(ctx, !failed, NB_ENOMEM, "out of memory: the manifests");
    return NB_OK;
}

static nb_status print_run(const char *folder, nb_output_format format, nb_ctx *ctx)
{
    nb_store store;
    json_t *list;
    NB_TRY(ctx, nb_run_store(folder, &store, ctx));
    NB_TRY(ctx, read_manifests(&store, &list, ctx));
    NB_TRY(ctx, print_facts(list, format, ctx));
    fflush(stdout);
    return nb_format_is_page(format) ? nb_builds_print(stdout, "\nNote: ", "", &store, ctx) : NB_OK;
}

/* text: NULL adds nothing. */
static nb_status add_path(json_t *object, const char *key, const char *text, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, !text || json_object_set_new(object, key, json_string(text)) == 0, NB_ENOMEM, "out of memory: %s",
               key);
    return NB_OK;
}

/* A part of the program that was copied alone has no folder of experiments, and no headers. */
static nb_status print_program(nb_output_format format, nb_ctx *ctx)
{
    const char *folder, *flags;
    json_t *object;
    nb_program program;
    NB_TRY(ctx, nb_program_here(1, &program, ctx));
    NB_TRY(ctx, nb_provenance(&program, true, &object, ctx));
    nb_status status = nb_shipped_folder(&folder, ctx);
    if (status != NB_EIO) NB_TRY(ctx, status);
    nb_error_clear(ctx);
    NB_TRY(ctx, add_path(object, "experiments", status == NB_OK ? folder : NULL, ctx));
    NB_TRY(ctx, nb_plugin_flags(&flags, ctx));
    NB_TRY(ctx, add_path(object, "plugin_flags", flags, ctx));
    return print_facts(object, format, ctx);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    int json = 0;
    const struct poptOption options[] = {NB_FORMAT_OPTION(line),
                                         NB_FLAG_OPTION("json", '\0', json, "The same as --format json"),
                                         NB_PLUGIN_OPTION(line), POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 1, ctx));
    line->stage = NB_WORKS;
    nb_output_format format = json ? NB_FORMAT_JSON : (nb_output_format)line->format.value;
    return line->arguments[0] ? print_run(line->arguments[0], format, ctx) : print_program(format, ctx);
}

NB_COMMAND(info, "[RUN]", "Show this program and machine, or those of a run", true, NB_LOOK_AT_RUN + 80);
