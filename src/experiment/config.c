/* config.c - the keys of an experiment are a table; its defaults are YAML too,
 * so that every value goes the same way. */
#include "experiment/config.h"

#include "base/plugin.h"
#include "base/registry.h"
#include "experiment/row.h"
#include "experiment/yaml_text.h"
#include "measure/heads.h"
#include "report/plots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

typedef struct { /* one value, and the document that it is in */
    yaml_document_t *document;
    yaml_node_t *node;
    const char *source;
    bool in_file; /* its line and column mean something */
} field;

typedef struct {
    const char *path;
    nb_config *config;
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} loader;

typedef struct {
    const char *key;
    const char *initial; /* YAML; NULL: required */
    nb_status (*read)(loader *l, const char *key, field f);
} key_reader;

static nb_place place(field f)
{
    if (!f.in_file) return (nb_place){.source = f.source};
    bool quoted = f.node->type == YAML_SCALAR_NODE && f.node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return (nb_place){f.source, (int)f.node->start_mark.line + 1, (int)f.node->start_mark.column + 1 + quoted};
}

/* NULL for what is no scalar, or one with a NUL byte, which would be cut there. */
static const char *scalar(field f)
{
    if (f.node->type != YAML_SCALAR_NODE) return NULL;
    const char *text = (const char *)f.node->data.scalar.value;
    return strlen(text) == f.node->data.scalar.length ? text : NULL;
}

/* A scalar stands for a list of one. */
static int items(field f)
{
    return f.node->type == YAML_SEQUENCE_NODE
               ? (int)(f.node->data.sequence.items.top - f.node->data.sequence.items.start)
               : 1;
}

static field item(field f, int index)
{
    if (f.node->type == YAML_SEQUENCE_NODE)
        f.node = yaml_document_get_node(f.document, f.node->data.sequence.items.start[index]);
    return f;
}

static const char *node_kind(field f)
{
    return f.node->type == YAML_MAPPING_NODE ? "a mapping" : f.node->type == YAML_SEQUENCE_NODE ? "a list" : "a value with a NUL byte";
}

/* Each item's text, in order; a nested list or mapping is a mistake. */
static nb_status texts(loader *l, const char *key, field f, int *count, const char ***out)
{
    int total = items(f);
    NB_NEED(*out, nb_alloc(l->ctx, (size_t)total + 1, sizeof **out));
    *count = 0;
    if (total == 0) NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, place(f), "%s: the list is empty", key));
    for (int i = 0; i < total; i++) {
        field one = item(f, i);
        if (!scalar(one))
            NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, place(one), "%s: expected a value, found %s", key, node_kind(one)));
        else
            NB_NEED((*out)[(*count)++], nb_strdup(l->ctx, scalar(one)));
    }
    return NB_OK;
}

static nb_status read_integer(loader *l, const char *key, field f, long long lo, long long hi, long long *out)
{
    const char *text = scalar(f);
    char *end = NULL;
    errno = 0;
    long long number = text ? strtoll(text, &end, 10) : 0;
    if (text && end != text && *end == '\0' && errno == 0 && number >= lo && number <= hi) {
        *out = number;
        return NB_OK;
    }
    return nb_mistakes_add(l->mistakes, place(f), "%s: expected an integer from %lld to %lld, found %s%s%s", key, lo, hi,
                           text ? "'" : "", text ? text : node_kind(f), text ? "'" : "");
}

static nb_status read_name(loader *l, const char *key, field f)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *text = scalar(f);
    if (!text || !*text || *text == '.' || *text == '-' || text[strspn(text, letters)])
        return nb_mistakes_add(l->mistakes, place(f),
                               "%s: expected letters, digits, '.', '_' and '-', a letter or digit first, found '%s'%s", key,
                               text ? text : node_kind(f), f.in_file || f.source != l->path ? "" : ", the file's own name; give it another by a line 'name: ...'");
    NB_NEED(l->config->name, nb_strdup(l->ctx, text));
    return NB_OK;
}

