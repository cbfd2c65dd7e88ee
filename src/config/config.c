/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config.c - the keys of an experiment are a table; its defaults are YAML too,
 * so that every value goes the same way. What makes rows is read by axes.c: for
 * the whole experiment, or for one of its blocks. */
#include "config/config.h"

#include "components/plugin.h"
#include "components/registry.h"
#include "config/axes.h"
#include "config/exclude.h"
#include "config/lookup.h"
#include "studies/error/row.h"
#include "config/values.h"
#include "nystrom/heads.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *path;
    nb_config *config;
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} loader;

typedef struct { /* a key that holds for the whole experiment */
    const char *key;
    const char *initial; /* YAML */
    nb_status (*read)(loader *l, const char *key, nb_yaml f);
} key_reader;

static nb_status read_name(loader *l, const char *key, nb_yaml f)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *text = nb_yaml_scalar(f);
    if (!text || !*text || *text == '.' || *text == '-' || text[strspn(text, letters)])
        return nb_mistakes_add(
            l->mistakes, nb_yaml_place(f),
            "%s: expected letters, digits, '.', '_' and '-', a letter or digit first, found '%s'%s", key,
            text ? text : nb_yaml_kind(f),
            f.in_file || f.source != l->path ? "" : ", the file's own name; give it another by a line 'name: ...'");
    NB_NEED(l->config->name, nb_strdup(l->ctx, text));
    return NB_OK;
}

static nb_status read_question(loader *l, const char *key, nb_yaml f)
{
    if (!nb_yaml_scalar(f))
        return nb_mistakes_add(l->mistakes, nb_yaml_place(f), "%s: expected a text, found %s", key, nb_yaml_kind(f));
    NB_NEED(l->config->question, nb_strdup(l->ctx, nb_yaml_scalar(f)));
    return NB_OK;
}

static nb_status read_seed(loader *l, const char *key, nb_yaml f)
{
    return nb_read_integer(key, f, 0, 9223372036854775807, &l->config->seed, l->mistakes);
}

/* What they add may be named by the keys that follow. */
static nb_status read_plugins(loader *l, const char *key, nb_yaml f)
{
    int count;
    const char **paths;
    if (nb_yaml_count(f) == 0) return NB_OK;
    NB_TRY(l->ctx, nb_read_texts(key, f, &count, &paths, l->mistakes));
    for (int i = 0; i < count; i++) {
        nb_status status = f.in_file ? nb_lookup_path(paths[i], f.source, &paths[i], l->ctx) : NB_OK;
        if (status == NB_OK) status = nb_plugin_load(paths[i], l->ctx);
        if (f.in_file) status = nb_lookup_explain_path(status, paths[i], f.source, l->ctx);
        NB_TRY(l->ctx, nb_mistakes_take(l->mistakes, nb_yaml_place(f), status));
    }
    return NB_OK;
}

/* The first strategy that is no oracle, or the first of all. */
static const nb_choice *default_baseline(const nb_choices *strategies)
{
    for (int i = 0; i < strategies->count; i++)
        if (!(nb_strategy_traits(&strategies->items[i]) & NB_ORACLE)) return &strategies->items[i];
    return strategies->count ? strategies->items : NULL;
}

/* One of them with other options, or whatever is near. */
static nb_status hint_baseline(const nb_choices *strategies, const char *text, const nb_choices *named,
                               const char **hint, nb_ctx *ctx)
{
    const char **labels;
    NB_NEED(labels, nb_alloc(ctx, (size_t)strategies->count + 1, sizeof *labels));
    for (int i = 0; i < strategies->count; i++) {
        labels[i] = strategies->items[i].label;
        if (named->count != 1 || strategies->items[i].component != named->items[0].component) continue;
        NB_NEED(*hint, nb_format(ctx, "; did you mean '%s'?", labels[i]));
        return NB_OK;
    }
    NB_NEED(*hint, nb_hint(text, labels, ctx));
    return NB_OK;
}

