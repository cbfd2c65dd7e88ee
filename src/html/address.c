/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address.c - see address.h */
#include "html/address.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nb_status whole(const char *path, const char **out, nb_ctx *ctx)
{
    char *real = realpath(path, NULL);
    NB_REQUIRE(ctx, real, NB_EIO, "%s: cannot be found: %s", path, strerror(errno));
    NB_TRY(ctx, nb_defer(ctx, free, real));
    *out = real;
    return NB_OK;
}

/* Letters of both that are folders above both, with the slash behind them. */
static size_t common(const char *folder, const char *path)
{
    size_t last = 0, i = 0;
    for (; folder[i] && folder[i] == path[i]; i++)
        if (folder[i] == '/') last = i + 1;
    return !folder[i] && path[i] == '/' ? i + 1 : last;
}

/* Encodes an address, with "../" for each folder that is left. */
static char *encode(const char *left, const char *path, nb_ctx *ctx)
{
    size_t ups = *left ? 1 : 0, length = 0;
    for (const char *c = left; *c; c++) ups += *c == '/';
    char *out = nb_alloc(ctx, 3 * (ups + strlen(path)) + 1, 1);
    for (size_t i = 0; out && i < ups; i++) length += (size_t)sprintf(out + length, "../");
    for (; out && *path; path++) {
        unsigned char c = (unsigned char)*path;
        length += (size_t)sprintf(out + length, isalnum(c) || strchr("/-_.", c) ? "%c" : "%%%02X", c);
    }
    return out;
}

nb_status nb_address_of(const char *folder, const char *path, const char **address, nb_ctx *ctx)
{
    const char *from, *to;
    NB_TRY(ctx, whole(folder, &from, ctx));
    NB_TRY(ctx, whole(path, &to, ctx));
    size_t same = common(from, to), length = strlen(from);
    NB_NEED(*address, encode(from + (same < length ? same : length), to + same, ctx));
    return NB_OK;
}