static nb_status read_question(loader *l, const char *key, field f)
{
    if (!scalar(f)) return nb_mistakes_add(l->mistakes, place(f), "%s: expected a text, found %s", key, node_kind(f));
    NB_NEED(l->config->question, nb_strdup(l->ctx, scalar(f)));
    return NB_OK;
}

static nb_status read_seed(loader *l, const char *key, field f)
{
    return read_integer(l, key, f, 0, 9223372036854775807, &l->config->seed);
}

static nb_status read_trials(loader *l, const char *key, field f)
{
    long long trials = 1;
    NB_TRY(l->ctx, read_integer(l, key, f, 1, 1000000, &trials));
    l->config->trials = (int)trials;
    return NB_OK;
}

static bool has_landmarks(const nb_config *c, int m)
{
    int i = 0;
    while (i < c->landmark_count && c->landmarks[i] != m) i++;
    return i < c->landmark_count;
}

static nb_status read_landmarks(loader *l, const char *key, field f)
{
    nb_config *c = l->config;
    int total = items(f);
    NB_NEED(c->landmarks, nb_alloc(l->ctx, (size_t)total + 1, sizeof *c->landmarks));
    if (total == 0) NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, place(f), "%s: the list is empty", key));
    for (int i = 0; i < total; i++) {
        long long m = 1;
        NB_TRY(l->ctx, read_integer(l, key, item(f, i), 1, 1000000, &m));
        if (!has_landmarks(c, (int)m)) c->landmarks[c->landmark_count++] = (int)m;
    }
    return NB_OK;
}

/* What they add may be named by the keys that follow. */
static nb_status read_plugins(loader *l, const char *key, field f)
{
    int count;
    const char **paths;
    if (items(f) == 0) return NB_OK;
    NB_TRY(l->ctx, texts(l, key, f, &count, &paths));
    for (int i = 0; i < count; i++)
        NB_TRY(l->ctx, nb_mistakes_take(l->mistakes, place(f), nb_plugin_load(paths[i], l->ctx)));
    return NB_OK;
}

static nb_status read_choice(loader *l, const char *key, field one, const nb_registry *registry, nb_choices *choices)
{
    int before = l->mistakes->count;
    const char *text = scalar(one);
    if (!text)
        return nb_mistakes_add(l->mistakes, place(one), "%s: expected a %s, found %s", key, registry->kind, node_kind(one));
    NB_TRY(l->ctx, nb_choices_add(choices, registry, text, place(one), l->mistakes, l->ctx));
    if (l->mistakes->count > before && strchr(text, '(') && !strchr(text, ')'))
        return nb_mistakes_add(l->mistakes, place(one), "in a [ ] list, quote a %s whose options have commas: \"%s, ...)\"",
                               registry->kind, text);
    return NB_OK;
}

static nb_status read_choices(loader *l, const char *key, field f, const nb_registry *registry, nb_choices *choices)
{
    if (items(f) == 0) return nb_mistakes_add(l->mistakes, place(f), "%s: the list is empty", key);
    for (int i = 0; i < items(f); i++) NB_TRY(l->ctx, read_choice(l, key, item(f, i), registry, choices));
    return NB_OK;
}

/* The problems, and what each will give: a missing file shows here. */
static nb_status read_problems(loader *l, const char *key, field f)
{
    nb_config *c = l->config;
    for (int i = 0; i < items(f); i++) {
        field one = item(f, i);
        int first = c->problems.count;
        NB_TRY(l->ctx, read_choice(l, key, one, &nb_problems, &c->problems));
        for (int p = first; p < c->problems.count; p++) {
            nb_problem_shape shape;
            nb_status status = nb_heads_shape(&c->problems.items[p], &shape, l->ctx);
            NB_TRY(l->ctx, nb_mistakes_take(l->mistakes, place(one), status));
        }
    }
    if (items(f) == 0) return nb_mistakes_add(l->mistakes, place(f), "%s: the list is empty", key);
    return NB_OK;
}

