/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comments.c - see comments.h */
#include "show/comments.h"

#include <string.h>

nb_status nb_query_comments(const char *sql, const nb_comment **comments, nb_ctx *ctx)
{
    nb_comment *all = NULL, *last = NULL; /* last: what a line may go on with */
    int count = 0, room = 0;
    NB_GROW(ctx, all, count, room);
    for (const char *end; strncmp(sql, "--", 2) == 0; sql = *end ? end + 1 : end) {
        end = strchrnul(sql, '\n');
        const char *colon = memchr(sql, ':', (size_t)(end - sql));
        bool more = strncmp(sql, "--   ", 5) == 0;
        if (more && last) NB_NEED(last->text, nb_format(ctx, "%s %.*s", last->text, (int)(end - sql - 5), sql + 5));
        if (more) continue;
        NB_GROW(ctx, all, count + 1, room);
        last = colon && sql[2] == ' ' ? &all[count++] : NULL;
        if (!last) continue;
        NB_NEED(last->name, nb_format(ctx, "%.*s", (int)(colon - sql - 3), sql + 3));
        for (colon++; *colon == ' ';) colon++;
        NB_NEED(last->text, nb_format(ctx, "%.*s", (int)(end - colon), colon));
    }
    *comments = all;
    return NB_OK;
}

const char *nb_comment_text(const nb_comment *comments, const char *name)
{
    while (comments->name && strcmp(comments->name, name) != 0) comments++;
    return comments->name ? comments->text : "";
}

const char *nb_comment_format(const nb_comment *comments, const char *name)
{
    const char *format = "%.3g";
    size_t length = strlen(name);
    for (; comments->name; comments++)
        if (strcmp(comments->name, "format") == 0 && strncmp(comments->text, name, length) == 0 &&
            comments->text[length] == ':')
            format = comments->text + length + 2;
    return format;
}
