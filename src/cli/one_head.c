/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_head.c - from texts to a plan, through the same tables as an experiment's file. */
#include "cli/one_head.h"

#include "base/numbers.h"
#include "calls/early.h"
#include "calls/heads.h"
#include "components/registry.h"
#include "cli/command.h"
#include "cores/core.h"
#include "data/head.h"
#include "kernels/kernel.h"
#include "run/make_plan.h"
#include "studies/error/methods.h"

#include <stdlib.h>
#include <string.h>

static nb_status own(char *text, nb_ctx *ctx)
{
    return text ? nb_defer(ctx, free, text) : NB_OK;
}

nb_status nb_one_head_own(const nb_one_head_texts *t, nb_ctx *ctx)
{
    char *const texts[] = {t->head, t->kernel, t->causal,  t->strategy, t->landmarks,
                           t->seed, t->trial,  t->pairing, t->factors,  t->metrics};
    nb_status status = nb_command_own(t->cores, ctx);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (own(texts[i], ctx) != NB_OK) status = NB_ENOMEM;
    return status;
}

static nb_status read_number(const char *option, const char *text, long long lo, long long hi, long long *number,
                             nb_ctx *ctx)
{
    NB_REQUIRE(ctx, !text || nb_parse_integer(text, lo, hi, number), NB_EINVAL,
               "%s '%s': expected a whole number from %lld to %lld", option, text, lo, hi);
    return NB_OK;
}

/* The choices of one option's text. */
static nb_status choose(nb_choices *choices, const nb_registry *registry, const char *option, const char *text,
                        nb_ctx *ctx)
{
    nb_mistakes mistakes;
    nb_mistakes_init(&mistakes, ctx);
    NB_TRY(ctx, nb_choices_add(choices, registry, text, (nb_place){.source = option}, &mistakes, ctx));
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EINVAL, "%s", mistakes.texts[0]);
    return NB_OK;
}

static nb_status require_one(const nb_choices *choices, const char *option, const char *text, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, choices->count == 1, NB_EINVAL, "%s: '%s' stands for %d, expected one", option, text,
               choices->count);
    return NB_OK;
}

static nb_status quote(const char *text, const char **quoted, nb_ctx *ctx)
{
    char *to;
    NB_NEED(to, nb_alloc(ctx, 2 * strlen(text) + 3, 1));
    *quoted = to;
    *to++ = '"';
    for (; *text; *to++ = *text++)
        if (*text == '"' || *text == '\\') *to++ = '\\';
    *to = '"';
    return NB_OK;
}

static nb_status check_causal(const char *text, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, !text || strcmp(text, "auto") == 0 || strcmp(text, "true") == 0 || strcmp(text, "false") == 0,
               NB_EINVAL, "--causal '%s': expected true, false or auto", text);
    return NB_OK;
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
    const char *quoted, *problem, *head_key;
    NB_TRY(ctx, check_causal(causal, ctx));
    NB_TRY(ctx, quote(file, &quoted, ctx));
    NB_TRY(ctx, find_reader(&problem, &head_key, ctx));
    NB_NEED(*spec, nb_format(ctx, "%s(file=%s, causal=%s%s)", problem, quoted, causal ? causal : "auto",
                             head < 0 ? "" : nb_format(ctx, ", %s=%d", head_key, head)));
    return NB_OK;
}

static nb_status read_head(const nb_one_head_texts *t, nb_one_head_plan *one, nb_ctx *ctx)
{
    const char *file, *spec;
    int head;
    nb_config *c = &one->config;
    NB_REQUIRE(ctx, t->head, NB_EINVAL, "--head is missing");
    NB_TRY(ctx, nb_head_split(t->head, &file, &head, ctx));
    NB_TRY(ctx, nb_head_spec(file, head, t->causal, &spec, ctx));
    nb_choices *problems = &c->lists[NB_ERROR_PROBLEM].choices;
    NB_TRY(ctx, choose(problems, &nb_problems, "--head", spec, ctx));
    NB_TRY(ctx, require_one(problems, "--head", t->head, ctx));
    NB_TRY(ctx, nb_heads_shape(&problems->items[0], &one->shape, ctx));
    if (one->shape.warning) nb_print_warning("%s", one->shape.warning);
    NB_REQUIRE(ctx, one->shape.count == 1, NB_EINVAL, "--head %s: there are %d heads; name one, %s:0 to %s:%d", t->head,
               one->shape.count, file, file, one->shape.count - 1);
    one->head = one->shape.first;
    c->shapes = &one->shape;
    return NB_OK;
}

