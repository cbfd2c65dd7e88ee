/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axes.c - see axes.h */
#include "config/axes.h"

#include "calls/early.h"
#include "calls/heads.h"
#include "components/registry.h"
#include "config/block.h"
#include "config/lookup.h"
#include "config/values.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "nystrom/approximation.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LANDMARKS = 1000000, MOST_TRIALS = 1000000 };

const char *const nb_axis_keys[] = {"problems",  "kernels", "strategies", "pairing",
                                    "landmarks", "factors", "cores",      NULL};
const char *const nb_block_keys[] = {"problems", "kernels", "strategies", "pairing", "landmarks",
                                     "factors",  "cores",   "trials",     "zip",     NULL};

const char *nb_standard_kernel(void)
{
    const nb_entry *e = nb_kernels.entries;
    while (!((const nb_kernel *)e->component)->standard) e++; /* there is one, see the conformance test */
    return e->component->name;
}

const char *nb_block_key_default(int key)
{
    static const char *const defaults[NB_BLOCK_KEYS] = {[NB_AXIS_PAIRING] = "default",
                                                        [NB_AXIS_LANDMARKS] = "8..64 step 8",
                                                        [NB_AXIS_FACTORS] = "nystromformer",
                                                        [NB_KEY_TRIALS] = "10",
                                                        [NB_KEY_ZIP] = "[]"};
    return key == NB_AXIS_KERNEL ? nb_standard_kernel() : defaults[key];
}

static const nb_registry *registry_of(int key)
{
    static const nb_registry *const registries[NB_BLOCK_KEYS] = {[NB_AXIS_PROBLEM] = &nb_problems,
                                                                 [NB_AXIS_KERNEL] = &nb_kernels,
                                                                 [NB_AXIS_STRATEGY] = &nb_strategies,
                                                                 [NB_AXIS_CORE] = &nb_cores};
    return registries[key];
}

/* What shows before anything runs: a missing file, options that do not go together. */
static nb_status check_choice(int key, const nb_choice *choice, nb_ctx *ctx)
{
    if (key == NB_AXIS_PROBLEM) {
        nb_problem_shape shape;
        return nb_heads_shape(choice, &shape, ctx);
    }
    return key == NB_AXIS_STRATEGY ? nb_strategy_check(choice, ctx)
           : key == NB_AXIS_CORE   ? nb_core_check(choice, ctx)
                                   : NB_OK;
}

static nb_status read_choice(int key, nb_yaml value, nb_choices *choices, nb_mistakes *mistakes)
{
    const nb_registry *registry = registry_of(key);
    nb_place at = nb_yaml_place(value);
    int before = mistakes->count, first = choices->count;
    const char *text = nb_yaml_scalar(value);
    if (!text)
        return nb_mistakes_add(mistakes, at, "%s: expected a %s, found %s", nb_block_keys[key], registry->kind,
                               nb_yaml_kind(value));
    const char *hint;
    NB_NEED(hint, nb_list_hint(text, mistakes->ctx));
    if (*hint)
        return nb_mistakes_add(mistakes, at, "%s: '%s' is no %s%s", nb_block_keys[key], text, registry->kind, hint);
    NB_TRY(mistakes->ctx, nb_choices_list(choices, registry, text, at, mistakes, mistakes->ctx));
    if (mistakes->count > before && strchr(text, '(') && !strchr(text, ')'))
        return nb_mistakes_add(mistakes, at, "in a [ ] list, quote a %s whose options have commas: \"%s, ...)\"",
                               registry->kind, text);
    for (int i = first; i < choices->count; i++) {
        nb_status status = value.in_file ? nb_lookup_choice(&choices->items[i], value.source, mistakes->ctx) : NB_OK;
        if (status == NB_OK) status = check_choice(key, &choices->items[i], mistakes->ctx);
        if (value.in_file) status = nb_lookup_explain(status, &choices->items[i], value.source, mistakes->ctx);
        if (status != NB_OK) return nb_mistakes_take(mistakes, at, status); /* that of one head is that of all */
    }
    return NB_OK;
}

