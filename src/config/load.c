/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.c - the keys of an experiment are a table; its defaults are YAML too,
 * so that every value goes the same way. What makes rows is read by axes.c: for
 * the whole experiment, or for one of its blocks. Plug-ins and the study are read
 * first, since they decide which keys there are. */
#include "config/load.h"

#include "calls/heads.h"
#include "components/plugin.h"
#include "config/axes.h"
#include "config/exclude.h"
#include "config/keys.h"

#include <string.h>

/* The keys of an experiment by number: those of a block, exclude, blocks, and the rest. */
typedef struct {
    nb_config_loader common;
    const nb_study *study;
    nb_config_key rest[NB_MOST_KEYS];
    int block_keys, rest_count;
} loader;

enum { MOST_KEYS = NB_MOST_BLOCK_KEYS + 2 + NB_MOST_KEYS };

typedef struct {   /* where the file, or --set, has a key */
    nb_yaml value; /* value.node NULL: it does not */
    bool replaced; /* by --set, and so in all blocks */
    const char *origin;
} entry;

static int exclude_key(const loader *l)
{
    return l->block_keys;
}

static int blocks_key(const loader *l)
{
    return l->block_keys + 1;
}

static int first_rest(const loader *l)
{
    return l->block_keys + 2;
}

static int key_count(const loader *l)
{
    return first_rest(l) + l->rest_count;
}

static const char *key_name(const loader *l, int index)
{
    if (index < l->block_keys) return nb_block_key_name(l->study, index);
    return index == exclude_key(l)  ? "exclude"
           : index == blocks_key(l) ? "blocks"
                                    : l->rest[index - first_rest(l)].name;
}

static int key_index(const loader *l, const char *key)
{
    for (int i = 0; i < key_count(l); i++)
        if (strcmp(key_name(l, i), key) == 0) return i;
    return -1;
}

/* Reports an unknown key; allowed are the first `count` keys. */
static nb_status unknown_key(loader *l, const char *key, int count, nb_place at)
{
    const char *names[MOST_KEYS + 1] = {NULL}, *hint;
    for (int i = 0; i < count; i++) names[i] = key_name(l, i);
    NB_NEED(hint, nb_hint(key, names, l->common.ctx));
    return nb_mistakes_add(l->common.mistakes, at, "key '%s' is unknown%s", key, hint);
}

