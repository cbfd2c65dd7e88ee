/* SPDX-License-Identifier: GPL-3.0-or-later */
/* method.c - finds the attention that a method is. */
#include "suite/suite.h"

#include "base/fields.h"
#include "base/mistakes.h"
#include "base/text.h"
#include "strategies/strategy.h"

#include <math.h>
#include <string.h>

nb_status nb_suite_spec(const nb_suite_method *method, int size, const char **spec, nb_ctx *ctx)
{
    size_t length = strlen(method->spec);
    const char *open = strchr(method->spec, '(');
    *spec = method->spec;
    if (size == 0) return NB_OK;
    if (!open) {
        NB_NEED(*spec, nb_format(ctx, "%s(%s=%d)", method->spec, method->size, size));
        return NB_OK;
    }
    while (length > 0 && method->spec[length - 1] != ')') length--;
    bool empty = open[1 + strspn(open + 1, " ")] == ')';
    NB_NEED(*spec,
            nb_format(ctx, "%.*s%s%s=%d)", (int)length - 1, method->spec, empty ? "" : ", ", method->size, size));
    return NB_OK;
}

/* Nothing has this name; what is near it, each once, where a strategy is called as an attention is. */
static nb_status unknown(const char *name, nb_ctx *ctx)
{
    const char *const *attentions, *const *strategies, **names, *hint;
    NB_TRY(ctx, nb_registry_names(&nb_attentions, &attentions, ctx));
    NB_TRY(ctx, nb_registry_names(&nb_strategies, &strategies, ctx));
    size_t count = (size_t)nb_text_count(attentions), others = (size_t)nb_text_count(strategies);
    NB_NEED(names, nb_alloc(ctx, count + others + 1, sizeof *names));
    memcpy(names, attentions, count * sizeof *names);
    for (; *strategies; strategies++)
        if (!nb_registry_find(&nb_attentions, *strategies)) names[count++] = *strategies;
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_FAIL(ctx, NB_EINVAL, "no attention or strategy '%s'%s", name, hint);
}

static nb_status find_attention(const char *name, const nb_attention **attention, nb_ctx *ctx)
{
    *attention = (const nb_attention *)nb_registry_find(&nb_attentions, name);
    return *attention ? NB_OK : unknown(name, ctx);
}

const char *const nb_suite_tunings[] = {"none", "development", "test", NULL};

/* Two lengths between which a formula of the cost shows how it grows, at one size. */
enum { SHORTER = 1 << 19, LONGER = 1 << 20, WIDTH = 64, SIZE = 16 };
#define NOT_LINEAR 1.5 /* the power of n; logarithms stay below it */

static double cost_of(const nb_choice *attention, int n, bool causal)
{
    const nb_layer_shape shape = {
        .batch = 1, .heads = 1, .key_heads = 1, .n = n, .d = WIDTH, .dv = WIDTH, .causal = causal};
    return nb_attention_cost_of(attention, &shape, 1).multiplications;
}

static int verdict(double power)
{
    return isnan(power) ? -1 : power < NOT_LINEAR;
}

/* Returns, of two parts of the work, 0 if one is more than linear, else -1 if one is not known. */
static int both(int a, int b)
{
    return a == 0 || b == 0 ? 0 : nb_lesser(a, b);
}

/* With the work of strategies in the component's options, which an attention's formula leaves out. */
static int with_strategies(const nb_choice *of, int linear)
{
    for (const nb_option *o = of->component->options; o && o->key; o++) {
        if (o->type != NB_OPTION_SPEC) continue;
        const nb_choice *inner = *(const nb_choice *const *)((const char *)of->options + o->offset);
        bool picks = o->registry == &nb_strategies;
        if (picks) linear = both(linear, verdict(nb_strategy_growth(inner, WIDTH, SIZE)));
        if (picks && nb_strategy_tokens(inner, LONGER) < LONGER) continue;
        linear = with_strategies(inner, linear);
    }
    return linear;
}

/* Finds whether the multiplications grow as n does, by the formulas of the attention and of strategies; what looks at
 * all of the attention matrix has n^2. -1: there is no formula, or no such size. */
