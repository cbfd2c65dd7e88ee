/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.c - see claims.h */
#include "cli/claims.h"

#include "run/run_folder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

nb_status nb_claims_ask(nb_relation *relation, int count, const nb_claim *claims, nb_claim_results *results,
                        nb_ctx *ctx)
{
    const char *experiment;
    nb_claim_result *answers;
    NB_TRY(ctx, nb_relation_experiment(relation, &experiment, ctx));
    NB_TRY(ctx, nb_claims_evaluate(relation, count, claims, &answers, ctx));
    *results = (nb_claim_results){relation, experiment ? experiment : "", count, answers};
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
