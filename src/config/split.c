/* SPDX-License-Identifier: GPL-3.0-or-later */
/* split.c - sources by part, as a YAML file lists them:
 *     development: [opticks, us-constitution]
 *     test: [astronaut, librivox-sense]
 * What is chosen on the one is judged on the other. */
#include "config/keys.h"

#include "base/text.h"
#include "config/lookup.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *source;
    int part;
    nb_place place;
} entry;

struct nb_split {
    const char **parts; /* NULL-terminated */
    int count, capacity;
    entry *entries; /* by source */
};

static int by_source(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->source, ((const entry *)b)->source);
}

static nb_status add_part(nb_split *split, int part, nb_yaml sources, nb_mistakes *mistakes)
{
    for (int i = 0; i < nb_yaml_count(sources); i++) {
        nb_yaml one = nb_yaml_item(sources, i);
        if (!nb_yaml_scalar(one)) {
            NB_TRY(mistakes->ctx, nb_yaml_mistake(one, mistakes, "%s: expected a source, found %s", split->parts[part],
                                                  nb_yaml_kind(one)));
            continue;
        }
        NB_GROW(mistakes->ctx, split->entries, split->count, split->capacity);
        entry *e = &split->entries[split->count++];
        *e = (entry){.part = part, .place = nb_yaml_place(one)};
        NB_NEED(e->source, nb_strdup(mistakes->ctx, nb_yaml_scalar(one)));
    }
    return NB_OK;
}

static nb_status report_repeated(const nb_split *split, nb_mistakes *mistakes)
{
    for (int i = 1; i < split->count; i++) {
        const entry *e = &split->entries[i], *other = e - 1;
        if (strcmp(e->source, other->source) != 0) continue;
        const entry *later = e->place.line < other->place.line ? other : e, *first = later == e ? other : e;
        NB_TRY(mistakes->ctx,
               nb_mistakes_add(mistakes, later->place, "source '%s' is listed in '%s' on line %d already", e->source,
                               split->parts[first->part], first->place.line));
    }
    return NB_OK;
}

static nb_status read_parts(nb_yaml root, nb_split *split, nb_mistakes *mistakes)
{
    int parts = nb_yaml_pairs(root);
    if (parts == 0)
        return nb_yaml_mistake(root, mistakes, "expected lists of sources by part, such as 'test: [opticks]'");
    NB_NEED(split->parts, nb_alloc(mistakes->ctx, (size_t)parts + 1, sizeof *split->parts));
    for (int i = 0; i < parts; i++) {
        nb_yaml key, value;
        nb_yaml_pair(root, i, &key, &value);
        NB_TRY(mistakes->ctx, nb_read_name("part", key, "", &split->parts[i], mistakes));
        NB_TRY(mistakes->ctx, add_part(split, i, value, mistakes));
    }
    qsort(split->entries, (size_t)split->count, sizeof *split->entries, by_source);
    return report_repeated(split, mistakes);
}

nb_status nb_split_read_file(const nb_config_loader *l, const nb_config_key *key, nb_yaml value)
{
    nb_config *c = l->config;
    nb_yaml root = {.node = NULL};
    nb_status status = NB_OK;
    int mistakes = l->mistakes->count;
    const char *text = nb_yaml_scalar(value);
    c->split_file = "none";
    if (!text)
        return nb_yaml_mistake(value, l->mistakes, "%s: expected a file, found %s", key->name, nb_yaml_kind(value));
    NB_NEED(c->split_file, nb_strdup(l->ctx, text));
    if (strcmp(text, "none") == 0 || l->recalls) return NB_OK;
    if (value.in_file) status = nb_lookup_path(text, value.source, &c->split_file, l->ctx);
    if (status == NB_OK) status = nb_yaml_file(c->split_file, &root, l->mistakes);
    if (value.in_file) status = nb_lookup_explain_path(status, text, value.source, l->ctx);
    if (status != NB_OK) return nb_mistakes_take(l->mistakes, nb_yaml_place(value), status);
    if (l->mistakes->count > mistakes) return NB_OK;
    NB_NEED(c->split, nb_alloc(l->ctx, 1, sizeof *c->split));
    return read_parts(root, c->split, l->mistakes);
}

nb_status nb_split_read_sources(const nb_config_loader *l, const nb_config_key *key, nb_yaml value)
{
    nb_config *c = l->config;
    const char *text = nb_yaml_scalar(value), *hint;
    if (!text)
        return nb_yaml_mistake(value, l->mistakes, "%s: expected a part of the split, found %s", key->name,
                               nb_yaml_kind(value));
    NB_NEED(c->sources, nb_strdup(l->ctx, text));
    bool all = strcmp(text, "all") == 0;
    if (!all && strcmp(c->split_file, "none") == 0)
        return nb_yaml_mistake(value, l->mistakes,
                               "%s: '%s' needs the key 'split', a file that lists the sources of each part", key->name,
                               text);
    if (!c->split || !c->split->parts) return NB_OK;
    if (!all && nb_text_among(text, c->split->parts)) return NB_OK;
    NB_NEED(hint, nb_hint(text, c->split->parts, l->ctx));
    return nb_yaml_mistake(value, l->mistakes, "%s: expected a part of %s, found '%s'%s", key->name, c->split_file,
                           text, hint);
}

/* NULL: no part has it. */
static const char *part_of(const nb_split *split, const char *source)
{
    const entry *found =
        bsearch(&(entry){.source = source}, split->entries, (size_t)split->count, sizeof *found, by_source);
    return found ? split->parts[found->part] : NULL;
}

/* Reports the first source of a problem that it may not have. */
static nb_status check_problem(const nb_config *c, int problem, nb_place place, nb_mistakes *mistakes)
{
    const nb_problem_shape *shape = &c->shapes[problem];
    const nb_choice *choice = nb_config_choice(c, NB_AXIS_PROBLEM, problem);
    if (((const nb_problem *)choice->component)->random) return NB_OK;
    for (int i = 0; i < shape->count; i++) {
        const char *source = shape->origins.sources ? shape->origins.sources[i] : NULL;
        const char *part = source ? part_of(c->split, source) : NULL;
        if (part && strcmp(part, c->sources) == 0) continue;
        if (!source)
            return nb_mistakes_add(mistakes, place, "sources: %s: %s names no source of its heads", c->sources,
                                   choice->label);
        if (!part)
            return nb_mistakes_add(mistakes, place, "sources: %s: source '%s' of %s is in no part of %s", c->sources,
                                   source, choice->label, c->split_file);
        return nb_mistakes_add(mistakes, place, "sources: %s: source '%s' of %s is one of '%s' in %s", c->sources,
                               source, choice->label, part, c->split_file);
    }
    return NB_OK;
}

nb_status nb_split_check(const nb_config *config, nb_place place, nb_mistakes *mistakes)
{
    for (int i = 0; config->split && i < config->lists[NB_AXIS_PROBLEM].count; i++)
        NB_TRY(mistakes->ctx, check_problem(config, i, place, mistakes));
    return NB_OK;
}
