/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comments.h - the directives that a text of SQL begins with, "-- NAME: TEXT" (show/query.h has them all). */
#ifndef NB_COMMENTS_H
#define NB_COMMENTS_H

#include "base/ctx.h"

typedef struct { /* a directive; a list ends with name == NULL */
    const char *name, *text;
} nb_comment;

nb_status nb_query_comments(const char *sql, const nb_comment **comments, nb_ctx *ctx);

/* Returns the first of this name; "": there is none. */
const char *nb_comment_text(const nb_comment *comments, const char *name);
/* Returns the format of a column's numbers: "-- format: NAME: %.4g", else three digits. */
const char *nb_comment_format(const nb_comment *comments, const char *name);

#endif
