/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draws.c - see draws.h */
#include "report/draws.h"

#include "attentions/attention.h"
#include "components/registry.h"
#include "cores/core.h"
#include "partitions/partition.h"
#include "strategies/strategy.h"

#include <string.h>

/* An attention draws by itself: its strategy and core stand beside it. */
static bool choice_draws(const nb_registry *registry, const nb_choice *c)
{
    if (registry == &nb_attentions) return nb_attention_traits(c) & NB_ATTENTION_RANDOM;
    if (registry == &nb_strategies) return nb_strategy_traits(c) & NB_RANDOM;
    if (registry == &nb_cores) return nb_core_traits(c) & NB_CORE_RANDOM;
    return ((const nb_partition *)c->component)->random;
}

nb_status nb_draws_component(const char *column, const char *spec, bool *draws, nb_ctx *ctx)
{
    static const nb_registry *const drawing[] = {&nb_attentions, &nb_strategies, &nb_cores, &nb_partitions};
    *draws = false;
    for (size_t d = 0; d < sizeof drawing / sizeof *drawing; d++) {
        nb_choice choice;
        bool there;
        if (strcmp(drawing[d]->kind, column) != 0) continue;
        NB_TRY(ctx, nb_choice_recall(drawing[d], spec, &choice, &there, ctx));
        *draws = !there || choice_draws(drawing[d], &choice);
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
