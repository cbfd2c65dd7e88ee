/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config.c - questions about a config. */
#include "config/config.h"

#include "base/default_seed.h"
#include "base/numbers.h"
#include "base/text.h"

const char *const nb_draws_words[] = {
    [NB_DRAWS_SOURCE] = "source", [NB_DRAWS_SHARED] = "shared", [NB_DRAWS_SHARED + 1] = NULL};

bool nb_config_makes_rows(const char *key)
{
    static const char *const others[] = {"name",  "question", "split",  "sources", "plugins",
                                         "plots", "baseline", "claims", NULL};
    return !nb_text_among(key, others);
}

nb_status nb_config_init(nb_config *config, const nb_study *study, nb_ctx *ctx)
{
    *config = (nb_config){.study = study,
                          .name = "",
                          .question = "",
                          .split_file = "none",
                          .sources = "all",
                          .seed = NB_DEFAULT_SEED,
                          .warnings = {.ctx = ctx}};
    if (study->component.options_size == 0) return NB_OK;
    NB_NEED(config->settings, nb_alloc(ctx, 1, study->component.options_size));
    for (const nb_option *o = study->component.options; o->key; o++)
        NB_REQUIRE(ctx, nb_option_set(o, o->initial, config->settings), NB_EBUG, "%s: the default of %s is not allowed",
                   study->component.name, o->key);
    return NB_OK;
}

int nb_config_value(const nb_config *config, int axis, int index)
{
    return nb_axis_has_list(&config->study->axes[axis]) ? index : config->lists[axis].numbers[index];
}

nb_status nb_axis_value_text(const nb_axis *axis, const nb_axis_list *list, int index, const char **text, nb_ctx *ctx)
{
    int number = list->numbers ? list->numbers[index] : 0;
    NB_NEED(*text, axis->type == NB_AXIS_COMPONENT ? list->choices.items[index].label
                   : axis->type == NB_AXIS_REAL    ? nb_real_copy(ctx, list->reals[index])
                   : axis->type == NB_AXIS_INTEGER ? nb_format(ctx, "%d", number)
                   : number < 0                    ? axis->extra
                                                   : axis->words[number]);
    return NB_OK;
}

const nb_choice *nb_config_choice(const nb_config *config, int axis, int value)
{
    return &config->lists[axis].choices.items[value];
}