/* After the strategies of all blocks; without them where something was wrong. */
static nb_status read_baseline(loader *l, const char *key, nb_yaml f)
{
    nb_config *c = l->config;
    nb_choices named = {.count = 0};
    int mistakes = l->mistakes->count;
    const char *text = nb_yaml_scalar(f);
    c->baseline = default_baseline(&c->strategies);
    if (text && strcmp(text, "default") == 0) return NB_OK;
    if (!text)
        return nb_mistakes_add(l->mistakes, nb_yaml_place(f), "%s: expected a strategy, found %s", key,
                               nb_yaml_kind(f));
    NB_TRY(l->ctx, nb_choices_add(&named, &nb_strategies, text, nb_yaml_place(f), l->mistakes, l->ctx));
    if (l->mistakes->count > mistakes || c->block_count == 0) return NB_OK;
    for (int i = 0; i < named.count && f.in_file; i++)
        NB_TRY(l->ctx, nb_lookup_choice(&named.items[i], f.source, l->ctx));
    int at = named.count == 1 ? nb_choices_find(&c->strategies, &named.items[0]) : -1;
    if (at < 0) {
        const char *hint;
        NB_TRY(l->ctx, hint_baseline(&c->strategies, text, &named, &hint, l->ctx));
        return nb_mistakes_add(l->mistakes, nb_yaml_place(f), "%s: expected one of the strategies, found '%s'%s", key,
                               text, hint);
    }
    c->baseline = &c->strategies.items[at];
    return NB_OK;
}

static nb_status read_metrics(loader *l, const char *key, nb_yaml f)
{
    nb_config *c = l->config;
    const char *names[sizeof(nb_row) / sizeof(double) + 1];
    int count = 0;
    for (const nb_column *column = nb_columns; column->name; column++)
        if (column->measure) names[count++] = column->name;
    names[count] = NULL;
    NB_TRY(l->ctx, nb_read_words(key, f, names, "all", &c->metric_count, &c->metrics, l->mistakes));
    for (int i = 0; i < c->metric_count; i++) {
        const nb_column *column = nb_column_find(nb_columns, c->metrics[i]);
        c->wanted |= strcmp(c->metrics[i], "all") == 0 ? NB_WANT_ALL : column ? column->wanted : 0;
    }
    return NB_OK;
}

static nb_status read_engine(loader *l, const char *key, nb_yaml f)
{
    int index = 0;
    NB_TRY(l->ctx, nb_read_word(key, f, nb_engine_names, &index, l->mistakes));
    l->config->engine = (nb_engine_kind)index;
    return NB_OK;
}

static nb_status read_precision(loader *l, const char *key, nb_yaml f)
{
    int index = 0;
    NB_TRY(l->ctx, nb_read_word(key, f, nb_precision_names, &index, l->mistakes));
    l->config->precision = (nb_precision)index;
    return NB_OK;
}

static nb_status read_rows(loader *l, const char *key, nb_yaml f)
{
    const char *text = nb_yaml_scalar(f);
    long long k = 0;
    int end = 0, count = text ? sscanf(text, " sample ( %9lld )%n", &k, &end) : 0;
    bool sampled = count == 1 && end > 0 && text[end] == '\0' && k >= 2;
    l->config->sample = sampled ? (int)k : 0;
    l->config->rows = "all";
    if (sampled) NB_NEED(l->config->rows, nb_format(l->ctx, "sample(%d)", l->config->sample));
    if (sampled || (text && strcmp(text, "all") == 0)) return NB_OK;
    return nb_mistakes_add(l->mistakes, nb_yaml_place(f),
                           "%s: '%s' is unknown; allowed: all, or sample(k) for k = 2 to 999999999 random rows", key,
                           text ? text : nb_yaml_kind(f));
}

