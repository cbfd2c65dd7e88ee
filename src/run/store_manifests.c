/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_manifests.c - which programs have measured the rows. */
#include "run/store_private.h"

/* A statement whose rows are: a manifest's number, its rows in the plan, its hidden rows, its text, build,
 * executable and arithmetic. */
static nb_status read_manifests(nb_store *store, const char *statement, int *count, nb_signed **manifests, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    int code, room = 0;
    *manifests = NULL;
    NB_TRY(ctx, nb_store_prepare(store, statement, &s, ctx));
    for (*count = 0; (code = sqlite3_step(s)) == SQLITE_ROW; ++*count) {
        NB_GROW(ctx, *manifests, *count, room);
        nb_signed *m = &(*manifests)[*count];
        *m = (nb_signed){
            .id = sqlite3_column_int64(s, 0), .rows = sqlite3_column_int(s, 1), .hidden = sqlite3_column_int(s, 2)};
        NB_NEED(m->manifest.text, nb_strdup(ctx, (const char *)sqlite3_column_text(s, 3)));
        NB_NEED(m->manifest.program.build, nb_strdup(ctx, (const char *)sqlite3_column_text(s, 4)));
        NB_NEED(m->manifest.program.executable, nb_strdup(ctx, (const char *)sqlite3_column_text(s, 5)));
        NB_NEED(m->manifest.program.arithmetic, nb_strdup(ctx, (const char *)sqlite3_column_text(s, 6)));
    }
    return code == SQLITE_DONE ? NB_OK : nb_store_fail(store, "reading manifests", ctx);
}

nb_status nb_store_manifests(nb_store *store, int *count, nb_signed **manifests, nb_ctx *ctx)
{
    return read_manifests(store, "store.manifests", count, manifests, ctx);
}

nb_status nb_store_find_replaced(nb_store *store, int *count, nb_signed **manifests, nb_ctx *ctx)
{
    return read_manifests(store, "store.replaced", count, manifests, ctx);
}

nb_status nb_store_is_shared(nb_store *store, bool *shared, nb_ctx *ctx)
{
    int count;
    NB_TRY(ctx, nb_store_number(store, "store.count_manifests", "counting manifests", &count, ctx));
    *shared = count > 1;
    return NB_OK;
}

nb_status nb_store_programs(nb_store *store, int *count, nb_signed **programs, nb_ctx *ctx)
{
    return read_manifests(store, "store.programs", count, programs, ctx);
}
