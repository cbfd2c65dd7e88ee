/* SPDX-License-Identifier: GPL-3.0-or-later */
/* builds.c - see builds.h */
#include "report/builds.h"

#include "report/contrast.h"

#include <string.h>

nb_status nb_builds_print(FILE *out, const char *prefix, const char *after, nb_store *store, nb_ctx *ctx)
{
    nb_measured_by *by;
    int count;
    NB_TRY(ctx, nb_store_programs(store, &count, &by, ctx));
    if (count < 2) return NB_OK;
    bool alike = false; /* two of the same build */
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) alike = alike || strcmp(by[i].program.executable, by[j].program.executable) == 0;
    fprintf(out, "%sthese rows come from %d %s: ", prefix, count, alike ? "builds or kinds of arithmetic" : "builds");
    for (int i = 0; i < count; i++) {
        const char *text;
        NB_TRY(ctx, nb_program_text(&by[i].program, &text, ctx));
        fprintf(out, "%s%d of %s", i ? ", " : "", by[i].rows, text);
    }
    fprintf(out, "%s\n", after);
    return NB_OK;
}

nb_status nb_builds_of_rows(nb_store *store, bool sessions, int *count, const int **builds, nb_ctx *ctx)
{
    long long *ids;
    nb_signed *manifests;
    int manifest_count, *build;
    NB_TRY(ctx, nb_store_signatures(store, count, &ids, ctx));
    NB_TRY(ctx, nb_store_manifests(store, &manifest_count, &manifests, ctx));
    NB_NEED(build, nb_alloc(ctx, (size_t)*count + 1, sizeof *build));
    for (int i = 0; i < *count; i++) {
        int own = 0, first = 0;
        while (own < manifest_count && manifests[own].id != ids[i]) own++;
        if (own == manifest_count) continue;
        while (!sessions && first < own &&
               !nb_program_same(&manifests[first].manifest.program, &manifests[own].manifest.program))
            first++;
        build[i] = sessions ? own : first;
    }
    *builds = build;
    return NB_OK;
}

nb_status nb_builds_derive(nb_frame *frame, nb_store *store, bool sessions, nb_ctx *ctx)
{
    const int *builds;
    int count;
    NB_TRY(ctx, nb_builds_of_rows(store, sessions, &count, &builds, ctx));
    NB_REQUIRE(ctx, count == frame->count, NB_EIO, "%s: is being planned anew: try again", store->path);
    return nb_frame_derive(frame, NB_BUILD, builds, ctx);
}
