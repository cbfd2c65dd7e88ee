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
    const char *sql;
    nb_grid counted;
    NB_NEED(sql, nb_format(ctx,
                           "CREATE TEMP TABLE build (manifest INTEGER PRIMARY KEY, build INTEGER); "
                           "INSERT INTO build SELECT id, dense_rank() OVER (ORDER BY first) - 1 FROM (SELECT id, %s AS "
                           "first FROM main.manifests)",
                           sessions ? "id"
                                    : "min(id) OVER (PARTITION BY executable, coalesce(json_extract(text, "
                                      "'$.arithmetic'), 'arithmetic unknown'))"));
    NB_TRY(ctx, nb_relation_make(r, "build", sql, ctx));
    NB_TRY(ctx, nb_relation_ask(r, "SELECT count(DISTINCT build) > 1 FROM build", &counted, ctx));
    *several = nb_grid_at(&counted, 0, 0)->integer;
    return NB_OK;
}
