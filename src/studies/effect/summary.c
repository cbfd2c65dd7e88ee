/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.c - see summary.h */
#include "studies/effect/summary.h"

#include <string.h>

static bool is_ok(const void *row, const void *what)
{
    (void)what;
    return strcmp(((const nb_row *)row)->status, "ok") == 0;
}

nb_status nb_effect_summary_make(const nb_frame *frame, nb_effect_summary *s, nb_ctx *ctx)
{
    nb_selection all;
    NB_TRY(ctx, nb_replicates_find(frame, &s->replicates, ctx));
    NB_TRY(ctx, nb_frame_view(frame, &s->frame, ctx));
    NB_TRY(ctx, nb_frame_derive(&s->frame, "stratum", s->replicates.stratum, ctx));
    NB_TRY(ctx, nb_frame_codes(&s->frame, "attention", &s->attentions, ctx));
    NB_TRY(ctx, nb_frame_all(&s->frame, &all, ctx));
    return nb_frame_select(&s->frame, all, is_ok, NULL, &s->ok, ctx);
}
