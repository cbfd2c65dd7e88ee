/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conditions.c - see keys.h. What a text means is found among the values that the config's lists and heads have, once
 * for each column, so that a rule matches a row by its indices. */
#include "config/keys.h"

#include "base/numbers.h"
#include "base/text.h"
#include "base/words.h"
#include "config/labels.h"
#include "config/lookup.h"

#include <float.h>
#include <limits.h>
#include <string.h>

/* The values that a config has in a column. */
struct nb_condition_column {
    nb_candidates candidates;
    int room;
    int *of_list; /* an axis with a list: by index into the list, the candidate */
};

static nb_status add_candidate(nb_condition_column *c, nb_candidate candidate, nb_ctx *ctx)
{
    if (!candidate.text) candidate.text = "";
    for (int i = c->candidates.count - 1; i >= 0; i--) { /* mostly the last one */
        const nb_candidate *there = &c->candidates.items[i];
        if (strcmp(there->text, candidate.text) == 0 && there->integer == candidate.integer &&
            there->real == candidate.real)
            return NB_OK;
    }
    NB_GROW(ctx, c->candidates.items, c->candidates.count, c->room);
    c->candidates.items[c->candidates.count++] = candidate;
    return NB_OK;
}

static nb_status add_text(nb_condition_column *c, const char *text, nb_ctx *ctx)
{
    return add_candidate(c, (nb_candidate){.text = text}, ctx);
}

static nb_status add_integer(nb_condition_column *c, long long integer, nb_ctx *ctx)
{
    return add_candidate(c, (nb_candidate){.integer = integer}, ctx);
}

/* A value of an axis's list; rows do not have the extra word, which stands for others. */
static nb_status add_listed(nb_condition_column *c, const nb_axis_list *list, int index, nb_ctx *ctx)
{
    const nb_axis *axis = c->candidates.column.axis;
    if (axis->type == NB_AXIS_COMPONENT) return add_text(c, list->choices.items[index].canonical, ctx);
    if (axis->type == NB_AXIS_REAL) return add_candidate(c, (nb_candidate){.real = list->reals[index]}, ctx);
    if (axis->type == NB_AXIS_INTEGER) return add_integer(c, list->numbers[index], ctx);
    return list->numbers[index] < 0 ? NB_OK : add_text(c, axis->words[list->numbers[index]], ctx);
}

static nb_status add_axis(nb_condition_column *c, const nb_config *config, nb_ctx *ctx)
{
    const nb_axis *axis = c->candidates.column.axis;
    const nb_axis_list *list = &config->lists[axis - config->study->axes];
    NB_NEED(c->of_list, nb_alloc(ctx, (size_t)list->count + 1, sizeof *c->of_list));
    for (int i = 0; i < list->count; i++) {
        int before = c->candidates.count, first = 0;
        NB_TRY(ctx, add_listed(c, list, i, ctx));
        if (nb_axis_has_list(axis) && c->candidates.count == before) { /* heads of one problem */
            while (strcmp(c->candidates.items[first].text, list->choices.items[i].canonical) != 0) first++;
            c->of_list[i] = first;
        } else
            c->of_list[i] = before;
    }
    c->candidates.open = c->candidates.open || axis->resolved;
    return NB_OK;
}

/* Adds what a problem's heads have in a column of their data. */
static nb_status add_heads(nb_condition_column *c, const nb_problem_shape *shape, nb_ctx *ctx)
{
    const char *name = c->candidates.column.name;
    if (strcmp(name, "n") == 0) return add_integer(c, shape->n, ctx);
    if (strcmp(name, "d") == 0) return add_integer(c, shape->d, ctx);
    if (strcmp(name, "model") == 0) return add_text(c, shape->origins.model, ctx);
    if (strcmp(name, "layer") == 0) return add_text(c, shape->origins.layer, ctx);
    for (int h = 0; h < shape->count; h++)
        NB_TRY(ctx, strcmp(name, "head") == 0
                        ? add_integer(c, shape->first + h, ctx)
                        : add_text(c, shape->origins.sources ? shape->origins.sources[h] : NULL, ctx));
    return NB_OK;
}

static nb_status add_setting(nb_condition_column *c, const nb_config *config, const nb_option *option, nb_ctx *ctx)
{
    nb_candidate value = {.integer = 0};
    NB_TRY(ctx, nb_config_setting(config, option, &value.text, ctx));
    if (c->candidates.column.column->type == NB_COLUMN_REAL)
        c->candidates.open = !nb_parse_real(value.text, -DBL_MAX, DBL_MAX, &value.real);
    else if (c->candidates.column.column->type != NB_COLUMN_TEXT)
        c->candidates.open = !nb_parse_integer(value.text, INT_MIN, INT_MAX, &value.integer);
    return c->candidates.open ? NB_OK : add_candidate(c, value, ctx);
}

