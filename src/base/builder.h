/* SPDX-License-Identifier: GPL-3.0-or-later */
/* builder.h - a text that is built piece by piece. */
#ifndef NB_BUILDER_H
#define NB_BUILDER_H

#include "base/ctx.h"

/* A text that grows at its end: n pieces take time and memory in proportion to their length together. It begins as
 * NB_NO_TEXT; ctx owns the memory, and must be the same in all calls. */
typedef struct {
    const char *text; /* what has been added, until the next piece is */
    char *own;        /* the same, unless it is empty */
    size_t length, room;
} nb_string;

#define NB_NO_TEXT \
    { \
        .text = "" \
    }

/* Adds a piece; nb_append_item puts `separator` before it unless it is the first. NB_ENOMEM only. */
nb_status nb_append(nb_string *string, nb_ctx *ctx, const char *format, ...) __attribute__((format(printf, 3, 4)));
nb_status nb_append_item(nb_string *string, const char *separator, nb_ctx *ctx, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds so many bytes of a text, as nb_append with "%.*s" does but without reading a format. NB_ENOMEM only. */
nb_status nb_append_bytes(nb_string *string, nb_ctx *ctx, const char *text, size_t bytes);

/* Returns "a, b, c and 3 more" as nb_phrase does; of no more than four all are named. */
const char *nb_list_some(nb_ctx *ctx, int count, const char *const *items);

#endif
