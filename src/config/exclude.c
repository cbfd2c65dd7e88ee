/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exclude.c - a rule's keys are the columns that say which row a row is. Names and options are looked up once in the
 * config's lists, so that a row is matched by its indices. */
#include "config/exclude.h"

#include "config/conditions.h"

#include <string.h>

/* The columns of every study's rows beside the axes, by nb_rule_number. */
static const char *const numbers[] = {"head", "trial", "n", "d"};

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
    for (int n = 0; n < NB_RULE_NUMBERS; n++)
        if (strcmp(numbers[n], k->column) == 0) return take_ranges(k, &rule->numbers[n], ctx);
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
