/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export.c - nysbench export RUN: the rows, or the landmarks themselves. */
#include "commands/command.h"
#include "commands/program.h"
#include "show/cells.h"
#include "run/run_folder.h"
#include "studies/error/runner.h"

#include <stdlib.h>
#include <string.h>

static nb_status export_rows(const char *folder, bool json, nb_ctx *ctx)
{
    nb_store store;
    nb_row_list rows;
    NB_TRY(ctx, nb_run_load(folder, &store, &rows, ctx));
    NB_TRY(ctx, nb_warn_of_builds(&store, ctx));
    if (json) return nb_rows_print_json(stdout, &rows, ctx);
    return nb_rows_print_csv(stdout, &rows, ctx);
}

static nb_status export_landmarks(const char *folder, bool programs, const char *out, int *failed, nb_ctx *ctx)
{
    int aside = nb_program_aside();
    nb_status status = nb_export_landmarks(folder, programs, out, failed, ctx);
    nb_program_output(aside);
    NB_TRY(ctx, status);
    printf("%s: index.csv, and a folder with Q, K, V and the landmarks for each instance\n", out);
    fflush(stdout);
    if (*failed)
        nb_print_error("export: %d choice%s of landmarks failed: %s/index.csv says why", *failed,
                       *failed == 1 ? "" : "s", out);
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    static const char *const formats[] = {"csv", "json", NULL};
    nb_word_value format = {.words = formats};
    char *landmarks = NULL;
    int failed = 0;
    const struct poptOption options[] = {
        NB_WORD_OPTION("format", 'f', format, "csv (default) or json, to standard output", "csv|json"),
        NB_TEXT_OPTION("landmarks", 'l', landmarks,
                       "Pick the run's landmarks again and write them, with Q, K and V, as .npy files into DIR", "DIR"),
        NB_PLUGIN_OPTION(line), NB_PROGRAMS_OPTION(line), POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 1, ctx));
    line->stage = NB_WORKS;
    NB_TRY(ctx, landmarks ? export_landmarks(line->arguments[0], line->programs, landmarks, &failed, ctx)
                          : export_rows(line->arguments[0], format.value == 1, ctx));
    line->exit = failed ? NB_EXIT_FAILED : NB_EXIT_OK;
    return NB_OK;
}

NB_COMMAND(export, "RUN", "Write the rows of a run, or its landmarks", true, NB_LOOK_AT_RUN + 60);
