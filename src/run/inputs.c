/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inputs.c - see inputs.h */
#include "run/inputs.h"

#include "base/builder.h"
#include "base/digest.h"
#include "base/files.h"
#include "components/plugin.h"
#include "base/text.h"
#include "base/words.h"
#include "run/imports.h"

#include <errno.h>
#include <string.h>

enum {
    LETTERS = 16, /* of a digest that a row carries: 64 bits tell apart what one path has held */
    NAMED = 4     /* files of a program that a sentence names */
};

typedef struct { /* the files of an option, in the order in which they are met */
    nb_string *digests, names;
    int count;
} found_files;

static nb_status read_file(nb_inputs *in, const char *path, nb_ctx *ctx)
{
    nb_input new = {.bytes = 0};
    NB_GROW(ctx, in->items, in->count, in->capacity);
    NB_NEED(new.path, nb_strdup(ctx, path));
    NB_REQUIRE(ctx, stat(path, &new.info) == 0, NB_EIO, "%s: cannot be read: %s", path, strerror(errno));
    NB_TRY(ctx, nb_digest_file(path, &new.sha256, &new.bytes, ctx));
    in->items[in->count++] = new;
    return NB_OK;
}

static nb_status add_file(nb_inputs *in, const char *path, found_files *found, nb_ctx *ctx)
{
    int i = 0;
    while (i < in->count && strcmp(in->items[i].path, path) != 0) i++;
    if (i == in->count) NB_TRY(ctx, read_file(in, path, ctx));
    if (found->count++ < NAMED) NB_TRY(ctx, nb_append_item(&found->names, ", ", ctx, "%s", path));
    return nb_append_item(found->digests, "+", ctx, "%.*s", LETTERS, in->items[i].sha256);
}

static nb_status add_folder(nb_inputs *in, const char *folder, found_files *found, nb_ctx *ctx)
{
    const char **names, *path;
    int count;
    NB_TRY(ctx, nb_folder_names(folder, ".npy", &count, &names, ctx));
    NB_REQUIRE(ctx, count >= 0, NB_EIO, "folder %s: cannot be read: %s", folder, strerror(ENOENT));
    for (int i = 0; i < count; i++) {
        NB_NEED(path, nb_format(ctx, "%s/%s", folder, names[i]));
        NB_TRY(ctx, add_file(in, path, found, ctx));
    }
    return NB_OK;
}

/* A Python script is all that it imports from its folder. */
static nb_status add_script(nb_inputs *in, const char *script, found_files *found, nb_ctx *ctx)
{
    nb_texts files;
    nb_texts_init(&files, ctx);
    NB_TRY(ctx, nb_imports_find(&files, script, ctx));
    for (int i = 0; i < files.count; i++) NB_TRY(ctx, add_file(in, files.items[i], found, ctx));
    return NB_OK;
}

/* A text that cannot be split names nothing; its user reports what is wrong with it. */
static nb_status add_words(nb_inputs *in, const char *text, found_files *found, nb_ctx *ctx)
{
    char **words;
    int count;
    nb_status status = nb_words_split(text, &count, &words, ctx);
    if (status == NB_EINVAL) nb_error_clear(ctx);
    if (status != NB_OK) return status == NB_EINVAL ? NB_OK : status;
    for (int i = 0; i < count; i++) {
        const char *file = nb_word_file(words, i);
        if (file && nb_text_ends(file, ".py"))
            NB_TRY(ctx, add_script(in, file, found, ctx));
        else if (file)
            NB_TRY(ctx, add_file(in, file, found, ctx));
    }
    return NB_OK;
}

/* The bridge of the Python package to a function, whose name has the digest of all that the function depends on. */
static bool is_followed(const char *run)
{
    static const char bridge[] = "nysbench-function ";
    return strncmp(run, bridge, strlen(bridge)) == 0;
}

static nb_status add_program(nb_inputs *in, const char *run, const found_files *found, nb_ctx *ctx)
{
    nb_program_files new = {.count = found->count};
    for (int i = 0; i < in->program_count; i++)
        if (strcmp(in->programs[i].run, run) == 0) return NB_OK;
    if (is_followed(run)) return NB_OK;
    NB_GROW(ctx, in->programs, in->program_count, in->program_capacity);
    NB_NEED(new.run, nb_strdup(ctx, run));
    NB_NEED(new.names, nb_strdup(ctx, found->names.text));
    if (found->count > NAMED) NB_NEED(new.names, nb_format(ctx, "%s and %d more", new.names, found->count - NAMED));
    in->programs[in->program_count++] = new;
    return NB_OK;
}

