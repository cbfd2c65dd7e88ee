/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code.c - finds code by its form, before what defines components is loaded: in each text that is a spec, whatever it
 * stands under, the option `run` is a program. */
#include "config/code.h"

#include "base/fields.h"
#include "base/texts.h"
#include "config/yaml.h"

#include <string.h>

typedef struct {
    nb_texts found;
    nb_mistakes ignored; /* are told by who reads the config */
    bool *seen;          /* by node of the document */
    int override_count;
    const nb_override *overrides;
    nb_ctx *ctx;
} search;

static void begin(search *s, nb_ctx *ctx)
{
    *s = (search){.ignored = {.ctx = ctx}, .ctx = ctx};
    nb_texts_init(&s->found, ctx);
}

static nb_status add_name(search *s, const char *kind, const char *name)
{
    const char *text;
    int number;
    NB_NEED(text, nb_format(s->ctx, "%s %s", kind, name));
    return nb_texts_number(&s->found, text, &number);
}

static nb_status take_names(search *s, const char *const **names)
{
    const char **out;
    NB_NEED(out, nb_alloc(s->ctx, (size_t)s->found.count + 1, sizeof *out));
    for (int i = 0; i < s->found.count; i++) out[i] = s->found.items[i];
    *names = out;
    return NB_OK;
}

static nb_status search_text(search *s, const char *text);

static nb_status search_value(search *s, const char *key, const nb_value *value)
{
    for (int i = 0; i < value->count; i++) NB_TRY(s->ctx, search_value(s, key, &value->items[i]));
    for (int i = 0; value->spec && i < value->spec->count; i++)
        NB_TRY(s->ctx, search_value(s, value->spec->arguments[i].key, &value->spec->arguments[i].value));
    if (!value->text) return NB_OK;
    return strcmp(key, "run") == 0 ? add_name(s, "program", value->text) : search_text(s, value->text);
}

static nb_status search_text(search *s, const char *text)
{
    nb_spec *spec;
    if (!strstr(text, "run")) return NB_OK;
    NB_TRY(s->ctx, nb_spec_parse(text, (nb_place){.source = NULL}, &spec, &s->ignored, s->ctx));
    return search_value(s, "", &(nb_value){.kind = NB_SPEC, .spec = spec});
}

static bool is_replaced(const search *s, const char *key)
{
    int i = 0;
    while (i < s->override_count && strcmp(s->overrides[i].key, key) != 0) i++;
    return i < s->override_count;
}

/* Each node once, though aliases may lead to it often; but for what stands under a key that --set replaces. */
static nb_status search_node(search *s, nb_yaml value)
{
    bool *seen = &s->seen[value.node - value.document->nodes.start];
    if (*seen) return NB_OK;
    *seen = true;
    if (nb_yaml_scalar(value)) return search_text(s, nb_yaml_scalar(value));
    for (int i = 0; i < nb_yaml_pairs(value); i++) {
        nb_yaml key, inner;
        nb_yaml_pair(value, i, &key, &inner);
        const char *name = nb_yaml_scalar(key);
        if (!name || !is_replaced(s, name)) NB_TRY(s->ctx, search_node(s, inner));
    }
    for (int i = 0; value.node->type == YAML_SEQUENCE_NODE && i < nb_yaml_count(value); i++)
        NB_TRY(s->ctx, search_node(s, nb_yaml_item(value, i)));
    return NB_OK;
}

static nb_status search_document(search *s, nb_yaml root)
{
    if (!root.node) return NB_OK;
    size_t count = (size_t)(root.document->nodes.top - root.document->nodes.start);
    NB_NEED(s->seen, nb_alloc(s->ctx, count, sizeof *s->seen));
    return search_node(s, root);
}

nb_status nb_config_code(const char *path, int override_count, const nb_override *overrides, const char *const **names,
                         nb_ctx *ctx)
{
    search s;
    nb_yaml root, value;
    begin(&s, ctx);
    NB_TRY(ctx, nb_yaml_file(path, &root, &s.ignored));
    nb_yaml plugins = nb_yaml_get(root, "plugins");
    for (int i = 0; i < override_count; i++) {
        NB_TRY(ctx, nb_yaml_text(overrides[i].value, nb_key(ctx, overrides[i].key), &value, &s.ignored));
        if (strcmp(overrides[i].key, "plugins") == 0) plugins = value;
        NB_TRY(ctx, search_document(&s, value));
    }
    s.override_count = override_count;
    s.overrides = overrides;
    for (int i = 0; plugins.node && i < nb_yaml_count(plugins); i++) {
        const char *name = nb_yaml_scalar(nb_yaml_item(plugins, i));
        if (name) NB_TRY(ctx, add_name(&s, "plug-in", name));
    }
    NB_TRY(ctx, search_document(&s, root));
    return take_names(&s, names);
}

nb_status nb_spec_code(const char *spec, const char *const **names, nb_ctx *ctx)
{
    search s;
    begin(&s, ctx);
    NB_TRY(ctx, search_text(&s, spec));
    return take_names(&s, names);
}
