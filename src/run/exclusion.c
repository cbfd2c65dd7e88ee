/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exclusion.c - a rule matches a row if it matches its value of each key. For each value, the rules that match it are
 * found once; a row's are those that are in the sets of all its values. */
#include "run/exclusion.h"

#include "base/text.h"

#include <string.h>

enum { BITS = 64 };

static uint64_t bit(int rule)
{
    return (uint64_t)1 << rule % BITS;
}

static bool in_ranges(const nb_number_ranges *ranges, int number)
{
    bool held = ranges->count == 0;
    for (int i = 0; i < ranges->count && !held; i++) held = nb_range_holds(&ranges->items[i], number);
    return held;
}

static bool matches(const nb_exclusion *x, const nb_rule *rule, int key, int value)
{
    int axis = key - NB_RULE_AXES;
    if (key < NB_RULE_NUMBERS) return in_ranges(&rule->numbers[key], value);
    if (axis < 0) {
        const char *const *texts = rule->texts[key - NB_RULE_NUMBERS];
        return !texts || nb_text_among(x->texts.items[value], texts);
    }
    if (rule->chosen[axis]) return rule->chosen[axis][value];
    if (rule->words[axis]) return rule->words[axis] & 1u << value;
    return in_ranges(&rule->integers[axis], value);
}

static bool names(const nb_rule *rule, int key)
{
    int axis = key - NB_RULE_AXES;
    if (key < NB_RULE_NUMBERS) return rule->numbers[key].count > 0;
    if (axis < 0) return rule->texts[key - NB_RULE_NUMBERS];
    return rule->chosen[axis] || rule->words[axis] || rule->integers[axis].count > 0;
}

nb_status nb_exclusion_init(nb_exclusion *x, const nb_config *config, int blocks, nb_ctx *ctx)
{
    int count = config->rule_count, keys = NB_RULE_AXES + nb_axis_count(config->study);
    *x = (nb_exclusion){.config = config, .words = (count + BITS - 1) / BITS};
    NB_NEED(x->ctx, nb_ctx_child(ctx));
    nb_texts_init(&x->texts, x->ctx);
    NB_NEED(x->row, nb_alloc(x->ctx, (size_t)x->words + 1, sizeof *x->row));
    NB_NEED(x->blocks, nb_alloc(x->ctx, (size_t)blocks * (size_t)x->words + 1, sizeof *x->blocks));
    for (int b = 0; b < blocks; b++)
        for (int r = 0; r < count; r++)
            if (config->rules[r].block < 0 || config->rules[r].block == b)
                x->blocks[(size_t)b * (size_t)x->words + (size_t)(r / BITS)] |= bit(r);
    for (int key = 0; key < keys; key++) {
        int r = 0;
        while (r < count && !names(&config->rules[r], key)) r++;
        if (r < count) x->keys[x->key_count++] = key;
    }
    return NB_OK;
}

static nb_status find_bits(nb_exclusion *x, int key, int value, const uint64_t **bits)
{
    while (value >= x->room[key]) NB_GROW(x->ctx, x->with_value[key], x->room[key], x->room[key]);
    uint64_t **place = &x->with_value[key][value];
    *bits = *place;
    if (*bits) return NB_OK;
    NB_NEED(*place, nb_alloc(x->ctx, (size_t)x->words, sizeof **place));
    for (int r = 0; r < x->config->rule_count; r++)
        if (matches(x, &x->config->rules[r], key, value)) (*place)[r / BITS] |= bit(r);
    *bits = *place;
    return NB_OK;
}

/* *value <- a row's value of a key. */
static nb_status value_of(nb_exclusion *x, int key, const nb_planned_scene *scene, const nb_method *method, int trial,
                          int *value)
{
    const int numbers[NB_RULE_NUMBERS] = {
        [NB_RULE_HEAD] = scene->head, [NB_RULE_TRIAL] = trial, [NB_RULE_N] = scene->n, [NB_RULE_D] = scene->d};
    const char *const texts[NB_RULE_TEXTS] = {[NB_RULE_MODEL] = scene->shape->origins.model,
                                              [NB_RULE_LAYER] = scene->shape->origins.layer,
                                              [NB_RULE_SOURCE] = scene->source};
    if (key < NB_RULE_NUMBERS)
        *value = numbers[key];
    else if (key < NB_RULE_AXES)
        return nb_texts_number(&x->texts, texts[key - NB_RULE_NUMBERS] ? texts[key - NB_RULE_NUMBERS] : "", value);
    else
        *value = nb_value_under(x->config, key - NB_RULE_AXES, scene, method);
    return NB_OK;
}

nb_status nb_exclusion_match(nb_exclusion *x, const nb_planned_scene *scene, const nb_method *method, int trial)
{
    const uint64_t *bits;
    int value;
    memset(x->row, 0xff, (size_t)x->words * sizeof *x->row);
    for (int k = 0; k < x->key_count; k++) {
        NB_TRY(x->ctx, value_of(x, x->keys[k], scene, method, trial, &value));
        NB_TRY(x->ctx, find_bits(x, x->keys[k], value, &bits));
        for (int w = 0; w < x->words; w++) x->row[w] &= bits[w];
    }
    return NB_OK;
}

bool nb_exclusion_removes(const nb_exclusion *x, int block)
{
    const uint64_t *of_block = x->blocks + (size_t)block * (size_t)x->words;
    uint64_t all = 0;
    for (int w = 0; w < x->words; w++) all |= x->row[w] & of_block[w];
    return all;
}
