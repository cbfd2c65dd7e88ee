/* SPDX-License-Identifier: GPL-3.0-or-later */
/* builds.c - see builds.h */
#include "report/builds.h"

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

/* Lists the builds of the store's rows by manifest. Two manifests that the same program has signed are of one build. */
static nb_status find_builds(nb_store *store, bool sessions, int *count, nb_signed **manifests, int **build,
                             nb_ctx *ctx)
{
    NB_TRY(ctx, nb_store_manifests(store, count, manifests, ctx));
    NB_NEED(*build, nb_alloc(ctx, (size_t)*count + 1, sizeof **build));
    for (int own = 0; own < *count; own++) {
        int first = 0;
        while (!sessions && first < own &&
               !nb_program_same(&(*manifests)[first].manifest.program, &(*manifests)[own].manifest.program))
            first++;
        (*build)[own] = sessions ? own : first;
    }
    return NB_OK;
}

static nb_status fill(const nb_relation *r, bool sessions, bool *several, nb_ctx *ctx)
{
    nb_signed *manifests;
    int count, *build;
    const char *sql = "";
    NB_TRY(ctx, find_builds(nb_relation_store(r), sessions, &count, &manifests, &build, ctx));
    for (int i = 0; i < count; i++) {
        NB_NEED(sql,
                nb_format(ctx, "%sINSERT INTO build VALUES (%lld, %d); ", sql, (long long)manifests[i].id, build[i]));
        *several = *several || build[i] != build[0];
    }
    return nb_relation_run(r, sql, ctx);
}

nb_status nb_builds_table(nb_relation *r, bool sessions, bool *several, nb_ctx *ctx)
{
    nb_ctx *memory;
    void **kept;
    const char *sql = sessions ? "CREATE TEMP TABLE build (manifest INTEGER PRIMARY KEY, build INTEGER) -- a call"
                               : "CREATE TEMP TABLE build (manifest INTEGER PRIMARY KEY, build INTEGER) -- a program";
    NB_TRY(ctx, nb_relation_make(r, "build", sql, ctx));
    kept = nb_relation_attached(r, "build", &memory);
    if (!*kept) {
        bool *found;
        NB_NEED(found, nb_alloc(memory, 1, sizeof *found));
        NB_TRY(ctx, fill(r, sessions, found, ctx));
        *kept = found;
    }
    *several = *(const bool *)*kept;
    return NB_OK;
}
