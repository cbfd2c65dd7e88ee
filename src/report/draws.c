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

static nb_status ask(const nb_frame *f, int drawer, bool *draws, nb_ctx *ctx)
{
    const char *const *texts;
    nb_codes codes;
    NB_TRY(ctx, nb_frame_texts(f, drawers[drawer].column, &texts, ctx));
    NB_TRY(ctx, nb_frame_codes(f, drawers[drawer].column, &codes, ctx));
    bool *of_code;
    NB_NEED(of_code, nb_alloc(ctx, (size_t)codes.count + 1, sizeof *of_code));
    for (int c = 0; c < codes.count; c++) {
        nb_choice choice;
        nb_status status = nb_choice_parse(drawers[drawer].registry, texts[codes.first[c]], &choice, ctx);
        if (status == NB_ENOMEM) return status;
        nb_error_clear(ctx); /* a plug-in's that is not loaded */
        of_code[c] = status != NB_OK || drawers[drawer].draws(&choice);
    }
    for (int i = 0; i < f->count; i++) draws[i] = draws[i] || of_code[codes.of[i]];
    return NB_OK;
}

/* frame, bool **: by row. */
static nb_status find(const nb_frame *f, void *out, nb_ctx *ctx)
{
    bool *draws;
    const int *trial;
    NB_NEED(draws, nb_alloc(ctx, (size_t)f->count + 1, sizeof *draws));
    NB_TRY(ctx, nb_frame_ints(f, "trial", &trial, ctx));
    for (int i = 0; i < f->count; i++) draws[i] = trial[i] > 0;
    int count = nb_frame_has(f, drawers[0].column) ? 1 : (int)(sizeof drawers / sizeof *drawers);
    for (int d = 0; d < count; d++)
        if (nb_frame_has(f, drawers[d].column)) NB_TRY(ctx, ask(f, d, draws, ctx));
    *(const bool **)out = draws;
    return NB_OK;
}

nb_status nb_draws_find(const nb_frame *f, const bool **draws, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_frame_once(f, find, sizeof *draws, draws));
    return NB_OK;
}

nb_status nb_draws_component(const char *column, const char *spec, bool *draws, nb_ctx *ctx)
{
    *draws = false;
    for (size_t d = 0; d < sizeof drawers / sizeof *drawers; d++) {
        nb_choice choice;
        if (strcmp(drawers[d].column, column) != 0) continue;
        nb_status status = nb_choice_parse(drawers[d].registry, spec, &choice, ctx);
        if (status == NB_ENOMEM) return status;
        nb_error_clear(ctx); /* a plug-in's that is not loaded */
        *draws = status != NB_OK || drawers[d].draws(&choice);
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
