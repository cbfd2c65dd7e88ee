/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axes.c - see keys.h */
#include "config/keys.h"

#include "base/text.h"
#include "calls/heads.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "config/config_study.h"
#include "config/lookup.h"

#include <string.h>

enum { MOST_VALUES = 1000000, MOST_TRIALS = 1000000 };

static int zip_key(const nb_study *study)
{
    return nb_axis_count(study) + 1;
}

/* Checks before anything runs: a missing file, options that do not go together. */
static nb_status check_choice(const nb_axis *axis, const nb_choice *choice, nb_ctx *ctx)
{
    nb_problem_shape shape;
    if (axis->registry == &nb_problems) return nb_heads_shape(choice, &shape, ctx);
    return axis->check ? axis->check(choice, ctx) : NB_OK;
}

static nb_status read_choice(const nb_axis *axis, nb_yaml value, nb_choices *choices, nb_mistakes *mistakes)
{
    const nb_registry *registry = axis->registry;
    nb_place at = nb_yaml_place(value);
    int before = mistakes->count, first = choices->count;
    const char *text = nb_yaml_scalar(value);
    if (!text)
        return nb_mistakes_add(mistakes, at, "%s: expected %s %s, found %s", axis->key, nb_article(registry->kind),
                               registry->kind, nb_yaml_kind(value));
    const char *hint;
    NB_NEED(hint, nb_list_hint(text, mistakes->ctx));
    if (*hint)
        return nb_mistakes_add(mistakes, at, "%s: '%s' is not %s %s%s", axis->key, text, nb_article(registry->kind),
                               registry->kind, hint);
    nb_spec *spec;
    bool listed;
    NB_TRY(mistakes->ctx, nb_spec_parse(text, at, &spec, mistakes, mistakes->ctx));
    if (spec) {
        nb_status status = nb_lookup_files(registry, spec, value.in_file ? value.source : NULL, &listed, mistakes->ctx);
        if (status != NB_OK) return nb_mistakes_take(mistakes, at, status);
        NB_TRY(mistakes->ctx, nb_choices_list_spec(choices, registry, spec, mistakes, mistakes->ctx));
    }
    if (mistakes->count > before && strchr(text, '(') && !strchr(text, ')'))
        return nb_mistakes_add(mistakes, at, "in a [ ] list, quote %s %s whose options have commas: \"%s, ...)\"",
                               nb_article(registry->kind), registry->kind, text);
    for (int i = first; i < choices->count; i++) {
        nb_status status = value.in_file ? nb_lookup_choice(&choices->items[i], value.source, mistakes->ctx) : NB_OK;
        if (status == NB_OK) status = check_choice(axis, &choices->items[i], mistakes->ctx);
        if (value.in_file) status = nb_lookup_explain(status, &choices->items[i], value.source, mistakes->ctx);
        if (status != NB_OK) return nb_mistakes_take(mistakes, at, status); /* that of one head is that of all */
    }
    return NB_OK;
}

static nb_status read_integers(const nb_axis *axis, nb_yaml value, nb_key_values *v, nb_mistakes *mistakes)
{
    nb_range *ranges;
    int count;
    long long total = 0;
    NB_TRY(mistakes->ctx,
           nb_read_ranges(axis->key, value, (long long)axis->lo, (long long)axis->hi, &count, &ranges, mistakes));
    for (int i = 0; i < count; i++) total += nb_range_count(&ranges[i]);
    if (total > MOST_VALUES)
        return nb_mistakes_add(mistakes, v->place, "%s: the list has %lld items, at most %d are allowed", axis->key,
                               total, MOST_VALUES);
    NB_NEED(v->numbers, nb_alloc(mistakes->ctx, (size_t)total + 1, sizeof *v->numbers));
    for (int i = 0; i < count; i++)
        for (long long j = 0; j < nb_range_count(&ranges[i]); j++)
            v->numbers[v->count++] = (int)nb_range_item(&ranges[i], j);
    return NB_OK;
}

