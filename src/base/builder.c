/* SPDX-License-Identifier: GPL-3.0-or-later */
/* builder.c - room that doubles: see builder.h */
#include "base/builder.h"

#include <stdio.h>
#include <string.h>

/* Makes room for that many bytes more and a 0. */
static nb_status make_room(nb_string *s, size_t bytes, nb_ctx *ctx)
{
    enum { LEAST = 64 };
    size_t wanted = s->room ? s->room : LEAST;
    if (s->length + bytes < s->room) return NB_OK;
    while (wanted <= s->length + bytes) wanted *= 2;
    char *larger;
    NB_NEED(larger, nb_alloc_unset(ctx, wanted, 1));
    memcpy(larger, s->text, s->length + 1);
    s->text = s->own = larger;
    s->room = wanted;
    return NB_OK;
}

static nb_status append(nb_string *s, nb_ctx *ctx, const char *format, va_list args)
{
    va_list again;
    size_t left = s->room - s->length;
    va_copy(again, args);
    int bytes = vsnprintf(left > 0 ? s->own + s->length : NULL, left, format, args);
    nb_status status = bytes >= 0 ? make_room(s, (size_t)bytes, ctx) : NB_ENOMEM;
    if (status == NB_OK && (size_t)bytes >= left) vsnprintf(s->own + s->length, (size_t)bytes + 1, format, again);
    if (status == NB_OK)
        s->length += (size_t)bytes;
    else if (left > 0)
        s->own[s->length] = '\0';
    va_end(again);
    return status;
}

nb_status nb_append(nb_string *s, nb_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    nb_status status = append(s, ctx, format, args);
    va_end(args);
    return status;
}

nb_status nb_append_bytes(nb_string *s, nb_ctx *ctx, const char *text, size_t bytes)
{
    NB_TRY(ctx, make_room(s, bytes, ctx));
    memcpy(s->own + s->length, text, bytes);
    s->length += bytes;
    s->own[s->length] = '\0';
    return NB_OK;
}

nb_status nb_append_item(nb_string *s, const char *separator, nb_ctx *ctx, const char *format, ...)
{
    va_list args;
    if (s->length > 0) NB_TRY(ctx, nb_append_bytes(s, ctx, separator, strlen(separator)));
    va_start(args, format);
    nb_status status = append(s, ctx, format, args);
    va_end(args);
    return status;
}

const char *nb_list_some(nb_ctx *ctx, int count, const char *const *items)
{
    enum { MOST = 4 };
    nb_string list = NB_NO_TEXT;
    nb_status status = NB_OK;
    for (int i = 0; i < count && i < MOST && status == NB_OK; i++)
        status = nb_append_item(&list, i + 1 == count ? " and " : ", ", ctx, "%s", items[i]);
    if (status == NB_OK && count > MOST) status = nb_append(&list, ctx, " and %d more", count - MOST);
    return status == NB_OK ? list.text : "";
}
