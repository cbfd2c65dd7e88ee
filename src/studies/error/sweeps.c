/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sweeps.c - which cores are one but for an option, from their options tables. */
#include "studies/error/sweeps.h"

#include "components/registry.h"
#include "cores/core.h"

#include <math.h>
#include <string.h>

const nb_option *nb_sweeps_option(const nb_choice *choice, const char *option)
{
    const nb_option *o = choice->component ? choice->component->options : NULL;
    while (o && o->key && strcmp(o->key, option) != 0) o++;
    return o && o->key ? o : NULL;
}

/* The number, or NaN, that a core's option has; NaN where it has no such option. */
static double option_value(const nb_choice *choice, const char *option)
{
    const nb_option *o = nb_sweeps_option(choice, option);
    if (!o || (o->type != NB_OPTION_INT && o->type != NB_OPTION_REAL)) return NAN;
    const char *field = (const char *)choice->options + o->offset;
    if (o->type == NB_OPTION_REAL) return *(const double *)field;
    int value = *(const int *)field;
    return value == NB_AUTO ? NAN : (double)value;
}

/* The component's options in brackets; of `except` NULL all, else all but that. */
static nb_status texts(const nb_choice *choice, const char *except, bool brief, const char **out, nb_ctx *ctx)
{
    const char *text = "", *value;
    for (const nb_option *o = choice->component->options; o->key; o++) {
        if (except && strcmp(o->key, except) == 0) continue;
        NB_TRY(ctx, nb_option_text(choice->options, o, brief ? 0 : 17, &value, ctx));
        if (brief && o->initial && strcmp(value, o->initial) == 0) continue;
        NB_NEED(text, nb_format(ctx, "%s%s%s=%s", text, *text ? ", " : "", o->key, value));
    }
    NB_NEED(*out, *text || !brief ? nb_format(ctx, "%s(%s)", choice->component->name, text)
                                  : nb_strdup(ctx, choice->component->name));
    return NB_OK;
}

/* How many cores are the same but for the option, each with a number there. */
static nb_status siblings(const nb_sweeps *s, int count, int core, const char *option, int *found, nb_ctx *ctx)
{
    const char *own, *other;
    *found = 0;
    NB_TRY(ctx, texts(&s->cores[core].choice, option, false, &own, ctx));
    for (int i = 0; i < count; i++) {
        const nb_choice *c = &s->cores[i].choice;
        if (c->component != s->cores[core].choice.component || isnan(option_value(c, option))) continue;
        NB_TRY(ctx, texts(c, option, false, &other, ctx));
        *found += strcmp(own, other) == 0;
    }
    return NB_OK;
}

static nb_status join(nb_sweeps *s, int core, const char *option, const char *label)
{
    int f = 0;
    while (f < s->family_count && (strcmp(s->families[f].label, label) || strcmp(s->families[f].option, option))) f++;
    if (f == s->family_count) s->families[s->family_count++] = (nb_family){.option = option, .label = label};
    s->families[f].count++;
    s->cores[core].family = f;
    s->cores[core].x = option_value(&s->cores[core].choice, option);
    return NB_OK;
}

static nb_status find_family(nb_sweeps *s, int count, int core, nb_ctx *ctx)
{
    const nb_choice *choice = &s->cores[core].choice;
    const char *swept = NULL, *label;
    int most = 2, found;
    for (const nb_option *o = choice->component->options; o->key; o++) {
        if (isnan(option_value(choice, o->key))) continue;
        NB_TRY(ctx, siblings(s, count, core, o->key, &found, ctx));
        if (found <= most) continue;
        most = found;
        swept = o->key;
    }
    if (!swept) return NB_OK;
    NB_TRY(ctx, texts(choice, swept, true, &label, ctx));
    return join(s, core, swept, label);
}

/* In the order of the cores. */
static void assign_looks(nb_sweeps *s, int count)
{
    int next = 0;
    for (int f = 0; f < s->family_count; f++) s->families[f].look = -1;
    for (int i = 0; i < count; i++) {
        nb_family *family = s->cores[i].family >= 0 ? &s->families[s->cores[i].family] : NULL;
        s->cores[i].look = family && family->look >= 0 ? family->look : next++;
        if (family) family->look = s->cores[i].look;
    }
}

nb_status nb_sweeps_find(const nb_summary *summary, nb_sweeps *sweeps, nb_ctx *ctx)
{
    size_t count = (size_t)summary->core_count;
    *sweeps = (nb_sweeps){.family_count = 0};
    NB_NEED(sweeps->cores, nb_alloc(ctx, count, sizeof *sweeps->cores));
    NB_NEED(sweeps->families, nb_alloc(ctx, count, sizeof *sweeps->families));
    for (int i = 0; i < summary->core_count; i++) {
        nb_swept *core = &sweeps->cores[i];
        *core = (nb_swept){.family = -1, .x = NAN};
        nb_status status = nb_choice_parse(&nb_cores, summary->cores[i].core, &core->choice, ctx);
        if (status == NB_ENOMEM) return status;
        nb_error_clear(ctx);
        if (status != NB_OK) core->choice.component = NULL;
        core->standard = core->choice.component && core->choice.plain;
    }
    for (int i = 0; i < summary->core_count; i++)
        if (sweeps->cores[i].choice.component) NB_TRY(ctx, find_family(sweeps, summary->core_count, i, ctx));
    assign_looks(sweeps, summary->core_count);
    return NB_OK;
}

bool nb_swept_is_oracle(const nb_swept *core)
{
    return core->choice.component && nb_core_traits(&core->choice) & NB_CORE_ORACLE;
}

int nb_sweeps_sibling(const nb_sweeps *sweeps, int core_count, int core, const char *option, const char *value,
                      nb_ctx *ctx)
{
    const nb_choice *own = &sweeps->cores[core].choice;
    const char *mine, *other, *text;
    if (!nb_sweeps_option(own, option) || texts(own, option, false, &mine, ctx) != NB_OK) return -1;
    for (int i = 0; i < core_count; i++) {
        const nb_choice *c = &sweeps->cores[i].choice;
        if (c->component != own->component) continue;
        if (nb_option_text(c->options, nb_sweeps_option(c, option), 17, &text, ctx) != NB_OK ||
            texts(c, option, false, &other, ctx) != NB_OK)
            return -1;
        if (strcmp(text, value) == 0 && strcmp(mine, other) == 0) return i;
    }
    return -1;
}
