/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.c - the keys of an experiment are a table; its defaults are YAML too,
 * so that every value goes the same way. What makes rows is read by axes.c: for
 * the whole experiment, or for one of its blocks. Plug-ins and the study are read
 * first, since they decide which keys there are. */
#include "config/config.h"

#include "base/builder.h"
#include "base/fields.h"
#include "base/files.h"
#include "calls/heads.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "config/config_study.h"
#include "config/keys.h"

#include <string.h>

typedef struct {   /* where the file, or --set, has a key */
    nb_yaml value; /* value.node NULL: it does not */
    bool replaced; /* by --set, and so in all blocks */
    const char *origin;
} entry;

typedef struct {
    nb_config_loader common;
    nb_config_key keys[NB_MOST_KEYS]; /* those of a block, exclude, blocks, and the rest */
    int block_keys, exclude_key, blocks_key, key_count;
    entry entries[NB_MOST_KEYS];                       /* of the whole file */
    nb_key_values values[NB_MOST_BLOCK_KEYS];          /* what those of a block say for all blocks, or the default */
    nb_yaml blocks;                                    /* the list; node NULL: there is none */
    int block_count;                                   /* at least 1: that of a file without blocks has no keys */
    entry (*block_entries)[NB_MOST_KEYS];              /* of each block's own keys */
    nb_key_values (*block_values)[NB_MOST_BLOCK_KEYS]; /* what those say */
} loader;

static int key_index(const loader *l, const char *key)
{
    for (int i = 0; i < l->key_count; i++)
        if (strcmp(l->keys[i].name, key) == 0) return i;
    return -1;
}

static bool study_has_key(const nb_study *study, const char *key)
{
    nb_config_key keys[NB_MOST_KEYS];
    int block_keys, count = nb_config_keys(study, keys, &block_keys);
    for (int i = 0; i < count; i++)
        if (strcmp(keys[i].name, key) == 0) return true;
    return false;
}

/* Reports an unknown key; allowed are the first `count` keys. */
static nb_status unknown_key(loader *l, const char *key, int count, nb_place at)
{
    const char *names[NB_MOST_KEYS + 1] = {NULL}, *hint;
    nb_string others = NB_NO_TEXT; /* "effect or forward" */
    for (const nb_entry *e = nb_studies.entries; e->component; e++)
        if (study_has_key((const nb_study *)e->component, key))
            NB_TRY(l->common.ctx, nb_append_item(&others, " or ", l->common.ctx, "%s", e->component->name));
    if (*others.text && key_index(l, key) < 0)
        return nb_mistakes_add(l->common.mistakes, at, "key '%s' is for study: %s; the study here is %s", key,
                               others.text, l->common.config->study->component.name);
    for (int i = 0; i < count; i++) names[i] = l->keys[i].name;
    NB_NEED(hint, nb_hint(key, names, l->common.ctx));
    return nb_mistakes_add(l->common.mistakes, at, "key '%s' is unknown%s", key, hint);
}

static nb_status read_pair(loader *l, nb_yaml key, nb_yaml value, int block, entry *entries)
{
    const char *name = nb_yaml_scalar(key);
    if (block == 0 && name && strncmp(name, "x-", 2) == 0) return NB_OK; /* a place for anchors */
    int index = name ? key_index(l, name) : -1, line = (int)key.node->start_mark.line + 1;
    if (index < 0 || (block > 0 && index == l->blocks_key))
        return unknown_key(l, nb_yaml_found(key), block > 0 ? l->blocks_key : l->key_count, nb_yaml_place(key));
    if (block > 0 && index > l->blocks_key)
        return nb_yaml_mistake(key, l->common.mistakes,
                               "key '%s' belongs to the whole experiment and is not allowed in a block", name);
    if (entries[index].value.node)
        return nb_yaml_mistake(key, l->common.mistakes, "key '%s' appears a second time; it is already on line %d",
                               name, (int)entries[index].value.node->start_mark.line + 1);
    if (nb_yaml_is_null(value))
        return nb_yaml_mistake(key, l->common.mistakes,
                               "key '%s' has no value; leave the line out for its default, if it has one", name);
    entries[index].value = value;
    NB_NEED(entries[index].origin, block > 0 && value.in_file
                                       ? nb_format(l->common.ctx, "block %d (%s:%d)", block, value.source, line)
                                   : block > 0 ? nb_format(l->common.ctx, "block %d (%s)", block, value.source)
                                               : nb_format(l->common.ctx, "%s:%d", value.source, line));
    return NB_OK;
}