/* The files that a text of an option names; under the key `run` it is a program's. */
static nb_status add_option(nb_inputs *in, const char *key, const char *text, nb_string *digests, nb_ctx *ctx)
{
    found_files found = {.digests = digests, .names = NB_NO_TEXT};
    struct stat info;
    bool folder = stat(text, &info) == 0 && S_ISDIR(info.st_mode);
    NB_TRY(ctx, (nb_is_file(text) ? add_file : folder ? add_folder : add_words)(in, text, &found, ctx));
    return strcmp(key, "run") == 0 ? add_program(in, text, &found, ctx) : NB_OK;
}

static nb_status add_choice(nb_inputs *in, const nb_choice *choice, nb_string *digests, nb_ctx *ctx)
{
    const char *plugin = nb_plugin_of(choice->component);
    if (plugin) NB_TRY(ctx, add_option(in, "", plugin, digests, ctx));
    for (const nb_option *o = choice->component->options; o && o->key; o++) {
        const char *field = (const char *)choice->options + o->offset;
        if (o->type == NB_OPTION_SPEC)
            NB_TRY(ctx, add_choice(in, *(const nb_choice *const *)field, digests, ctx));
        else if (o->names_files)
            NB_TRY(ctx, add_option(in, o->key, *(const char *const *)field, digests, ctx));
    }
    return NB_OK;
}

/* The files of the components that these values of axes are. */
static nb_status add_values(nb_inputs *in, const nb_plan *plan, bool scene, const int *values, const char **digests,
                            nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    for (int axis = 0; plan->config->study->axes[axis].key; axis++) {
        const nb_axis *a = &plan->config->study->axes[axis];
        if (a->scene == scene && a->type == NB_AXIS_COMPONENT)
            NB_TRY(ctx, add_choice(in, nb_config_choice(plan->config, axis, values[axis]), &all, ctx));
    }
    *digests = all.text;
    return NB_OK;
}

nb_status nb_inputs_find(const nb_plan *plan, nb_inputs **inputs, nb_ctx *ctx)
{
    nb_inputs *in;
    NB_NEED(in, nb_alloc(ctx, 1, sizeof *in));
    NB_NEED(in->of_scene, nb_alloc(ctx, (size_t)plan->scene_count, sizeof *in->of_scene));
    NB_NEED(in->of_method, nb_alloc(ctx, (size_t)plan->method_count, sizeof *in->of_method));
    for (int s = 0; s < plan->scene_count; s++)
        NB_TRY(ctx, add_values(in, plan, true, plan->scenes[s].value, &in->of_scene[s], ctx));
    for (int m = 0; m < plan->method_count; m++)
        NB_TRY(ctx, add_values(in, plan, false, plan->methods[m].value, &in->of_method[m], ctx));
    if (plan->config->split) NB_TRY(ctx, read_file(in, plan->config->split_file, ctx));
    *inputs = in;
    return NB_OK;
}

nb_status nb_inputs_of_row(const nb_plan *plan, int index, const char **digests, nb_ctx *ctx)
{
    const nb_planned_row *row = &plan->rows[index];
    const char *scene = plan->inputs->of_scene[row->scene], *method = plan->inputs->of_method[row->method];
    *digests = *scene ? scene : method;
    if (*scene && *method) NB_NEED(*digests, nb_format(ctx, "%s+%s", scene, method));
    return NB_OK;
}

static bool untouched(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           memcmp(&a->st_mtim, &b->st_mtim, sizeof a->st_mtim) == 0 &&
           memcmp(&a->st_ctim, &b->st_ctim, sizeof a->st_ctim) == 0;
}

static nb_status check_file(nb_input *file, nb_ctx *ctx)
{
    struct stat info;
    const char *sha256;
    long long bytes;
    NB_REQUIRE(ctx, stat(file->path, &info) == 0, NB_EIO, "%s: disappeared while it was being measured: %s", file->path,
               strerror(errno));
    if (untouched(&info, &file->info)) return NB_OK;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_digest_file(file->path, &sha256, &bytes, ctx));
    bool same = strcmp(sha256, file->sha256) == 0;
    nb_ctx_release(ctx, mark);
    NB_REQUIRE(
        ctx, same, NB_EIO,
        "%s: changed while it was being measured; the rows measured before are kept, and the same command measures "
        "the changed file",
        file->path);
    file->info = info;
    return NB_OK;
}

nb_status nb_inputs_check(nb_inputs *inputs, nb_ctx *ctx)
{
    for (int i = 0; i < inputs->count; i++) NB_TRY(ctx, check_file(&inputs->items[i], ctx));
    return NB_OK;
}
