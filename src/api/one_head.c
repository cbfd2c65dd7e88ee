/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_head.c - from a request to an experiment's config. */
#include "api/one_head.h"

#include "base/default_seed.h"
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
    const nysbench_request r = {.size = size, .causal = -1, .seed = NB_DEFAULT_SEED};
    memset(request, 0, size);
    memcpy(request, &r, size < sizeof r ? size : sizeof r);
}

static nb_status take_request(const nysbench_request *request, nysbench_request *whole, nb_ctx *ctx)
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

nb_status nb_one_head_refuse(const nb_one_head *one, const char *field, nb_ctx *ctx, const char *format, ...)
{
    char reason[1024];
    va_list args;
    va_start(args, format);
    nb_print_cut(reason, sizeof reason, format, args);
    va_end(args);
    one->handle->field = field;
    NB_FAIL(ctx, NB_EINVAL, "%s%s", field, reason);
}

static nb_status check_number(const nb_one_head *one, const char *field, long long number, long long lo, long long hi,
                              nb_ctx *ctx)
{
    if (number >= lo && number <= hi) return NB_OK;
    return nb_one_head_refuse(one, field, ctx, " '%lld': expected a whole number from %lld to %lld", number, lo, hi);
}

const nb_choice *nb_one_head_choice(const nb_one_head *one, nb_error_axis axis)
{
    return &one->config.lists[axis].choices.items[0];
}

nb_status nb_one_head_choose(nb_one_head *one, nb_error_axis axis, const char *field, const char *text, nb_ctx *ctx)
{
    nb_mistakes mistakes = {.ctx = ctx};
    nb_choices *choices = &one->config.lists[axis].choices;
    const nb_registry *registry = one->config.study->axes[axis].registry;
    NB_TRY(ctx, nb_choices_add(choices, registry, text, (nb_place){.source = field}, &mistakes, ctx));
    if (mistakes.count > 0) one->handle->field = field;
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EINVAL, "%s", mistakes.texts[0]);
    one->config.lists[axis].count = choices->count;
    return NB_OK;
}

/* Chooses the one component that a spec means; messages call it by `text`. */
static nb_status choose_one(nb_one_head *one, nb_error_axis axis, const char *field, const char *spec, const char *text,
                            nb_ctx *ctx)
{
    NB_TRY(ctx, nb_one_head_choose(one, axis, field, spec, ctx));
    int count = one->config.lists[axis].count;
    if (count == 1) return NB_OK;
    return nb_one_head_refuse(one, field, ctx, ": '%s' stands for %d, expected one", text, count);
}