/* Sorts a mapping's pairs by key into entries; block: its number, 0: the whole file. */
static nb_status collect(loader *l, nb_yaml mapping, int block, entry *entries)
{
    if (mapping.node->type != YAML_MAPPING_NODE)
        return nb_yaml_mistake(mapping, l->common.mistakes, "%sexpected 'key: value' lines, found %s",
                               block > 0 ? "blocks: " : "",
                               nb_yaml_scalar(mapping) ? "a value" : nb_yaml_kind(mapping));
    for (int i = 0; i < nb_yaml_pairs(mapping); i++) {
        nb_yaml key, value;
        nb_yaml_pair(mapping, i, &key, &value);
        NB_TRY(l->common.ctx, read_pair(l, key, value, block, entries));
    }
    return NB_OK;
}

static nb_status override(loader *l, const nb_override *o)
{
    const char *source = nb_key(l->common.ctx, o->key);
    int index = key_index(l, o->key);
    if (index < 0) return unknown_key(l, o->key, l->key_count, (nb_place){.source = source});
    nb_yaml value;
    NB_TRY(l->common.ctx, nb_yaml_text(o->value, source, &value, l->common.mistakes));
    if (value.node && nb_yaml_is_null(value))
        return nb_yaml_mistake(value, l->common.mistakes, "expected a value, found '%s'", o->value);
    if (value.node)
        l->entries[index] = (entry){.value = value, .replaced = true, .origin = nb_field(l->common.ctx, "set", NULL)};
    return NB_OK;
}

/* The default as an entry; without a value if it has a mistake. */
static nb_status take_default(loader *l, const char *yaml, entry *e)
{
    e->origin = "default";
    return nb_yaml_text(yaml, l->common.path, &e->value, l->common.mistakes);
}

/* Reads the rest of the keys, the late ones or those before; what decides which keys there are is read already. */
static nb_status read_rest(loader *l, bool late)
{
    nb_config *c = l->common.config;
    for (int i = l->blocks_key + 1; i < l->key_count; i++) {
        const nb_config_key *k = &l->keys[i];
        const char *text = k->fixed;
        entry e = l->entries[i];
        if (k->late != late) continue;
        if (!e.value.node) {
            if (!text) NB_TRY(l->common.ctx, nb_stem_of(l->common.path, &text, l->common.ctx));
            NB_TRY(l->common.ctx, take_default(l, text, &e));
            if (strcmp(k->name, "plugins") == 0 && *nb_plugins_loaded())
                e.origin = nb_field(l->common.ctx, "plugins", NULL);
        }
        c->origins.items[c->origins.count++] = (nb_origin){k->name, e.origin};
        if (e.value.node && k->read) NB_TRY(l->common.ctx, k->read(&l->common, k, e.value));
    }
    return NB_OK;
}

static nb_status read_block_key(loader *l, int key, const entry *e, nb_key_values *values)
{
    int before = l->common.mistakes->count;
    if (!e->value.node) return NB_OK;
    values->origin = (nb_origin){l->keys[key].name, e->origin};
    NB_TRY(l->common.ctx, nb_block_key_read(l->common.config->study, key, e->value, values, l->common.mistakes));
    values->right = l->common.mistakes->count == before;
    return NB_OK;
}

static bool has_blocks(const loader *l)
{
    return l->blocks.node && nb_yaml_count(l->blocks) > 0;
}

static nb_status collect_blocks(loader *l)
{
    l->blocks = l->entries[l->blocks_key].value;
    l->block_count = has_blocks(l) ? nb_yaml_count(l->blocks) : 1;
    NB_NEED(l->block_entries, nb_alloc(l->common.ctx, (size_t)l->block_count, sizeof *l->block_entries));
    NB_NEED(l->block_values, nb_alloc(l->common.ctx, (size_t)l->block_count, sizeof *l->block_values));
    for (int b = 0; b < l->block_count && has_blocks(l); b++)
        NB_TRY(l->common.ctx, collect(l, nb_yaml_item(l->blocks, b), b + 1, l->block_entries[b]));
    return NB_OK;
}

static nb_place block_place(const loader *l, int block)
{
    return has_blocks(l) ? nb_yaml_place(nb_yaml_item(l->blocks, block)) : (nb_place){.source = l->common.path};
}