/* What one key alone does not show. */
static nb_status check_engine(loader *l)
{
    const nb_config *c = l->config;
    nb_place at = {.source = l->path};
    if (c->sample && c->engine == NB_DIRECT)
        NB_TRY(l->ctx,
               nb_mistakes_add(l->mistakes, at, "rows: %s needs engine: streamed; direct measures all rows", c->rows));
    if (c->precision == NB_MIXED && c->engine == NB_DIRECT)
        NB_TRY(l->ctx,
               nb_mistakes_add(l->mistakes, at, "precision: mixed needs engine: streamed; direct measures in double"));
    if (c->precision == NB_MIXED && c->sample)
        NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, at,
                                       "precision: mixed needs rows: all; sampled rows are measured in double"));
    for (int i = 0; i < c->metric_count && c->sample; i++) {
        const nb_column *column = nb_column_find(nb_columns, c->metrics[i]);
        if (column && column->whole)
            NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, at, "metrics: %s needs rows: all; %s does not give it",
                                           c->metrics[i], c->rows));
    }
    return NB_OK;
}

static nb_status read_plots(loader *l, const char *key, nb_yaml f)
{
    const char *const *names;
    if (nb_yaml_count(f) == 0) return NB_OK;
    NB_TRY(l->ctx, nb_registry_names(&nb_figures, &names, l->ctx));
    return nb_read_words(key, f, names, NULL, &l->config->plot_count, &l->config->plots, l->mistakes);
}

/* Read in this order: plugins add what later keys may name; the baseline is one of
 * the strategies, and comes last. */
static const key_reader global_keys[] = {
    {"name", "", read_name},
    {"question", "\"\"", read_question},
    {"seed", "20260101", read_seed},
    {"plugins", "[]", read_plugins},
    {"metrics", "all", read_metrics},
    {"rows", "all", read_rows},
    {"engine", "streamed", read_engine},
    {"precision", "double", read_precision},
    {"plots", "[error]", read_plots},
    {"baseline", "default", read_baseline},
};

/* All keys: those that a block may have, and the rest. */
enum {
    GLOBAL_KEYS = sizeof global_keys / sizeof *global_keys,
    EXCLUDE = NB_BLOCK_KEYS,
    BLOCKS,
    FIRST_GLOBAL,
    KEYS = FIRST_GLOBAL + GLOBAL_KEYS
};

typedef struct {   /* where the file, or --set, has a key */
    nb_yaml value; /* value.node NULL: it does not */
    bool replaced; /* by --set, and so in all blocks */
    const char *origin;
} entry;

static const char *key_name(int index)
{
    return index < NB_BLOCK_KEYS ? nb_block_keys[index]
           : index == EXCLUDE    ? "exclude"
           : index == BLOCKS     ? "blocks"
                                 : global_keys[index - FIRST_GLOBAL].key;
}

static int key_index(const char *key)
{
    for (int i = 0; i < KEYS; i++)
        if (strcmp(key_name(i), key) == 0) return i;
    return -1;
}

bool nb_config_makes_rows(const char *key)
{
    static const char *const others[] = {"name", "question", "plugins", "plots", "baseline"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(key, others[i]) == 0) return false;
    return true;
}

/* Of `count` keys, the first ones. */
static nb_status unknown_key(loader *l, const char *key, int count, nb_place at)
{
    const char *names[KEYS + 1] = {NULL}, *hint;
    for (int i = 0; i < count; i++) names[i] = key_name(i);
    NB_NEED(hint, nb_hint(key, names, l->ctx));
    return nb_mistakes_add(l->mistakes, at, "key '%s' is unknown%s", key, hint);
}

/* The default of the name follows from the file's. */
static nb_status initial_text(const loader *l, const key_reader *k, const char **text)
{
    *text = k->initial;
    if (k->read != read_name) return NB_OK;
    const char *slash = strrchr(l->path, '/'), *stem = slash ? slash + 1 : l->path, *dot = strrchr(stem, '.');
    NB_NEED(*text, nb_format(l->ctx, "%.*s", dot && dot > stem ? (int)(dot - stem) : (int)strlen(stem), stem));
    return NB_OK;
}

