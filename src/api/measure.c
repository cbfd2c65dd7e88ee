/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure.c - nysbench_measure: the rows that a run would have for one head and one choice of landmarks, a strategy's
 * or anybody's. */
#include "api/handle.h"
#include "api/one_head.h"

#include "base/builder.h"
#include "calls/early.h"
#include "components/registry.h"
#include "config/config_study.h"
#include "cores/core.h"
#include "run/plan.h"
#include "studies/error/runner.h"

#include <string.h>

/* The strategy that has the landmarks already. */
static nb_status give(const nb_points *queries, const nb_points *keys, int m, const void *options, nb_picks *of_queries,
                      nb_picks *of_keys, nb_ctx *ctx)
{
    const nb_given *g = options;
    (void)queries, (void)keys, (void)m, (void)ctx;
    *of_queries = g->queries;
    *of_keys = g->keys;
    return NB_OK;
}

static const nb_strategy given_landmarks = {
    .component = {.name = "given"}, .traits = NB_ELSEWHERE, .pairing = NB_BOTH, .pick_both = give};

/* The request's own, if it has any. */
static nb_status take_given(const nb_one_head *one, nb_given *given, nb_ctx *ctx)
{
    const nysbench_request *r = &one->request;
    const nb_problem_shape *s = &one->shape;
    bool tokens = r->query_tokens || r->key_tokens, points = r->query_points || r->key_points;
    given->queries.ctx = given->keys.ctx = ctx;
    if (!tokens && !points) return NB_OK;
    NB_REQUIRE(ctx, !tokens || !points, NB_EINVAL, "tokens and points are given: landmarks are either");
    NB_REQUIRE(ctx, !r->strategy && !r->pairing, NB_EINVAL,
               "strategy and pairing, or landmarks of one's own, not both");
    NB_REQUIRE(ctx, r->landmarks >= 1 && r->landmarks <= s->n, NB_EINVAL,
               "landmarks '%d': expected a whole number from 1 to %d", r->landmarks, s->n);
    given->name = given_landmarks.component.name;
    if (points) {
        NB_TRY(ctx, nb_given_points("query_points", r->landmarks, s->d, r->query_points, &given->queries, ctx));
        return nb_given_points("key_points", r->landmarks, s->d, r->key_points, &given->keys, ctx);
    }
    const int64_t *first = r->query_tokens ? r->query_tokens : r->key_tokens;
    NB_TRY(ctx, nb_given_tokens(r->query_tokens ? "query_tokens" : "key_tokens", false, r->landmarks, s->n, first,
                                &given->queries, ctx));
    given->keys = given->queries;
    if (!r->query_tokens || !r->key_tokens) return NB_OK;
    given->keys = (nb_picks){.ctx = ctx};
    return nb_given_tokens("key_tokens", false, r->landmarks, s->n, r->key_tokens, &given->keys, ctx);
}

static nb_status use_given(nb_one_head *one, nb_given *given, nb_ctx *ctx)
{
    nb_axis_list *strategies = &one->config.lists[NB_ERROR_STRATEGY];
    NB_TRY(ctx, nb_choices_append(&strategies->choices, nb_choice_named(&given_landmarks.component, given, given->name),
                                  ctx));
    strategies->count = 1;
    return nb_config_add_number(&one->config, NB_ERROR_LANDMARKS, given->queries.m, ctx);
}

/* Names of columns with commas between them. */
static nb_status read_metrics(nb_one_head *one, nb_ctx *ctx)
{
    char *names, *rest = NULL;
    const char *known[128] = {"all"}, *hint;
    int count = 1;
    for (const nb_column *column = nb_error_columns; column->name && count < 127; column++)
        if (column->measure) known[count++] = column->name;
    NB_NEED(names, nb_strdup(ctx, one->request.metrics ? one->request.metrics : "all"));
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        const nb_column *column = nb_column_find(nb_error_columns, name);
        NB_NEED(hint, nb_hint(name, known, ctx));
        if (strcmp(name, "all") != 0 && !(column && column->measure))
            return nb_one_head_refuse(one, "metrics", ctx, ": '%s' is unknown%s", name, hint);
        one->config.wanted |= column ? column->wanted : NB_WANT_ALL;
    }
    return NB_OK;
}

static bool needs_options(const nb_component *c)
{
    const nb_option *o = c->options;
    while (o->key && o->initial) o++;
    return o->key;
}

static nb_status read_cores(nb_one_head *one, nb_ctx *ctx)
{
    const char *const *texts = one->request.cores;
    const nb_choices *cores = &one->config.lists[NB_ERROR_CORE].choices;
    if (texts && !texts[0]) return nb_one_head_refuse(one, "cores", ctx, ": expected at least one");
    for (int i = 0; texts && texts[i]; i++) NB_TRY(ctx, nb_one_head_choose(one, NB_ERROR_CORE, "cores", texts[i], ctx));
    for (const nb_entry *e = nb_cores.entries; e->component && !texts; e++)
        if (!needs_options(e->component))
            NB_TRY(ctx, nb_one_head_choose(one, NB_ERROR_CORE, "cores", e->component->name, ctx));
    for (int i = 0; i < cores->count; i++) {
        if (!one->handle->host->processes) NB_TRY(ctx, nb_refuse_elsewhere(&cores->items[i], ctx));
        NB_TRY(ctx, nb_core_check(&cores->items[i], ctx));
        NB_TRY(ctx, nb_core_ready(&cores->items[i], ctx));
    }
    return nb_config_study_of(one->config.study)->complete(&one->config, ctx);
}