static nb_status read_kernels(loader *l, const char *key, field f)
{
    return read_choices(l, key, f, &nb_kernels, &l->config->kernels);
}

static nb_status read_strategies(loader *l, const char *key, field f)
{
    nb_choices *all = &l->config->strategies;
    if (items(f) == 0) return nb_mistakes_add(l->mistakes, place(f), "%s: the list is empty", key);
    for (int i = 0; i < items(f); i++) {
        int first = all->count;
        NB_TRY(l->ctx, read_choice(l, key, item(f, i), &nb_strategies, all));
        for (int s = first; s < all->count; s++) {
            const nb_strategy *strategy = (const nb_strategy *)all->items[s].component;
            nb_status status = strategy->check ? strategy->check(all->items[s].options, l->ctx) : NB_OK;
            NB_TRY(l->ctx, nb_mistakes_take(l->mistakes, place(item(f, i)), status));
        }
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

static nb_status read_baseline(loader *l, const char *key, field f)
{
    nb_config *c = l->config;
    nb_choices named = {.count = 0};
    int mistakes = l->mistakes->count;
    c->baseline = default_baseline(&c->strategies);
    if (scalar(f) && strcmp(scalar(f), "default") == 0) return NB_OK;
    NB_TRY(l->ctx, read_choice(l, key, f, &nb_strategies, &named));
    if (l->mistakes->count > mistakes) return NB_OK;
    for (int i = 0; named.count == 1 && i < c->strategies.count; i++) {
        if (strcmp(c->strategies.items[i].canonical, named.items[0].canonical) != 0) continue;
        c->baseline = &c->strategies.items[i];
        return NB_OK;
    }
    return nb_mistakes_add(l->mistakes, place(f), "%s: expected one of the strategies, found '%s'", key, scalar(f));
}

static nb_status read_cores(loader *l, const char *key, field f)
{
    return read_choices(l, key, f, &nb_cores, &l->config->cores);
}

/* A list of words out of `allowed` and perhaps one more. */
static nb_status read_words(loader *l, const char *key, field f, const char *const *allowed, const char *extra,
                            int *count, const char ***out)
{
    int known = 0;
    const char **names;
    while (allowed[known]) known++;
    NB_NEED(names, nb_alloc(l->ctx, (size_t)known + 2, sizeof *names));
    memcpy(names, allowed, (size_t)known * sizeof *names);
    names[known] = extra;
    NB_TRY(l->ctx, texts(l, key, f, count, out));
    for (int i = 0; i < items(f); i++) {
        const char *text = scalar(item(f, i)), *hint;
        int at = 0;
        while (text && names[at] && strcmp(names[at], text) != 0) at++;
        if (!text || names[at]) continue;
        NB_NEED(hint, nb_hint(text, names, l->ctx));
        NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, place(item(f, i)), "%s: '%s' is unknown%s", key, text, hint));
    }
    return NB_OK;
}

static nb_status read_pairing(loader *l, const char *key, field f)
{
    return read_words(l, key, f, nb_pairing_names, "default", &l->config->pairing_count, &l->config->pairings);
}

static nb_status read_factors(loader *l, const char *key, field f)
{
    return read_words(l, key, f, nb_factors_names, NULL, &l->config->factors_count, &l->config->factors);
}

static nb_status read_metrics(loader *l, const char *key, field f)
{
    nb_config *c = l->config;
    const char *names[sizeof(nb_row) / sizeof(double) + 1];
    int count = 0;
    for (const nb_column *column = nb_columns; column->name; column++)
        if (column->measure) names[count++] = column->name;
    names[count] = NULL;
    NB_TRY(l->ctx, read_words(l, key, f, names, "all", &c->metric_count, &c->metrics));
    for (int i = 0; i < c->metric_count; i++) {
        const nb_column *column = nb_column_find(c->metrics[i]);
        c->wanted |= strcmp(c->metrics[i], "all") == 0 ? NB_WANT_ALL : column ? column->wanted : 0;
    }
    return NB_OK;
}

