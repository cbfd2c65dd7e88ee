/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.c - see summary.h */
#include "studies/coherence/summary.h"

#include <string.h>

#define STRATUM "stratum"

static bool is_ok(const void *row, const void *what)
{
    (void)what;
    return strcmp(((const nb_row *)row)->status, "ok") == 0;
}

nb_status nb_coherence_summary_make(const nb_frame *frame, nb_coherence_summary *s, nb_ctx *ctx)
{
    static const char *const by[] = {STRATUM, "layer", "n", "side", "clusters", "tau", "partition", NULL};
    nb_selection all, ok;
    NB_TRY(ctx, nb_replicates_find(frame, &s->replicates, ctx));
    NB_TRY(ctx, nb_frame_view(frame, &s->frame, ctx));
    NB_TRY(ctx, nb_frame_derive(&s->frame, STRATUM, s->replicates.stratum, ctx));
    NB_TRY(ctx, nb_frame_all(&s->frame, &all, ctx));
    NB_TRY(ctx, nb_frame_select(&s->frame, all, is_ok, NULL, &ok, ctx));
    return nb_frame_group(&s->frame, ok, by, &s->groups, ctx);
}