/* YAML's null, in one of its spellings. */
static bool is_nothing(nb_yaml value)
{
    const char *text = nb_yaml_scalar(value);
    return text && value.node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

static nb_status read_pair(loader *l, nb_yaml key, nb_yaml value, int block, entry *entries)
{
    const char *name = nb_yaml_scalar(key);
    int index = name ? key_index(name) : -1, line = (int)key.node->start_mark.line + 1;
    if (index < 0 || (block > 0 && index >= BLOCKS && index < FIRST_GLOBAL))
        return unknown_key(l, name ? name : nb_yaml_kind(key), block > 0 ? BLOCKS : KEYS, nb_yaml_place(key));
    if (block > 0 && index >= FIRST_GLOBAL)
        return nb_mistakes_add(l->mistakes, nb_yaml_place(key),
                               "key '%s' holds for the whole experiment and cannot stand in a block", name);
    if (entries[index].value.node)
        return nb_mistakes_add(l->mistakes, nb_yaml_place(key), "key '%s' stands here a second time; first on line %d",
                               name, (int)entries[index].value.node->start_mark.line + 1);
    if (is_nothing(value))
        return nb_mistakes_add(l->mistakes, nb_yaml_place(key),
                               "key '%s' has no value; without the line it has its default, if there is one", name);
    entries[index].value = value;
    NB_NEED(entries[index].origin, block > 0 && value.in_file
                                       ? nb_format(l->ctx, "block %d (%s:%d)", block, value.source, line)
                                   : block > 0 ? nb_format(l->ctx, "block %d (%s)", block, value.source)
                                               : nb_format(l->ctx, "%s:%d", value.source, line));
    return NB_OK;
}

/* Sorts a mapping's pairs by key into entries[KEYS]; block: its number, 0: the whole file. */
static nb_status collect(loader *l, nb_yaml mapping, int block, entry *entries)
{
    if (mapping.node->type != YAML_MAPPING_NODE)
        return nb_mistakes_add(l->mistakes, nb_yaml_place(mapping), "%sexpected 'key: value' lines, found %s",
                               block > 0 ? "blocks: " : "",
                               nb_yaml_scalar(mapping) ? "a value" : nb_yaml_kind(mapping));
    for (int i = 0; i < nb_yaml_pairs(mapping); i++) {
        nb_yaml key, value;
        nb_yaml_pair(mapping, i, &key, &value);
        NB_TRY(l->ctx, read_pair(l, key, value, block, entries));
    }
    return NB_OK;
}

static nb_status override(loader *l, const nb_override *o, entry *entries)
{
    const char *source;
    NB_NEED(source, nb_format(l->ctx, "--set %s", o->key));
    int index = key_index(o->key);
    if (index < 0) return unknown_key(l, o->key, KEYS, (nb_place){.source = source});
    nb_yaml value;
    NB_TRY(l->ctx, nb_yaml_text(o->value, source, &value, l->mistakes));
    if (value.node && is_nothing(value))
        return nb_mistakes_add(l->mistakes, nb_yaml_place(value), "expected a value, found '%s'", o->value);
    if (value.node) entries[index] = (entry){.value = value, .replaced = true, .origin = "--set"};
    return NB_OK;
}

static nb_status read_global(loader *l, int index, entry e)
{
    const key_reader *k = &global_keys[index];
    const char *text;
    if (!e.value.node) {
        NB_TRY(l->ctx, initial_text(l, k, &text));
        NB_TRY(l->ctx, nb_yaml_text(text, l->path, &e.value, l->mistakes));
        e.origin = k->read == read_plugins && *nb_plugins_loaded() ? "--plugin" : "default";
    }
    l->config->origins.items[l->config->origins.count++] = (nb_origin){k->key, e.origin};
    return e.value.node ? k->read(l, k->key, e.value) : NB_OK;
}

static nb_status read_block_key(loader *l, int key, const entry *e, nb_key_values *values)
{
    int before = l->mistakes->count;
    values->origin = e->origin;
    NB_TRY(l->ctx, nb_block_key_read(key, e->value, values, l->mistakes));
    values->right = l->mistakes->count == before;
    return NB_OK;
}

typedef struct { /* the blocks on their way */
    int count;
    bool named;
    nb_yaml list;
    entry (*entries)[KEYS];              /* of each block's own keys */
    nb_key_values (*own)[NB_BLOCK_KEYS]; /* what those say */
    nb_key_values common[NB_BLOCK_KEYS]; /* what the file says for all, or the default */
} draft;

/* A block without keys of its own where the file has no blocks. */
static nb_status collect_blocks(loader *l, const entry *entries, draft *d)
{
    d->list = entries[BLOCKS].value;
    d->named = d->list.node && nb_yaml_count(d->list) > 0;
    d->count = d->named ? nb_yaml_count(d->list) : 1;
    NB_NEED(d->entries, nb_alloc(l->ctx, (size_t)d->count, sizeof *d->entries));
    NB_NEED(d->own, nb_alloc(l->ctx, (size_t)d->count, sizeof *d->own));
    for (int b = 0; b < d->count && d->named; b++)
        NB_TRY(l->ctx, collect(l, nb_yaml_item(d->list, b), b + 1, d->entries[b]));
    return NB_OK;
}

static nb_place block_place(const loader *l, const draft *d, int block)
{
    return d->named ? nb_yaml_place(nb_yaml_item(d->list, block)) : (nb_place){.source = l->path};
}

/* The key's value for all blocks that have none of their own. */
static nb_status read_common(loader *l, int key, const entry *e, draft *d)
{
    int without = 0;
    for (int b = 0; b < d->count; b++) without += e->replaced || !d->entries[b][key].value.node;
    if (e->value.node && without == 0 && d->list.in_file) /* with --set, the file cannot know */
        return nb_mistakes_add(l->mistakes, nb_yaml_place(e->value), "%s: every block has its own, so none uses this",
                               key_name(key));
    if (e->value.node && without > 0) return read_block_key(l, key, e, &d->common[key]);
    entry initial = {.origin = "default"};
    if (without == 0) return NB_OK;
    if (nb_block_key_default(key)) {
        NB_TRY(l->ctx, nb_yaml_text(nb_block_key_default(key), l->path, &initial.value, l->mistakes));
        return initial.value.node ? read_block_key(l, key, &initial, &d->common[key]) : NB_OK;
    }
    if (!d->named)
        return nb_mistakes_add(l->mistakes, (nb_place){.source = l->path}, "key '%s' is missing", key_name(key));
    for (int b = 0; b < d->count; b++)
        if (!d->entries[b][key].value.node)
            NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, block_place(l, d, b),
                                           "key '%s' is missing, in this block and for all", key_name(key)));
    return NB_OK;
}

