/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plugin.c - dlopen, and the checks of a record before it is used. */
#include "components/plugin.h"

#include "base/apart.h"
#include "base/files.h"
#include "base/text.h"
#include "components/registry.h"
#include "components/study.h"

#include <dlfcn.h>
#include <fenv.h>
#include <jansson.h>
#include <string.h>

enum { MOST_PLUGINS = 64 };

/* They belong to the process, as the registries do. */
static const nb_plugin *plugins[MOST_PLUGINS + 1];
static char *paths[MOST_PLUGINS + 1];

const char *const *nb_plugins_loaded(void)
{
    return (const char *const *)paths;
}

const char *nb_plugin_of(const nb_component *component)
{
    for (int i = 0; plugins[i]; i++)
        for (const nb_plugin_part *part = plugins[i]->parts; part->kind; part++)
            if (part->component == component) return paths[i];
    return NULL;
}

bool nb_plugin_within(const nb_choice *choice)
{
    bool found = nb_plugin_of(choice->component);
    for (const nb_option *o = choice->component->options; o && o->key && !found; o++)
        if (o->type == NB_OPTION_SPEC)
            found = nb_plugin_within(*(const nb_choice *const *)((const char *)choice->options + o->offset));
    return found;
}

static const nb_registry *registry_of(const char *kind)
{
    for (int i = 0; nb_registries[i]; i++)
        if (strcmp(nb_registries[i]->kind, kind) == 0) return nb_registries[i];
    return NULL;
}

/* Returns what is missing or wrong in a record; NULL: nothing. */
static const char *lacks(const nb_component *c)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (!c) return "a record";
    if (!c->name || !*c->name || c->name[strspn(c->name, letters)]) return "a name of a-z, 0-9 and '_'";
    if (!c->summary || !*c->summary) return "a summary";
    if (!c->references || !c->references[0]) return "a reference";
    return c->options ? NULL : "an options table, which may be NB_OPTION_END alone";
}

static size_t field_bytes(nb_option_type type)
{
    static const size_t bytes[] = {
        [NB_OPTION_INT] = sizeof(int),  [NB_OPTION_REAL] = sizeof(double),   [NB_OPTION_BOOL] = sizeof(int),
        [NB_OPTION_ENUM] = sizeof(int), [NB_OPTION_STRING] = sizeof(char *), [NB_OPTION_SPEC] = sizeof(void *)};
    return (unsigned)type < sizeof bytes / sizeof *bytes ? bytes[type] : 0;
}

static bool is_registry(const nb_registry *registry)
{
    int i = 0;
    while (nb_registries[i] && nb_registries[i] != registry) i++;
    return nb_registries[i];
}

/* Numbers are checked before pointers, since anything may lie behind the end of a table. */
static nb_status check_option(const char *path, const nb_component *c, int row, nb_ctx *ctx)
{
    const nb_option *o = &c->options[row];
    size_t bytes = field_bytes(o->type);
    NB_REQUIRE(ctx, row < NB_MOST_OPTIONS && bytes > 0, NB_EINVAL,
               "%s: %s: row %d of its options is not an option: the table must end with NB_OPTION_END, "
               "after at most %d",
               path, c->name, row, NB_MOST_OPTIONS);
    NB_REQUIRE(ctx, o->offset % bytes == 0 && o->offset <= c->options_size && bytes <= c->options_size - o->offset,
               NB_EINVAL, "%s: %s: row %d of its options is a field of %zu bytes at byte %zu, options_size is %zu",
               path, c->name, row, bytes, o->offset, c->options_size);
    for (int i = 0; i < row; i++)
        NB_REQUIRE(ctx,
                   o->offset >= c->options[i].offset + field_bytes(c->options[i].type) ||
                       c->options[i].offset >= o->offset + bytes,
                   NB_EINVAL, "%s: %s: options '%s' and '%s' are the same bytes", path, c->name, c->options[i].key,
                   o->key);
    const char *missing = !o->help                                                 ? "help"
                          : o->type == NB_OPTION_ENUM && !o->choices               ? "choices"
                          : o->type == NB_OPTION_SPEC && !is_registry(o->registry) ? "a registry"
                          : o->for_key && !o->for_value                            ? "the value that it is for"
                                                                                   : NULL;
    NB_REQUIRE(ctx, !missing, NB_EINVAL, "%s: %s: option '%s' lacks %s", path, c->name, o->key, missing);
    return NB_OK;
}

/* The struct that the options fill, and the table that fills it. */
static nb_status check_options(const char *path, const nb_component *c, nb_ctx *ctx)
{
    enum { MOST_BYTES = 1 << 16 };
    NB_REQUIRE(ctx, c->options_size <= MOST_BYTES, NB_EINVAL,
               "%s: %s: options_size is %zu, allowed are at most %d bytes", path, c->name, c->options_size, MOST_BYTES);
    for (int row = 0; c->options[row].key; row++) NB_TRY(ctx, check_option(path, c, row, ctx));
    return NB_OK;
}

