/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figure.c - see figure.h */
#include "report/figure.h"

#include <stdio.h>

nb_status nb_figure_choose_m(int count, const int *landmarks, int *m, nb_ctx *ctx)
{
    const char *all = "";
    if (count == 0) return NB_OK;
    if (*m == 0) *m = landmarks[(count - 1) / 2];
    for (int i = 0; i < count; i++) {
        if (landmarks[i] == *m) return NB_OK;
        NB_NEED(all, nb_format(ctx, "%s%s%d", all, i ? ", " : "", landmarks[i]));
    }
    NB_FAIL(ctx, NB_EINVAL, "the run has no m = %d; it has %s", *m, all);
}

nb_status nb_figure_is_offered(const nb_figure *figure, const nb_frame *frame, bool *offered, nb_ctx *ctx)
{
    nb_codes codes;
    *offered = !figure->again;
    if (!figure->compares) return NB_OK;
    NB_TRY(ctx, nb_frame_codes(frame, figure->compares, &codes, ctx));
    *offered = *offered && codes.count > 1;
    return NB_OK;
}

void nb_figure_warn(const char *name)
{
    fprintf(stderr, "nysbench: warning: plot %s: the run has no rows that it draws\n", name);
}
