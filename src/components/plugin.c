/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plugin.c - what a plug-in has is told by a child process that loads it.
 *
 * 1. nb_plugin_load: a child loads the object, checks its records and hands them over with their texts and options.
 *    Here they become copies, in memory of this process, that the registries list. Pointers to functions in them are
 *    the child's: they tell that there is such a function, and cannot be called.
 * 2. nb_plugin_open: a process that is about to call a component loads the object itself, and writes into the copies
 *    what its own records have. The same pointers to components are valid before and after. */
#include "components/plugin.h"

#include "base/apart.h"
#include "base/files.h"
#include "base/guard.h"
#include "base/text.h"
#include "base/words.h"
#include "components/registry.h"
#include "components/study.h"

#include <dlfcn.h>
#include <fenv.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_PLUGINS = 64 };

typedef struct {
    int kind;             /* its registry, by its place in nb_registries */
    nb_component *record; /* the copy, as large as records of this kind are */
    nb_option *options;   /* the record's, `rows` of them without the end */
    unsigned rows;
} part_copy;

typedef struct {
    const char *path; /* as given */
    const char *file; /* the same with a '/', without which it would be looked for elsewhere */
    struct stat found;
    int count;
    part_copy *parts;
    bool open; /* this process may call it */
} known_plugin;

/* They belong to the process, as the registries do. */
static struct {
    nb_ctx *ctx; /* owns what the others have */
    int count;
    known_plugin items[MOST_PLUGINS];
    const char *paths[MOST_PLUGINS + 1];
} plugins;

const char *const *nb_plugins_loaded(void)
{
    return plugins.paths;
}

static known_plugin *plugin_of(const nb_component *component)
{
    for (known_plugin *p = plugins.items; p < plugins.items + plugins.count; p++)
        for (int i = 0; i < p->count; i++)
            if (p->parts[i].record == component) return p;
    return NULL;
}

const char *nb_plugin_of(const nb_component *component)
{
    const known_plugin *p = plugin_of(component);
    return p ? p->path : NULL;
}

const char *nb_plugin_within(const nb_choice *choice)
{
    const char *found = nb_plugin_of(choice->component);
    for (const nb_option *o = choice->component->options; o && o->key && !found; o++)
        if (o->type == NB_OPTION_SPEC)
            found = nb_plugin_within(*(const nb_choice *const *)((const char *)choice->options + o->offset));
    return found;
}

