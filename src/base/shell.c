/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell.c - within single quotes nothing is special but the single quote. */
#include "base/shell.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

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

nb_status nb_shell_add(nb_ctx *ctx, const char **line, ...)
{
    nb_status status = NB_OK;
    va_list args;
    va_start(args, line);
    for (const char *text, *word; status == NB_OK && (text = va_arg(args, const char *));) {
        status = nb_shell_word(text, &word, ctx);
        if (status == NB_OK && !(*line = nb_format(ctx, "%s %s", *line, word))) status = NB_ENOMEM;
    }
    va_end(args);
    return status;
}

nb_status nb_shell_program(const char **word, nb_ctx *ctx)
{
    return nb_shell_word(program_invocation_name, word, ctx);
}
