/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_folder.c - reading and writing the folder of a run, and loading its experiment without a command line. */
#include "run/run_folder.h"

#include "base/fields.h"
#include "base/files.h"
#include "base/texts.h"
#include "base/words.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "config/code.h"
#include "config/keys.h"
#include "config/lookup.h"
#include "config/yaml.h"
#include "run/provenance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

nb_status nb_run_path(const char *folder, const char *name, const char **path, nb_ctx *ctx)
{
    size_t length = strlen(folder);
    NB_NEED(*path, nb_format(ctx, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name));
    return NB_OK;
}

nb_status nb_run_check_folder(const char *folder, nb_ctx *ctx)
{
    const char *path;
    NB_TRY(ctx, nb_run_path(folder, NB_STORE_FILE, &path, ctx));
    return nb_store_check_path(path, ctx);
}

nb_status nb_run_shard_folder(const char *folder, nb_shard shard, const char **path, nb_ctx *ctx)
{
    char name[64];
    snprintf(name, sizeof name, NB_SHARDS_FOLDER "/%d-of-%d", shard.index, shard.count);
    return nb_run_path(folder, name, path, ctx);
}

/* True if that is the name of a shard's folder, as it is written above. */
static bool read_shard(const char *name, nb_shard *shard)
{
    char again[64];
    if (sscanf(name, "%9d-of-%9d", &shard->index, &shard->count) != 2 || shard->index < 1 ||
        shard->index > shard->count || shard->count > NB_MOST_SHARDS)
        return false;
    snprintf(again, sizeof again, "%d-of-%d", shard->index, shard->count);
    return strcmp(name, again) == 0;
}

static int compare_shards(const void *a, const void *b)
{
    const nb_shard *x = a, *y = b;
    return x->count != y->count ? (x->count > y->count) - (x->count < y->count)
                                : (x->index > y->index) - (x->index < y->index);
}

nb_status nb_run_shards(const char *folder, int *count, nb_shard **shards, nb_ctx *ctx)
{
    const char *path, **names;
    int found;
    NB_TRY(ctx, nb_run_path(folder, NB_SHARDS_FOLDER, &path, ctx));
    NB_TRY(ctx, nb_folder_names(path, NULL, &found, &names, ctx));
    NB_NEED(*shards, nb_alloc(ctx, (size_t)(found + 1), sizeof **shards));
    *count = 0;
    for (int i = 0; i < found; i++) *count += read_shard(names[i], &(*shards)[*count]);
    qsort(*shards, (size_t)*count, sizeof **shards, compare_shards);
    return NB_OK;
}

bool nb_run_exists(const char *folder, nb_ctx *ctx)
{
    const char *path;
    struct stat info;
    return nb_run_path(folder, NB_STORE_FILE, &path, ctx) == NB_OK && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_size > 0;
}

const char *nb_run_hint(const char *folder, nb_ctx *ctx)
{
    const char **names, *path, *hint;
    int count;
    if (nb_folder_names(folder, NULL, &count, &names, ctx) != NB_OK) {
        nb_error_clear(ctx);
        return "";
    }
    for (int i = 0; i < count; i++)
        if (*names[i] != '.' && nb_run_path(folder, names[i], &path, ctx) == NB_OK && nb_run_exists(path, ctx))
            return (hint = nb_format(ctx, "; did you mean '%s'?", path)) ? hint : "";
    return "";
}

static nb_status first_mistake(const nb_mistakes *mistakes)
{
    NB_REQUIRE(mistakes->ctx, mistakes->count == 0, NB_EINVAL, "%s", mistakes->texts[0]);
    return NB_OK;
}

/* The run's config; root->node NULL: there is none. Heads and plug-ins that it names need not be there. */
static nb_status read_config(const char *folder, nb_yaml *root, nb_ctx *ctx)
{
    const char *path;
    nb_mistakes mistakes = {.ctx = ctx};
    *root = (nb_yaml){.node = NULL};
    NB_TRY(ctx, nb_run_path(folder, NB_CONFIG_FILE, &path, ctx));
    if (!nb_is_file(path)) return NB_OK;
    NB_TRY(ctx, nb_yaml_file(path, root, &mistakes));
    return first_mistake(&mistakes);
}