static nb_status read_blocks(loader *l, const entry *entries, draft *d)
{
    for (int key = 0; key < NB_BLOCK_KEYS; key++) NB_TRY(l->ctx, read_common(l, key, &entries[key], d));
    for (int b = 0; b < d->count; b++)
        for (int key = 0; key < NB_BLOCK_KEYS; key++)
            if (d->entries[b][key].value.node && !entries[key].replaced)
                NB_TRY(l->ctx, read_block_key(l, key, &d->entries[b][key], &d->own[b][key]));
    return NB_OK;
}

/* What holds in a block: its own or what is common, by key. */
static void choose_values(draft *d, int block, const nb_key_values *keys[NB_BLOCK_KEYS])
{
    for (int key = 0; key < NB_BLOCK_KEYS; key++)
        keys[key] = d->own[block][key].origin ? &d->own[block][key] : &d->common[key];
}

static nb_status check_blocks(loader *l, draft *d)
{
    const nb_key_values *keys[NB_BLOCK_KEYS];
    for (int b = 0; b < d->count; b++) {
        choose_values(d, b, keys);
        NB_TRY(l->ctx, nb_block_keys_check(keys, l->mistakes));
        NB_TRY(l->ctx, nb_block_keys_repeated(keys, &l->config->warnings));
    }
    return NB_OK;
}

