/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conditions.c - see keys.h. A value is read as its column's axis reads it. What rules name is looked up once in
 * the config's lists, so that a row is matched by its indices. */
#include "config/keys.h"

#include "base/text.h"
#include "config/lookup.h"

#include <float.h>
#include <limits.h>

static nb_status add(const nb_condition_reader *r, nb_column_values *c, nb_yaml source, nb_named_value value)
{
    NB_GROW(r->mistakes->ctx, c->values, c->count, c->capacity);
    value.place = nb_yaml_place(source);
    NB_NEED(value.text, nb_strdup(r->mistakes->ctx, value.text ? value.text : nb_yaml_scalar(source)));
    c->values[c->count++] = value;
    return NB_OK;
}

/* Components as written or, where files of some are elsewhere, each with its file. */
static nb_status add_parts(const nb_condition_reader *r, nb_column_values *c, nb_yaml value, nb_named_value all,
                           bool each)
{
    nb_ctx *ctx = r->mistakes->ctx;
    for (int p = 0; p < all.part_count && r->look_up && value.in_file; p++) {
        bool changed;
        NB_TRY(ctx, nb_lookup_options(all.parts[p].component, all.parts[p].options, NULL, value.source, &changed, ctx));
        each = each || changed;
    }
    if (!each) return add(r, c, value, all);
    for (int p = 0; p < all.part_count; p++) {
        nb_named_value one = {.part_count = 1, .parts = &all.parts[p]};
        NB_TRY(ctx, nb_choice_part_text(one.parts, &one.text, ctx));
        NB_TRY(ctx, add(r, c, value, one));
    }
    return NB_OK;
}

static nb_status read_component(const nb_condition_reader *r, const char *key, const nb_axis *axis, nb_yaml value,
                                nb_column_values *c)
{
    nb_named_value v = {.text = NULL};
    bool listed;
    NB_TRY(r->mistakes->ctx, nb_lookup_parts(axis->registry, nb_yaml_scalar(value), nb_yaml_place(value),
                                             r->look_up && value.in_file ? value.source : NULL, &v.part_count, &v.parts,
                                             &listed, r->mistakes, r->mistakes->ctx));
    for (int p = 0; p < v.part_count; p++)
        for (int g = 0; g < v.parts[p].count; g++)
            if (v.parts[p].given[g]->selects_head)
                return nb_yaml_mistake(value, r->mistakes, "%s: the key 'head' names heads, not the option '%s'", key,
                                       v.parts[p].given[g]->key);
    return v.part_count == 0 ? NB_OK
                             : nb_mistakes_take(r->mistakes, nb_yaml_place(value), add_parts(r, c, value, v, listed));
}

static nb_status read_value(const nb_condition_reader *r, const char *key, nb_yaml value, nb_column_values *c)
{
    const nb_axis *axis = nb_axis_of_column(r->study, c->column);
    nb_column_type type = nb_column_find(r->study->columns, c->column)->type;
    nb_named_value v = {.text = NULL};
    int count, before = r->mistakes->count;
    if (!nb_yaml_scalar(value))
        return nb_yaml_mistake(value, r->mistakes, "%s: expected a value, found %s", key, nb_yaml_kind(value));
    if (axis && axis->type == NB_AXIS_COMPONENT) return read_component(r, key, axis, value, c);
    if (type == NB_COLUMN_REAL) {
        double *reals;
        NB_TRY(r->mistakes->ctx, nb_read_reals(key, value, axis ? axis->lo : -DBL_MAX, axis ? axis->hi : DBL_MAX,
                                               &count, &reals, r->mistakes));
        v.real = *reals;
    } else if (type != NB_COLUMN_TEXT) {
        nb_range *ranges;
        NB_TRY(r->mistakes->ctx, nb_read_ranges(key, value, 0, INT_MAX, &count, &ranges, r->mistakes));
        v.range = *ranges;
    } else if (axis)
        NB_TRY(r->mistakes->ctx, nb_read_word(key, value, axis->words, &v.word, r->mistakes));
    return r->mistakes->count > before ? NB_OK : add(r, c, value, v);
}

nb_status nb_column_values_read(const nb_condition_reader *r, const char *what, const char *column, nb_yaml value,
                                nb_column_values *c)
{
    const char *key;
    *c = (nb_column_values){.column = column};
    NB_NEED(key, nb_format(r->mistakes->ctx, "%s: %s", what, column));
    if (nb_yaml_count(value) == 0) return nb_yaml_mistake(value, r->mistakes, "%s: the list is empty", key);
    for (int i = 0; i < nb_yaml_count(value); i++)
        NB_TRY(r->mistakes->ctx, read_value(r, key, nb_yaml_item(value, i), c));
    return NB_OK;
}