/* The key's value for all blocks that have none of their own. */
static nb_status read_common(loader *l, int key)
{
    entry e = l->entries[key];
    const char *name = l->keys[key].name;
    int without = 0;
    for (int b = 0; b < l->block_count; b++) without += e.replaced || !l->block_entries[b][key].value.node;
    if (e.value.node && without == 0 && l->blocks.in_file) /* with --set, the file cannot know */
        return nb_yaml_mistake(e.value, l->common.mistakes, "%s: every block has its own, so this one is never used",
                               name);
    if (without == 0) return NB_OK;
    if (!e.value.node && l->keys[key].fixed) NB_TRY(l->common.ctx, take_default(l, l->keys[key].fixed, &e));
    if (e.value.node || e.origin) return read_block_key(l, key, &e, &l->values[key]);
    for (int b = 0; b < l->block_count; b++)
        if (!l->block_entries[b][key].value.node)
            NB_TRY(l->common.ctx, nb_mistakes_add(l->common.mistakes, block_place(l, b), "key '%s' is missing%s", name,
                                                  has_blocks(l) ? ", in this block and outside of it" : ""));
    return NB_OK;
}

/* The values that hold in a block by key: its own, else the common ones. */
static void choose_values(const loader *l, int block, const nb_key_values *values[NB_MOST_BLOCK_KEYS])
{
    for (int key = 0; key < l->block_keys; key++)
        values[key] = l->block_values[block][key].origin.key ? &l->block_values[block][key] : &l->values[key];
}

static nb_status read_blocks(loader *l)
{
    const nb_key_values *values[NB_MOST_BLOCK_KEYS];
    for (int key = 0; key < l->block_keys; key++) NB_TRY(l->common.ctx, read_common(l, key));
    for (int b = 0; b < l->block_count; b++)
        for (int key = 0; key < l->block_keys; key++)
            if (!l->entries[key].replaced)
                NB_TRY(l->common.ctx, read_block_key(l, key, &l->block_entries[b][key], &l->block_values[b][key]));
    for (int b = 0; b < l->block_count; b++) {
        choose_values(l, b, values);
        NB_TRY(l->common.ctx, nb_block_keys_check(l->common.config->study, values, l->common.mistakes));
    }
    return NB_OK;
}

/* Fills the config's blocks and lists, if all keys of the blocks are right. */
static nb_status fill_blocks(loader *l)
{
    nb_config *c = l->common.config;
    const nb_key_values *values[NB_MOST_BLOCK_KEYS];
    NB_NEED(c->blocks, nb_alloc(l->common.ctx, (size_t)l->block_count, sizeof *c->blocks));
    c->named_blocks = has_blocks(l);
    for (; c->block_count < l->block_count; c->block_count++) {
        c->blocks[c->block_count].place = block_place(l, c->block_count);
        choose_values(l, c->block_count, values);
        NB_TRY(l->common.ctx, nb_config_block_fill(c, &c->blocks[c->block_count], values, l->common.mistakes));
    }
    return NB_OK;
}

/* Rules of all blocks, then those of each, unless --set replaces them. */
static nb_status read_rules(loader *l)
{
    const entry *all = &l->entries[l->exclude_key];
    for (int b = -1; b < (all->replaced ? 0 : l->block_count); b++) {
        const entry *e = b < 0 ? all : &l->block_entries[b][l->exclude_key];
        if (e->value.node) NB_TRY(l->common.ctx, nb_rules_read(e->value, b, l->common.config, l->common.mistakes));
    }
    return NB_OK;
}

static nb_status problem_shapes(loader *l)
{
    nb_config *c = l->common.config;
    const nb_choices *problems = &c->lists[NB_AXIS_PROBLEM].choices;
    NB_NEED(c->shapes, nb_alloc(l->common.ctx, (size_t)problems->count, sizeof *c->shapes));
    for (int i = 0; i < problems->count; i++)
        NB_TRY(l->common.ctx, nb_heads_shape(&problems->items[i], &c->shapes[i], l->common.ctx));
    return NB_OK;
}