/* A word of an axis; NULL: what an experiment has that names none. */
static nb_status read_word(const char *option, const char *text, nb_error_axis axis, nb_config *c, nb_ctx *ctx)
{
    const nb_axis *a = &c->study->axes[axis];
    const char *hint;
    int word = 0;
    if (!text && a->extra) return nb_config_add_number(c, (int)axis, -1, ctx);
    if (!text) text = a->initial;
    while (a->words[word] && strcmp(a->words[word], text) != 0) word++;
    if (a->words[word]) return nb_config_add_number(c, (int)axis, word, ctx);
    NB_NEED(hint, nb_hint(text, a->words, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s: '%s' is unknown%s", option, text, hint);
}

/* Names of columns with commas between them. */
static nb_status read_metrics(const char *text, nb_config *c, nb_ctx *ctx)
{
    char *names, *rest = NULL;
    const char *known[128] = {"all"}, *hint;
    int count = 1;
    for (const nb_column *column = nb_error_columns; column->name && count < 127; column++)
        if (column->measure) known[count++] = column->name;
    NB_NEED(names, nb_strdup(ctx, text ? text : "all"));
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        const nb_column *column = nb_column_find(nb_error_columns, name);
        NB_NEED(hint, nb_hint(name, known, ctx));
        NB_REQUIRE(ctx, strcmp(name, "all") == 0 || (column && column->measure), NB_EINVAL,
                   "--metrics: '%s' is unknown%s", name, hint);
        c->wanted |= column ? column->wanted : NB_WANT_ALL;
    }
    return NB_OK;
}

static bool needs_options(const nb_component *c)
{
    const nb_option *o = c->options;
    while (o->key && o->initial) o++;
    return o->key;
}

static nb_status read_cores(const char **texts, nb_config *c, nb_ctx *ctx)
{
    nb_choices *cores = &c->lists[NB_ERROR_CORE].choices;
    for (int i = 0; texts && texts[i]; i++) NB_TRY(ctx, choose(cores, &nb_cores, "--core", texts[i], ctx));
    for (const nb_entry *e = nb_cores.entries; e->component && !texts; e++)
        if (!needs_options(e->component)) NB_TRY(ctx, choose(cores, &nb_cores, "--core", e->component->name, ctx));
    for (int i = 0; i < cores->count; i++) NB_TRY(ctx, nb_core_check(&cores->items[i], ctx));
    c->lists[NB_ERROR_CORE].count = cores->count;
    return c->study->complete(c, ctx);
}

nb_status nb_one_head_begin(const nb_one_head_texts *t, nb_one_head_plan *one, nb_ctx *ctx)
{
    long long trial = 0;
    nb_config *c = &one->config;
    const char *kernel = t->kernel ? t->kernel : nb_standard_kernel();
    *one = (nb_one_head_plan){.head = 0};
    NB_TRY(ctx, nb_config_init(c, &nb_study_error, ctx));
    NB_TRY(ctx, read_number("--seed", t->seed, 0, 9223372036854775807, &c->seed, ctx));
    NB_TRY(ctx, read_number("--trial", t->trial, 0, 999999, &trial, ctx));
    one->trial = (int)trial;
    c->trials = one->trial + 1;
    NB_TRY(ctx, read_head(t, one, ctx));
    NB_TRY(ctx, choose(&c->lists[NB_ERROR_KERNEL].choices, &nb_kernels, "--kernel", kernel, ctx));
    NB_TRY(ctx, require_one(&c->lists[NB_ERROR_KERNEL].choices, "--kernel", kernel, ctx));
    NB_TRY(ctx, nb_error_check_keys(&c->lists[NB_ERROR_KERNEL].choices.items[0], one->shape.keyless, ctx));
    NB_TRY(ctx, read_word("--pairing", t->pairing, NB_ERROR_PAIRING, c, ctx));
    NB_TRY(ctx, read_word("--factors", t->factors, NB_ERROR_FACTORS, c, ctx));
    NB_TRY(ctx, read_metrics(t->metrics, c, ctx));
    c->lists[NB_ERROR_PROBLEM].count = c->lists[NB_ERROR_KERNEL].count = 1;
    return read_cores(t->cores, c, ctx);
}

/* --strategy and --landmarks. */
static nb_status read_strategy(const nb_one_head_texts *t, nb_one_head_plan *one, long long *landmarks, nb_ctx *ctx)
{
    nb_config *c = &one->config;
    nb_choices *strategies = &c->lists[NB_ERROR_STRATEGY].choices;
    NB_REQUIRE(ctx, t->strategy, NB_EINVAL, "--strategy is missing");
    NB_REQUIRE(ctx, t->landmarks, NB_EINVAL, "--landmarks is missing");
    NB_TRY(ctx, choose(strategies, &nb_strategies, "--strategy", t->strategy, ctx));
    NB_TRY(ctx, require_one(strategies, "--strategy", t->strategy, ctx));
    const nb_choice *strategy = &strategies->items[0];
    const nb_strategy *named = (const nb_strategy *)strategy->component;
    nb_pairing pairing = nb_pairing_meant(c->lists[NB_ERROR_PAIRING].numbers[0], strategy);
    NB_REQUIRE(ctx, nb_strategy_has(named, pairing), NB_EINVAL, "--pairing: %s cannot pick for both sides together",
               named->component.name);
    NB_TRY(ctx, nb_strategy_check(strategy, ctx));
    NB_TRY(ctx, nb_strategy_ready(strategy, ctx));
    return read_number("--landmarks", t->landmarks, 1, one->shape.n, landmarks, ctx);
}

nb_status nb_one_head_finish(const nb_one_head_texts *t, const nb_choice *strategy, int m, nb_one_head_plan *one,
                             nb_ctx *ctx)
{
    nb_config *c = &one->config;
    long long landmarks = m;
    if (strategy)
        NB_TRY(ctx, nb_choices_append(&c->lists[NB_ERROR_STRATEGY].choices, *strategy, ctx));
    else
        NB_TRY(ctx, read_strategy(t, one, &landmarks, ctx));
    c->lists[NB_ERROR_STRATEGY].count = 1;
    NB_TRY(ctx, nb_config_add_number(c, NB_ERROR_LANDMARKS, (int)landmarks, ctx));
    return nb_plan_make(c, &one->plan, ctx);
}
