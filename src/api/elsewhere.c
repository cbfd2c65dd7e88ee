/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elsewhere.c - refuses components that start processes, since the library starts none. */
#include "api/handle.h"

#include "calls/early.h"
#include "components/registry.h"
#include "cores/core.h"
#include "strategies/strategy.h"

static bool works_elsewhere(const nb_registry *registry, const nb_choice *c)
{
    if (nb_registry_find(registry, c->component->name) != c->component) return false;
    return registry == &nb_strategies ? nb_strategy_traits(c) & NB_ELSEWHERE : nb_core_traits(c) & NB_CORE_ELSEWHERE;
}

static nb_status refuse(const nb_choice *c, nb_ctx *ctx)
{
    const char *name = c->component->name;
    NB_REQUIRE(ctx, !works_elsewhere(&nb_strategies, c), NB_EINVAL,
               "%s works in another process, and the library starts none: let it pick by itself, and measure its "
               "landmarks as tokens or points, or add a function that picks (nysbench_add_strategy)",
               name);
    NB_REQUIRE(ctx, !works_elsewhere(&nb_cores, c), NB_EINVAL,
               "%s works in another process, and the library starts none: add a function that computes X "
               "(nysbench_add_core)",
               name);
    return NB_OK;
}

/* One that lets another work elsewhere does not do so by itself. */
nb_status nb_refuse_elsewhere(const nb_choice *c, nb_ctx *ctx)
{
    bool by_itself = true;
    for (const nb_option *o = c->component->options; o && o->key; o++) {
        if (o->type != NB_OPTION_SPEC) continue;
        const nb_choice *inner = *(const nb_choice *const *)((const char *)c->options + o->offset);
        NB_TRY(ctx, nb_refuse_elsewhere(inner, ctx));
        by_itself = by_itself && !works_elsewhere(o->registry, inner);
    }
    if (nb_component_of_caller(c->component))
        return works_elsewhere(&nb_cores, c) ? nb_core_ready(c, ctx) : nb_strategy_check(c, ctx);
    return by_itself ? refuse(c, ctx) : NB_OK;
}
