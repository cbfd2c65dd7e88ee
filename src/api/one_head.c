/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_head.c - from a request to an experiment's config. */
#include "api/one_head.h"

#include "base/numbers.h"
#include "base/text.h"
#include "calls/early.h"
#include "calls/heads.h"
#include "components/registry.h"
#include "kernels/kernel.h"
#include "studies/error/study.h"

#include <string.h>

void nysbench_request_init_sized(nysbench_request *request, size_t size)
{
    const nysbench_request r = {.size = size, .causal = -1, .seed = 20260101};
    memset(request, 0, size);
    memcpy(request, &r, size < sizeof r ? size : sizeof r);
}

static nb_status take(const nysbench_request *request, nysbench_request *whole, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, request, NB_EINVAL, "the request is NULL");
    NB_REQUIRE(ctx, request->size <= sizeof *whole, NB_EINVAL,
               "the request has %zu bytes, and this library knows of %zu: it is older than the program's header",
               request->size, sizeof *whole);
    NB_REQUIRE(ctx, request->size >= offsetof(nysbench_request, trial) + sizeof request->trial, NB_EINVAL,
               "the request has %zu bytes: nysbench_request_init was not called", request->size);
    nysbench_request_init_sized(whole, sizeof *whole);
    memcpy(whole, request, request->size);
    return NB_OK;
}

/* A text of the host's stands for the number. */
static nb_status read_number(const nb_one_head *one, const char *key, const char *text, long long lo, long long hi,
                             long long *number, nb_ctx *ctx)
{
    if (text ? nb_parse_integer(text, lo, hi, number) : *number >= lo && *number <= hi) return NB_OK;
    if (!text) NB_NEED(text, nb_format(ctx, "%lld", *number));
    NB_FAIL(ctx, NB_EINVAL, "%s%s '%s': expected a whole number from %lld to %lld", one->host->prefix, key, text, lo,
            hi);
}

const nb_choice *nb_one_head_choice(const nb_one_head *one, nb_error_axis axis)
{
    return &one->config.lists[axis].choices.items[0];
}

nb_status nb_one_head_choose(nb_one_head *one, nb_error_axis axis, const char *key, const char *text, nb_ctx *ctx)
{
    const char *argument;
    nb_mistakes mistakes = {.ctx = ctx};
    nb_choices *choices = &one->config.lists[axis].choices;
    const nb_registry *registry = one->config.study->axes[axis].registry;
    NB_NEED(argument, nb_format(ctx, "%s%s", one->host->prefix, key));
    NB_TRY(ctx, nb_choices_add(choices, registry, text, (nb_place){.source = argument}, &mistakes, ctx));
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EINVAL, "%s", mistakes.texts[0]);
    one->config.lists[axis].count = choices->count;
    return NB_OK;
}

/* Chooses the one component that a spec means; messages call it by `text`. */
static nb_status choose_one(nb_one_head *one, nb_error_axis axis, const char *key, const char *spec, const char *text,
                            nb_ctx *ctx)
{
    NB_TRY(ctx, nb_one_head_choose(one, axis, key, spec, ctx));
    int count = one->config.lists[axis].count;
    NB_REQUIRE(ctx, count == 1, NB_EINVAL, "%s%s: '%s' stands for %d, expected one", one->host->prefix, key, text,
               count);
    return NB_OK;
}

