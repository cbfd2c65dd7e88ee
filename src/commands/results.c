/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results.c - see experiment.h */
#include "commands/experiment.h"

#include "answers/caveats.h"
#include "rows/open.h"
#include "show/claims_print.h"
#include "show/cells.h"
#include "show/results.h"
#include "show/table.h"
#include "run/run_folder.h"
#include "show/full_study.h"

#include <sys/stat.h>

/* Names what has been written. */
static nb_status print_places(const nb_experiment *e, const nb_telling *how, nb_ctx *ctx)
{
    bool claims = e->config.claim_count && !e->shard.count;
    const char *plots;
    struct stat info;
    NB_TRY(ctx, nb_run_path(e->folder, NB_PLOTS_FOLDER, &plots, ctx));
    printf("\n%s: " NB_CSV_FILE ", " NB_STORE_FILE ", " NB_CONFIG_FILE ", " NB_MANIFEST_FILE "%s", e->folder,
           claims ? ", " NB_CLAIMS_FILE : "");
    NB_TRY(ctx, nb_tables_print_files(stdout, e->folder, e->config.study->component.name, ctx));
    if (stat(plots, &info) == 0 && S_ISDIR(info.st_mode))
        printf(", " NB_PLOTS_FOLDER "/ (%s)", how->gnuplots > 0 ? "SVG, PNG" : "not drawn");
    printf("\nNext: nysbench table %s, nysbench report %s\n", e->folder, e->folder);
    return NB_OK;
}

static nb_status print_claims(FILE *out, const void *what, nb_ctx *ctx)
{
    return nb_claims_print_csv(out, 1, what, ctx);
}

/* Rows of a shard alone are asked nothing. */
static nb_status tell_claims(const nb_experiment *e, const nb_results *of, nb_page *page, nb_ctx *ctx)
{
    nb_claim_results results = {.count = 0};
    if (e->shard.count) return NB_OK;
    if (e->config.claim_count)
        NB_TRY(ctx, nb_claims_ask(of->relation, e->config.claim_count, e->config.claims, &results, ctx));
    NB_TRY(ctx, nb_run_write(e->folder, NB_CLAIMS_FILE, results.count ? print_claims : NULL, &results, ctx));
    return page ? nb_claims_show(page, NB_CLAIMS_LINES, 1, &results, ctx) : NB_OK;
}

static nb_status draw_figures(nb_results *results, int gnuplots, nb_ctx *ctx)
{
    const nb_full_study *study = nb_full_study_of(results->plan->config->study);
    NB_TRY(ctx, nb_gnuplots_new(gnuplots, &results->gnuplots, ctx));
    nb_status status = (study->draw ? study->draw : nb_results_draw)(results, ctx);
    nb_status drawn = nb_gnuplots_wait(results->gnuplots, ctx);
    return status == NB_OK ? drawn : status;
}

nb_status nb_tell_results(const nb_experiment *e, nb_store *store, const bool *only, const nb_telling *how,
                          int *failures, nb_ctx *ctx)
{
    const nb_study *study = e->config.study;
    nb_results results = {.folder = e->folder, .plan = &e->plan, .part = e->shard.count > 0};
    nb_row_list rows;
    nb_page page;
    nb_page_make(&page, ctx);
    NB_TRY(ctx, nb_store_rows(store, &rows, ctx));
    NB_TRY(ctx, nb_run_labels(e->folder, study, &rows.labels, ctx));
    NB_TRY(ctx, nb_relation_open(&results.relation, store, rows.labels, ctx));
    const char *baseline = e->config.baseline ? e->config.baseline->canonical : NULL;
    NB_TRY(ctx, nb_relation_take_baseline(results.relation, baseline, ctx));
    NB_TRY(ctx, nb_run_write(e->folder, NB_CSV_FILE, nb_rows_print_csv, &rows, ctx));
    NB_TRY(ctx, nb_outcomes_choose(results.relation, &e->plan, only, failures, ctx));
    nb_status (*tell)(const nb_results *, nb_page *, nb_ctx *) = nb_full_study_of(study)->tell;
    NB_TRY(ctx, (tell ? tell : nb_results_tell)(&results, how->quiet ? NULL : &page, ctx));
    NB_TRY(ctx, tell_claims(e, &results, how->quiet ? NULL : &page, ctx));
    if (!how->quiet) {
        NB_TRY(ctx, nb_format_page(&page, NB_FORMAT_TABLE));
        if (page.count > 0) fputc('\n', stdout);
        NB_TRY(ctx, nb_builds_print(stdout, "Note: ", "; 'nysbench info RUN' shows more", store, ctx));
    }
    NB_TRY(ctx, nb_outcomes_print(e, results.relation, only != NULL, ctx));
    fflush(stdout);
    bool interrupted = how->interrupted && *how->interrupted;
    nb_status status = interrupted || results.part ? NB_OK : draw_figures(&results, how->gnuplots, ctx);
    if (!how->quiet) NB_TRY(ctx, print_places(e, how, ctx));
    return status;
}