/* Where all that the blocks say is right: the config's blocks and lists. */
static nb_status fill_blocks(loader *l, draft *d)
{
    nb_config *c = l->config;
    const nb_key_values *keys[NB_BLOCK_KEYS];
    NB_NEED(c->blocks, nb_alloc(l->ctx, (size_t)d->count, sizeof *c->blocks));
    c->named_blocks = d->named;
    for (; c->block_count < d->count; c->block_count++) {
        c->blocks[c->block_count].place = block_place(l, d, c->block_count);
        choose_values(d, c->block_count, keys);
        NB_TRY(l->ctx, nb_config_block_fill(c, &c->blocks[c->block_count], keys, l->ctx));
    }
    return NB_OK;
}

static nb_status read_rules(loader *l, const entry *entries, draft *d)
{
    if (entries[EXCLUDE].value.node) NB_TRY(l->ctx, nb_rules_read(entries[EXCLUDE].value, -1, l->config, l->mistakes));
    for (int b = 0; b < d->count && !entries[EXCLUDE].replaced; b++)
        if (d->entries[b][EXCLUDE].value.node)
            NB_TRY(l->ctx, nb_rules_read(d->entries[b][EXCLUDE].value, b, l->config, l->mistakes));
    return NB_OK;
}

static nb_status problem_shapes(loader *l)
{
    nb_config *c = l->config;
    NB_NEED(c->shapes, nb_alloc(l->ctx, (size_t)c->problems.count, sizeof *c->shapes));
    for (int i = 0; i < c->problems.count; i++)
        NB_TRY(l->ctx, nb_heads_shape(&c->problems.items[i], &c->shapes[i], l->ctx));
    return NB_OK;
}

/* All keys, once the file and --set are sorted. */
static nb_status read_entries(loader *l, const entry *entries)
{
    draft d = {.count = 0};
    NB_NEED(l->config->origins.items, nb_alloc(l->ctx, GLOBAL_KEYS, sizeof *l->config->origins.items));
    for (int i = 0; i < GLOBAL_KEYS - 1; i++) NB_TRY(l->ctx, read_global(l, i, entries[FIRST_GLOBAL + i]));
    NB_TRY(l->ctx, collect_blocks(l, entries, &d));
    NB_TRY(l->ctx, read_blocks(l, entries, &d));
    NB_TRY(l->ctx, check_blocks(l, &d));
    if (l->mistakes->count == 0) NB_TRY(l->ctx, fill_blocks(l, &d));
    NB_TRY(l->ctx, read_rules(l, entries, &d));
    NB_TRY(l->ctx, read_global(l, GLOBAL_KEYS - 1, entries[KEYS - 1]));
    return check_engine(l);
}

nb_status nb_config_load(const char *path, int override_count, const nb_override *overrides, nb_config *config,
                         nb_mistakes *mistakes, nb_ctx *ctx)
{
    loader l = {path, config, mistakes, ctx};
    nb_yaml root;
    entry entries[KEYS] = {{.origin = NULL}};
    *config = (nb_config){.name = NULL};
    nb_mistakes_init(&config->warnings, ctx);
    NB_TRY(ctx, nb_yaml_file(path, &root, mistakes));
    if (!root.node) return NB_OK;
    NB_TRY(ctx, collect(&l, root, 0, entries));
    for (int i = 0; i < override_count; i++) NB_TRY(ctx, override(&l, &overrides[i], entries));
    if (root.node->type != YAML_MAPPING_NODE) return NB_OK;
    NB_TRY(ctx, read_entries(&l, entries));
    return mistakes->count == 0 ? problem_shapes(&l) : NB_OK;
}
