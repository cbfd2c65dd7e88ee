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

const char *nb_field(nb_ctx *ctx, const char *field, const char *value)
{
    const char *name = spelling->name ? spelling->name(field) : field, *text;
    if (!value)
        text = nb_format(ctx, "%s%s", spelling->before, name);
    else if (strcmp(value, NB_IS_SET) == 0)
        text = nb_format(ctx, "%s%s%s", spelling->before, name, spelling->set);
    else
        text = nb_format(ctx, "%s%s%s%s", spelling->before, name, spelling->between, value);
    return text ? text : name;
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