static nb_status check_part(const char *path, const nb_plugin *plugin, int index, nb_ctx *ctx)
{
    const nb_plugin_part *part = &plugin->parts[index];
    const nb_registry *registry = registry_of(part->kind);
    NB_REQUIRE(ctx, registry, NB_EINVAL, "%s: there is no kind '%s' of component", path, part->kind);
    const char *missing = lacks(part->component);
    NB_REQUIRE(ctx, !missing, NB_EINVAL, "%s: %s %d lacks %s", path, part->kind, index, missing);
    NB_TRY(ctx, check_options(path, part->component, ctx));
    missing = registry->lacks(part->component);
    NB_REQUIRE(ctx, !missing, NB_EINVAL, "%s: %s '%s' lacks %s", path, part->kind, part->component->name, missing);
    if (registry == &nb_studies) NB_TRY(ctx, nb_study_check_names((const nb_study *)part->component, path, ctx));
    bool taken = nb_registry_find(registry, part->component->name);
    for (int i = 0; i < index; i++)
        taken = taken || (strcmp(plugin->parts[i].kind, part->kind) == 0 &&
                          strcmp(plugin->parts[i].component->name, part->component->name) == 0);
    NB_REQUIRE(ctx, !taken, NB_EINVAL, "%s: there is %s %s '%s' already", path, nb_article(part->kind), part->kind,
               part->component->name);
    return NB_OK;
}

static nb_status check(const char *path, const nb_plugin *plugin, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, plugin, NB_EINVAL,
               "%s: exports no nysbench_plugin, see NB_PLUGIN in components/plugin.h; this nysbench has interface %d",
               path, NB_ABI);
    NB_REQUIRE(ctx, plugin->abi == NB_ABI, NB_EINVAL,
               "%s: was built for interface %d, this nysbench has %d: build it again", path, plugin->abi, NB_ABI);
    NB_REQUIRE(ctx, plugin->parts && plugin->parts[0].kind, NB_EINVAL, "%s: holds no component", path);
    for (int i = 0; plugin->parts[i].kind; i++) NB_TRY(ctx, check_part(path, plugin, i, ctx));
    return NB_OK;
}

static nb_status add(const char *path, const nb_plugin *plugin, nb_ctx *ctx)
{
    int count = 0;
    while (plugins[count] && plugins[count] != plugin) count++;
    if (plugins[count]) return NB_OK; /* the same object gives the same record, whatever path led to it */
    NB_TRY(ctx, check(path, plugin, ctx));
    NB_REQUIRE(ctx, count < MOST_PLUGINS, NB_EINVAL, "%s: there are %d plugins already, the most that are allowed",
               path, count);
    NB_REQUIRE(ctx, paths[count] = strdup(path), NB_ENOMEM, "out of memory: the path of a plugin");
    plugins[count] = plugin;
    for (int i = 0; plugin->parts[i].kind; i++)
        NB_TRY(ctx, nb_registry_add(registry_of(plugin->parts[i].kind), paths[count], plugin->parts[i].component, ctx));
    return NB_OK;
}

/* An experiment that names it is written as YAML and JSON, which know no other text. */
static bool is_utf8(const char *path)
{
    json_t *text = json_string(path);
    json_decref(text);
    return text;
}

/* Its constructors run too. */
static nb_status open_object(void *file, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, dlopen(file, RTLD_NOW | RTLD_LOCAL), NB_EIO, "%s", dlerror());
    return NB_OK;
}

/* Says what to do with a source that is no shared object. */
static const char *hint_of(const char *path)
{
    return nb_text_ends(path, ".c") ? "; compile it first"
           : nb_text_ends(path, ".py")
               ? "; a function in it is command(run=\"python3 -m nysbench.serve FILE NAME\", serve=true)"
               : "";
}

nb_status nb_plugin_load(const char *path, nb_ctx *ctx)
{
    char *file;
    const char *reason;
    NB_REQUIRE(ctx, is_utf8(path), NB_EINVAL, "%s: the path of a plugin must be UTF-8", path);
    NB_NEED(file, nb_format(ctx, "%s%s", strchr(path, '/') ? "" : "./",
                            path)); /* without a '/' it would be looked for elsewhere */
    NB_REQUIRE(ctx, nb_is_file(file), NB_EIO, "%s: no such file%s", path, nb_path_hint(path));
    if (nb_apart(open_object, file, nb_ctx_patience(ctx), NULL, 0, ctx) != NB_OK) {
        NB_NEED(reason, nb_strdup(ctx, nb_error_message(ctx)));
        nb_error_clear(ctx);
        NB_FAIL(ctx, NB_EIO, "%s: cannot be loaded: %s%s", path, reason, hint_of(path));
    }
    fenv_t environment;
    fegetenv(&environment);
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    fesetenv(&environment); /* code that was built with -ffast-math changes it when it is loaded */
    NB_REQUIRE(ctx, object, NB_EIO, "%s: cannot be loaded: %s", path, dlerror());
    nb_status status = add(path, dlsym(object, "nysbench_plugin"), ctx);
    if (status != NB_OK) dlclose(object);
    return status;
}
