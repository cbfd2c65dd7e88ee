/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manifest.c - which rows may be mixed without --mixed. */
#include "run/manifest.h"

#include "base/digest.h"

#include <string.h>

bool nb_program_same(const nb_program *a, const nb_program *b)
{
    return strcmp(a->executable, b->executable) == 0 && strcmp(a->arithmetic, b->arithmetic) == 0;
}

const char *nb_program_difference(const nb_program *a, const nb_program *b)
{
    return strcmp(a->executable, b->executable) == 0 ? "with other arithmetic" : "by another build";
}

nb_status nb_program_text(const nb_program *program, const char **text, nb_ctx *ctx)
{
    NB_NEED(*text, nb_format(ctx, "%s (executable %.*s; %s)", program->build, NB_DIGEST_SHOWN, program->executable,
                             program->arithmetic));
    return NB_OK;
}
