/* SPDX-License-Identifier: GPL-3.0-or-later */
/* planning.h - plans for tests: experiments/00-smoke.yaml with some keys replaced, and what they give. */
#ifndef NB_PLANNING_H
#define NB_PLANNING_H

#include "testing.h"

#include <stdint.h>

#include "run/plan.h"
#include "studies/error/runner.h"
#include "config/config.h"

/* Rows of the error study as the flow hands them on. */
static inline nb_row_list rows_of_error(int count, const nb_error_row *rows)
{
    return (nb_row_list){
        .count = count, .columns = nb_error_columns, .row_size = sizeof *rows, .bytes = (char *)(uintptr_t)rows};
}

static inline nb_plan plan_with(int count, const nb_override *overrides, nb_ctx *ctx)
{
    nb_config *config = nb_alloc(ctx, 1, sizeof *config);
    nb_mistakes mistakes = {.ctx = ctx};
    nb_plan plan;
    assert_ok(ctx, nb_config_load("experiments/00-smoke.yaml", count, overrides, config, &mistakes, ctx));
    if (mistakes.count) fail_msg("%s", mistakes.texts[0]);
    assert_ok(ctx, nb_plan_make(config, &plan, ctx));
    return plan;
}

static inline nb_status sink_nothing(void *self, nb_ctx *ctx)
{
    (void)self, (void)ctx;
    return NB_OK;
}

static inline nb_status sink_count_ok(void *self, int index, const nb_row *row, nb_ctx *ctx)
{
    (void)index, (void)ctx;
    *(int *)self += strcmp(row->status, "ok") == 0;
    return NB_OK;
}

static inline bool sink_go_on(void *self)
{
    (void)self;
    return false;
}

/* Runs all rows of scene 0 in this process; `ok`: how many are. */
static inline nb_status run_first_scene(const nb_plan *plan, int *ok, nb_ctx *ctx)
{
    nb_sink sink = {.self = ok, .begin = sink_nothing, .row = sink_count_ok, .end = sink_nothing, .stop = sink_go_on};
    bool *pending;
    *ok = 0;
    NB_NEED(pending, nb_alloc(ctx, (size_t)plan->row_count, sizeof *pending));
    memset(pending, true, (size_t)plan->row_count);
    return nb_run_scene(plan, 0, pending, &sink, ctx);
}

#endif