static nb_status add_values(nb_condition_column *c, const nb_config *config, nb_ctx *ctx)
{
    static const char *const of_heads[] = {"head", "n", "d", "model", "layer", "source", NULL};
    const nb_selector *s = &c->candidates.column;
    if (s->axis) return add_axis(c, config, ctx);
    if (strcmp(s->name, "experiment") == 0) return add_text(c, config->name, ctx);
    if (strcmp(s->name, "seed") == 0) return add_integer(c, config->seed, ctx);
    for (const nb_option *o = config->study->component.options; o && o->key; o++)
        if (strcmp(o->key, s->name) == 0) return add_setting(c, config, o, ctx);
    for (int trial = 0; trial < config->trials && strcmp(s->name, "trial") == 0; trial++) {
        NB_GROW(ctx, c->candidates.items, c->candidates.count, c->room);
        c->candidates.items[c->candidates.count++] = (nb_candidate){.text = "", .integer = trial};
    }
    for (int i = 0; i < config->lists[NB_AXIS_PROBLEM].count && nb_text_among(s->name, of_heads); i++)
        NB_TRY(ctx, add_heads(c, &config->shapes[i], ctx));
    c->candidates.open = c->candidates.open || c->candidates.count == 0;
    return NB_OK;
}

/* Finds the values of a column, once for a reader. Without a config, or if its blocks are wrong, there are none. */
static nb_status find_column(nb_condition_reader *r, const char *name, const nb_condition_column **column, nb_ctx *ctx)
{
    nb_condition_column *c;
    nb_given_labels labels = {.count = 0};
    bool complete = r->config && r->config->block_count > 0 && r->config->shapes;
    for (int i = 0; i < r->column_count; i++)
        if (strcmp(r->columns[i]->candidates.column.name, name) == 0) {
            *column = r->columns[i];
            return NB_OK;
        }
    NB_NEED(c, nb_alloc(ctx, 1, sizeof *c));
    NB_TRY(ctx, nb_selector_find(r->study, name, &c->candidates.column, ctx));
    c->candidates.open = r->open || !complete;
    if (complete) NB_TRY(ctx, add_values(c, r->config, ctx));
    if (complete) NB_TRY(ctx, nb_config_labels(r->config, &c->candidates.column, &labels, ctx));
    NB_TRY(ctx, nb_candidates_label(&c->candidates, &labels, ctx));
    NB_GROW(ctx, r->columns, r->column_count, r->column_room);
    r->columns[r->column_count++] = c;
    *column = c;
    return NB_OK;
}

nb_status nb_condition_candidates(nb_condition_reader *r, const char *column, const nb_candidates **candidates)
{
    const nb_condition_column *found;
    NB_TRY(r->mistakes->ctx, find_column(r, column, &found, r->mistakes->ctx));
    *candidates = &found->candidates;
    return NB_OK;
}

/* Reads one text, and adds it to the column's values. */
static nb_status add_value(const nb_condition_reader *r, const nb_condition_column *column, const char *what,
                           nb_place place, const char *text, nb_column_values *values)
{
    nb_ctx *ctx = r->mistakes->ctx;
    nb_named_value value = {.place = place};
    int before = r->mistakes->count;
    NB_NEED(value.text, nb_item_text(text, text + strlen(text), ctx));
    NB_TRY(ctx, nb_candidates_mark(&column->candidates, what, value.text, place, values->means, r->mistakes));
    if (r->mistakes->count > before) return NB_OK;
    NB_GROW(ctx, values->values, values->count, values->capacity);
    values->values[values->count++] = value;
    return NB_OK;
}

/* Finds files that a spec names; *count: of its parts, each with its file; 0: there is nothing to find, or the text is
 * no spec. */
static nb_status find_files(const nb_condition_reader *r, const nb_registry *registry, nb_yaml value, int *count,
                            nb_choice_part **parts)
{
    nb_ctx *ctx = r->mistakes->ctx;
    nb_mistakes unread = {.ctx = ctx};
    bool each, changed;
    NB_TRY(ctx, nb_lookup_parts(registry, nb_yaml_scalar(value), nb_yaml_place(value), value.source, count, parts,
                                &each, &unread, ctx));
    for (int p = 0; p < *count; p++) {
        NB_TRY(ctx, nb_lookup_options((*parts)[p].component, (*parts)[p].options, NULL, value.source, &changed, ctx));
        each = each || changed;
    }
    if (!each) *count = 0;
    return NB_OK;
}

