/* SPDX-License-Identifier: GPL-3.0-or-later */
/* items.c - see items.h */
#include "base/items.h"

#include <ctype.h>
#include <string.h>

/* An apostrophe within a word is none. */
static bool opens_quotes(const char *text, const char *at)
{
    return *at == '"' || (*at == '\'' && (at == text || !isalnum((unsigned char)at[-1])));
}

const char *nb_item_end(const char *text)
{
    int depth = 0;
    char quote = 0;
    const char *at = text;
    for (; *at && (quote || depth > 0 || *at != ','); at++) {
        if (*at == '\\' && at[1] && quote != '\'')
            at++;
        else if (quote)
            quote = *at == quote ? 0 : quote;
        else if (opens_quotes(text, at))
            quote = *at;
        else
            depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    }
    return at;
}

const char *nb_item_text(const char *from, const char *end, nb_ctx *ctx)
{
    while (from < end && isspace((unsigned char)*from)) from++;
    while (end > from && isspace((unsigned char)end[-1])) end--;
    if (end - from >= 2 && (*from == '"' || *from == '\'') && end[-1] == *from) from++, end--;
    return nb_format(ctx, "%.*s", (int)(end - from), from);
}

nb_status nb_list_inside(const char *text, const char **inside, nb_ctx *ctx)
{
    size_t length = strlen(text);
    *inside = NULL;
    if (length < 2 || text[0] != '[' || *nb_item_end(text) || text[length - 1] != ']') return NB_OK;
    NB_NEED(*inside, nb_format(ctx, "%.*s", (int)length - 2, text + 1));
    return NB_OK;
}