/* A key of the run's config; value->node NULL: it has none, or there is no config. */
static nb_status peek(const char *folder, const char *name, nb_yaml *value, nb_ctx *ctx)
{
    nb_yaml root;
    NB_TRY(ctx, read_config(folder, &root, ctx));
    *value = nb_yaml_get(root, name);
    return NB_OK;
}

/* Call it after something that the folder names was not known: says which plug-ins its config names, none of which is
 * loaded, and what loads one. Returns `status`. */
static nb_status explain(nb_status status, const char *folder, nb_ctx *ctx)
{
    nb_yaml plugins;
    const char *reason;
    nb_string names = NB_NO_TEXT;
    if (status == NB_OK || status == NB_ENOMEM || *nb_plugins_loaded()) return status;
    NB_NEED(reason, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    nb_status read = peek(folder, "plugins", &plugins, ctx);
    nb_error_clear(ctx);
    for (int i = 0; read == NB_OK && plugins.node && i < nb_yaml_count(plugins); i++) {
        const char *name = nb_yaml_scalar(nb_yaml_item(plugins, i));
        if (name) NB_TRY(ctx, nb_append_item(&names, ", ", ctx, "%s", name));
    }
    NB_REQUIRE(ctx, *names.text, status, "%s", reason);
    NB_FAIL(ctx, status, "%s. The run used code that commands which only read do not load: %s. If you trust it, add %s",
            reason, names.text, nb_field(ctx, "plugins", strchr(names.text, ',') ? "FILE for each" : names.text));
}

nb_status nb_run_store(const char *folder, nb_store *store, nb_ctx *ctx)
{
    const char *path;
    NB_TRY(ctx, nb_run_path(folder, NB_STORE_FILE, &path, ctx));
    nb_status status = nb_store_open(path, false, NULL, store, ctx);
    return status != NB_OK && !store->study ? explain(status, folder, ctx) : status;
}

/* The choices of an axis' key, which may be of the whole config or of one of its blocks. */
static nb_status read_choices(const nb_axis *axis, nb_yaml mapping, nb_choices *choices, nb_ctx *ctx)
{
    nb_yaml value = nb_yaml_get(mapping, axis->key);
    for (int k = 0; value.node && k < nb_yaml_count(value); k++) {
        const char *text = nb_yaml_scalar(nb_yaml_item(value, k));
        nb_mistakes unknown = {.ctx = ctx};
        nb_choice stranger;
        bool labelled;
        if (!text) continue;
        NB_TRY(ctx, nb_choices_list(choices, axis->registry, text, nb_yaml_place(value), &unknown, ctx));
        if (unknown.count == 0) continue;
        NB_TRY(ctx, nb_choice_of_stranger(text, &stranger, &labelled, ctx));
        if (labelled) NB_TRY(ctx, nb_choices_append(choices, stranger, ctx));
    }
    return NB_OK;
}

static nb_status read_labels(const char *folder, const nb_study *study, nb_given_labels **given, nb_ctx *ctx)
{
    nb_given_labels *labels;
    nb_yaml root;
    nb_mistakes mistakes = {.ctx = ctx};
    NB_NEED(labels, nb_alloc(ctx, 1, sizeof *labels));
    *given = labels;
    NB_TRY(ctx, read_config(folder, &root, ctx));
    const nb_yaml blocks = nb_yaml_get(root, "blocks");
    for (const nb_axis *axis = study->axes; axis->key; axis++) {
        nb_choices choices = {.count = 0};
        if (axis->type != NB_AXIS_COMPONENT) continue;
        NB_TRY(ctx, read_choices(axis, root, &choices, ctx));
        for (int b = 0; blocks.node && b < nb_yaml_count(blocks); b++)
            NB_TRY(ctx, read_choices(axis, nb_yaml_item(blocks, b), &choices, ctx));
        nb_status status = nb_given_labels_add(labels, axis->registry, &choices, ctx);
        NB_TRY(ctx, nb_mistakes_take(&mistakes, (nb_place){.source = root.source}, status));
    }
    return first_mistake(&mistakes);
}

nb_status nb_run_labels(const char *folder, const nb_study *study, const nb_given_labels **given, nb_ctx *ctx)
{
    nb_given_labels *labels;
    NB_TRY(ctx, read_labels(folder, study, &labels, ctx));
    *given = labels;
    return NB_OK;
}

nb_status nb_run_open(const char *folder, nb_store *store, const nb_given_labels **labels, nb_ctx *ctx)
{
    nb_given_labels *all;
    NB_TRY(ctx, nb_run_store(folder, store, ctx));
    NB_TRY(ctx, read_labels(folder, store->study, &all, ctx));
    *labels = all;
    return nb_store_labels(store, all, ctx);
}

nb_status nb_run_load(const char *folder, nb_store *store, nb_row_list *rows, nb_ctx *ctx)
{
    const nb_given_labels *labels;
    NB_TRY(ctx, nb_run_open(folder, store, &labels, ctx));
    NB_TRY(ctx, nb_store_rows(store, rows, ctx));
    rows->labels = labels;
    return NB_OK;
}

nb_status nb_run_setting(const char *folder, const char *key, const char **text, nb_ctx *ctx)
{
    nb_yaml value;
    NB_TRY(ctx, peek(folder, key, &value, ctx));
    *text = value.node ? nb_yaml_scalar(value) : NULL;
    return NB_OK;
}

nb_status nb_run_baseline(const char *folder, const char **canonical, nb_ctx *ctx)
{
    return nb_run_setting(folder, "baseline", canonical, ctx);
}

nb_status nb_run_plots(const char *folder, const char ***names, nb_ctx *ctx)
{
    nb_yaml plots;
    int count = 0;
    NB_TRY(ctx, peek(folder, "plots", &plots, ctx));
    int most = plots.node ? nb_yaml_count(plots) : 0;
    NB_NEED(*names, nb_alloc(ctx, (size_t)most + 1, sizeof **names));
    for (int i = 0; i < most; i++)
        if (nb_yaml_scalar(nb_yaml_item(plots, i))) (*names)[count++] = nb_yaml_scalar(nb_yaml_item(plots, i));
    return NB_OK;
}

nb_status nb_run_claims(const char *folder, const nb_study *study, int *count, nb_claim **claims, nb_ctx *ctx)
{
    nb_yaml value;
    nb_mistakes mistakes = {.ctx = ctx};
    *count = 0;
    NB_TRY(ctx, peek(folder, "claims", &value, ctx));
    if (!value.node || nb_yaml_count(value) == 0) return NB_OK;
    NB_TRY(ctx, nb_claims_read(value, study, NULL, count, claims, &mistakes));
    return explain(first_mistake(&mistakes), folder, ctx);
}

nb_status nb_run_write(const char *folder, const char *name,
                       nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx), const void *what, nb_ctx *ctx)
{
    const char *path;
    NB_TRY(ctx, nb_run_path(folder, name, &path, ctx));
    if (print) return nb_write_file(path, print, what, ctx);
    NB_REQUIRE(ctx, unlink(path) == 0 || errno == ENOENT, NB_EIO, "%s: cannot be removed: %s", path, strerror(errno));
    return NB_OK;
}

