/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.c - what goes wrong with one is its own. */
#include "nystrom/request.h"

nb_status nb_keep_failure(const char **failure, nb_ctx *ctx)
{
    NB_NEED(*failure, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    return NB_OK;
}

nb_status nb_pairs_form_f(const nb_f_rows *rows, int count, nb_pair *pairs, const bool *wanted, double **f,
                          nb_f_columns *columns, nb_ctx *ctx)
{
    for (int i = 0; i < count; i++) {
        const nb_picks *keys = &pairs[i].landmarks->keys;
        if (pairs[i].failure || (wanted && !wanted[i])) continue;
        NB_NEED(f[i], nb_alloc_raw(ctx, (size_t)rows->count * (size_t)keys->m));
        if (pairs[i].kind == NB_CUR)
            *columns++ = (nb_f_columns){keys, f[i]};
        else if (nb_factor_f(rows->scene, pairs[i].landmarks, rows->count, rows->tokens, f[i], ctx) != NB_OK)
            NB_TRY(ctx, nb_keep_failure(&pairs[i].failure, ctx));
    }
    return NB_OK;
}