/* Components as written or, where files of some are elsewhere, each with its file. */
static nb_status read_component(const nb_condition_reader *r, const nb_condition_column *column, const char *what,
                                nb_yaml value, nb_column_values *values)
{
    nb_ctx *ctx = r->mistakes->ctx;
    nb_choice_part *parts;
    int count = 0;
    const char *text;
    if (r->look_up && value.in_file) {
        nb_status status = find_files(r, column->candidates.column.registry, value, &count, &parts);
        if (status != NB_OK) return nb_mistakes_take(r->mistakes, nb_yaml_place(value), status);
    }
    for (int p = 0; p < count; p++) {
        NB_TRY(ctx, nb_choice_part_text(&parts[p], &text, ctx));
        NB_TRY(ctx, add_value(r, column, what, nb_yaml_place(value), text, values));
    }
    return count > 0 ? NB_OK : add_value(r, column, what, nb_yaml_place(value), nb_yaml_scalar(value), values);
}

static nb_status read_value(const nb_condition_reader *r, const nb_condition_column *column, const char *what,
                            nb_yaml value, nb_column_values *values)
{
    nb_ctx *ctx = r->mistakes->ctx;
    const nb_selector *s = &column->candidates.column;
    const char *text = nb_yaml_scalar(value), *inside;
    if (!text)
        return nb_yaml_mistake(value, r->mistakes, "%s%s: expected a value, found %s", what, s->name,
                               nb_yaml_kind(value));
    NB_TRY(ctx, nb_list_inside(text, &inside, ctx));
    for (const char *at = inside, *end; at; at = *end ? end + 1 : NULL) {
        end = nb_item_end(at);
        NB_NEED(text, nb_format(ctx, "%.*s", (int)(end - at), at));
        NB_TRY(ctx, add_value(r, column, what, nb_yaml_place(value), text, values));
    }
    if (inside) return NB_OK;
    return s->registry && strcmp(s->name, s->column->name) == 0
               ? read_component(r, column, what, value, values)
               : add_value(r, column, what, nb_yaml_place(value), text, values);
}

nb_status nb_column_values_read(nb_condition_reader *r, const char *what, const char *name, nb_yaml value,
                                nb_column_values *values)
{
    nb_ctx *ctx = r->mistakes->ctx;
    const nb_condition_column *column;
    const char *prefix;
    *values = (nb_column_values){.column = name};
    NB_TRY(ctx, find_column(r, name, &column, ctx));
    values->column = column->candidates.column.name;
    NB_NEED(values->means, nb_alloc(ctx, (size_t)column->candidates.count + 1, sizeof *values->means));
    if (nb_yaml_count(value) == 0) return nb_yaml_mistake(value, r->mistakes, "%s: %s: the list is empty", what, name);
    NB_NEED(prefix, nb_format(ctx, "%s: ", what));
    for (int i = 0; i < nb_yaml_count(value); i++)
        NB_TRY(ctx, read_value(r, column, prefix, nb_yaml_item(value, i), values));
    return NB_OK;
}

/* Reads one pair of a mapping, COLUMN: VALUES. */
static nb_status read_pair(nb_condition_reader *r, const char *what, nb_yaml key, nb_yaml value, nb_conditions *all)
{
    nb_ctx *ctx = r->mistakes->ctx;
    const char *name = nb_yaml_found(key);
    const nb_condition_column *column;
    nb_status status = find_column(r, name, &column, ctx);
    if (status == NB_EINVAL) {
        NB_NEED(name, nb_format(ctx, "%s: %s", what, nb_error_message(ctx)));
        nb_error_clear(ctx);
        return nb_yaml_mistake(key, r->mistakes, "%s", name);
    }
    NB_TRY(ctx, status);
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->items[i].column, name) == 0)
            return nb_yaml_mistake(key, r->mistakes, "%s: key '%s' appears a second time", what, name);
    if (nb_yaml_is_null(value)) return nb_yaml_mistake(key, r->mistakes, "%s: key '%s' has no value", what, name);
    return nb_column_values_read(r, what, name, value, &all->items[all->count++]);
}

nb_status nb_conditions_read(nb_condition_reader *r, const char *what, nb_yaml mapping, nb_conditions *all)
{
    if (mapping.node->type != YAML_MAPPING_NODE)
        return nb_yaml_mistake(mapping, r->mistakes, "%s: expected {%s: ...}, found %s", what, r->study->axes[0].column,
                               nb_yaml_scalar(mapping) ? "a text" : nb_yaml_kind(mapping));
    NB_NEED(all->items, nb_alloc(r->mistakes->ctx, (size_t)nb_yaml_pairs(mapping) + 1, sizeof *all->items));
    for (int i = 0; i < nb_yaml_pairs(mapping); i++) {
        nb_yaml key, value;
        nb_yaml_pair(mapping, i, &key, &value);
        NB_TRY(r->mistakes->ctx, read_pair(r, what, key, value, all));
    }
    return NB_OK;
}