/* One word out of `allowed`; *index tells which. */
static nb_status read_word(loader *l, const char *key, field f, const char *const *allowed, int *index)
{
    const char *text = scalar(f), *hint;
    if (!text) return nb_mistakes_add(l->mistakes, place(f), "%s: expected a word, found %s", key, node_kind(f));
    for (*index = 0; allowed[*index] && strcmp(allowed[*index], text) != 0;) ++*index;
    if (allowed[*index]) return NB_OK;
    *index = 0;
    NB_NEED(hint, nb_hint(text, allowed, l->ctx));
    return nb_mistakes_add(l->mistakes, place(f), "%s: '%s' is unknown%s", key, text, hint);
}

static nb_status read_engine(loader *l, const char *key, field f)
{
    int index = 0;
    NB_TRY(l->ctx, read_word(l, key, f, nb_engine_names, &index));
    l->config->engine = (nb_engine_kind)index;
    return NB_OK;
}

static nb_status read_precision(loader *l, const char *key, field f)
{
    int index = 0;
    NB_TRY(l->ctx, read_word(l, key, f, nb_precision_names, &index));
    l->config->precision = (nb_precision)index;
    return NB_OK;
}

static nb_status read_rows(loader *l, const char *key, field f)
{
    const char *text = scalar(f);
    long long k = 0;
    int end = 0, count = text ? sscanf(text, " sample ( %9lld )%n", &k, &end) : 0;
    bool sampled = count == 1 && end > 0 && text[end] == '\0' && k >= 2;
    l->config->sample = sampled ? (int)k : 0;
    l->config->rows = "all";
    if (sampled) NB_NEED(l->config->rows, nb_format(l->ctx, "sample(%d)", l->config->sample));
    if (sampled || (text && strcmp(text, "all") == 0)) return NB_OK;
    return nb_mistakes_add(l->mistakes, place(f), "%s: '%s' is unknown; allowed: all, or sample(k) for k = 2 to 999999999 random rows", key,
                           text ? text : node_kind(f));
}

/* What one key alone does not show. */
static nb_status check_engine(loader *l)
{
    const nb_config *c = l->config;
    nb_place at = {.source = l->path};
    if (c->sample && c->engine == NB_DIRECT)
        NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, at, "rows: %s needs engine: streamed; direct measures all rows", c->rows));
    if (c->precision == NB_MIXED && c->engine == NB_DIRECT)
        NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, at, "precision: mixed needs engine: streamed; direct measures in double"));
    if (c->precision == NB_MIXED && c->sample)
        NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, at, "precision: mixed needs rows: all; sampled rows are measured in double"));
    for (int i = 0; i < c->metric_count && c->sample; i++) {
        const nb_column *column = nb_column_find(c->metrics[i]);
        if (column && column->whole)
            NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, at, "metrics: %s needs rows: all; %s does not give it", c->metrics[i], c->rows));
    }
    return NB_OK;
}

static nb_status check_pairings(loader *l)
{
    const nb_config *c = l->config;
    for (int p = 0; p < c->pairing_count; p++)
        for (int s = 0; s < c->strategies.count && strcmp(c->pairings[p], nb_pairing_names[NB_BOTH]) == 0; s++) {
            const nb_component *strategy = c->strategies.items[s].component;
            if (!nb_strategy_has((const nb_strategy *)strategy, NB_BOTH))
                NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, (nb_place){.source = l->path}, "pairing: %s cannot pick for both sides together", strategy->name));
        }
    return NB_OK;
}

static nb_status read_plots(loader *l, const char *key, field f)
{
    if (items(f) == 0) return NB_OK;
    return read_words(l, key, f, nb_plot_kinds, NULL, &l->config->plot_count, &l->config->plots);
}

