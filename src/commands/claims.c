/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.c - nysbench claims RUN...: what is claimed, and what the rows say of it. */
#include "commands/command.h"
#include "components/study.h"
#include "rows/open.h"
#include "show/claims_print.h"
#include "run/run_folder.h"

#include <limits.h>

static nb_status print_results(nb_output_format format, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    nb_page page;
    if (format == NB_FORMAT_CSV) return nb_claims_print_csv(stdout, runs, results, ctx);
    if (format == NB_FORMAT_JSON) return nb_claims_print_json(stdout, runs, results, ctx);
    nb_page_make(&page, ctx);
    page.name = "claims";
    NB_TRY(ctx,
           nb_claims_show(&page, format == NB_FORMAT_MARKDOWN ? NB_CLAIMS_TABLE : NB_CLAIMS_PARTS, runs, results, ctx));
    return nb_format_page(&page, format);
}

static nb_status ask_run(const char *folder, nb_claim_results *results, nb_ctx *ctx)
{
    nb_store *store;
    nb_relation *relation;
    const nb_given_labels *labels;
    nb_claim *claims;
    int count;
    NB_NEED(store, nb_alloc(ctx, 1, sizeof *store));
    NB_TRY(ctx, nb_run_open(folder, store, &labels, ctx));
    NB_TRY(ctx, nb_warn_of_builds(store, ctx));
    NB_TRY(ctx, nb_relation_open(&relation, store, labels, ctx));
    NB_TRY(ctx, nb_run_claims(folder, store->study, &count, &claims, ctx));
    if (count == 0) nb_print_warning("%s: its experiment makes no claims", folder);
    return nb_claims_ask(relation, count, claims, results, ctx);
}

/* *open: claims that are tested and not reproduced. */
static nb_status answer_runs(const char *const *folders, nb_output_format format, int *open, nb_ctx *ctx)
{
    int runs = 0, tally[NB_CLAIM_VERDICTS];
    nb_claim_results *results;
    while (folders[runs]) runs++;
    NB_NEED(results, nb_alloc(ctx, (size_t)runs, sizeof *results));
    for (int r = 0; r < runs; r++) NB_TRY(ctx, ask_run(folders[r], &results[r], ctx));
    nb_claims_tally(runs, results, tally);
    *open = 0;
    for (int v = 0; v < NB_CLAIM_VERDICTS; v++)
        if (v != NB_CLAIM_IS_REPRODUCED && v != NB_CLAIM_IS_UNTESTED) *open += tally[v];
    return print_results(format, runs, results, ctx);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    int strict = 0, open = 0;
    const struct poptOption options[] = {
        NB_FORMAT_OPTION(line),
        NB_FLAG_OPTION("strict", '\0', strict,
                       "Exit with 1 unless every claim is reproduced; untested ones do not count"),
        NB_PLUGIN_OPTION(line), POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, INT_MAX, ctx));
    line->stage = NB_ASKS;
    NB_TRY(ctx, answer_runs(line->arguments, (nb_output_format)line->format.value, &open, ctx));
    line->exit = strict && open > 0 ? NB_EXIT_FAILED : NB_EXIT_OK;
    return NB_OK;
}

NB_COMMAND(claims, "RUN...", "Test the claims of a run's experiment on its rows", false, NB_LOOK_AT_RUN + 50);
