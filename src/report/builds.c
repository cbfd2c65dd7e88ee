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

nb_status nb_builds_table(nb_relation *r, bool sessions, bool *several, nb_ctx *ctx)
{
    const char *sql = "CREATE TEMP TABLE build (manifest INTEGER PRIMARY KEY, build INTEGER)";
    nb_signed *all;
    nb_answer counted;
    int count;
    NB_TRY(ctx, nb_store_manifests(r->store, &count, &all, ctx));
    for (int own = 0; own < count; own++) {
        int build = sessions ? own : 0;
        while (!nb_program_same(&all[build].manifest.program, &all[own].manifest.program)) build++;
        NB_NEED(sql, nb_format(ctx, "%s; INSERT INTO build VALUES (%lld, %d)", sql, (long long)all[own].id, build));
    }
    NB_TRY(ctx, nb_relation_make(r, "build", sql, ctx));
    NB_TRY(ctx, nb_relation_ask(r, "SELECT count(DISTINCT build) > 1 FROM build", NULL, &counted, NULL, ctx));
    *several = nb_answer_at(&counted, 0, 0)->integer;
    return NB_OK;
}