nb_status nb_run_write_text(const char *folder, const char *name, const char *text, nb_ctx *ctx)
{
    return nb_run_write(folder, name, nb_print_whole, text, ctx);
}

/* Adds the programs that the components under a key are or name. */
static nb_status find_programs(nb_yaml mapping, const char *key, nb_texts *programs, nb_ctx *ctx)
{
    const nb_yaml value = nb_yaml_get(mapping, key);
    const char *const *names;
    int number;
    for (int i = 0; value.node && i < nb_yaml_count(value); i++) {
        const char *text = nb_yaml_scalar(nb_yaml_item(value, i));
        if (!text) continue;
        NB_TRY(ctx, nb_spec_code(text, &names, ctx));
        for (; *names; names++) NB_TRY(ctx, nb_texts_number(programs, *names, &number));
    }
    return NB_OK;
}

/* Refuses a config whose components of these kinds are programs, before it is read, which may start them. */
static nb_status refuse_programs(const char *folder, const nb_registry *const *kinds, nb_ctx *ctx)
{
    nb_yaml root;
    nb_texts programs;
    nb_string names = NB_NO_TEXT;
    nb_texts_init(&programs, ctx);
    NB_TRY(ctx, read_config(folder, &root, ctx));
    const nb_yaml blocks = nb_yaml_get(root, "blocks");
    for (; *kinds; kinds++) {
        NB_TRY(ctx, find_programs(root, (*kinds)->plural, &programs, ctx));
        for (int b = 0; blocks.node && b < nb_yaml_count(blocks); b++)
            NB_TRY(ctx, find_programs(nb_yaml_item(blocks, b), (*kinds)->plural, &programs, ctx));
    }
    for (int i = 0; i < programs.count; i++) NB_TRY(ctx, nb_append_item(&names, "; ", ctx, "%s", programs.items[i]));
    NB_REQUIRE(ctx, programs.count == 0, NB_EINVAL,
               "%s: this needs code that the run's config names, and a command that reads results starts none: %s. If "
               "you trust it, add %s",
               folder, names.text, nb_field(ctx, "programs", NB_IS_SET));
    return NB_OK;
}