nb_status nb_one_head_word(nb_one_head *one, nb_error_axis axis, const char *key, const char *text, nb_ctx *ctx)
{
    const nb_axis *a = &one->config.study->axes[axis];
    const char *hint;
    if (!text && a->extra) return nb_config_add_number(&one->config, (int)axis, -1, ctx);
    if (!text) text = a->initial;
    int word = nb_text_index(text, a->words);
    if (word >= 0) return nb_config_add_number(&one->config, (int)axis, word, ctx);
    NB_NEED(hint, nb_hint(text, a->words, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s%s: '%s' is unknown%s", one->host->prefix, key, text, hint);
}

/* The problem that reads heads from files: its options name a file and select a head. */
static nb_status find_reader(const char **problem, const char **head_key, nb_ctx *ctx)
{
    for (const nb_entry *e = nb_problems.entries; e->component; e++) {
        bool file = false;
        *problem = e->component->name;
        *head_key = NULL;
        for (const nb_option *o = e->component->options; o->key; o++) {
            file = file || o->names_files;
            if (o->selects_head) *head_key = o->key;
        }
        if (file && *head_key) return NB_OK;
    }
    NB_FAIL(ctx, NB_EBUG, "no problem reads heads from files");
}

nb_status nb_head_spec(const char *file, int head, const char *causal, const char **spec, nb_ctx *ctx)
{
    static const char *const masks[] = {"auto", "true", "false", NULL};
    const char *quoted, *problem, *head_key;
    NB_REQUIRE(ctx, !causal || nb_text_among(causal, masks), NB_EINVAL, "--causal '%s': expected true, false or auto",
               causal);
    NB_NEED(quoted, nb_quoted(file, ctx));
    NB_TRY(ctx, find_reader(&problem, &head_key, ctx));
    NB_NEED(*spec, nb_format(ctx, "%s(file=%s, causal=%s%s)", problem, quoted, causal ? causal : "auto",
                             head < 0 ? "" : nb_format(ctx, ", %s=%d", head_key, head)));
    return NB_OK;
}

static nb_status read_file(nysbench *handle, nb_one_head *one, nb_ctx *ctx)
{
    static const char *const masks[] = {"auto", "false", "true"};
    const nysbench_request *r = &one->request;
    const char *key = *one->host->prefix ? "head" : "file", *causal = one->host->causal, *file, *spec;
    int head;
    NB_REQUIRE(ctx, r->causal >= -1 && r->causal <= 1, NB_EINVAL, "causal is %d, expected 1, 0 or -1", r->causal);
    NB_TRY(ctx, nb_head_split(r->file, &file, &head, ctx));
    NB_TRY(ctx, nb_head_spec(file, head, causal ? causal : masks[r->causal + 1], &spec, ctx));
    NB_TRY(ctx, choose_one(one, NB_ERROR_PROBLEM, key, spec, r->file, ctx));
    NB_TRY(ctx, nb_heads_shape(nb_one_head_choice(one, NB_ERROR_PROBLEM), &one->shape, ctx));
    if (one->shape.warning) NB_NEED(handle->warning, nb_strdup(handle->results, one->shape.warning));
    NB_REQUIRE(ctx, one->shape.count == 1, NB_EINVAL, "%s%s %s: there are %d heads; name one, %s:0 to %s:%d",
               one->host->prefix, key, r->file, one->shape.count, file, file, one->shape.count - 1);
    return NB_OK;
}

static nb_status read_arrays(nb_one_head *one, nb_ctx *ctx)
{
    nb_choice problem;
    nb_axis_list *list = &one->config.lists[NB_ERROR_PROBLEM];
    NB_REQUIRE(ctx, !one->request.file, NB_EINVAL, "file and arrays are given: a head is either");
    NB_TRY(ctx, nb_arrays_choice(&one->request, &problem, ctx));
    NB_TRY(ctx, nb_choices_append(&list->choices, problem, ctx));
    list->count = 1;
    return nb_heads_shape(&problem, &one->shape, ctx);
}

static nb_status read_draws(nb_one_head *one, bool arrays, nb_ctx *ctx)
{
    const char *text = one->request.draws;
    one->config.draws = text ? nb_text_index(text, nb_draws_words) : arrays ? NB_DRAWS_SHARED : NB_DRAWS_SOURCE;
    NB_REQUIRE(ctx, one->config.draws >= 0, NB_EINVAL, "%sdraws '%s': expected source or shared", one->host->prefix,
               text);
    NB_REQUIRE(ctx, !arrays || one->config.draws == NB_DRAWS_SHARED, NB_EINVAL,
               "draws 'source': arrays name no source: give the seed of one, nysbench_source_seed");
    return NB_OK;
}

static nb_status read_head(nysbench *handle, nb_one_head *one, nb_ctx *ctx)
{
    const nysbench_request *r = &one->request;
    bool arrays = r->q || r->k || r->v;
    NB_REQUIRE(ctx, arrays || r->file, NB_EINVAL, "%s is missing", *one->host->prefix ? "--head" : "q or file");
    NB_TRY(ctx, read_draws(one, arrays, ctx));
    NB_TRY(ctx, arrays ? read_arrays(one, ctx) : read_file(handle, one, ctx));
    one->head = one->shape.first;
    one->config.shapes = &one->shape;
    return NB_OK;
}

/* The first kernel that looks at queries alone. */
static nb_status keyless_kernel(const char **spec, nb_ctx *ctx)
{
    for (const nb_entry *e = nb_kernels.entries; e->component; e++) {
        nb_choice kernel;
        bool needs;
        if (!((const nb_kernel *)e->component)->points) continue;
        NB_TRY(ctx, nb_choice_parse(&nb_kernels, e->component->name, &kernel, ctx));
        NB_TRY(ctx, nb_kernel_needs_keys(&kernel, &needs, ctx));
        *spec = kernel.full;
        if (!needs) return NB_OK;
    }
    NB_FAIL(ctx, NB_EBUG, "no kernel does without keys");
}

static nb_status read_kernel(nb_one_head *one, nb_ctx *ctx)
{
    const char *spec = one->request.kernel;
    if (!spec) spec = nb_standard_kernel();
    if (!one->request.kernel && one->request.q && !one->request.k) NB_TRY(ctx, keyless_kernel(&spec, ctx));
    NB_TRY(ctx, choose_one(one, NB_ERROR_KERNEL, "kernel", spec, spec, ctx));
    return nb_error_check_keys(nb_one_head_choice(one, NB_ERROR_KERNEL), one->shape.keyless, ctx);
}

nb_status nb_one_head_begin(nysbench *handle, const nysbench_request *request, nb_one_head *one, nb_ctx *ctx)
{
    const nb_host *host = handle->host;
    *one = (nb_one_head){.host = host};
    NB_TRY(ctx, take(request, &one->request, ctx));
    NB_TRY(ctx, nb_config_init(&one->config, &nb_study_error, ctx));
    long long trial = one->request.trial;
    one->config.seed = one->request.seed;
    NB_TRY(ctx, read_number(one, "seed", host->seed, 0, INT64_MAX, &one->config.seed, ctx));
    NB_TRY(ctx, read_number(one, "trial", host->trial, 0, 999999, &trial, ctx));
    one->trial = (int)trial;
    one->config.trials = one->trial + 1;
    NB_TRY(ctx, read_head(handle, one, ctx));
    NB_TRY(ctx, read_kernel(one, ctx));
    return nb_one_head_word(one, NB_ERROR_PAIRING, "pairing", one->request.pairing, ctx);
}

static nb_status check_strategy(const nb_one_head *one, nb_ctx *ctx)
{
    const nb_choice *strategy = nb_one_head_choice(one, NB_ERROR_STRATEGY);
    if (!one->host->processes) NB_TRY(ctx, nb_refuse_elsewhere(strategy, ctx));
    nb_pairing pairing = nb_pairing_meant(one->config.lists[NB_ERROR_PAIRING].numbers[0], strategy);
    NB_REQUIRE(ctx, nb_strategy_has(strategy, pairing), NB_EINVAL, "%spairing: %s cannot pick for both sides together",
               one->host->prefix, strategy->label);
    NB_TRY(ctx, nb_strategy_check(strategy, ctx));
    return nb_strategy_ready(strategy, ctx);
}

nb_status nb_one_head_strategy(nb_one_head *one, nb_ctx *ctx)
{
    const nysbench_request *r = &one->request;
    const nb_host *host = one->host;
    long long m = r->landmarks;
    NB_REQUIRE(ctx, r->strategy, NB_EINVAL, "%sstrategy is missing", host->prefix);
    NB_REQUIRE(ctx, host->landmarks || m != 0, NB_EINVAL, "%slandmarks is missing", host->prefix);
    NB_TRY(ctx, choose_one(one, NB_ERROR_STRATEGY, "strategy", r->strategy, r->strategy, ctx));
    NB_TRY(ctx, check_strategy(one, ctx));
    NB_TRY(ctx, read_number(one, "landmarks", host->landmarks, 1, one->shape.n, &m, ctx));
    return nb_config_add_number(&one->config, NB_ERROR_LANDMARKS, (int)m, ctx);
}
