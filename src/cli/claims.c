/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.c - see claims.h */
#include "cli/claims.h"

#include "report/builds.h"
#include "run/run_folder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

nb_status nb_claims_ask(nb_relation *relation, const nb_row_list *rows, int count, const nb_claim *claims,
                        nb_claim_results *results, nb_ctx *ctx)
{
    nb_frame frame;
    nb_claim_evidence evidence = {.frame = &frame};
    nb_claim_result *answers;
    int of_programs, of_sessions;
    nb_store *store = nb_relation_store(relation);
    NB_TRY(ctx, nb_frame_of(&frame, rows, ctx));
    frame.relation = relation;
    NB_TRY(ctx, nb_builds_of_rows(store, false, &of_programs, &evidence.programs, ctx));
    NB_TRY(ctx, nb_builds_of_rows(store, true, &of_sessions, &evidence.sessions, ctx));
    NB_REQUIRE(ctx, of_programs == rows->count && of_sessions == rows->count, NB_EIO,
               "%s: is being planned anew: try again", store->path);
    NB_TRY(ctx, nb_claims_evaluate(&evidence, count, claims, &answers, ctx));
    *results = (nb_claim_results){rows->count > 0 ? nb_row_at(rows, 0)->experiment : "", count, answers};
    return NB_OK;
}

static nb_status print(FILE *out, const void *what, nb_ctx *ctx)
{
    return nb_claims_print_csv(out, 1, what, ctx);
}

nb_status nb_claims_write(const char *folder, const nb_claim_results *results, nb_ctx *ctx)
{
    const char *path;
    if (results->count > 0) return nb_run_write(folder, NB_CLAIMS_FILE, print, results, ctx);
    NB_TRY(ctx, nb_run_path(folder, NB_CLAIMS_FILE, &path, ctx));
    NB_REQUIRE(ctx, unlink(path) == 0 || errno == ENOENT, NB_EIO, "%s: cannot be removed: %s", path, strerror(errno));
    return NB_OK;
}