static nb_status make_plan(nysbench *handle, const nysbench_request *request, nb_one_head *one, nb_plan *plan,
                           nb_ctx *ctx)
{
    const nb_host *host = handle->host;
    nb_given *given;
    NB_NEED(given, nb_alloc(ctx, 1, sizeof *given));
    NB_TRY(ctx, nb_one_head_begin(handle, request, one, ctx));
    NB_TRY(ctx, nb_one_head_word(one, NB_ERROR_FACTORS, "factors", one->request.factors, ctx));
    NB_TRY(ctx, read_metrics(one, ctx));
    NB_TRY(ctx, read_cores(one, ctx));
    NB_TRY(ctx, take_given(one, given, ctx));
    if (host->seen) NB_TRY(ctx, host->seen(host->self, &one->shape, given, ctx));
    NB_TRY(ctx, given->name ? use_given(one, given, ctx) : nb_one_head_strategy(one, ctx));
    return nb_plan_make(&one->config, plan, ctx);
}

/* A copy of the row with texts of its own: those of `row` are the plan's, or gone after this. */
static nb_status keep_row(void *self, int index, const nb_row *row, nb_ctx *ctx)
{
    nysbench *handle = self;
    nb_error_row *kept = &handle->rows[handle->row_count];
    (void)index, (void)ctx;
    *kept = *(const nb_error_row *)row;
    for (const nb_column *c = nb_error_columns; c->name; c++) {
        if (c->type != NB_COLUMN_TEXT) continue;
        const char **text = (const char **)((char *)kept + c->offset);
        if (*text) NB_NEED(*text, nb_strdup(handle->results, *text));
    }
    handle->row_count++;
    return NB_OK;
}

/* The trial's rows; of what does not depend on the trial, that of trial 0. */
static nb_status run(nysbench *handle, const nb_plan *plan, nb_ctx *ctx)
{
    nb_sink sink = {
        .self = handle, .begin = nb_sink_ignore, .row = keep_row, .end = nb_sink_ignore, .stop = nb_sink_never_stop};
    bool *pending;
    int *last;
    NB_NEED(pending, nb_alloc(ctx, (size_t)plan->row_count, sizeof *pending));
    NB_NEED(last, nb_alloc(ctx, (size_t)plan->method_count, sizeof *last));
    NB_NEED(handle->rows, nb_alloc(handle->results, (size_t)plan->method_count, sizeof *handle->rows));
    for (int i = 0; i < plan->row_count; i++) last[plan->rows[i].method] = i; /* trials ascend */
    for (int c = 0; c < plan->method_count; c++) pending[last[c]] = true;
    return nb_run_scene(plan, 0, pending, &sink, ctx);
}

/* Cores with which F X B is no nearer to S than one number everywhere. */
static nb_status warn_of_trivial(nysbench *handle, const nb_one_head *one, nb_ctx *ctx)
{
    const nb_choices *cores = &one->config.lists[NB_ERROR_CORE].choices;
    nb_string names = NB_NO_TEXT;
    for (int i = 0; i < handle->row_count; i++) {
        const nb_error_row *r = &handle->rows[i];
        if (!(r->measures.error >= r->measures.baseline_mean)) continue;
        for (int c = 0; c < cores->count; c++)
            if (strcmp(cores->items[c].canonical, r->core) == 0)
                NB_TRY(ctx, nb_append_item(&names, ", ", ctx, "%s", cores->items[c].label));
    }
    if (!*names.text) return NB_OK;
    NB_NEED(handle->warning,
            nb_format(handle->results,
                      "%s%serror is not below that of the constant matrix (baseline_mean) with core %s",
                      handle->warning ? handle->warning : "", handle->warning ? "; " : "", names.text));
    return NB_OK;
}

static nb_status measure(nysbench *handle, const nysbench_request *request, int *rows)
{
    nb_ctx *ctx = handle->ctx;
    nb_one_head one;
    nb_plan plan;
    NB_REQUIRE(ctx, rows, NB_EINVAL, "rows is NULL");
    *rows = 0;
    NB_TRY(ctx, make_plan(handle, request, &one, &plan, ctx));
    handle->at_work = true;
    NB_TRY(ctx, run(handle, &plan, ctx));
    *rows = handle->row_count;
    return warn_of_trivial(handle, &one, ctx);
}

nysbench_status nysbench_measure(nysbench *handle, const nysbench_request *request, int *rows)
{
    if (!handle) return NYSBENCH_EINVAL;
    nb_call_begin(handle, false);
    nb_status status = measure(handle, request, rows);
    if (status != NB_OK) handle->row_count = 0;
    nb_call_keep(handle);
    return nb_call_end(handle, status);
}