static nb_status read_choices(int key, nb_yaml value, nb_choices *choices, nb_mistakes *mistakes)
{
    int count = nb_yaml_count(value);
    if (count == 0) return nb_mistakes_add(mistakes, nb_yaml_place(value), "%s: the list is empty", nb_block_keys[key]);
    for (int i = 0; i < count; i++) NB_TRY(mistakes->ctx, read_choice(key, nb_yaml_item(value, i), choices, mistakes));
    return NB_OK;
}

static nb_status read_landmarks(nb_yaml value, nb_key_values *v, nb_mistakes *mistakes)
{
    nb_range *ranges;
    int count;
    long long total = 0;
    NB_TRY(mistakes->ctx,
           nb_read_ranges(nb_block_keys[NB_AXIS_LANDMARKS], value, 1, MOST_LANDMARKS, &count, &ranges, mistakes));
    for (int i = 0; i < count; i++) total += nb_range_count(&ranges[i]);
    if (total > MOST_LANDMARKS)
        return nb_mistakes_add(mistakes, v->place, "landmarks: the list has %lld items, allowed are %d", total,
                               MOST_LANDMARKS);
    NB_NEED(v->numbers, nb_alloc(mistakes->ctx, (size_t)total + 1, sizeof *v->numbers));
    for (int i = 0; i < count; i++)
        for (long long j = 0; j < nb_range_count(&ranges[i]); j++)
            v->numbers[v->count++] = (int)nb_range_item(&ranges[i], j);
    return NB_OK;
}

static nb_status read_trials(nb_yaml value, nb_key_values *v, nb_mistakes *mistakes)
{
    long long trials = 1;
    NB_TRY(mistakes->ctx, nb_read_integer(nb_block_keys[NB_KEY_TRIALS], value, 1, MOST_TRIALS, &trials, mistakes));
    NB_NEED(v->numbers, nb_alloc(mistakes->ctx, 1, sizeof *v->numbers));
    v->numbers[v->count++] = (int)trials;
    return NB_OK;
}

static int axis_of(const char *key)
{
    int axis = 0;
    while (nb_axis_keys[axis] && strcmp(nb_axis_keys[axis], key) != 0) axis++;
    return axis;
}

/* One list of keys: all get the number of the first of them. */
static nb_status read_group(nb_yaml value, int *group, bool *named, nb_mistakes *mistakes)
{
    int count;
    const char **keys;
    bool here[NB_AXES] = {false};
    NB_TRY(mistakes->ctx, nb_read_words("zip", value, nb_axis_keys, NULL, &count, &keys, mistakes));
    if (count < 2)
        return nb_mistakes_add(mistakes, nb_yaml_place(value),
                               "zip: expected at least two keys that advance together, found %d", count);
    for (int i = 0; i < count; i++) {
        int axis = axis_of(keys[i]);
        if (axis == NB_AXES) return NB_OK; /* told already */
        if (named[axis]) return nb_mistakes_add(mistakes, nb_yaml_place(value), "zip: '%s' is named twice", keys[i]);
        here[axis] = named[axis] = true;
    }
    for (int axis = 0, first = -1; axis < NB_AXES; axis++) {
        if (!here[axis]) continue;
        if (first < 0) first = axis;
        group[axis] = first;
    }
    return NB_OK;
}

/* Keys that advance together, or a list of such lists. */
static nb_status read_zip(nb_yaml value, nb_key_values *v, nb_mistakes *mistakes)
{
    bool named[NB_AXES] = {false}, nested = false;
    NB_NEED(v->numbers, nb_alloc(mistakes->ctx, NB_AXES, sizeof *v->numbers));
    for (v->count = 0; v->count < NB_AXES; v->count++) v->numbers[v->count] = v->count;
    for (int i = 0; i < nb_yaml_count(value); i++) nested |= nb_yaml_item(value, i).node->type == YAML_SEQUENCE_NODE;
    if (nb_yaml_count(value) == 0) return NB_OK;
    if (!nested) return read_group(value, v->numbers, named, mistakes);
    for (int i = 0; i < nb_yaml_count(value); i++)
        NB_TRY(mistakes->ctx, read_group(nb_yaml_item(value, i), v->numbers, named, mistakes));
    return NB_OK;
}