/* The extra word is -1. */
static nb_status read_words(const nb_axis *axis, nb_yaml value, nb_key_values *v, nb_mistakes *mistakes)
{
    const char **words;
    NB_TRY(mistakes->ctx, nb_read_words(axis->key, value, axis->words, axis->extra, &v->count, &words, mistakes));
    NB_NEED(v->numbers, nb_alloc(mistakes->ctx, (size_t)v->count + 1, sizeof *v->numbers));
    for (int i = 0; i < v->count; i++) v->numbers[i] = nb_text_index(words[i], axis->words);
    return NB_OK;
}

static nb_status read_trials(nb_yaml value, nb_key_values *v, nb_mistakes *mistakes)
{
    long long trials = 1;
    NB_TRY(mistakes->ctx, nb_read_integer("trials", value, 1, MOST_TRIALS, &trials, mistakes));
    NB_NEED(v->numbers, nb_alloc(mistakes->ctx, 1, sizeof *v->numbers));
    v->numbers[v->count++] = (int)trials;
    return NB_OK;
}

/* One list of keys: all get the number of the first of them. */
static nb_status read_group(const nb_study *study, nb_yaml value, int *group, bool *named, nb_mistakes *mistakes)
{
    int count, axes = nb_axis_count(study);
    const char **keys, *names[NB_MOST_AXES + 1] = {NULL};
    bool here[NB_MOST_AXES] = {false};
    for (int axis = 0; axis < axes; axis++) names[axis] = study->axes[axis].key;
    NB_TRY(mistakes->ctx, nb_read_words("zip", value, names, NULL, &count, &keys, mistakes));
    if (count < 2)
        return nb_yaml_mistake(value, mistakes, "zip: expected at least two keys that advance together, found %d",
                               count);
    for (int i = 0; i < count; i++) {
        int axis = nb_text_index(keys[i], names);
        if (axis < 0) return NB_OK; /* told already */
        if (named[axis]) return nb_yaml_mistake(value, mistakes, "zip: '%s' is named twice", keys[i]);
        here[axis] = named[axis] = true;
    }
    for (int axis = 0, first = -1; axis < axes; axis++) {
        if (!here[axis]) continue;
        if (first < 0) first = axis;
        group[axis] = first;
    }
    return NB_OK;
}

/* Keys that advance together, or a list of such lists. */
static nb_status read_zip(const nb_study *study, nb_yaml value, nb_key_values *v, nb_mistakes *mistakes)
{
    bool named[NB_MOST_AXES] = {false}, nested = false;
    NB_NEED(v->numbers, nb_alloc(mistakes->ctx, NB_MOST_AXES, sizeof *v->numbers));
    for (v->count = 0; v->count < NB_MOST_AXES; v->count++) v->numbers[v->count] = v->count;
    for (int i = 0; i < nb_yaml_count(value); i++) nested |= nb_yaml_item(value, i).node->type == YAML_SEQUENCE_NODE;
    if (nb_yaml_count(value) == 0) return NB_OK;
    if (!nested) return read_group(study, value, v->numbers, named, mistakes);
    for (int i = 0; i < nb_yaml_count(value); i++)
        NB_TRY(mistakes->ctx, read_group(study, nb_yaml_item(value, i), v->numbers, named, mistakes));
    return NB_OK;
}

