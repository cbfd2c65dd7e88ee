/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manifest.c - which rows may be mixed without --mixed. */
#include "run/store.h"

#include "base/digest.h"

#include <string.h>

bool nb_program_same(const nb_program *a, const nb_program *b)
{
    return strcmp(a->executable, b->executable) == 0 && strcmp(a->arithmetic, b->arithmetic) == 0;
}

/* Two executables of one state of the source, or of one that it does not tell apart. */
static bool is_rebuilt(const nb_program *a, const nb_program *b)
{
    return strcmp(a->executable, b->executable) != 0 && strcmp(a->build, b->build) == 0;
}

const char *nb_program_difference(const nb_program *a, const nb_program *b)
{
    if (strcmp(a->executable, b->executable) == 0) return "with other arithmetic";
    return is_rebuilt(a, b) ? "by another of this build" : "by another build";
}

nb_status nb_program_text(const nb_program *program, const char **text, nb_ctx *ctx)
{
    NB_NEED(*text, nb_format(ctx, "%s (executable %.*s; %s)", program->build, NB_DIGEST_SHOWN, program->executable,
                             program->arithmetic));
    return NB_OK;
}

nb_status nb_program_text_against(const nb_program *program, const nb_program *other, const char **text, nb_ctx *ctx)
{
    if (!is_rebuilt(program, other)) return nb_program_text(program, text, ctx);
    NB_NEED(*text, nb_format(ctx, "executable %.*s (build %s; %s)", NB_DIGEST_SHOWN, program->executable,
                             program->build, program->arithmetic));
    return NB_OK;
}

nb_status nb_program_change(const nb_program *then, const nb_program *now, const char **text, nb_ctx *ctx)
{
    const char *was, *is;
    NB_TRY(ctx, nb_program_text_against(then, now, &was, ctx));
    NB_TRY(ctx, nb_program_text_against(now, then, &is, ctx));
    if (is_rebuilt(then, now))
        NB_NEED(*text, nb_format(ctx, "by %s; the program has been rebuilt since, this is %s", was, is));
    else
        NB_NEED(*text, nb_format(ctx, "%s, %s; this is %s", nb_program_difference(then, now), was, is));
    return NB_OK;
}
