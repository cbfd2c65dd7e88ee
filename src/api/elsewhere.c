/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elsewhere.c - refuses components that start processes, since the library starts none. */
#include "api/handle.h"

#include "components/registry.h"
#include "strategies/strategy.h"

nb_status nb_refuse_elsewhere(const nb_choice *c, nb_ctx *ctx)
{
    for (const nb_option *o = c->component->options; o && o->key; o++)
        if (o->type == NB_OPTION_SPEC)
            NB_TRY(ctx, nb_refuse_elsewhere(*(const nb_choice *const *)((const char *)c->options + o->offset), ctx));
    NB_REQUIRE(ctx,
               nb_registry_find(&nb_strategies, c->component->name) != c->component ||
                   !(nb_strategy_traits(c) & NB_ELSEWHERE),
               NB_EINVAL,
               "%s works in another process, and the library starts none: let it pick by itself, and measure its "
               "landmarks as tokens or points",
               c->component->name);
    return NB_OK;
}
