/* SPDX-License-Identifier: GPL-3.0-or-later */
/* words.c - popt splits; this file first refuses what popt would let pass. */
#include "base/words.h"

#include "base/files.h"

#include <popt.h>
#include <stdlib.h>
#include <string.h>

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