nb_status nb_conditions_read(const nb_condition_reader *r, const char *what, nb_yaml value, const char *const *columns,
                             nb_conditions *all)
{
    nb_yaml *values;
    NB_TRY(r->mistakes->ctx, nb_read_mapping(what, value, columns, &values, r->mistakes));
    NB_NEED(all->items, nb_alloc(r->mistakes->ctx, (size_t)nb_yaml_pairs(value) + 1, sizeof *all->items));
    for (int i = 0; i < nb_yaml_pairs(value); i++) {
        nb_yaml key, of;
        nb_yaml_pair(value, i, &key, &of);
        int at = nb_text_index(nb_yaml_found(key), columns);
        if (at >= 0 && values[at].node == of.node)
            NB_TRY(r->mistakes->ctx, nb_column_values_read(r, what, columns[at], of, &all->items[all->count++]));
    }
    return NB_OK;
}

nb_status nb_named_value_means(const nb_named_value *v, const nb_axis *axis, const nb_axis_list *list, int index,
                               bool *means, nb_ctx *ctx)
{
    *means = axis->type == NB_AXIS_INTEGER ? nb_range_holds(&v->range, list->numbers[index])
             : axis->type == NB_AXIS_REAL  ? v->real == list->reals[index]
             : axis->type == NB_AXIS_WORD  ? v->word == list->numbers[index]
                                           : false;
    for (int p = 0; p < v->part_count && !*means; p++)
        NB_TRY(ctx, nb_choice_part_matches(&v->parts[p], &list->choices.items[index], means, ctx));
    return NB_OK;
}

/* The columns of every study's rows beside the axes, by nb_rule_number. */
static const char *const numbers[] = {"head", "trial", "n", "d", NULL};

enum { MOST_KEYS = NB_RULE_NUMBERS + NB_MOST_AXES };

static nb_status take_ranges(const nb_column_values *k, nb_number_ranges *ranges, nb_ctx *ctx)
{
    NB_NEED(ranges->items, nb_alloc(ctx, (size_t)k->count + 1, sizeof *ranges->items));
    for (; ranges->count < k->count; ranges->count++) ranges->items[ranges->count] = k->values[ranges->count].range;
    return NB_OK;
}

static nb_status choose(const nb_column_values *k, const nb_axis *axis, const nb_axis_list *list, const bool **of,
                        nb_ctx *ctx)
{
    bool *chosen;
    NB_NEED(chosen, nb_alloc(ctx, (size_t)list->count + 1, sizeof *chosen));
    *of = chosen;
    for (int i = 0; i < list->count; i++)
        for (int v = 0; v < k->count && !chosen[i]; v++)
            NB_TRY(ctx, nb_named_value_means(&k->values[v], axis, list, i, &chosen[i], ctx));
    return NB_OK;
}

static nb_status take_key(const nb_column_values *k, const nb_config *c, nb_rule *rule, nb_ctx *ctx)
{
    const nb_axis *axis = nb_axis_of_column(c->study, k->column);
    int number = nb_text_index(k->column, numbers);
    if (number >= 0) return take_ranges(k, &rule->numbers[number], ctx);
    int at = (int)(axis - c->study->axes);
    if (axis->type == NB_AXIS_INTEGER) return take_ranges(k, &rule->integers[at], ctx);
    if (axis->type != NB_AXIS_WORD) return choose(k, axis, &c->lists[at], &rule->chosen[at], ctx);
    for (int i = 0; i < k->count; i++) rule->words[at] |= 1u << k->values[i].word;
    return NB_OK;
}

static nb_status read_rule(nb_yaml value, nb_config *c, nb_rule *rule, nb_mistakes *mistakes)
{
    const char *names[MOST_KEYS + 1] = {NULL};
    const nb_condition_reader r = {c->study, true, mistakes};
    int count = 0;
    for (; count < NB_RULE_NUMBERS; count++) names[count] = numbers[count];
    for (const nb_axis *axis = c->study->axes; axis->key; axis++) names[count++] = axis->column;
    if (nb_yaml_pairs(value) == 0)
        return nb_yaml_mistake(value, mistakes, "exclude: expected a rule like {strategy: NAME, landmarks: 64..128}");
    NB_TRY(mistakes->ctx, nb_conditions_read(&r, "exclude", value, names, &rule->keys));
    for (int k = 0; k < rule->keys.count; k++)
        NB_TRY(mistakes->ctx, take_key(&rule->keys.items[k], c, rule, mistakes->ctx));
    return NB_OK;
}

nb_status nb_rules_read(nb_yaml value, int block, nb_config *config, nb_mistakes *mistakes)
{
    int count = nb_yaml_count(value);
    for (int i = 0; i < count; i++) {
        nb_yaml one = nb_yaml_item(value, i);
        NB_GROW(mistakes->ctx, config->rules, config->rule_count, config->rule_room);
        nb_rule *rule = &config->rules[config->rule_count++];
        *rule = (nb_rule){.place = nb_yaml_place(one), .block = block};
        NB_TRY(mistakes->ctx, read_rule(one, config, rule, mistakes));
    }
    return NB_OK;
}
