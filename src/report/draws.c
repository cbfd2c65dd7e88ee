/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draws.c - see draws.h */
#include "report/draws.h"

#include "attentions/attention.h"
#include "components/registry.h"
#include "cores/core.h"
#include "partitions/partition.h"
#include "strategies/strategy.h"

#include <string.h>

static bool strategy_draws(const nb_choice *c)
{
    return nb_strategy_traits(c) & NB_RANDOM;
}

static bool core_draws(const nb_choice *c)
{
    return nb_core_traits(c) & NB_CORE_RANDOM;
}

static bool partition_draws(const nb_choice *c)
{
    return ((const nb_partition *)c->component)->random;
}

static bool attention_draws(const nb_choice *c)
{
    return nb_attention_traits(c) & NB_ATTENTION_RANDOM;
}

static const struct {
    const char *column;
    const nb_registry *registry;
    bool (*draws)(const nb_choice *choice);
} drawers[] = {{"attention", &nb_attentions, attention_draws}, /* with its strategy and core, which stand beside it */
               {"strategy", &nb_strategies, strategy_draws},
               {"core", &nb_cores, core_draws},
               {"partition", &nb_partitions, partition_draws}};

nb_status nb_draws_component(const char *column, const char *spec, bool *draws, nb_ctx *ctx)
{
    *draws = false;
    for (size_t d = 0; d < sizeof drawers / sizeof *drawers; d++) {
        nb_choice choice;
        bool there;
        if (strcmp(drawers[d].column, column) != 0) continue;
        NB_TRY(ctx, nb_choice_recall(drawers[d].registry, spec, &choice, &there, ctx));
        *draws = !there || drawers[d].draws(&choice);
    }
    return NB_OK;
}

int nb_drawn_trials(int strata, const nb_common_error *common, const bool *draws)
{
    int fewest = -1;
    for (int s = 0; s < strata; s++)
        if (draws[s] && (fewest < 0 || common[s].trials < fewest)) fewest = common[s].trials;
    return fewest;
}

nb_status nb_draws_few(int trials, const char **why, nb_ctx *ctx)
{
    NB_NEED(*why, nb_format(ctx, "%d trial%s of what is drawn, fewer than %d", trials, trials == 1 ? "" : "s",
                            NB_LEAST_TRIALS));
    return NB_OK;
}