nb_status nb_block_key_read(int key, nb_yaml value, nb_key_values *values, nb_mistakes *mistakes)
{
    values->place = nb_yaml_place(value);
    if (key == NB_KEY_TRIALS) return read_trials(value, values, mistakes);
    if (key == NB_KEY_ZIP) return read_zip(value, values, mistakes);
    if (key == NB_AXIS_LANDMARKS) return read_landmarks(value, values, mistakes);
    if (key == NB_AXIS_PAIRING)
        return nb_read_words(nb_block_keys[key], value, nb_pairing_names, "default", &values->count, &values->words,
                             mistakes);
    if (key == NB_AXIS_FACTORS)
        return nb_read_words(nb_block_keys[key], value, nb_factors_names, NULL, &values->count, &values->words,
                             mistakes);
    NB_TRY(mistakes->ctx, read_choices(key, value, &values->choices, mistakes));
    values->count = values->choices.count;
    return NB_OK;
}

static nb_status unite_choices(nb_choices *all, const nb_key_values *v, int *indices, nb_ctx *ctx)
{
    for (int i = 0; i < v->count; i++) {
        int at = nb_choices_find(all, &v->choices.items[i]);
        indices[i] = at < 0 ? all->count : at;
        if (at < 0) NB_TRY(ctx, nb_choices_append(all, v->choices.items[i], ctx));
    }
    return NB_OK;
}

static nb_status unite_words(int *count, const char ***all, const nb_key_values *v, int *indices, nb_ctx *ctx)
{
    const char **united;
    NB_NEED(united, nb_alloc(ctx, (size_t)*count + (size_t)v->count, sizeof *united));
    if (*count > 0) memcpy(united, *all, (size_t)*count * sizeof *united);
    *all = united;
    for (int i = 0; i < v->count; i++) {
        int at = 0;
        while (at < *count && strcmp(united[at], v->words[i]) != 0) at++;
        if (at == *count) united[(*count)++] = v->words[i];
        indices[i] = at;
    }
    return NB_OK;
}

