/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exclude.c - a rule's keys are the columns that say which row a row is. Names
 * and options are looked up once in the config's lists, so that a row is matched
 * by its indices. */
#include "config/exclude.h"

#include "config/lookup.h"
#include "config/values.h"

#include <string.h>

/* The columns of every study's rows beside the axes, by nb_rule_number. */
static const char *const numbers[] = {"head", "trial", "n", "d"};

enum { MOST_KEYS = NB_RULE_NUMBERS + NB_MOST_AXES };

typedef struct {
    const nb_registry *registry;
    const nb_choices *choices;
} component_list;

static nb_status add_text(nb_rule_key *written, const char *text, nb_ctx *ctx)
{
    const char **texts;
    NB_NEED(texts, nb_alloc(ctx, (size_t)written->count + 1, sizeof *texts));
    if (written->count > 0) memcpy(texts, written->texts, (size_t)written->count * sizeof *texts);
    written->texts = texts;
    NB_NEED(texts[written->count++], nb_strdup(ctx, text));
    return NB_OK;
}

/* Each part for itself where the files of one are elsewhere, or were listed. */
static nb_status keep_parts(nb_yaml value, int count, nb_choice_part *parts, bool listed, nb_rule_key *written,
                            nb_ctx *ctx)
{
    bool moved = listed;
    const char *text;
    for (int p = 0; p < count && value.in_file; p++) {
        bool changed;
        NB_TRY(ctx, nb_lookup_options(parts[p].component, parts[p].options, value.source, &changed, ctx));
        moved = moved || changed;
    }
    if (!moved) return add_text(written, nb_yaml_scalar(value), ctx);
    for (int p = 0; p < count; p++) {
        NB_TRY(ctx, nb_choice_part_text(&parts[p], &text, ctx));
        NB_TRY(ctx, add_text(written, text, ctx));
    }
    return NB_OK;
}

/* Which of the config's choices a text means. */
static nb_status choose(const component_list *list, nb_yaml value, bool *chosen, nb_rule_key *written,
                        nb_mistakes *mistakes)
{
    nb_ctx *ctx = mistakes->ctx;
    nb_choice_part *parts;
    int count;
    bool listed;
    if (!nb_yaml_scalar(value))
        return nb_mistakes_add(mistakes, nb_yaml_place(value), "exclude: %s: expected a value, found %s",
                               list->registry->kind, nb_yaml_kind(value));
    NB_TRY(ctx, nb_lookup_parts(list->registry, nb_yaml_scalar(value), nb_yaml_place(value),
                                value.in_file ? value.source : NULL, &count, &parts, &listed, mistakes, ctx));
    if (count > 0)
        NB_TRY(ctx,
               nb_mistakes_take(mistakes, nb_yaml_place(value), keep_parts(value, count, parts, listed, written, ctx)));
    for (int p = 0; p < count; p++) {
        for (int g = 0; g < parts[p].count; g++)
            if (parts[p].given[g]->selects_head)
                return nb_mistakes_add(mistakes, nb_yaml_place(value),
                                       "exclude: %s: the key 'head' names heads, not the option '%s'",
                                       list->registry->kind, parts[p].given[g]->key);
        for (int i = 0; i < list->choices->count; i++) {
            bool matches;
            NB_TRY(ctx, nb_choice_part_matches(&parts[p], &list->choices->items[i], &matches, ctx));
            chosen[i] |= matches;
        }
    }
    return NB_OK;
}

static nb_status read_components(nb_yaml value, int axis, const nb_config *c, nb_rule *rule, nb_rule_key *written,
                                 nb_mistakes *mistakes)
{
    component_list list = {c->study->axes[axis].registry, &c->lists[axis].choices};
    bool *chosen;
    NB_NEED(chosen, nb_alloc(mistakes->ctx, (size_t)list.choices->count + 1, sizeof *chosen));
    if (nb_yaml_count(value) == 0)
        NB_TRY(mistakes->ctx, nb_mistakes_add(mistakes, nb_yaml_place(value), "exclude: %s: the list is empty",
                                              c->study->axes[axis].column));
    for (int i = 0; i < nb_yaml_count(value); i++)
        NB_TRY(mistakes->ctx, choose(&list, nb_yaml_item(value, i), chosen, written, mistakes));
    rule->chosen[axis] = chosen;
    return NB_OK;
}

static nb_status read_reals(nb_yaml value, const char *name, int axis, const nb_config *c, nb_rule *rule,
                            nb_mistakes *mistakes)
{
    const nb_axis_list *list = &c->lists[axis];
    double *reals;
    bool *chosen;
    int count;
    NB_NEED(chosen, nb_alloc(mistakes->ctx, (size_t)list->count + 1, sizeof *chosen));
    NB_TRY(mistakes->ctx,
           nb_read_reals(name, value, c->study->axes[axis].lo, c->study->axes[axis].hi, &count, &reals, mistakes));
    for (int i = 0; i < list->count; i++)
        for (int r = 0; r < count; r++) chosen[i] |= list->reals[i] == reals[r];
    rule->chosen[axis] = chosen;
    return NB_OK;
}

