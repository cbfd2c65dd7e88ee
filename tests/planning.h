/* planning.h - plans for tests: experiments/00-smoke.yaml with some keys replaced. */
#ifndef NB_PLANNING_H
#define NB_PLANNING_H

#include "testing.h"

#include "experiment/plan.h"

static inline nb_plan plan_with(int count, const nb_override *overrides, nb_ctx *ctx)
{
    nb_config *config = nb_alloc(ctx, 1, sizeof *config);
    nb_mistakes mistakes;
    nb_plan plan;
    nb_mistakes_init(&mistakes, ctx);
    assert_ok(ctx, nb_config_load("experiments/00-smoke.yaml", count, overrides, config, &mistakes, ctx));
    if (mistakes.count) fail_msg("%s", mistakes.texts[0]);
    assert_ok(ctx, nb_plan_make(config, &plan, ctx));
    return plan;
}

#endif
