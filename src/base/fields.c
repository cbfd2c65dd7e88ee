/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fields.c - see fields.h */
#include "base/fields.h"

#include <string.h>

static const nb_spelling keywords = {.before = "", .between = "=", .set = "=" NB_IS_SET, .key = "", .call = ""};
static const nb_spelling *spelling = &keywords;

void nb_spell_as(const nb_spelling *asked)
{
    spelling = asked;
}

bool nb_spells_keywords(void)
{
    return spelling == &keywords;
}

const char *nb_spell_option(nb_ctx *ctx, const char *option, const char *value)
{
    char *name = nb_strdup(ctx, option);
    if (!name) return option;
    for (char *at = name; *at && nb_spells_keywords(); at++)
        if (*at == '-') *at = '_'; /* by_model for by-model */
    const char *text = value ? nb_format(ctx, "%s%s%s%s", spelling->before, name, spelling->between, value)
                             : nb_format(ctx, "%s%s", spelling->before, name);
    return text ? text : name;
}

const char *nb_field(nb_ctx *ctx, const char *field, const char *value)
{
    const char *name = spelling->name ? spelling->name(field) : field;
    if (!value || strcmp(value, NB_IS_SET) != 0) return nb_spell_option(ctx, name, value);
    const char *text = nb_format(ctx, "%s%s%s", spelling->before, name, spelling->set);
    return text ? text : name;
}

const char *nb_spell_quoted(nb_ctx *ctx, const char *option, const char *value)
{
    const char *quoted = nb_format(ctx, "'%s'", value);
    return nb_spell_option(ctx, option, quoted ? quoted : value);
}

const char *nb_key(nb_ctx *ctx, const char *key)
{
    const char *text = nb_format(ctx, "%s%s", spelling->key, key);
    return text ? text : key;
}

const char *nb_call(nb_ctx *ctx, const char *name)
{
    const char *text = nb_format(ctx, "%s%s", spelling->call, name);
    return text ? text : name;
}