/* kinds: of the components that the caller calls. */
static nb_status recall(const char *run_folder, bool programs, const nb_registry *const *kinds, nb_config *config,
                        nb_plan *plan, nb_ctx *ctx)
{
    const char *path;
    nb_mistakes mistakes = {.ctx = ctx};
    if (!programs) NB_TRY(ctx, refuse_programs(run_folder, kinds, ctx));
    NB_TRY(ctx, nb_run_path(run_folder, NB_CONFIG_FILE, &path, ctx));
    NB_TRY(ctx, nb_config_recall(path, config, &mistakes, ctx));
    NB_TRY(ctx, explain(first_mistake(&mistakes), run_folder, ctx));
    return nb_plan_make(config, plan, ctx);
}

nb_status nb_experiment_of_run(const char *run_folder, bool programs, nb_config *config, nb_plan *plan, nb_ctx *ctx)
{
    static const nb_registry *const kinds[] = {&nb_problems, NULL};
    return recall(run_folder, programs, kinds, config, plan, ctx);
}

/* Refuses a file that has changed since the run: says which, and what to do. */
static nb_status refuse(const char *change, const char *run_folder, nb_ctx *ctx)
{
    const char *config;
    nb_string command = NB_NO_TEXT, folder = NB_NO_TEXT;
    NB_TRY(ctx, nb_run_path(run_folder, NB_CONFIG_FILE, &config, ctx));
    NB_TRY(ctx, nb_shell_add(ctx, &command, program_invocation_name, "run", config, NULL));
    NB_TRY(ctx, nb_shell_add(ctx, &folder, run_folder, NULL));
    NB_FAIL(ctx, NB_EINVAL, "%s; its rows are measured anew by: %s %s", change, command.text,
            nb_field(ctx, "folder", folder.text));
}

nb_status nb_experiment_again(const char *run_folder, bool programs, bool cores, nb_config *config, nb_plan *plan,
                              nb_ctx *ctx)
{
    const nb_registry *const kinds[] = {&nb_problems, &nb_strategies, cores ? &nb_cores : NULL, NULL};
    const char *path, *manifest, **lines;
    NB_TRY(ctx, recall(run_folder, programs, kinds, config, plan, ctx));
    NB_TRY(ctx, nb_run_path(run_folder, NB_MANIFEST_FILE, &path, ctx));
    if (!nb_is_file(path)) return NB_OK; /* nothing has been measured */
    NB_TRY(ctx, nb_read_file(path, &manifest, ctx));
    NB_TRY(ctx, nb_manifest_changes(manifest, plan->inputs, &lines, ctx));
    return lines[0] ? refuse(lines[0], run_folder, ctx) : NB_OK;
}
