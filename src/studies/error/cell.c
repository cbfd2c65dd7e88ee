/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cell.c - from texts to a plan, through the same tables as an experiment's file. */
#include "studies/error/cell.h"

#include "components/registry.h"
#include "commands/command.h"
#include "cores/core.h"
#include "config/axes.h"
#include "config/block.h"
#include "studies/error/row.h"
#include "nystrom/heads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static nb_status own(char *text, nb_ctx *ctx)
{
    return text ? nb_defer(ctx, free, text) : NB_OK;
}

nb_status nb_cell_own(const nb_cell_texts *t, nb_ctx *ctx)
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
    char *end;
    if (!text) return NB_OK;
    errno = 0;
    *number = strtoll(text, &end, 10);
    NB_REQUIRE(ctx, end != text && !*end && !errno && *number >= lo && *number <= hi, NB_EINVAL,
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

/* FILE[:H]; a file of just that name comes first. *head = -1: none is named. */
static nb_status split_head(const char *text, const char **file, long long *head, nb_ctx *ctx)
{
    struct stat info;
    const char *colon = strrchr(text, ':');
    *file = text;
    *head = -1;
    if (!colon || stat(text, &info) == 0) return NB_OK;
    NB_NEED(*file, nb_format(ctx, "%.*s", (int)(colon - text), text));
    return read_number("--head FILE:H, H", colon + 1, 0, 1 << 20, head, ctx);
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

static nb_status read_head(const nb_cell_texts *t, nb_cell_plan *cell, nb_ctx *ctx)
{
    const char *file, *quoted, *spec;
    long long head;
    nb_config *c = &cell->config;
    NB_REQUIRE(ctx, t->head, NB_EINVAL, "--head is missing");
    NB_TRY(ctx, check_causal(t->causal, ctx));
    NB_TRY(ctx, split_head(t->head, &file, &head, ctx));
    NB_TRY(ctx, quote(file, &quoted, ctx));
    NB_NEED(spec, nb_format(ctx, "heads(file=%s, causal=%s%s)", quoted, t->causal ? t->causal : "auto",
                            head < 0 ? "" : nb_format(ctx, ", head=%lld", head)));
    NB_TRY(ctx, choose(&c->problems, &nb_problems, "--head", spec, ctx));
    NB_TRY(ctx, require_one(&c->problems, "--head", t->head, ctx));
    NB_TRY(ctx, nb_heads_shape(&c->problems.items[0], &cell->shape, ctx));
    if (cell->shape.warning) nb_print_warning("%s", cell->shape.warning);
    NB_REQUIRE(ctx, cell->shape.count == 1, NB_EINVAL, "--head %s: there are %d heads; name one, %s:0 to %s:%d",
               t->head, cell->shape.count, file, file, cell->shape.count - 1);
    cell->head = cell->shape.first;
    c->shapes = &cell->shape;
    return NB_OK;
}

/* A word of a table; NULL: the first. */
static nb_status read_word(const char *option, const char *text, const char *const *words, const char **word,
                           nb_ctx *ctx)
{
    int i = 0;
    const char *hint;
    while (text && words[i] && strcmp(words[i], text) != 0) i++;
    *word = words[i];
    if (words[i]) return NB_OK;
    NB_NEED(hint, nb_hint(text, words, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s: '%s' is unknown%s", option, text, hint);
}

static nb_status read_pairing(const char *text, nb_config *c, nb_ctx *ctx)
{
    NB_NEED(c->pairings, nb_alloc(ctx, 1, sizeof *c->pairings));
    c->pairings[c->pairing_count++] = "default";
    return text ? read_word("--pairing", text, nb_pairing_names, &c->pairings[0], ctx) : NB_OK;
}

static nb_status read_factors(const char *text, nb_config *c, nb_ctx *ctx)
{
    NB_NEED(c->factors, nb_alloc(ctx, 1, sizeof *c->factors));
    return read_word("--factors", text, nb_factors_names, &c->factors[c->factors_count++], ctx);
}

/* Names of columns with commas between them. */
static nb_status read_metrics(const char *text, nb_config *c, nb_ctx *ctx)
{
    char *names, *rest = NULL;
    const char *known[128] = {"all"}, *hint;
    int count = 1;
    for (const nb_column *column = nb_columns; column->name && count < 127; column++)
        if (column->measure) known[count++] = column->name;
    NB_NEED(names, nb_strdup(ctx, text ? text : "all"));
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        const nb_column *column = nb_column_find(nb_columns, name);
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
    for (int i = 0; texts && texts[i]; i++) NB_TRY(ctx, choose(&c->cores, &nb_cores, "--core", texts[i], ctx));
    for (const nb_entry *e = nb_cores.entries; e->component && !texts; e++)
        if (!needs_options(e->component)) NB_TRY(ctx, choose(&c->cores, &nb_cores, "--core", e->component->name, ctx));
    for (int i = 0; i < c->cores.count; i++) NB_TRY(ctx, nb_core_check(&c->cores.items[i], ctx));
    return nb_config_add_identity(c, ctx);
}

nb_status nb_cell_begin(const nb_cell_texts *t, nb_cell_plan *cell, nb_ctx *ctx)
{
    long long trial = 0;
    nb_config *c = &cell->config;
    const char *kernel = t->kernel ? t->kernel : nb_standard_kernel();
    *cell = (nb_cell_plan){.config = {.name = "", .question = "", .seed = 20260101, .rows = "all"}};
    NB_TRY(ctx, read_number("--seed", t->seed, 0, 9223372036854775807, &c->seed, ctx));
    NB_TRY(ctx, read_number("--trial", t->trial, 0, 999999, &trial, ctx));
    cell->trial = (int)trial;
    c->trials = cell->trial + 1;
    NB_TRY(ctx, read_head(t, cell, ctx));
    NB_TRY(ctx, choose(&c->kernels, &nb_kernels, "--kernel", kernel, ctx));
    NB_TRY(ctx, require_one(&c->kernels, "--kernel", kernel, ctx));
    NB_TRY(ctx, read_pairing(t->pairing, c, ctx));
    NB_TRY(ctx, read_factors(t->factors, c, ctx));
    NB_TRY(ctx, read_metrics(t->metrics, c, ctx));
    return read_cores(t->cores, c, ctx);
}

nb_status nb_cell_finish(const nb_cell_texts *t, const nb_choice *strategy, int m, nb_cell_plan *cell, nb_ctx *ctx)
{
    nb_config *c = &cell->config;
    long long landmarks = m;
    if (strategy) {
        NB_NEED(c->strategies.items, nb_alloc(ctx, 1, sizeof *strategy));
        c->strategies.items[c->strategies.count++] = *strategy;
    } else {
        NB_REQUIRE(ctx, t->strategy, NB_EINVAL, "--strategy is missing");
        NB_REQUIRE(ctx, t->landmarks, NB_EINVAL, "--landmarks is missing");
        NB_TRY(ctx, choose(&c->strategies, &nb_strategies, "--strategy", t->strategy, ctx));
        NB_TRY(ctx, require_one(&c->strategies, "--strategy", t->strategy, ctx));
        const nb_strategy *named = (const nb_strategy *)c->strategies.items[0].component;
        NB_REQUIRE(ctx, nb_strategy_has(named, nb_pairing_named(c->pairings[0], &c->strategies.items[0])), NB_EINVAL,
                   "--pairing: %s cannot pick for both sides together", named->component.name);
        NB_TRY(ctx, nb_strategy_check(&c->strategies.items[0], ctx));
        NB_TRY(ctx, nb_strategy_ready(&c->strategies.items[0], ctx));
        NB_TRY(ctx, read_number("--landmarks", t->landmarks, 1, cell->shape.n, &landmarks, ctx));
    }
    NB_NEED(c->landmarks, nb_alloc(ctx, 1, sizeof *c->landmarks));
    c->landmarks[c->landmark_count++] = (int)landmarks;
    return nb_plan_make(c, &cell->plan, ctx);
}