static nb_status find_linear(nb_suite_method *m, nb_ctx *ctx)
{
    nb_choice attention;
    const char *spec;
    NB_TRY(ctx, nb_suite_spec(m, m->size ? SIZE : 0, &spec, ctx));
    nb_status status = nb_choice_parse(&nb_attentions, spec, &attention, ctx);
    m->linear = -1;
    if (status == NB_EINVAL) nb_error_clear(ctx);
    if (status != NB_OK) return status == NB_EINVAL ? NB_OK : status;
    bool causal = m->traits & NB_ATTENTION_CAUSAL;
    double power = log2(cost_of(&attention, LONGER, causal) / cost_of(&attention, SHORTER, causal));
    m->linear = with_strategies(&attention, m->traits & NB_ATTENTION_ORACLE ? 0 : verdict(power));
    return NB_OK;
}

/* Returns whether a program picks for a component, in whatever strategy: nobody counts what that multiplies. */
static bool picks_elsewhere(const nb_choice *of)
{
    for (const nb_option *o = of->component->options; o && o->key; o++) {
        if (o->type != NB_OPTION_SPEC) continue;
        const nb_choice *inner = *(const nb_choice *const *)((const char *)of->options + o->offset);
        if (o->registry == &nb_strategies && nb_strategy_traits(inner) & NB_ELSEWHERE) return true;
        if (picks_elsewhere(inner)) return true;
    }
    return false;
}

nb_status nb_suite_method_find(const char *text, nb_suite_method *m, nb_ctx *ctx)
{
    nb_mistakes mistakes = {.ctx = ctx};
    nb_spec *spec;
    const nb_attention *attention;
    nb_choice choice;
    *m = (nb_suite_method){.text = text, .spec = text};
    NB_TRY(ctx, nb_spec_parse(text, (nb_place){.source = NULL}, &spec, &mistakes, ctx));
    NB_REQUIRE(ctx, spec, NB_EINVAL, "%s", mistakes.texts[0]);
    bool stands_in = !nb_registry_find(&nb_attentions, spec->name) && nb_registry_find(&nb_strategies, spec->name);
    if (stands_in) NB_NEED(m->spec, nb_format(ctx, "nystrom(strategy=%s, core=iterative)", text));
    NB_TRY(ctx, find_attention(stands_in ? "nystrom" : spec->name, &attention, ctx));
    for (int i = 0; i < spec->count && attention->size && !stands_in; i++)
        NB_REQUIRE(ctx, strcmp(spec->arguments[i].key, attention->size) != 0, NB_EINVAL,
                   "%s: the suite chooses %s by the number of multiplications: leave it out", text, attention->size);
    NB_TRY(ctx, nb_choice_parse(&nb_attentions, m->spec, &choice, ctx));
    NB_TRY(ctx, nb_attention_check(&choice, ctx));
    NB_TRY(ctx, nb_attention_ready(&choice, ctx));
    m->size = attention->size;
    m->label = stands_in ? text : choice.label;
    m->name = choice.given ? choice.given : text;
    m->references = attention->component.references;
    m->traits = nb_attention_traits(&choice) | (picks_elsewhere(&choice) ? NB_ATTENTION_ELSEWHERE : 0u);
    return find_linear(m, ctx);
}

bool nb_suite_needs_earlier_alone(const nb_suite_method *m)
{
    return m->traits & NB_ATTENTION_CAUSAL && !(m->traits & NB_ATTENTION_FORESEES);
}

static const char *const fields[] = {"linear", "trained", NULL};
enum { LINEAR, TRAINED };

nb_status nb_suite_declare(nb_suite_method *m, const char *text, nb_ctx *ctx)
{
    const char *is = strchr(text, '=');
    int field = 0;
    while (fields[field] &&
           (!is || strncmp(text, fields[field], strlen(fields[field])) != 0 || text + strlen(fields[field]) != is))
        field++;
    NB_REQUIRE(ctx, fields[field] && (strcmp(is, "=true") == 0 || strcmp(is, "=false") == 0), NB_EINVAL,
               "suite: %s: expected linear or trained, = and true or false", nb_field(ctx, "declare", text));
    bool known = field == LINEAR ? m->linear >= 0 : !(m->traits & NB_ATTENTION_ELSEWHERE);
    NB_REQUIRE(ctx, !known, NB_EINVAL, "suite: %s: the program knows this of %s: leave it out",
               nb_field(ctx, "declare", text), m->label);
    bool holds = strcmp(is, "=true") == 0;
    m->declared |= field == LINEAR ? NB_SUITE_SAYS_LINEAR : NB_SUITE_SAYS_TRAINED;
    if (field == LINEAR)
        m->linear = holds;
    else if (holds)
        m->traits |= NB_ATTENTION_UNTRAINED;
    return NB_OK;
}