nb_status nb_block_key_read(const nb_study *study, int key, nb_yaml value, nb_key_values *values, nb_mistakes *mistakes)
{
    const nb_axis *axis = &study->axes[key];
    values->place = nb_yaml_place(value);
    if (key == nb_axis_count(study)) return read_trials(value, values, mistakes);
    if (key == zip_key(study)) return read_zip(study, value, values, mistakes);
    if (axis->type == NB_AXIS_INTEGER) return read_integers(axis, value, values, mistakes);
    if (axis->type == NB_AXIS_WORD) return read_words(axis, value, values, mistakes);
    if (axis->type == NB_AXIS_REAL)
        return nb_read_reals(axis->key, value, axis->lo, axis->hi, &values->count, &values->reals, mistakes);
    if (nb_yaml_count(value) == 0) return nb_yaml_mistake(value, mistakes, "%s: the list is empty", axis->key);
    for (int i = 0; i < nb_yaml_count(value); i++)
        NB_TRY(mistakes->ctx, read_choice(axis, nb_yaml_item(value, i), &values->choices, mistakes));
    values->count = values->choices.count;
    return NB_OK;
}

static nb_status unite_choices(nb_axis_list *list, const nb_key_values *v, int *indices, nb_ctx *ctx)
{
    for (int i = 0; i < v->count; i++) {
        const nb_choice *one = &v->choices.items[i];
        int at = nb_choices_find(&list->choices, one);
        indices[i] = at < 0 ? list->choices.count : at;
        if (at < 0) NB_TRY(ctx, nb_choices_append(&list->choices, *one, ctx));
        NB_TRY(ctx, nb_choices_label(&list->choices, one, ctx));
    }
    list->count = list->choices.count;
    return NB_OK;
}

static nb_status unite_reals(nb_axis_list *list, const nb_key_values *v, int *indices, nb_ctx *ctx)
{
    for (int i = 0, at; i < v->count; i++) {
        for (at = 0; at < list->count && list->reals[at] != v->reals[i];) at++;
        indices[i] = at;
        if (at < list->count) continue;
        NB_GROW(ctx, list->reals, list->count, list->room);
        list->reals[list->count++] = v->reals[i];
    }
    return NB_OK;
}

