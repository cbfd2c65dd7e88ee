/* SPDX-License-Identifier: GPL-3.0-or-later */
/* words.c - popt splits, and what it would let pass is refused before. Words for a shell stand in single quotes, within
 * which nothing is special but the single quote. */
#include "base/words.h"

#include "base/files.h"

#include <popt.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <stdarg.h>
#include <ctype.h>

/* popt takes the end of the text for the end of a quote. */
static bool is_closed(const char *text)
{
    char quote = '\0';
    for (; *text; text++) {
        if (*text == '\\' && text[1])
            text++;
        else if (*text == quote)
            quote = '\0';
        else if (!quote && (*text == '"' || *text == '\''))
            quote = *text;
    }
    return !quote;
}

nb_status nb_words_split(const char *text, int *count, char ***words, nb_ctx *ctx)
{
    const char **found;
    NB_REQUIRE(ctx, is_closed(text), NB_EINVAL, "%s: a quote is not closed", text);
    int code = poptParseArgvString(text, count, &found);
    NB_REQUIRE(ctx, code == 0 && *count > 0, NB_EINVAL, "'%s': %s", text, code ? poptStrerror(code) : "no word");
    NB_TRY(ctx, nb_defer(ctx, free, found));
    NB_NEED(*words, nb_alloc(ctx, (size_t)*count + 2, sizeof **words));
    for (int i = 0; i < *count; i++) NB_NEED((*words)[i], nb_strdup(ctx, found[i]));
    return NB_OK;
}

const char *nb_word_file(char *const *words, int index)
{
    const char *word = words[index], *equals = strchr(word, '=');
    if (index == 0) return strchr(word, '/') && nb_is_file(word) ? word : NULL;
    if (nb_is_file(word)) return word;
    return equals && nb_is_file(equals + 1) ? equals + 1 : NULL;
}

nb_status nb_word_absolute(char *const *words, int index, const char *here, char **word, nb_ctx *ctx)
{
    const char *file = nb_word_file(words, index);
    *word = words[index];
    if (!file || *file == '/') return NB_OK;
    int before = (int)(file - words[index]);
    while (strncmp(file, "./", 2) == 0) file += 2 + strspn(file + 2, "/");
    NB_NEED(*word, nb_format(ctx, "%.*s%s%s%s", before, words[index], here, strcmp(here, "/") == 0 ? "" : "/", file));
    return NB_OK;
}

nb_status nb_shell_word(const char *text, const char **word, nb_ctx *ctx)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    char *out;
    *word = text;
    if (*text && *text != '=' && !text[strspn(text, plain)]) return NB_OK;
    NB_NEED(out, nb_alloc(ctx, 4 * strlen(text) + 3, 1));
    *word = out;
    *out++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') out = stpcpy(out, "'\\'");
        *out++ = *text;
    }
    *out = '\'';
    return NB_OK;
}

nb_status nb_shell_add(nb_ctx *ctx, nb_string *line, ...)
{
    nb_status status = NB_OK;
    va_list args;
    va_start(args, line);
    for (const char *text, *word; status == NB_OK && (text = va_arg(args, const char *));) {
        status = nb_shell_word(text, &word, ctx);
        if (status == NB_OK) status = nb_append_item(line, " ", ctx, "%s", word);
    }
    va_end(args);
    return status;
}

nb_status nb_shell_program(const char **word, nb_ctx *ctx)
{
    return nb_shell_word(program_invocation_name, word, ctx);
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
        else if (*at == '"' || (*at == '\'' && (at == text || !isalnum((unsigned char)at[-1]))))
            quote = *at; /* an apostrophe within a word is none */
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