nb_status nb_one_head_word(nb_one_head *one, nb_error_axis axis, const char *field, const char *text, nb_ctx *ctx)
{
    const nb_axis *a = &one->config.study->axes[axis];
    const char *hint;
    if (!text && a->extra) return nb_config_add_number(&one->config, (int)axis, -1, ctx);
    if (!text) text = a->initial;
    int word = nb_text_index(text, a->words);
    if (word >= 0) return nb_config_add_number(&one->config, (int)axis, word, ctx);
    NB_NEED(hint, nb_hint(text, a->words, ctx));
    return nb_one_head_refuse(one, field, ctx, ": '%s' is unknown%s", text, hint);
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

nb_status nb_head_spec(const char *file, int head, int causal, const char **spec, nb_ctx *ctx)
{
    static const char *const masks[] = {"auto", "false", "true"};
    const char *quoted, *problem, *head_key;
    NB_NEED(quoted, nb_quoted(file, ctx));
    NB_TRY(ctx, find_reader(&problem, &head_key, ctx));
    NB_NEED(*spec, nb_format(ctx, "%s(file=%s, causal=%s%s)", problem, quoted, masks[causal + 1],
                             head < 0 ? "" : nb_format(ctx, ", %s=%d", head_key, head)));
    return NB_OK;
}

static nb_status read_file(nysbench *handle, nb_one_head *one, nb_ctx *ctx)
{
    const nysbench_request *r = &one->request;
    const char *file, *spec;
    int head;
    NB_REQUIRE(ctx, r->causal >= -1 && r->causal <= 1, NB_EINVAL, "causal is %d, expected 1, 0 or -1", r->causal);
    NB_TRY(ctx, nb_head_split(r->file, &file, &head, ctx));
    NB_TRY(ctx, nb_head_spec(file, head, r->causal, &spec, ctx));
    NB_TRY(ctx, choose_one(one, NB_ERROR_PROBLEM, "file", spec, r->file, ctx));
    NB_TRY(ctx, nb_heads_shape(nb_one_head_choice(one, NB_ERROR_PROBLEM), &one->shape, ctx));
    if (one->shape.warning) NB_NEED(handle->warning, nb_strdup(handle->results, one->shape.warning));
    if (one->shape.count == 1) return NB_OK;
    return nb_one_head_refuse(one, "file", ctx, " '%s': there are %d heads; name one, %s:0 to %s:%d", r->file,
                              one->shape.count, file, file, one->shape.count - 1);
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
    if (one->config.draws < 0) return nb_one_head_refuse(one, "draws", ctx, " '%s': expected source or shared", text);
    if (!arrays || one->config.draws == NB_DRAWS_SHARED) return NB_OK;
    return nb_one_head_refuse(one, "draws", ctx,
                              " 'source': arrays name no source: give the seed of one, nysbench_source_seed");
}

static nb_status read_head(nysbench *handle, nb_one_head *one, nb_ctx *ctx)
{
    const nysbench_request *r = &one->request;
    bool arrays = r->q || r->k || r->v;
    NB_REQUIRE(ctx, arrays || r->file, NB_EINVAL, "q or file is missing");
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
        NB_TRY(ctx, nb_choice_full(&kernel, spec, ctx));
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
    *one = (nb_one_head){.handle = handle};
    NB_TRY(ctx, take_request(request, &one->request, ctx));
    NB_TRY(ctx, nb_config_init(&one->config, &nb_study_error.run.config.study, ctx));
    NB_TRY(ctx, check_number(one, "seed", one->request.seed, 0, INT64_MAX, ctx));
    NB_TRY(ctx, check_number(one, "trial", one->request.trial, 0, 999999, ctx));
    one->config.seed = one->request.seed;
    one->trial = one->request.trial;
    one->config.trials = one->trial + 1;
    NB_TRY(ctx, read_head(handle, one, ctx));
    NB_TRY(ctx, read_kernel(one, ctx));
    return nb_one_head_word(one, NB_ERROR_PAIRING, "pairing", one->request.pairing, ctx);
}

static nb_status check_strategy(const nb_one_head *one, nb_ctx *ctx)
{
    const nb_choice *strategy = nb_one_head_choice(one, NB_ERROR_STRATEGY);
    if (!one->handle->host->processes) NB_TRY(ctx, nb_refuse_elsewhere(strategy, ctx));
    nb_pairing pairing = nb_pairing_meant(one->config.lists[NB_ERROR_PAIRING].numbers[0], strategy);
    if (!nb_strategy_has(strategy, pairing))
        return nb_one_head_refuse(one, "pairing", ctx, ": %s cannot pick for both sides together", strategy->label);
    NB_TRY(ctx, nb_strategy_check(strategy, ctx));
    return nb_strategy_ready(strategy, ctx);
}

nb_status nb_one_head_strategy(nb_one_head *one, nb_ctx *ctx)
{
    const nysbench_request *r = &one->request;
    const char *missing = !r->strategy ? "strategy" : r->landmarks == 0 ? "landmarks" : NULL;
    if (missing) return nb_one_head_refuse(one, missing, ctx, " is missing");
    NB_TRY(ctx, choose_one(one, NB_ERROR_STRATEGY, "strategy", r->strategy, r->strategy, ctx));
    NB_TRY(ctx, check_strategy(one, ctx));
    NB_TRY(ctx, check_number(one, "landmarks", r->landmarks, 1, one->shape.n, ctx));
    return nb_config_add_number(&one->config, NB_ERROR_LANDMARKS, r->landmarks, ctx);
}
