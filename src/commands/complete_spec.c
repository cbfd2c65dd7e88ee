/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete_spec.c - specs that begin as told: a component's name, the options within its brackets, their values. */
#include "commands/complete.h"

#include "base/text.h"
#include "components/registry.h"

#include <ctype.h>
#include <string.h>

static nb_status add_names(nb_candidates *c, const char *before, const nb_registry *registry)
{
    for (const nb_entry *e = registry->entries; e->component; e++) {
        const nb_component *component = e->component;
        if (nb_component_of_caller(component)) continue;
        NB_TRY(c->ctx, nb_complete_add(c, before, component->name, "", component->summary));
        if (component->options->key)
            NB_TRY(c->ctx, nb_complete_add(c, before, component->name, "(", component->summary));
    }
    return NB_OK;
}

/* Returns the end of the value that begins there: a ',' or ')' or ']' outside of brackets and quotes, or the text's
 * end. */
static const char *value_end(const char *at)
{
    int depth = 0;
    bool quoted = false;
    for (; *at; at++) {
        if (*at == '"') quoted = !quoted;
        if (quoted) continue;
        if (depth == 0 && strchr(",)]", *at)) return at;
        if (strchr("([", *at)) depth++;
        if (strchr(")]", *at)) depth--;
    }
    return at;
}

/* Keys that the spec does not have yet; `first`: behind the bracket. */
static bool is_given(const char *first, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = first; *at; at = value_end(at)) {
        at += strspn(at, ", ");
        if (strncmp(at, key, length) == 0 && at[length] == '=') return true;
        if (*at == ')' || *at == ']') return false;
        if (!*at) break;
    }
    return false;
}

static nb_status add_keys(nb_candidates *c, const char *before, const char *start, const char *first,
                          const nb_option *options)
{
    const nb_option *only = NULL;
    int count = 0;
    for (const nb_option *o = options; o->key; o++) {
        if (strncmp(o->key, start, strlen(start)) != 0 || is_given(first, o->key)) continue;
        NB_TRY(c->ctx, nb_complete_add(c, before, o->key, "=", o->help));
        only = o;
        count++;
    }
    if (count != 1 || !only->initial) return NB_OK;
    const char *assignment; /* a second one, so that no shell takes the first for the end of the word */
    NB_NEED(assignment, nb_format(c->ctx, "%s=%s", only->key, only->initial));
    return nb_complete_add(c, before, assignment, "", "the default");
}

static nb_status add_option_value(nb_candidates *c, const char *before, const char *start, const nb_option *o)
{
    static const char *const truths[] = {"true", "false", NULL};
    const char *const numbers[] = {o->initial ? o->initial : o->word, o->initial ? o->word : o->second, NULL};
    if (o->type == NB_OPTION_BOOL) return nb_complete_words(c, before, truths);
    if (o->type == NB_OPTION_ENUM) return nb_complete_words(c, before, o->choices);
    if (o->type == NB_OPTION_SPEC) return nb_complete_spec(c, before, start, o->registry);
    if (o->type == NB_OPTION_STRING) return o->names_files ? nb_complete_files(c, before, start, "") : NB_OK;
    return nb_complete_words(c, before, numbers);
}

/* True if the text may stand as the option's value. */
static bool is_value(const char *text, const nb_option *o)
{
    size_t length = strlen(text);
    if (length == 0) return false;
    if (o->type == NB_OPTION_SPEC) {
        const char *bracket = strchr(text, '(');
        return bracket ? text[length - 1] == ')' && !*value_end(text) : nb_registry_find(o->registry, text) != NULL;
    }
    if (o->type == NB_OPTION_ENUM && nb_text_among(text, o->choices)) return true;
    if (o->type == NB_OPTION_BOOL) return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    return (o->type == NB_OPTION_INT || o->type == NB_OPTION_REAL) && isdigit((unsigned char)text[length - 1]);
}

/* Adds the characters that may follow a complete value: the end of its list or spec, or a comma. */
static nb_status add_ends(nb_candidates *c, const char *before, const char *value, const nb_option *o, bool item,
                          bool more)
{
    if (!is_value(value, o)) return NB_OK;
    NB_TRY(c->ctx, nb_complete_add(c, before, value, item ? "]" : ")", ""));
    return more || item ? nb_complete_add(c, before, value, ",", "") : NB_OK;
}

static nb_status add_value(nb_candidates *c, const char *before, const char *value, const nb_option *o, bool more)
{
    if (*value != '[') {
        NB_TRY(c->ctx, add_option_value(c, before, value, o));
        return add_ends(c, before, value, o, false, more);
    }
    const char *item = value + 1, *end, *prefix;
    while (*(end = value_end(item)) == ',') item = end + 1 + strspn(end + 1, " ");
    if (*end == ']' && !end[1]) {
        NB_TRY(c->ctx, nb_complete_add(c, before, value, ")", ""));
        return more ? nb_complete_add(c, before, value, ",", "") : NB_OK;
    }
    NB_NEED(prefix, nb_format(c->ctx, "%s%.*s", before, (int)(item - value), value));
    NB_TRY(c->ctx, add_option_value(c, prefix, item, o));
    return add_ends(c, prefix, item, o, true, true);
}

static const nb_option *find_option(const nb_option *options, const char *key, size_t length)
{
    for (; options->key; options++)
        if (strncmp(options->key, key, length) == 0 && !options->key[length]) return options;
    return NULL;
}

static bool any_left(const nb_option *options, const char *first)
{
    for (; options->key; options++)
        if (!is_given(first, options->key)) return true;
    return false;
}

/* `first` is behind the bracket of the component's spec, `start` the whole spec. */
static nb_status add_inside(nb_candidates *c, const char *before, const char *start, const char *first,
                            const nb_option *options)
{
    const char *at = first, *prefix;
    while (true) {
        at += strspn(at, " ");
        size_t length = strcspn(at, "=,)");
        NB_NEED(prefix, nb_format(c->ctx, "%s%.*s", before, (int)(at - start), start));
        if (!at[length]) return add_keys(c, prefix, at, first, options);
        const nb_option *o = at[length] == '=' ? find_option(options, at, length) : NULL;
        if (!o) return NB_OK;
        const char *value = at + length + 1, *end = value_end(value);
        NB_NEED(prefix, nb_format(c->ctx, "%s%.*s", before, (int)(value - start), start));
        if (!*end) return add_value(c, prefix, value, o, any_left(options, first));
        if (*end != ',') return NB_OK;
        at = end + 1;
    }
}

static nb_status complete(nb_candidates *c, const char *before, const char *start, const nb_registry *registry)
{
    const char *bracket = strchr(start, '('), *name;
    if (!bracket) return add_names(c, before, registry);
    NB_NEED(name, nb_format(c->ctx, "%.*s", (int)(bracket - start), start));
    const nb_component *component = nb_registry_find(registry, name);
    return component ? add_inside(c, before, start, bracket + 1, component->options) : NB_OK;
}

nb_status nb_complete_spec(nb_candidates *c, const char *before, const char *start, const nb_registry *registry)
{
    if (registry) return complete(c, before, start, registry);
    for (int i = 0; nb_registries[i]; i++) NB_TRY(c->ctx, complete(c, before, start, nb_registries[i]));
    return NB_OK;
}