static nb_status unite_landmarks(nb_config *c, const nb_key_values *v, int *indices, nb_ctx *ctx)
{
    int *united, *place_of; /* by m: where it is, from 1 */
    NB_NEED(united, nb_alloc(ctx, (size_t)c->landmark_count + (size_t)v->count, sizeof *united));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(place_of, nb_alloc(ctx, MOST_LANDMARKS + 1, sizeof *place_of));
    if (c->landmark_count > 0) memcpy(united, c->landmarks, (size_t)c->landmark_count * sizeof *united);
    c->landmarks = united;
    for (int i = 0; i < c->landmark_count; i++) place_of[united[i]] = i + 1;
    for (int i = 0; i < v->count; i++) {
        int m = v->numbers[i];
        if (place_of[m] == 0) {
            united[c->landmark_count++] = m;
            place_of[m] = c->landmark_count;
        }
        indices[i] = place_of[m] - 1;
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status unite(nb_config *c, nb_axis axis, const nb_key_values *v, int *indices, nb_ctx *ctx)
{
    switch (axis) {
    case NB_AXIS_PROBLEM: return unite_choices(&c->problems, v, indices, ctx);
    case NB_AXIS_KERNEL: return unite_choices(&c->kernels, v, indices, ctx);
    case NB_AXIS_STRATEGY: return unite_choices(&c->strategies, v, indices, ctx);
    case NB_AXIS_CORE: return unite_choices(&c->cores, v, indices, ctx);
    case NB_AXIS_PAIRING: return unite_words(&c->pairing_count, &c->pairings, v, indices, ctx);
    case NB_AXIS_FACTORS: return unite_words(&c->factors_count, &c->factors, v, indices, ctx);
    case NB_AXIS_LANDMARKS: return unite_landmarks(c, v, indices, ctx);
    case NB_AXES: break;
    }
    NB_FAIL(ctx, NB_EBUG, "there is no axis %d", (int)axis);
}

static nb_status check_lengths(const nb_key_values *const keys[], nb_mistakes *mistakes)
{
    const nb_key_values *zip = keys[NB_KEY_ZIP];
    for (int axis = 0; axis < NB_AXES; axis++) {
        int first = zip->numbers[axis], count = keys[first]->count;
        if (!keys[first]->right || !keys[axis]->right || keys[axis]->count == count) continue;
        NB_TRY(mistakes->ctx,
               nb_mistakes_add(mistakes, zip->place,
                               "zip: %s has %d value%s and %s %d; they advance together, so both must have as many",
                               nb_axis_keys[first], count, count == 1 ? "" : "s", nb_axis_keys[axis],
                               keys[axis]->count));
    }
    return NB_OK;
}

/* A strategy that cannot pick for both sides together, where it is asked to. */
static nb_status check_pairings(const nb_key_values *const keys[], nb_mistakes *mistakes)
{
    const nb_key_values *pairing = keys[NB_AXIS_PAIRING], *strategies = keys[NB_AXIS_STRATEGY];
    const int *group = keys[NB_KEY_ZIP]->numbers;
    bool together = group[NB_AXIS_PAIRING] == group[NB_AXIS_STRATEGY];
    for (int p = 0; p < pairing->count; p++)
        for (int s = 0; s < strategies->count; s++) {
            const nb_strategy *strategy = (const nb_strategy *)strategies->choices.items[s].component;
            if ((together && s != p) || strcmp(pairing->words[p], nb_pairing_names[NB_BOTH]) != 0 ||
                nb_strategy_has(strategy, NB_BOTH))
                continue;
            NB_TRY(mistakes->ctx,
                   nb_mistakes_add(mistakes, pairing->place, "pairing: %s cannot pick for both sides together",
                                   strategy->component.name));
        }
    return NB_OK;
}

/* The identity, where all factors have a middle. */
static nb_status check_cores(const nb_key_values *const keys[], nb_mistakes *mistakes)
{
    const nb_key_values *factors = keys[NB_AXIS_FACTORS], *cores = keys[NB_AXIS_CORE];
    const int *group = keys[NB_KEY_ZIP]->numbers;
    bool together = group[NB_AXIS_FACTORS] == group[NB_AXIS_CORE];
    for (int x = 0; x < cores->count; x++) {
        const nb_choice *core = &cores->choices.items[x];
        bool fits = nb_core_fits(NB_NYSTROMFORMER, core);
        for (int f = 0; f < factors->count && !fits; f++)
            fits = (!together || f == x) && strcmp(factors->words[f], nb_factors_names[NB_NOCORE]) == 0;
        if (fits) continue;
        NB_TRY(mistakes->ctx, nb_mistakes_add(mistakes, cores->place,
                                              "cores: %s is for the factors %s alone, which have no other core",
                                              core->component->name, nb_factors_names[NB_NOCORE]));
    }
    return NB_OK;
}

nb_status nb_block_keys_check(const nb_key_values *const keys[NB_BLOCK_KEYS], nb_mistakes *mistakes)
{
    if (!keys[NB_KEY_ZIP]->right) return NB_OK;
    NB_TRY(mistakes->ctx, check_lengths(keys, mistakes));
    if (keys[NB_AXIS_FACTORS]->right && keys[NB_AXIS_CORE]->right) NB_TRY(mistakes->ctx, check_cores(keys, mistakes));
    return keys[NB_AXIS_PAIRING]->right && keys[NB_AXIS_STRATEGY]->right ? check_pairings(keys, mistakes) : NB_OK;
}

/* The text of a value, and whether it is that of an earlier one. */
static nb_status repeats(nb_axis axis, const nb_key_values *v, int index, bool *seen, bool *repeated, const char **text,
                         nb_ctx *ctx)
{
    *repeated = false;
    if (axis == NB_AXIS_LANDMARKS) {
        *repeated = seen[v->numbers[index]];
        seen[v->numbers[index]] = true;
        NB_NEED(*text, nb_format(ctx, "%d", v->numbers[index]));
        return NB_OK;
    }
    bool words = axis == NB_AXIS_PAIRING || axis == NB_AXIS_FACTORS;
    *text = words ? v->words[index] : v->choices.items[index].label;
    for (int i = 0; i < index && !*repeated; i++)
        *repeated = words ? strcmp(v->words[i], v->words[index]) == 0
                          : strcmp(v->choices.items[i].resolved, v->choices.items[index].resolved) == 0;
    return NB_OK;
}

static nb_status check_repeated(nb_axis axis, const nb_key_values *v, nb_mistakes *warnings)
{
    nb_ctx *ctx = warnings->ctx;
    bool *seen, repeated;
    const char *text, *first = NULL;
    int more = 0;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(seen, nb_alloc(ctx, MOST_LANDMARKS + 1, sizeof *seen));
    for (int i = 0; i < v->count; i++) {
        NB_TRY(ctx, repeats(axis, v, i, seen, &repeated, &text, ctx));
        if (repeated && first) more++;
        if (repeated && !first) first = text;
    }
    char others[48] = "", told[512];
    if (more > 0) snprintf(others, sizeof others, " and %d other%s", more, more == 1 ? "" : "s");
    if (first)
        snprintf(told, sizeof told, "%s: %s%s stand%s in the list more than once, and count%s once", nb_axis_keys[axis],
                 first, others, more ? "" : "s", more ? "" : "s");
    bool any = first;
    nb_ctx_release(ctx, mark);
    return any ? nb_mistakes_add(warnings, v->place, "%s", told) : NB_OK;
}

nb_status nb_block_keys_repeated(const nb_key_values *const keys[NB_BLOCK_KEYS], nb_mistakes *warnings)
{
    const int *group = keys[NB_KEY_ZIP]->numbers;
    for (nb_axis axis = NB_AXIS_PROBLEM; axis < NB_AXES; axis++) {
        bool alone = keys[axis]->right && keys[NB_KEY_ZIP]->right;
        for (nb_axis other = NB_AXIS_PROBLEM; alone && other < NB_AXES; other++)
            alone = other == axis || group[other] != group[axis];
        if (alone) NB_TRY(warnings->ctx, check_repeated(axis, keys[axis], warnings));
    }
    return NB_OK;
}

nb_status nb_config_block_fill(nb_config *config, nb_config_block *block,
                               const nb_key_values *const keys[NB_BLOCK_KEYS], nb_ctx *ctx)
{
    NB_NEED(block->origins.items, nb_alloc(ctx, NB_BLOCK_KEYS, sizeof *block->origins.items));
    for (int k = 0; k < NB_BLOCK_KEYS; k++) block->origins.items[k] = (nb_origin){nb_block_keys[k], keys[k]->origin};
    block->origins.count = NB_BLOCK_KEYS;
    block->trials = keys[NB_KEY_TRIALS]->numbers[0];
    config->trials = block->trials > config->trials ? block->trials : config->trials;
    for (int axis = 0; axis < NB_AXES; axis++) {
        block->count[axis] = keys[axis]->count;
        block->group[axis] = (nb_axis)keys[NB_KEY_ZIP]->numbers[axis];
        NB_NEED(block->values[axis], nb_alloc(ctx, (size_t)keys[axis]->count + 1, sizeof *block->values[axis]));
        NB_TRY(ctx, unite(config, (nb_axis)axis, keys[axis], block->values[axis], ctx));
    }
    return nb_config_add_identity(config, ctx);
}

nb_status nb_config_add_identity(nb_config *config, nb_ctx *ctx)
{
    const nb_entry *e = nb_cores.entries;
    nb_choice identity;
    bool wanted = false;
    for (int i = 0; i < config->factors_count; i++)
        wanted |= strcmp(config->factors[i], nb_factors_names[NB_NOCORE]) == 0;
    if (!wanted) return NB_OK;
    while (!(((const nb_core *)e->component)->traits & NB_CORE_IDENTITY))
        e++; /* there is one, see the conformance test */
    NB_TRY(ctx, nb_choice_parse(&nb_cores, e->component->name, &identity, ctx));
    return nb_choices_find(&config->cores, &identity) < 0 ? nb_choices_append(&config->cores, identity, ctx) : NB_OK;
}