static nb_status unite_numbers(nb_axis_list *list, const nb_key_values *v, int *indices, nb_ctx *ctx)
{
    int *united, *place_of; /* by number + 1: where it is, from 1 */
    NB_NEED(united, nb_alloc(ctx, (size_t)list->count + (size_t)v->count, sizeof *united));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(place_of, nb_alloc(ctx, MOST_VALUES + 2, sizeof *place_of));
    if (list->count > 0) memcpy(united, list->numbers, (size_t)list->count * sizeof *united);
    list->numbers = united;
    list->room = list->count + v->count;
    for (int i = 0; i < list->count; i++) place_of[united[i] + 1] = i + 1;
    for (int i = 0; i < v->count; i++) {
        int number = v->numbers[i];
        if (place_of[number + 1] == 0) {
            united[list->count++] = number;
            place_of[number + 1] = list->count;
        }
        indices[i] = place_of[number + 1] - 1;
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_config_add_number(nb_config *config, int axis, int number, nb_ctx *ctx)
{
    nb_axis_list *list = &config->lists[axis];
    for (int i = 0; i < list->count; i++)
        if (list->numbers[i] == number) return NB_OK;
    NB_GROW(ctx, list->numbers, list->count, list->room);
    list->numbers[list->count++] = number;
    return NB_OK;
}

static nb_status check_lengths(const nb_study *study, const nb_key_values *const *keys, nb_mistakes *mistakes)
{
    const nb_key_values *zip = keys[zip_key(study)];
    for (int axis = 0; study->axes[axis].key; axis++) {
        int first = zip->numbers[axis], count = keys[first]->count;
        if (!keys[first]->right || !keys[axis]->right || keys[axis]->count == count) continue;
        NB_TRY(mistakes->ctx,
               nb_mistakes_add(mistakes, zip->place,
                               "zip: %s has %d value%s and %s has %d; lists that advance together must be equally long",
                               study->axes[first].key, count, count == 1 ? "" : "s", study->axes[axis].key,
                               keys[axis]->count));
    }
    return NB_OK;
}

nb_status nb_block_keys_check(const nb_study *study, const nb_key_values *const *keys, nb_mistakes *mistakes)
{
    if (!keys[zip_key(study)]->right) return NB_OK;
    NB_TRY(mistakes->ctx, check_lengths(study, keys, mistakes));
    if (!nb_config_study_of(study)->check_block) return NB_OK;
    nb_plugin_call(&study->component, "check_block");
    nb_status status = nb_config_study_of(study)->check_block(keys, mistakes);
    nb_plugin_return(&study->component);
    return status;
}

/* Warns of items of an axis that the block's list has more than once. */
static nb_status check_repeated(const nb_config *c, const nb_config_block *b, int axis, nb_place at,
                                nb_mistakes *warnings)
{
    nb_ctx *ctx = warnings->ctx;
    const nb_axis_list *list = &c->lists[axis];
    bool *seen;
    int more = -1, first = 0;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(seen, nb_alloc(ctx, (size_t)list->count + 1, sizeof *seen));
    for (int i = 0; i < b->count[axis]; i++) {
        int item = b->values[axis][i];
        if (seen[item] && more++ < 0) first = item;
        seen[item] = true;
    }
    nb_ctx_release(ctx, mark);
    const char *text, *others = "";
    if (more < 0) return NB_OK;
    NB_TRY(ctx, nb_axis_value_text(&c->study->axes[axis], list, first, &text, ctx));
    if (more > 0) NB_NEED(others, nb_format(ctx, " and %d other%s", more, more == 1 ? "" : "s"));
    return nb_mistakes_add(warnings, at, "%s: %s%s appear%s in the list more than once, and count%s once",
                           c->study->axes[axis].key, text, others, more ? "" : "s", more ? "" : "s");
}

/* Values that are repeated in a list that advances with others are meant. */
static bool is_alone(const nb_config_block *b, int axes, int axis)
{
    for (int other = 0; other < axes; other++)
        if (other != axis && b->group[other] == b->group[axis]) return false;
    return true;
}

nb_status nb_config_block_fill(nb_config *config, nb_config_block *block, const nb_key_values *const *keys,
                               nb_mistakes *mistakes)
{
    nb_ctx *ctx = mistakes->ctx;
    const nb_study *study = config->study;
    int axes = nb_axis_count(study), key_count = axes + 2;
    NB_NEED(block->origins.items, nb_alloc(ctx, (size_t)key_count, sizeof *block->origins.items));
    for (int k = 0; k < key_count; k++) block->origins.items[k] = keys[k]->origin;
    block->origins.count = key_count;
    block->trials = keys[nb_axis_count(study)]->numbers[0];
    config->trials = block->trials > config->trials ? block->trials : config->trials;
    for (int axis = 0; axis < axes; axis++) {
        nb_axis_list *list = &config->lists[axis];
        block->count[axis] = keys[axis]->count;
        block->group[axis] = keys[zip_key(study)]->numbers[axis];
        NB_NEED(block->values[axis], nb_alloc(ctx, (size_t)keys[axis]->count + 1, sizeof *block->values[axis]));
        if (study->axes[axis].type == NB_AXIS_COMPONENT)
            NB_TRY(ctx, nb_mistakes_take(mistakes, keys[axis]->place,
                                         unite_choices(list, keys[axis], block->values[axis], ctx)));
        else if (study->axes[axis].type == NB_AXIS_REAL)
            NB_TRY(ctx, unite_reals(list, keys[axis], block->values[axis], ctx));
        else
            NB_TRY(ctx, unite_numbers(list, keys[axis], block->values[axis], ctx));
    }
    for (int axis = 0; axis < axes && mistakes->count == 0; axis++) /* else indices are missing */
        if (is_alone(block, axes, axis))
            NB_TRY(ctx, check_repeated(config, block, axis, keys[axis]->place, &config->warnings));
    if (!nb_config_study_of(study)->complete) return NB_OK;
    nb_plugin_call(&study->component, "complete");
    nb_status status = nb_config_study_of(study)->complete(config, ctx);
    nb_plugin_return(&study->component);
    return status;
}