static const key_reader keys[] = {
    {"name", "", read_name},
    {"question", "\"\"", read_question},
    {"seed", "20260101", read_seed},
    {"trials", "10", read_trials},
    {"landmarks", "[8, 16, 24, 32, 40, 48, 56, 64]", read_landmarks},
    {"plugins", "[]", read_plugins},
    {"problems", NULL, read_problems},
    {"kernels", "", read_kernels},
    {"strategies", NULL, read_strategies},
    {"baseline", "default", read_baseline},
    {"pairing", "default", read_pairing},
    {"factors", "nystromformer", read_factors},
    {"cores", NULL, read_cores},
    {"metrics", "all", read_metrics},
    {"rows", "all", read_rows},
    {"engine", "streamed", read_engine},
    {"precision", "double", read_precision},
    {"plots", "[error]", read_plots},
};
enum { KEYS = sizeof keys / sizeof *keys };

const char *nb_standard_kernel(void)
{
    const nb_entry *e = nb_kernels.entries;
    while (!((const nb_kernel *)e->component)->standard) e++; /* there is one, see the conformance test */
    return e->component->name;
}

/* Defaults that the table cannot hold: they follow from the file's name and the
 * registry. */
static nb_status initial_text(const loader *l, const key_reader *k, const char **text)
{
    *text = k->initial;
    if (k->read == read_name) {
        const char *slash = strrchr(l->path, '/'), *stem = slash ? slash + 1 : l->path, *dot = strrchr(stem, '.');
        NB_NEED(*text, nb_format(l->ctx, "%.*s", dot && dot > stem ? (int)(dot - stem) : (int)strlen(stem), stem));
    }
    if (k->read == read_kernels) *text = nb_standard_kernel();
    return NB_OK;
}

static void delete_document(void *document)
{
    yaml_document_delete(document);
    free(document);
}

static nb_status yaml_mistake(loader *l, const yaml_parser_t *parser, const char *source, bool in_file)
{
    const char *tab = parser->problem && strstr(parser->problem, "cannot start any token") ? " (a tab, '%', '@' or '`'? YAML indents with blanks)" : "";
    nb_place at = {.source = source};
    if (in_file) at = (nb_place){source, (int)parser->problem_mark.line + 1, (int)parser->problem_mark.column + 1};
    return nb_mistakes_add(l->mistakes, at, "not YAML: %s%s%s%s", parser->context ? parser->context : "",
                           parser->context ? ", " : "", parser->problem ? parser->problem : "unreadable", tab);
}

/* Loads the parser's one document; *document = NULL where that was a mistake. */
static nb_status load_document(loader *l, yaml_parser_t *parser, const char *source, bool in_file,
                               yaml_document_t **document)
{
    yaml_document_t *loaded = malloc(sizeof *loaded), next;
    *document = NULL;
    NB_REQUIRE(l->ctx, loaded, NB_ENOMEM, "out of memory: a YAML document");
    if (!yaml_parser_load(parser, loaded)) {
        free(loaded);
        NB_REQUIRE(l->ctx, parser->error != YAML_MEMORY_ERROR, NB_ENOMEM, "out of memory: a YAML document");
        return yaml_mistake(l, parser, source, in_file);
    }
    NB_TRY(l->ctx, nb_defer(l->ctx, delete_document, loaded));
    if (!yaml_document_get_root_node(loaded))
        return nb_mistakes_add(l->mistakes, (nb_place){.source = source}, in_file ? "is empty; a config needs problems, strategies and cores" : "expected a value, found nothing");
    if (!yaml_parser_load(parser, &next)) return yaml_mistake(l, parser, source, in_file);
    bool more = yaml_document_get_root_node(&next);
    yaml_document_delete(&next);
    if (more) return nb_mistakes_add(l->mistakes, (nb_place){.source = source}, "holds more than one YAML document");
    *document = loaded;
    return NB_OK;
}

static nb_status load_text(loader *l, const char *text, const char *source, field *f)
{
    yaml_parser_t parser;
    NB_REQUIRE(l->ctx, yaml_parser_initialize(&parser), NB_ENOMEM, "out of memory: a YAML parser");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    *f = (field){.source = source};
    nb_status status = load_document(l, &parser, source, false, &f->document);
    yaml_parser_delete(&parser);
    if (f->document) f->node = yaml_document_get_root_node(f->document);
    return status;
}

