/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elsewhere.c - see elsewhere.h */
#include "api/elsewhere.h"

#include "components/registry.h"
#include "cores/core.h"
#include "strategies/strategy.h"

static bool is_of(const nb_registry *registry, const nb_choice *c)
{
    return nb_registry_find(registry, c->component->name) == c->component;
}

nb_status nb_refuse_elsewhere(const nb_choice *c, nb_ctx *ctx)
{
    for (const nb_option *o = c->component->options; o && o->key; o++)
        if (o->type == NB_OPTION_SPEC)
            NB_TRY(ctx, nb_refuse_elsewhere(*(const nb_choice *const *)((const char *)c->options + o->offset), ctx));
    NB_REQUIRE(ctx, !is_of(&nb_strategies, c) || !(nb_strategy_traits(c) & NB_ELSEWHERE), NB_EINVAL,
               "%s works in another process, and the library starts none: let it pick by itself, and measure its "
               "landmarks as tokens or points",
               c->component->name);
    NB_REQUIRE(ctx, !is_of(&nb_cores, c) || !(nb_core_traits(c) & NB_CORE_ELSEWHERE), NB_EINVAL,
               "%s works in another process, and the library starts none", c->component->name);
    return NB_OK;
}
