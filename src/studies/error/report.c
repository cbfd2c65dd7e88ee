/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.c - see report.h */
#include "studies/error/report.h"

#include "base/files.h"
#include "run/run_folder.h"
#include "studies/error/core_table.h"
#include "studies/error/plots.h"
#include "studies/error/shares.h"
#include "studies/error/spectrum_plot.h"
#include "studies/error/table.h"

#include <string.h>

static const char shares_file[] = "shares.csv";

const char *const nb_error_files[] = {shares_file, "each strategy against the baseline, by problem and pooled", NULL};

typedef struct {
    const nb_summary *summary;
    const nb_shares *shares;
} comparison;

static nb_status print_shares(FILE *out, const void *what, nb_ctx *ctx)
{
    const comparison *c = what;
    (void)ctx;
    nb_shares_print_csv(out, c->summary, c->shares);
    return NB_OK;
}

static const nb_error_row *rows_of(const nb_results *results)
{
    return (const nb_error_row *)(const void *)results->rows.bytes;
}

nb_status nb_error_tell(const nb_results *results, FILE *out, nb_ctx *ctx)
{
    nb_summary summary;
    nb_shares shares;
    const char *baseline = results->plan->config->baseline->canonical;
    NB_TRY(ctx, nb_summary_make(results->rows.count, rows_of(results), &summary, ctx));
    NB_TRY(ctx, nb_shares_make(results->rows.count, rows_of(results), &summary, baseline, &shares, ctx));
    NB_TRY(ctx, nb_run_write(results->folder, shares_file, print_shares, &(comparison){&summary, &shares}, ctx));
    if (!out) return NB_OK;
    nb_table_print(out, &summary);
    nb_shares_print(out, &summary, &shares);
    return nb_core_table_print(out, &summary, ctx);
}

/* The kinds of the config, and those that were drawn of earlier rows, but the spectrum,
 * which is not of rows. */
nb_status nb_error_draw(const nb_results *results, nb_ctx *ctx)
{
    const nb_config *c = results->plan->config;
    const char *folder, *before;
    int figures;
    nb_summary summary;
    NB_TRY(ctx, nb_summary_make(results->rows.count, rows_of(results), &summary, ctx));
    NB_TRY(ctx, nb_run_path(results->folder, NB_PLOTS_FOLDER, &folder, ctx));
    const nb_drawing drawing = {folder, c->name, &summary, c->baseline->canonical, 0, results->draw};
    for (const char *const *kind = nb_plot_kinds; *kind; kind++) {
        bool wanted = false, spectrum = strcmp(*kind, nb_spectrum_kind) == 0;
        for (int i = 0; i < c->plot_count; i++) wanted = wanted || strcmp(c->plots[i], *kind) == 0;
        NB_NEED(before, nb_format(ctx, "%s/%s.csv", folder, *kind));
        if (!wanted && (spectrum || !nb_is_file(before))) continue;
        if (spectrum)
            NB_TRY(ctx, nb_plot_spectrum(results->plan, &summary, folder, 0, results->draw, &figures, ctx));
        else
            NB_TRY(ctx, nb_plot(&drawing, *kind, &figures, ctx));
        if (figures == 0) nb_plot_warn(*kind);
    }
    return NB_OK;
}