static nb_status read_pair(loader *l, nb_yaml key, nb_yaml value, int block, entry *entries)
{
    const char *name = nb_yaml_scalar(key);
    if (block == 0 && name && strncmp(name, "x-", 2) == 0) return NB_OK; /* a place for anchors */
    int index = name ? key_index(l, name) : -1, line = (int)key.node->start_mark.line + 1;
    if (index < 0 || (block > 0 && index == blocks_key(l)))
        return unknown_key(l, name ? name : nb_yaml_kind(key), block > 0 ? blocks_key(l) : key_count(l),
                           nb_yaml_place(key));
    if (block > 0 && index >= first_rest(l))
        return nb_mistakes_add(l->common.mistakes, nb_yaml_place(key),
                               "key '%s' belongs to the whole experiment and is not allowed in a block", name);
    if (entries[index].value.node)
        return nb_mistakes_add(l->common.mistakes, nb_yaml_place(key),
                               "key '%s' appears a second time; it is already on line %d", name,
                               (int)entries[index].value.node->start_mark.line + 1);
    if (nb_yaml_is_null(value))
        return nb_mistakes_add(l->common.mistakes, nb_yaml_place(key),
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
        return nb_mistakes_add(l->common.mistakes, nb_yaml_place(mapping), "%sexpected 'key: value' lines, found %s",
                               block > 0 ? "blocks: " : "",
                               nb_yaml_scalar(mapping) ? "a value" : nb_yaml_kind(mapping));
    for (int i = 0; i < nb_yaml_pairs(mapping); i++) {
        nb_yaml key, value;
        nb_yaml_pair(mapping, i, &key, &value);
        NB_TRY(l->common.ctx, read_pair(l, key, value, block, entries));
    }
    return NB_OK;
}

static nb_status override(loader *l, const nb_override *o, entry *entries)
{
    const char *source;
    NB_NEED(source, nb_format(l->common.ctx, "--set %s", o->key));
    int index = key_index(l, o->key);
    if (index < 0) return unknown_key(l, o->key, key_count(l), (nb_place){.source = source});
    nb_yaml value;
    NB_TRY(l->common.ctx, nb_yaml_text(o->value, source, &value, l->common.mistakes));
    if (value.node && nb_yaml_is_null(value))
        return nb_mistakes_add(l->common.mistakes, nb_yaml_place(value), "expected a value, found '%s'", o->value);
    if (value.node) entries[index] = (entry){.value = value, .replaced = true, .origin = "--set"};
    return NB_OK;
}

/* Read already are those that decide which keys there are. */
static nb_status read_rest(loader *l, int index, entry e)
{
    const nb_config_key *k = &l->rest[index];
    nb_config *c = l->common.config;
    const char *text = k->fixed;
    bool plugins = strcmp(k->name, "plugins") == 0;
    if (!e.value.node) {
        if (k->initial) NB_TRY(l->common.ctx, k->initial(&l->common, k, &text));
        NB_TRY(l->common.ctx, nb_yaml_text(text, l->common.path, &e.value, l->common.mistakes));
        e.origin = plugins && *nb_plugins_loaded() ? "--plugin" : "default";
    }
    c->origins.items[c->origins.count++] = (nb_origin){k->name, e.origin};
    return e.value.node ? k->read(&l->common, k, e.value) : NB_OK;
}

static nb_status read_block_key(loader *l, int key, const entry *e, nb_key_values *values)
{
    int before = l->common.mistakes->count;
    values->origin = e->origin;
    NB_TRY(l->common.ctx, nb_block_key_read(l->study, key, e->value, values, l->common.mistakes));
    values->right = l->common.mistakes->count == before;
    return NB_OK;
}

typedef struct { /* the blocks being read */
    int count;
    bool named;
    nb_yaml list;
    entry (*entries)[MOST_KEYS];              /* of each block's own keys */
    nb_key_values (*own)[NB_MOST_BLOCK_KEYS]; /* what those say */
    nb_key_values common[NB_MOST_BLOCK_KEYS]; /* what the file says for all, or the default */
} draft;

/* A block without keys of its own where the file has no blocks. */
static nb_status collect_blocks(loader *l, const entry *entries, draft *d)
{
    d->list = entries[blocks_key(l)].value;
    d->named = d->list.node && nb_yaml_count(d->list) > 0;
    d->count = d->named ? nb_yaml_count(d->list) : 1;
    NB_NEED(d->entries, nb_alloc(l->common.ctx, (size_t)d->count, sizeof *d->entries));
    NB_NEED(d->own, nb_alloc(l->common.ctx, (size_t)d->count, sizeof *d->own));
    for (int b = 0; b < d->count && d->named; b++)
        NB_TRY(l->common.ctx, collect(l, nb_yaml_item(d->list, b), b + 1, d->entries[b]));
    return NB_OK;
}

static nb_place block_place(const loader *l, const draft *d, int block)
{
    return d->named ? nb_yaml_place(nb_yaml_item(d->list, block)) : (nb_place){.source = l->common.path};
}

/* The key's value for all blocks that have none of their own. */
static nb_status read_common(loader *l, int key, const entry *e, draft *d)
{
    int without = 0;
    for (int b = 0; b < d->count; b++) without += e->replaced || !d->entries[b][key].value.node;
    if (e->value.node && without == 0 && d->list.in_file) /* with --set, the file cannot know */
        return nb_mistakes_add(l->common.mistakes, nb_yaml_place(e->value),
                               "%s: every block has its own, so this one is never used", key_name(l, key));
    if (e->value.node && without > 0) return read_block_key(l, key, e, &d->common[key]);
    entry initial = {.origin = "default"};
    if (without == 0) return NB_OK;
    if (nb_block_key_default(l->study, key)) {
        NB_TRY(l->common.ctx,
               nb_yaml_text(nb_block_key_default(l->study, key), l->common.path, &initial.value, l->common.mistakes));
        return initial.value.node ? read_block_key(l, key, &initial, &d->common[key]) : NB_OK;
    }
    if (!d->named)
        return nb_mistakes_add(l->common.mistakes, (nb_place){.source = l->common.path}, "key '%s' is missing",
                               key_name(l, key));
    for (int b = 0; b < d->count; b++)
        if (!d->entries[b][key].value.node)
            NB_TRY(l->common.ctx,
                   nb_mistakes_add(l->common.mistakes, block_place(l, d, b),
                                   "key '%s' is missing, in this block and outside of it", key_name(l, key)));
    return NB_OK;
}

static nb_status read_blocks(loader *l, const entry *entries, draft *d)
{
    for (int key = 0; key < l->block_keys; key++) NB_TRY(l->common.ctx, read_common(l, key, &entries[key], d));
    for (int b = 0; b < d->count; b++)
        for (int key = 0; key < l->block_keys; key++)
            if (d->entries[b][key].value.node && !entries[key].replaced)
                NB_TRY(l->common.ctx, read_block_key(l, key, &d->entries[b][key], &d->own[b][key]));
    return NB_OK;
}

/* Chooses the values that hold in a block by key: its own, else the common ones. */
static void choose_values(const loader *l, draft *d, int block, const nb_key_values *keys[NB_MOST_BLOCK_KEYS])
{
    for (int key = 0; key < l->block_keys; key++)
        keys[key] = d->own[block][key].origin ? &d->own[block][key] : &d->common[key];
}

static nb_status check_blocks(loader *l, draft *d)
{
    const nb_key_values *keys[NB_MOST_BLOCK_KEYS];
    for (int b = 0; b < d->count; b++) {
        choose_values(l, d, b, keys);
        NB_TRY(l->common.ctx, nb_block_keys_check(l->study, keys, l->common.mistakes));
        NB_TRY(l->common.ctx, nb_block_keys_repeated(l->study, keys, &l->common.config->warnings));
    }
    return NB_OK;
}

/* Fills the config's blocks and lists, if all keys of the blocks are right. */
static nb_status fill_blocks(loader *l, draft *d)
{
    nb_config *c = l->common.config;
    const nb_key_values *keys[NB_MOST_BLOCK_KEYS];
    NB_NEED(c->blocks, nb_alloc(l->common.ctx, (size_t)d->count, sizeof *c->blocks));
    c->named_blocks = d->named;
    for (; c->block_count < d->count; c->block_count++) {
        c->blocks[c->block_count].place = block_place(l, d, c->block_count);
        choose_values(l, d, c->block_count, keys);
        NB_TRY(l->common.ctx, nb_config_block_fill(c, &c->blocks[c->block_count], keys, l->common.mistakes));
    }
    return NB_OK;
}

static nb_status read_rules(loader *l, const entry *entries, draft *d)
{
    if (entries[exclude_key(l)].value.node)
        NB_TRY(l->common.ctx, nb_rules_read(entries[exclude_key(l)].value, -1, l->common.config, l->common.mistakes));
    for (int b = 0; b < d->count && !entries[exclude_key(l)].replaced; b++)
        if (d->entries[b][exclude_key(l)].value.node)
            NB_TRY(l->common.ctx,
                   nb_rules_read(d->entries[b][exclude_key(l)].value, b, l->common.config, l->common.mistakes));
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
static nb_status read_entries(loader *l, const entry *entries)
{
    draft d = {.count = 0};
    nb_config *c = l->common.config;
    int early = 0;
    while (early < l->rest_count && !l->rest[early].late) early++;
    NB_NEED(c->origins.items, nb_alloc(l->common.ctx, NB_MOST_KEYS, sizeof *c->origins.items));
    for (int i = 0; i < early; i++) NB_TRY(l->common.ctx, read_rest(l, i, entries[first_rest(l) + i]));
    NB_TRY(l->common.ctx, collect_blocks(l, entries, &d));
    NB_TRY(l->common.ctx, read_blocks(l, entries, &d));
    NB_TRY(l->common.ctx, check_blocks(l, &d));
    if (l->common.mistakes->count == 0) NB_TRY(l->common.ctx, fill_blocks(l, &d));
    if (l->common.mistakes->count == 0) NB_TRY(l->common.ctx, problem_shapes(l));
    NB_TRY(l->common.ctx, read_rules(l, entries, &d));
    for (int i = early; i < l->rest_count; i++) NB_TRY(l->common.ctx, read_rest(l, i, entries[first_rest(l) + i]));
    return l->study->check ? l->study->check(c, (nb_place){.source = l->common.path}, l->common.mistakes) : NB_OK;
}

/* The value of a key of the whole file, or of --set; value->node NULL: it has none. */
static nb_status peek(const nb_config_loader *l, nb_yaml root, int count, const nb_override *overrides, const char *key,
                      nb_yaml *value)
{
    nb_mistakes told_later;
    nb_mistakes_init(&told_later, l->ctx);
    *value = (nb_yaml){.node = NULL};
    for (int i = 0; i < nb_yaml_pairs(root) && !value->node; i++) {
        nb_yaml name, here;
        nb_yaml_pair(root, i, &name, &here);
        if (nb_yaml_scalar(name) && strcmp(nb_yaml_scalar(name), key) == 0 && !nb_yaml_is_null(here)) *value = here;
    }
    for (int i = 0; i < count; i++) {
        const char *source;
        if (strcmp(overrides[i].key, key) != 0) continue;
        NB_NEED(source, nb_format(l->ctx, "--set %s", key));
        NB_TRY(l->ctx, nb_yaml_text(overrides[i].value, source, value, &told_later));
    }
    return NB_OK;
}

/* Which keys there are. */
static nb_status find_study(loader *l, nb_yaml root, int count, const nb_override *overrides)
{
    nb_yaml value;
    nb_config *c = l->common.config;
    NB_TRY(l->common.ctx, peek(&l->common, root, count, overrides, "plugins", &value));
    if (value.node) NB_TRY(l->common.ctx, nb_config_read_plugins(&l->common, value));
    NB_TRY(l->common.ctx, peek(&l->common, root, count, overrides, "study", &value));
    if (value.node) NB_TRY(l->common.ctx, nb_config_read_study(&l->common, value));
    l->study = c->study;
    l->block_keys = nb_block_key_count(l->study);
    l->rest_count = nb_config_keys(l->study, l->rest);
    if (l->study->component.options_size > 0)
        NB_NEED(c->settings, nb_alloc(l->common.ctx, 1, l->study->component.options_size));
    return NB_OK;
}

nb_status nb_config_load(const char *path, int override_count, const nb_override *overrides, nb_config *config,
                         nb_mistakes *mistakes, nb_ctx *ctx)
{
    loader l = {.common = {path, config, mistakes, ctx}};
    nb_yaml root;
    entry entries[MOST_KEYS] = {{.origin = NULL}};
    *config = (nb_config){.study = nb_study_standard()};
    nb_mistakes_init(&config->warnings, ctx);
    NB_TRY(ctx, nb_yaml_file(path, &root, mistakes));
    if (!root.node) return NB_OK;
    NB_TRY(ctx, find_study(&l, root, override_count, overrides));
    NB_TRY(ctx, collect(&l, root, 0, entries));
    for (int i = 0; i < override_count; i++) NB_TRY(ctx, override(&l, &overrides[i], entries));
    if (root.node->type != YAML_MAPPING_NODE) return NB_OK;
    return read_entries(&l, entries);
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