static nb_status load_file(loader *l, field *root)
{
    yaml_parser_t parser;
    struct stat info;
    NB_REQUIRE(l->ctx, stat(l->path, &info) != 0 || !S_ISDIR(info.st_mode), NB_EIO, "%s: is a folder, expected an experiment's file", l->path);
    FILE *file = fopen(l->path, "rb");
    NB_REQUIRE(l->ctx, file, NB_EIO, "%s: cannot be opened: %s", l->path, strerror(errno));
    if (!yaml_parser_initialize(&parser)) {
        fclose(file);
        NB_FAIL(l->ctx, NB_ENOMEM, "out of memory: a YAML parser");
    }
    yaml_parser_set_input_file(&parser, file);
    *root = (field){.source = l->path, .in_file = true};
    nb_status status = load_document(l, &parser, l->path, true, &root->document);
    bool unreadable = ferror(file);
    yaml_parser_delete(&parser);
    fclose(file);
    NB_REQUIRE(l->ctx, !unreadable, NB_EIO, "%s: cannot be read", l->path);
    if (root->document) root->node = yaml_document_get_root_node(root->document);
    return status;
}

static int key_index(const char *key)
{
    for (int i = 0; i < KEYS; i++)
        if (strcmp(keys[i].key, key) == 0) return i;
    return -1;
}

static nb_status unknown_key(loader *l, const char *key, nb_place at)
{
    const char *names[KEYS + 1] = {NULL}, *hint;
    for (int i = 0; i < KEYS; i++) names[i] = keys[i].key;
    NB_NEED(hint, nb_hint(key, names, l->ctx));
    return nb_mistakes_add(l->mistakes, at, "key '%s' is unknown%s", key, hint);
}

/* Sorts the file's pairs by key into values[]. */
static nb_status collect(loader *l, field root, field *values)
{
    if (root.node->type != YAML_MAPPING_NODE)
        return nb_mistakes_add(l->mistakes, place(root), "expected 'key: value' lines, found %s", node_kind(root));
    for (yaml_node_pair_t *p = root.node->data.mapping.pairs.start; p < root.node->data.mapping.pairs.top; p++) {
        field key = root, value = root;
        key.node = yaml_document_get_node(root.document, p->key);
        value.node = yaml_document_get_node(root.document, p->value);
        int index = scalar(key) ? key_index(scalar(key)) : -1;
        if (index < 0)
            NB_TRY(l->ctx, unknown_key(l, scalar(key) ? scalar(key) : node_kind(key), place(key)));
        else if (values[index].node)
            NB_TRY(l->ctx, nb_mistakes_add(l->mistakes, place(key), "key '%s' stands here a second time; first on line %d",
                                           scalar(key), (int)values[index].node->start_mark.line + 1));
        else
            values[index] = value;
    }
    return NB_OK;
}

static nb_status override(loader *l, const nb_override *o, field *values)
{
    const char *source;
    NB_NEED(source, nb_format(l->ctx, "--set %s", o->key));
    int index = key_index(o->key);
    if (index < 0) return unknown_key(l, o->key, (nb_place){.source = source});
    field f;
    NB_TRY(l->ctx, load_text(l, o->value, source, &f));
    if (f.node) values[index] = f;
    return NB_OK;
}

static nb_status read_key(loader *l, const key_reader *k, field value)
{
    if (!value.node) {
        const char *text;
        NB_TRY(l->ctx, initial_text(l, k, &text));
        if (!text) return nb_mistakes_add(l->mistakes, (nb_place){.source = l->path}, "key '%s' is missing", k->key);
        NB_TRY(l->ctx, load_text(l, text, l->path, &value));
    }
    return value.node ? k->read(l, k->key, value) : NB_OK;
}