static nb_status read_bits(nb_yaml value, const char *name, const char *const *allowed, unsigned *bits,
                           nb_mistakes *mistakes)
{
    int count;
    const char **words;
    NB_TRY(mistakes->ctx, nb_read_words(name, value, allowed, NULL, &count, &words, mistakes));
    for (int i = 0; i < count; i++)
        for (int bit = 0; allowed[bit]; bit++)
            if (strcmp(allowed[bit], words[i]) == 0) *bits |= 1u << bit;
    return NB_OK;
}

/* The texts of a key as they stand in the file, for writing them again. */
static nb_status keep_texts(nb_yaml value, nb_rule_key *written, nb_ctx *ctx)
{
    for (int i = 0; i < nb_yaml_count(value); i++) {
        const char *text = nb_yaml_scalar(nb_yaml_item(value, i));
        if (text) NB_TRY(ctx, add_text(written, text, ctx));
    }
    return NB_OK;
}

static nb_status read_ranges(nb_yaml value, const char *name, nb_number_ranges *ranges, nb_mistakes *mistakes)
{
    return nb_read_ranges(name, value, 0, INT_MAX, &ranges->count, &ranges->items, mistakes);
}

/* `key`: a nb_rule_number, or NB_RULE_NUMBERS and an axis. */
static nb_status read_key(nb_yaml value, int key, const nb_config *c, nb_rule *rule, nb_mistakes *mistakes)
{
    const char *name;
    int at = key - NB_RULE_NUMBERS;
    const nb_axis *axis = at < 0 ? NULL : &c->study->axes[at];
    nb_rule_key *written = &rule->keys[rule->key_count++];
    *written = (nb_rule_key){.key = axis ? axis->column : numbers[key]};
    if (axis && axis->type == NB_AXIS_COMPONENT) return read_components(value, at, c, rule, written, mistakes);
    NB_TRY(mistakes->ctx, keep_texts(value, written, mistakes->ctx));
    NB_NEED(name, nb_format(mistakes->ctx, "exclude: %s", written->key));
    if (!axis) return read_ranges(value, name, &rule->numbers[key], mistakes);
    if (axis->type == NB_AXIS_INTEGER) return read_ranges(value, name, &rule->integers[at], mistakes);
    if (axis->type == NB_AXIS_REAL) return read_reals(value, name, at, c, rule, mistakes);
    return read_bits(value, name, axis->words, &rule->words[at], mistakes);
}

/* All that a rule may name, NULL-terminated. */
static void name_keys(const nb_config *c, const char *names[MOST_KEYS + 1])
{
    int count = 0;
    for (; count < NB_RULE_NUMBERS; count++) names[count] = numbers[count];
    for (const nb_axis *axis = c->study->axes; axis->key; axis++) names[count++] = axis->column;
    names[count] = NULL;
}

static bool repeated(const nb_rule *rule, const char *name)
{
    for (int i = 0; i < rule->key_count; i++)
        if (strcmp(rule->keys[i].key, name) == 0) return true;
    return false;
}

static nb_status read_rule(nb_yaml value, nb_config *c, nb_rule *rule, nb_mistakes *mistakes)
{
    int pairs = nb_yaml_pairs(value);
    const char *names[MOST_KEYS + 1];
    name_keys(c, names);
    if (value.node->type != YAML_MAPPING_NODE || pairs == 0)
        return nb_mistakes_add(mistakes, nb_yaml_place(value),
                               "exclude: expected a rule like {strategy: NAME, landmarks: 64..128}");
    NB_NEED(rule->keys, nb_alloc(mistakes->ctx, (size_t)pairs, sizeof *rule->keys));
    for (int i = 0; i < pairs; i++) {
        nb_yaml key, what;
        const char *hint;
        nb_yaml_pair(value, i, &key, &what);
        const char *name = nb_yaml_scalar(key) ? nb_yaml_scalar(key) : nb_yaml_kind(key);
        int index = 0;
        while (names[index] && strcmp(names[index], name) != 0) index++;
        if (!names[index]) {
            NB_NEED(hint, nb_hint(name, names, mistakes->ctx));
            NB_TRY(mistakes->ctx,
                   nb_mistakes_add(mistakes, nb_yaml_place(key), "exclude: key '%s' is unknown%s", name, hint));
        } else if (repeated(rule, name)) {
            NB_TRY(mistakes->ctx,
                   nb_mistakes_add(mistakes, nb_yaml_place(key), "exclude: key '%s' appears a second time", name));
        } else {
            NB_TRY(mistakes->ctx, read_key(what, index, c, rule, mistakes));
        }
    }
    return NB_OK;
}

nb_status nb_rules_read(nb_yaml value, int block, nb_config *config, nb_mistakes *mistakes)
{
    int count = nb_yaml_count(value);
    nb_rule *rules;
    NB_NEED(rules, nb_alloc(mistakes->ctx, (size_t)(config->rule_count + count) + 1, sizeof *rules));
    if (config->rule_count > 0) memcpy(rules, config->rules, (size_t)config->rule_count * sizeof *rules);
    config->rules = rules;
    for (int i = 0; i < count; i++) {
        nb_yaml one = nb_yaml_item(value, i);
        nb_rule *rule = &rules[config->rule_count++];
        *rule = (nb_rule){.place = nb_yaml_place(one), .block = block};
        NB_TRY(mistakes->ctx, read_rule(one, config, rule, mistakes));
    }
    return NB_OK;
}
