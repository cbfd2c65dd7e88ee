/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refusal.c - see refusal.h */
#include "rows/refusal.h"

#include <string.h>

const char *nb_refusal_tell(const char *refusal, const char *it, const char *other, nb_ctx *ctx)
{
    if (!*refusal) return nb_format(ctx, "%s has no row on the same head in the same trial", other);
    if (strcmp(refusal, NB_ROWS_SEEN) == 0)
        return nb_format(ctx, "%s or %s, but not both, has looked at rows of S that both are judged on", it, other);
    return nb_format(ctx, "another %s than %s's", refusal, other);
}
