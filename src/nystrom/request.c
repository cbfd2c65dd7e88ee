/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.c - a failure belongs to its request alone. */
#include "nystrom/request.h"

#include "nystrom/factors_record.h"

nb_status nb_record_failure(const char **failure, nb_ctx *ctx)
{
    NB_NEED(*failure, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    return NB_OK;
}

nb_status nb_request_find_seen(nb_request *r, const int *order, bool *more, nb_ctx *ctx)
{
    const nb_factors *f = r->pair->factors;
    const bool *read = r->pair->landmarks->read;
    int n = f->n, first = f->seen, all, *own;
    r->seen = f->seen;
    r->order = NULL;
    r->keep_rows = f->keep_rows && f->seen > 0;
    while (read && first < n && read[order[first]]) first++;
    all = first;
    for (int i = first; read && i < n; i++) all += read[order[i]];
    *more = r->keep_rows && all > f->seen;
    if (r->keep_rows) return NB_OK;
    r->seen = all;
    if (all == first) return NB_OK;
    NB_NEED(own, nb_alloc(ctx, (size_t)n, sizeof *own));
    for (int i = 0, seen = first, unseen = all; i < n; i++)
        own[i < first ? i : read[order[i]] ? seen++ : unseen++] = order[i];
    r->order = own;
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
        else if (nb_factor_f(rows->scene, pairs[i].landmarks, pairs[i].factors->interpolation.bias, rows->count,
                             rows->tokens, f[i], ctx) != NB_OK)
            NB_TRY(ctx, nb_record_failure(&pairs[i].failure, ctx));
    }
    return NB_OK;
}
