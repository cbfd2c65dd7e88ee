/* plugin.c - dlopen, and what is to be checked before a record is believed. */
#include "base/plugin.h"

#include "base/files.h"
#include "base/registry.h"

#include <dlfcn.h>
#include <stdlib.h>
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

static const nb_registry *registry_of(const char *kind)
{
    for (int i = 0; nb_registries[i]; i++)
        if (strcmp(nb_registries[i]->kind, kind) == 0) return nb_registries[i];
    return NULL;
}

/* What of a record is missing or not as everyone expects it; NULL: nothing. */
static const char *lacks(const nb_component *c)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (!c) return "a record";
    if (!c->name || !*c->name || c->name[strspn(c->name, letters)]) return "a name of a-z, 0-9 and '_'";
    if (!c->summary || !*c->summary) return "a summary";
    if (!c->references || !c->references[0]) return "a reference";
    return c->options ? NULL : "an options table, which may be NB_OPTION_END alone";
}

static nb_status check_part(const char *path, const nb_plugin *plugin, int index, nb_ctx *ctx)
{
    const nb_plugin_part *part = &plugin->parts[index];
    const nb_registry *registry = registry_of(part->kind);
    NB_REQUIRE(ctx, registry, NB_EINVAL, "%s: there is no kind '%s' of component", path, part->kind);
    const char *missing = lacks(part->component);
    NB_REQUIRE(ctx, !missing, NB_EINVAL, "%s: %s %d lacks %s", path, part->kind, index, missing);
    bool taken = nb_registry_find(registry, part->component->name);
    for (int i = 0; i < index; i++)
        taken = taken || (strcmp(plugin->parts[i].kind, part->kind) == 0 &&
                          strcmp(plugin->parts[i].component->name, part->component->name) == 0);
    NB_REQUIRE(ctx, !taken, NB_EINVAL, "%s: there is a %s '%s' already", path, part->kind, part->component->name);
    return NB_OK;
}

static nb_status check(const char *path, const nb_plugin *plugin, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, plugin, NB_EINVAL, "%s: exports no nysbench_plugin, see NB_PLUGIN in base/plugin.h; this nysbench has interface %d",
               path, NB_ABI);
    NB_REQUIRE(ctx, plugin->abi == NB_ABI, NB_EINVAL, "%s: was built for interface %d, this nysbench has %d: build it again", path,
               plugin->abi, NB_ABI);
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
    NB_REQUIRE(ctx, count < MOST_PLUGINS, NB_EINVAL, "%s: there are %d plugins already, the most that are allowed", path, count);
    NB_REQUIRE(ctx, paths[count] = strdup(path), NB_ENOMEM, "out of memory: the path of a plugin");
    plugins[count] = plugin;
    for (int i = 0; plugin->parts[i].kind; i++)
        NB_TRY(ctx, nb_registry_add(registry_of(plugin->parts[i].kind), paths[count], plugin->parts[i].component, ctx));
    return NB_OK;
}

nb_status nb_plugin_load(const char *path, nb_ctx *ctx)
{
    const char *file;
    NB_NEED(file, strchr(path, '/') ? path : nb_format(ctx, "./%s", path)); /* without a '/' it would be looked for elsewhere */
    NB_REQUIRE(ctx, nb_is_file(file), NB_EIO, "%s: no such file", path);
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    NB_REQUIRE(ctx, object, NB_EIO, "%s: cannot be loaded: %s", path, dlerror());
    nb_status status = add(path, dlsym(object, "nysbench_plugin"), ctx);
    if (status != NB_OK) dlclose(object);
    return status;
}
