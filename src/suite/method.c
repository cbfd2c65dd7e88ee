/* SPDX-License-Identifier: GPL-3.0-or-later */
/* method.c - finds the attention that a method is. */
#include "suite/suite.h"

#include "base/mistakes.h"
#include "strategies/strategy.h"

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

static nb_status find_attention(const char *name, const nb_attention **attention, nb_ctx *ctx)
{
    const char *const *names;
    *attention = (const nb_attention *)nb_registry_find(&nb_attentions, name);
    if (*attention) return NB_OK;
    NB_TRY(ctx, nb_registry_names(&nb_attentions, &names, ctx));
    NB_FAIL(ctx, NB_EINVAL, "no attention or strategy '%s'%s", name, nb_hint(name, names, ctx));
}

static nb_status refuse_size(const char *text, const char *size, const nb_spec *spec, nb_ctx *ctx)
{
    for (int i = 0; i < spec->count; i++)
        NB_REQUIRE(ctx, !size || strcmp(spec->arguments[i].key, size) != 0, NB_EINVAL,
                   "%s: the suite chooses %s by the number of multiplications: leave it out", text, size);
    return NB_OK;
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
    if (!stands_in) NB_TRY(ctx, refuse_size(text, attention->size, spec, ctx));
    NB_TRY(ctx, nb_choice_parse(&nb_attentions, m->spec, &choice, ctx));
    NB_TRY(ctx, nb_attention_check(&choice, ctx));
    NB_TRY(ctx, nb_attention_ready(&choice, ctx));
    m->size = attention->size;
    m->label = stands_in ? text : choice.label;
    m->name = choice.given ? choice.given : text;
    m->references = attention->component.references;
    m->traits = nb_attention_traits(&choice);
    return NB_OK;
}