/* Returns the place of a kind's registry; -1: there is no such kind. */
static int kind_named(const char *kind)
{
    for (int i = 0; nb_registries[i]; i++)
        if (strcmp(nb_registries[i]->kind, kind) == 0) return i;
    return -1;
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

static nb_status check_part(const char *path, const nb_plugin *plugin, int index, nb_ctx *ctx)
{
    enum { MOST_BYTES = 1 << 16 };
    const nb_plugin_part *part = &plugin->parts[index];
    const nb_component *c = part->component;
    int kind = kind_named(part->kind);
    const nb_registry *registry = kind < 0 ? NULL : nb_registries[kind];
    NB_REQUIRE(ctx, registry, NB_EINVAL, "%s: there is no kind '%s' of component", path, part->kind);
    const char *missing = lacks(part->component);
    NB_REQUIRE(ctx, !missing, NB_EINVAL, "%s: %s %d lacks %s", path, part->kind, index, missing);
    NB_REQUIRE(ctx, c->options_size <= MOST_BYTES, NB_EINVAL,
               "%s: %s: options_size is %zu, allowed are at most %d bytes", path, c->name, c->options_size, MOST_BYTES);
    for (int row = 0; c->options[row].key; row++) NB_TRY(ctx, check_option(path, c, row, ctx));
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

/* An experiment that names it is written as YAML and JSON, which know no other text. */
static bool is_utf8(const char *path)
{
    json_t *text = json_string(path);
    json_decref(text);
    return text;
}

/* Runs its constructors too. Code that was built with -ffast-math changes rounding and the like when it is loaded. */
static nb_status load_object(const known_plugin *p, const nb_plugin **plugin, nb_ctx *ctx)
{
    fenv_t environment;
    fegetenv(&environment);
    void *object = dlopen(p->file, RTLD_NOW | RTLD_LOCAL);
    fesetenv(&environment);
    const char *hint = nb_text_ends(p->path, ".c") ? "; compile it first"
                       : nb_text_ends(p->path, ".py")
                           ? "; a function in it is command(run=\"python3 -m nysbench.serve FILE NAME\", serve=true)"
                           : "";
    NB_REQUIRE(ctx, object, NB_EIO, "%s: cannot be loaded: %s%s", p->path, dlerror(), hint);
    *plugin = dlsym(object, "nysbench_plugin");
    return NB_OK;
}

static nb_status copy_part(const nb_plugin_part *part, part_copy *copy, nb_ctx *ctx)
{
    const nb_component *c = part->component;
    *copy = (part_copy){.kind = kind_named(part->kind)};
    while (c->options[copy->rows].key) copy->rows++;
    NB_NEED(copy->record, nb_alloc(ctx, 1, nb_registries[copy->kind]->size));
    NB_NEED(copy->options, nb_alloc(ctx, copy->rows + 1, sizeof *copy->options));
    memcpy(copy->record, c, nb_registries[copy->kind]->size);
    memcpy(copy->options, c->options, (copy->rows + 1) * sizeof *copy->options);
    return NB_OK;
}

/* In the child. */
static nb_status read_parts(void *self, nb_ctx *ctx)
{
    known_plugin *p = self;
    const nb_plugin *plugin;
    int count = 0;
    NB_TRY(ctx, load_object(p, &plugin, ctx));
    NB_TRY(ctx, check(p->path, plugin, ctx));
    while (plugin->parts[count].kind) count++;
    NB_NEED(p->parts, nb_alloc(ctx, (size_t)count, sizeof *p->parts));
    for (int i = 0; i < count; i++) NB_TRY(ctx, copy_part(&plugin->parts[i], &p->parts[i], ctx));
    p->count = count;
    return NB_OK;
}

static void move_options(nb_parcel *parcel, part_copy *part)
{
    part->options = nb_parcel_array(parcel, part->options, (size_t)part->rows + 1, sizeof *part->options);
    for (nb_option *o = part->options; o && o < part->options + part->rows; o++) {
        o->key = nb_parcel_text(parcel, o->key);
        o->initial = nb_parcel_text(parcel, o->initial);
        o->choices = nb_parcel_texts(parcel, o->choices);
        o->word = nb_parcel_text(parcel, o->word);
        o->second = nb_parcel_text(parcel, o->second);
        o->for_key = nb_parcel_text(parcel, o->for_key);
        o->for_value = nb_parcel_text(parcel, o->for_value);
        o->help = nb_parcel_text(parcel, o->help);
    }
}

static void move_part(nb_parcel *parcel, part_copy *part)
{
    const nb_registry *registry = nb_registries[part->kind];
    nb_component *c = part->record = nb_parcel_array(parcel, part->record, 1, registry->size);
    move_options(parcel, part);
    if (!c) return;
    c->name = nb_parcel_text(parcel, c->name);
    c->summary = nb_parcel_text(parcel, c->summary);
    c->references = nb_parcel_texts(parcel, c->references);
    c->options = part->options;
    for (const size_t *at = registry->texts; *at > 0; at++) {
        const char **text = (const char **)((char *)c + *at);
        *text = nb_parcel_text(parcel, *text);
    }
}

static void move_parts(void *self, nb_parcel *parcel)
{
    known_plugin *p = self;
    nb_parcel_move(parcel, &p->count, sizeof p->count);
    p->parts = nb_parcel_array(parcel, p->parts, (size_t)p->count, sizeof *p->parts);
    for (int i = 0; p->parts && i < p->count; i++) move_part(parcel, &p->parts[i]);
}

/* Lets a child read the plug-in's parts. */
static nb_status ask_parts(known_plugin *p, nb_ctx *ctx)
{
    const nb_errand errand = {
        .self = p, .act = read_parts, .move = move_parts, .limit_s = nb_ctx_patience(ctx), .quiet = true};
    nb_status status = nb_errand_do(&errand, plugins.ctx);
    if (status == NB_OK) return NB_OK;
    const char *reason = nb_strdup(ctx, nb_error_message(plugins.ctx));
    nb_error_clear(plugins.ctx);
    NB_NEED(reason, reason);
    NB_REQUIRE(ctx, status == NB_EBUG, status, "%s", reason);
    NB_FAIL(ctx, NB_EIO, "%s: cannot be loaded: %s", p->path, reason);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

void nb_plugin_call(const nb_component *study, const char *function)
{
    const known_plugin *p = plugin_of(study);
    if (p) nb_guard_call(p->path, function);
}

void nb_plugin_return(const nb_component *study)
{
    if (plugin_of(study)) nb_guard_return();
}

static nb_status open_plugin(known_plugin *p, nb_ctx *ctx)
{
    const nb_plugin *plugin;
    struct stat now;
    NB_REQUIRE(ctx,
               stat(p->file, &now) == 0 && is_same_file(&now, &p->found) && now.st_size == p->found.st_size &&
                   memcmp(&now.st_mtim, &p->found.st_mtim, sizeof now.st_mtim) == 0,
               NB_EHOST, "%s: is another file than when this command began; the same command uses the new one",
               p->path);
    NB_TRY(ctx, load_object(p, &plugin, ctx));
    for (int i = 0; i < p->count; i++) {
        size_t own = sizeof(nb_component), size = nb_registries[p->parts[i].kind]->size;
        memcpy((char *)p->parts[i].record + own, (const char *)plugin->parts[i].component + own, size - own);
    }
    p->open = true;
    return NB_OK;
}

/* What plans and tells calls a study's functions, with what it makes of the config: a child plans and tells. */
static nb_status open_guarded(known_plugin *p, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_guard_begin(p->path, ctx));
    nb_guard_call(p->path, "constructors");
    nb_status status = open_plugin(p, ctx);
    nb_guard_return();
    return status;
}

nb_status nb_plugin_load(const char *path, nb_ctx *ctx)
{
    known_plugin *p = &plugins.items[plugins.count], added = {.path = path};
    NB_REQUIRE(ctx, is_utf8(path), NB_EINVAL, "%s: the path of a plugin must be UTF-8", path);
    NB_REQUIRE(ctx, nb_is_file(path) && stat(path, &added.found) == 0, NB_EIO, "%s: no such file%s", path,
               nb_path_hint(path));
    for (int i = 0; i < plugins.count; i++)
        if (is_same_file(&plugins.items[i].found, &added.found)) return NB_OK;
    NB_REQUIRE(ctx, plugins.count < MOST_PLUGINS, NB_EINVAL,
               "%s: there are %d plugins already, the most that are allowed", path, plugins.count);
    if (!plugins.ctx) NB_REQUIRE(ctx, plugins.ctx = nb_ctx_new(), NB_ENOMEM, "out of memory: a plugin");
    NB_REQUIRE(ctx, added.path = nb_strdup(plugins.ctx, path), NB_ENOMEM, "out of memory: the path of a plugin");
    NB_REQUIRE(ctx, added.file = nb_format(plugins.ctx, "%s%s", strchr(path, '/') ? "" : "./", path), NB_ENOMEM,
               "out of memory: the path of a plugin");
    NB_TRY(ctx, ask_parts(&added, ctx));
    *p = added;
    plugins.paths[plugins.count++] = p->path;
    for (int i = 0; i < p->count; i++) {
        const nb_registry *registry = nb_registries[p->parts[i].kind];
        NB_TRY(ctx, nb_registry_add(registry, p->path, p->parts[i].record, ctx));
        if (registry == &nb_studies && !p->open) NB_TRY(ctx, open_guarded(p, ctx));
    }
    return NB_OK;
}

nb_status nb_plugin_open(const nb_choice *choice, nb_ctx *ctx)
{
    known_plugin *p = plugin_of(choice->component);
    if (p && !p->open) NB_TRY(ctx, open_plugin(p, ctx));
    for (const nb_option *o = choice->component->options; o && o->key; o++)
        if (o->type == NB_OPTION_SPEC)
            NB_TRY(ctx, nb_plugin_open(*(const nb_choice *const *)((const char *)choice->options + o->offset), ctx));
    return NB_OK;
}

/* "-I" and the whole path of a folder, as a word of the shell. */
static nb_status include_flag(const char *root, const char *folder, const char **flag, nb_ctx *ctx)
{
    NB_NEED(*flag, nb_format(ctx, "%s%s", root, folder));
    NB_TRY(ctx, nb_whole_path(*flag, flag, ctx));
    NB_NEED(*flag, nb_format(ctx, "-I%s", *flag));
    return nb_shell_word(*flag, flag, ctx);
}

nb_status nb_plugin_flags(const char **flags, nb_ctx *ctx)
{
    static const char *const above[] = {"", "/..", "/../.."};
    const char *own, *root, *header, *second;
    *flags = NULL;
    NB_TRY(ctx, nb_whole_path("/proc/self/exe", &own, ctx));
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        NB_NEED(root, nb_format(ctx, "%.*s%s", (int)(strrchr(own, '/') - own), own, above[i]));
        NB_NEED(header, nb_format(ctx, "%s/include/nysbench/strategy.h", root));
        if (nb_is_file(header)) return include_flag(root, "/include/nysbench", flags, ctx);
        NB_NEED(header, nb_format(ctx, "%s/strategies/strategy.h", root));
        if (!nb_is_file(header)) continue;
        NB_TRY(ctx, include_flag(root, "/src", flags, ctx));
        NB_TRY(ctx, include_flag(root, "/strategies", &second, ctx));
        NB_NEED(*flags, nb_format(ctx, "%s %s", *flags, second));
        return NB_OK;
    }
    return NB_OK;
}