/* The columns of every study's rows beside the axes, by nb_rule_number and nb_rule_text. */
static const char *const rule_numbers[] = {"head", "trial", "n", "d", NULL};
static const char *const rule_texts[] = {"model", "layer", "source", NULL};

static nb_status set_ranges(const nb_column_values *k, nb_number_ranges *ranges, nb_ctx *ctx)
{
    const char *wrong;
    NB_NEED(ranges->items, nb_alloc(ctx, (size_t)k->count + 1, sizeof *ranges->items));
    for (; ranges->count < k->count; ranges->count++)
        NB_TRY(ctx, nb_range_parse(k->values[ranges->count].text, &ranges->items[ranges->count], &wrong, ctx));
    return NB_OK;
}

/* The texts that rows have, of the candidates that the values mean. */
static nb_status set_texts(const nb_column_values *k, const nb_candidates *c, const char ***texts, nb_ctx *ctx)
{
    int count = 0;
    NB_NEED(*texts, nb_alloc(ctx, (size_t)c->count + 1, sizeof **texts));
    for (int i = 0; i < c->count; i++)
        if (k->means[i]) (*texts)[count++] = c->items[i].text;
    return NB_OK;
}

/* Sets what a rule says of one column, NB_EINVAL if all rows of an experiment have the same there. */
static nb_status set_rule(nb_condition_reader *r, const nb_column_values *k, nb_rule *rule, nb_ctx *ctx)
{
    const nb_condition_column *c;
    bool *by_index;
    NB_TRY(ctx, find_column(r, k->column, &c, ctx));
    const nb_axis *axis = c->candidates.column.axis;
    int number = nb_text_index(k->column, rule_numbers), text = nb_text_index(k->column, rule_texts);
    if (number >= 0) return set_ranges(k, &rule->numbers[number], ctx);
    if (text >= 0) return set_texts(k, &c->candidates, &rule->texts[text], ctx);
    NB_REQUIRE(ctx, axis, NB_EINVAL, "exclude: rules cannot tell rows by '%s', which %s", k->column,
               nb_selector_is_measured(&c->candidates.column) ? "is known once they have run"
                                                              : "is the same in all rows of an experiment");
    int at = (int)(axis - r->study->axes);
    if (axis->type == NB_AXIS_INTEGER) return set_ranges(k, &rule->integers[at], ctx);
    for (int i = 0; i < k->count && axis->type == NB_AXIS_WORD; i++)
        rule->words[at] |= 1u << nb_text_index(k->values[i].text, axis->words);
    if (axis->type == NB_AXIS_WORD) return NB_OK;
    int count = r->config->lists[at].count;
    NB_NEED(by_index, nb_alloc(ctx, (size_t)count + 1, sizeof *by_index));
    for (int i = 0; i < count && c->of_list; i++) by_index[i] = k->means[c->of_list[i]];
    rule->chosen[at] = by_index;
    return NB_OK;
}

static nb_status read_rule(nb_condition_reader *r, nb_yaml value, nb_rule *rule)
{
    if (nb_yaml_pairs(value) == 0)
        return nb_yaml_mistake(value, r->mistakes,
                               "exclude: expected a rule like {strategy: NAME, landmarks: 64..128}");
    NB_TRY(r->mistakes->ctx, nb_conditions_read(r, "exclude", value, &rule->keys));
    for (int k = 0; k < rule->keys.count; k++)
        NB_TRY(r->mistakes->ctx,
               nb_mistakes_take(r->mistakes, rule->place, set_rule(r, &rule->keys.items[k], rule, r->mistakes->ctx)));
    return NB_OK;
}

nb_status nb_rules_read(nb_yaml value, int block, nb_config *config, nb_mistakes *mistakes)
{
    nb_condition_reader r = {
        .study = config->study, .config = config, .look_up = true, .open = true, .mistakes = mistakes};
    int count = nb_yaml_count(value);
    for (int i = 0; i < count; i++) {
        nb_yaml rule_yaml = nb_yaml_item(value, i);
        NB_GROW(mistakes->ctx, config->rules, config->rule_count, config->rule_room);
        nb_rule *rule = &config->rules[config->rule_count++];
        *rule = (nb_rule){.place = nb_yaml_place(rule_yaml), .block = block};
        NB_TRY(mistakes->ctx, read_rule(&r, rule_yaml, rule));
    }
    return NB_OK;
}