/* All keys, once the file and --set are sorted. */
static nb_status read_entries(loader *l)
{
    nb_config *c = l->common.config;
    NB_NEED(c->origins.items, nb_alloc(l->common.ctx, NB_MOST_KEYS, sizeof *c->origins.items));
    NB_TRY(l->common.ctx, read_rest(l, false));
    NB_TRY(l->common.ctx, collect_blocks(l));
    NB_TRY(l->common.ctx, read_blocks(l));
    if (l->common.mistakes->count == 0) NB_TRY(l->common.ctx, fill_blocks(l));
    if (l->common.mistakes->count == 0) NB_TRY(l->common.ctx, problem_shapes(l));
    if (l->common.mistakes->count == 0)
        NB_TRY(l->common.ctx, nb_split_check(c, (nb_place){.source = l->common.path}, l->common.mistakes));
    NB_TRY(l->common.ctx, read_rules(l));
    NB_TRY(l->common.ctx, read_rest(l, true));
    const nb_config_study *study = nb_config_study_of(c->study);
    if (!study->check) return NB_OK;
    nb_plugin_call(&c->study->component, "check");
    nb_status status = study->check(c, (nb_place){.source = l->common.path}, l->common.mistakes);
    nb_plugin_return(&c->study->component);
    return status;
}

/* The value of a key of the whole file, or of --set; value->node NULL: it has none. */
static nb_status peek(const nb_config_loader *l, nb_yaml root, int count, const nb_override *overrides, const char *key,
                      nb_yaml *value)
{
    nb_mistakes told_later = {.ctx = l->ctx};
    *value = nb_yaml_get(root, key);
    if (value->node && nb_yaml_is_null(*value)) value->node = NULL;
    for (int i = 0; i < count; i++) {
        if (strcmp(overrides[i].key, key) != 0) continue;
        NB_TRY(l->ctx, nb_yaml_text(overrides[i].value, nb_key(l->ctx, key), value, &told_later));
    }
    return NB_OK;
}

/* Which keys there are. */
static nb_status find_keys(loader *l, nb_yaml root, int count, const nb_override *overrides)
{
    nb_yaml value;
    nb_config *c = l->common.config;
    NB_TRY(l->common.ctx, peek(&l->common, root, count, overrides, "plugins", &value));
    if (value.node) NB_TRY(l->common.ctx, nb_config_read_plugins(&l->common, value));
    NB_TRY(l->common.ctx, peek(&l->common, root, count, overrides, "study", &value));
    if (value.node) NB_TRY(l->common.ctx, nb_config_read_study(&l->common, value));
    l->key_count = nb_config_keys(c->study, l->keys, &l->block_keys);
    l->exclude_key = l->block_keys;
    l->blocks_key = l->exclude_key + 1;
    if (c->study->component.options_size > 0)
        NB_NEED(c->settings, nb_alloc(l->common.ctx, 1, c->study->component.options_size));
    return NB_OK;
}

static nb_status load(loader *l, int override_count, const nb_override *overrides)
{
    nb_ctx *ctx = l->common.ctx;
    nb_yaml root;
    *l->common.config = (nb_config){.study = nb_study_standard(), .warnings = {.ctx = ctx}};
    NB_TRY(ctx, nb_yaml_file(l->common.path, &root, l->common.mistakes));
    if (!root.node) return NB_OK;
    NB_TRY(ctx, find_keys(l, root, override_count, overrides));
    NB_TRY(ctx, collect(l, root, 0, l->entries));
    for (int i = 0; i < override_count; i++) NB_TRY(ctx, override(l, &overrides[i]));
    return root.node->type == YAML_MAPPING_NODE ? read_entries(l) : NB_OK;
}

nb_status nb_config_load(const char *path, int override_count, const nb_override *overrides, nb_config *config,
                         nb_mistakes *mistakes, nb_ctx *ctx)
{
    loader l = {.common = {.path = path, .config = config, .mistakes = mistakes, .ctx = ctx}};
    return load(&l, override_count, overrides);
}

nb_status nb_config_recall(const char *path, nb_config *config, nb_mistakes *mistakes, nb_ctx *ctx)
{
    loader l = {.common = {.path = path, .recalls = true, .config = config, .mistakes = mistakes, .ctx = ctx}};
    return load(&l, 0, NULL);
}

nb_status nb_config_check_ready(const nb_config *c, const char *source, nb_mistakes *mistakes)
{
    nb_ctx *ctx = mistakes->ctx;
    for (int axis = 0; c->study->axes[axis].key; axis++)
        for (int i = 0; c->study->axes[axis].ready && i < c->lists[axis].count; i++)
            NB_TRY(ctx, nb_mistakes_take(mistakes, (nb_place){.source = source},
                                         c->study->axes[axis].ready(nb_config_choice(c, axis, i), ctx)));
    return NB_OK;
}
