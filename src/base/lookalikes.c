/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lookalikes.c - see lookalikes.h */
#include "base/lookalikes.h"

#include <string.h>

static const struct {
    const char *character, *name, *advice;
} known[] = {
    {"\u00a0", "a no-break space (U+00A0)", "write a blank"},
    {"\u2007", "a figure space (U+2007)", "write a blank"},
    {"\u202f", "a narrow no-break space (U+202F)", "write a blank"},
    {"\u3000", "an ideographic space (U+3000)", "write a blank"},
    {"\u200b", "a zero-width space (U+200B)", "delete it"},
    {"\u2060", "a word joiner (U+2060), which is not drawn", "delete it"},
    {"\ufeff", "a byte order mark (U+FEFF), which is not drawn", "delete it"},
    {"\u2018", "a curly quote (U+2018)", "write '"},
    {"\u2019", "a curly quote (U+2019)", "write '"},
    {"\u201a", "a low quote (U+201A)", "write '"},
    {"\u201c", "a curly quote (U+201C)", "write \""},
    {"\u201d", "a curly quote (U+201D)", "write \""},
    {"\u201e", "a low quote (U+201E)", "write \""},
    {"\u2010", "a hyphen of its own (U+2010)", "write -"},
    {"\u2011", "a no-break hyphen (U+2011)", "write -"},
    {"\u2013", "a dash (U+2013)", "write -"},
    {"\u2014", "a dash (U+2014)", "write -"},
    {"\u2212", "a minus sign of its own (U+2212)", "write -"},
    {"\u2026", "an ellipsis (U+2026)", "write dots"},
    {"\uff08", "a full-width parenthesis (U+FF08)", "write ("},
    {"\uff09", "a full-width parenthesis (U+FF09)", "write )"},
    {"\uff0c", "a full-width comma (U+FF0C)", "write ,"},
    {"\uff1a", "a full-width colon (U+FF1A)", "write :"},
    {"\uff1d", "a full-width equals sign (U+FF1D)", "write ="},
};
enum { KNOWN = sizeof known / sizeof *known };

/* Returns which begins there; KNOWN: none. */
static int which(const char *at)
{
    int i = 0;
    while (i < KNOWN && strncmp(at, known[i].character, strlen(known[i].character)) != 0) i++;
    return i;
}

const char *nb_lookalike(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes && text[i]; i++)
        if ((unsigned char)text[i] >= 0xc2 && which(text + i) < KNOWN) return text + i;
    return NULL;
}

const char *nb_lookalike_told(const char *at, nb_ctx *ctx)
{
    int i = which(at);
    return nb_format(ctx, "%s: %s", known[i].name, known[i].advice);
}