static nb_status problem_shapes(loader *l)
{
    nb_config *c = l->config;
    NB_NEED(c->shapes, nb_alloc(l->ctx, (size_t)c->problems.count, sizeof *c->shapes));
    for (int i = 0; i < c->problems.count; i++) NB_TRY(l->ctx, nb_heads_shape(&c->problems.items[i], &c->shapes[i], l->ctx));
    return NB_OK;
}

nb_status nb_config_load(const char *path, int override_count, const nb_override *overrides, nb_config *config,
                         nb_mistakes *mistakes, nb_ctx *ctx)
{
    loader l = {path, config, mistakes, ctx};
    field root, values[KEYS] = {{.node = NULL}};
    *config = (nb_config){.name = NULL};
    NB_TRY(ctx, load_file(&l, &root));
    if (!root.node) return NB_OK;
    NB_TRY(ctx, collect(&l, root, values));
    for (int i = 0; i < override_count; i++) NB_TRY(ctx, override(&l, &overrides[i], values));
    if (root.node->type != YAML_MAPPING_NODE) return NB_OK;
    for (int i = 0; i < KEYS; i++) NB_TRY(ctx, read_key(&l, &keys[i], values[i]));
    NB_TRY(ctx, check_engine(&l));
    NB_TRY(ctx, check_pairings(&l));
    return mistakes->count == 0 ? problem_shapes(&l) : NB_OK;
}

static int count_texts(const char *const *texts_)
{
    int count = 0;
    while (texts_[count]) count++;
    return count;
}

static void print_list(FILE *out, const char *key, int count, const char *const *texts_)
{
    fprintf(out, "%s:%s\n", key, count ? "" : " []");
    for (int i = 0; i < count; i++) {
        fputs("  - ", out);
        nb_yaml_print_quoted(out, texts_[i]);
        fputc('\n', out);
    }
}

static void print_choices(FILE *out, const char *key, const nb_choices *choices)
{
    fprintf(out, "%s:\n", key);
    for (int i = 0; i < choices->count; i++) {
        fputs("  - ", out);
        nb_yaml_print_quoted(out, choices->items[i].resolved);
        fputc('\n', out);
    }
}

static void print_config(FILE *out, const nb_config *c)
{
    fprintf(out, "name: ");
    nb_yaml_print_quoted(out, c->name);
    fprintf(out, "\nquestion: ");
    nb_yaml_print_quoted(out, c->question);
    fprintf(out, "\nseed: %lld\ntrials: %d\nlandmarks: [", c->seed, c->trials);
    for (int i = 0; i < c->landmark_count; i++) fprintf(out, "%s%d", i ? ", " : "", c->landmarks[i]);
    fprintf(out, "]\n");
    print_list(out, "plugins", count_texts(nb_plugins_loaded()), nb_plugins_loaded());
    print_choices(out, "problems", &c->problems);
    print_choices(out, "kernels", &c->kernels);
    print_choices(out, "strategies", &c->strategies);
    fputs("baseline: ", out);
    nb_yaml_print_quoted(out, c->baseline->resolved);
    fputc('\n', out);
    print_list(out, "pairing", c->pairing_count, c->pairings);
    print_list(out, "factors", c->factors_count, c->factors);
    print_choices(out, "cores", &c->cores);
    print_list(out, "metrics", c->metric_count, c->metrics);
    fprintf(out, "rows: %s\nengine: %s\nprecision: %s\n", c->rows, nb_engine_names[c->engine], nb_precision_names[c->precision]);
    print_list(out, "plots", c->plot_count, c->plots);
}

nb_status nb_config_text(const nb_config *config, const char **text, nb_ctx *ctx)
{
    char *buffer = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&buffer, &size);
    NB_REQUIRE(ctx, out, NB_ENOMEM, "out of memory: the resolved config");
    print_config(out, config);
    bool failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(buffer);
        NB_FAIL(ctx, NB_ENOMEM, "out of memory: the resolved config");
    }
    *text = buffer;
    return nb_defer(ctx, free, buffer);
}
