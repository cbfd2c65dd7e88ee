/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot.c - nysbench plot RUN [KIND], or --landmarks */
#include "cli/command.h"

#include "base/gnuplot.h"

#include "cli/experiment.h"
#include "studies/error/landmark_plot.h"
#include "studies/error/spectrum_plot.h"
#include "report/builds.h"
#include "studies/error/plots.h"
#include "run/run_folder.h"
#include "run/reload.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void count_figures(const char *kind, int figures, const char *folder, bool draw)
{
    if (figures == 0)
        nb_plot_warn(kind);
    else
        printf("%s: %d figure%s in %s%s\n", kind, figures, figures == 1 ? "" : "s", folder,
               draw ? "" : ", data and scripts only: gnuplot is missing");
}

/* The summary of the run's rows. */
static nb_status load(const char *folder, nb_summary *summary, nb_ctx *ctx)
{
    nb_store store;
    nb_row_list rows;
    NB_TRY(ctx, nb_run_load(folder, &store, &rows, ctx));
    NB_TRY(ctx, nb_builds_print(stderr, "nysbench: warning: ", "; 'nysbench info RUN' tells more", &store, ctx));
    NB_REQUIRE(ctx, rows.count > 0, NB_EIO, "%s: the run has no rows", folder);
    return nb_summary_make(rows.count, (const nb_error_row *)(const void *)rows.bytes, summary, ctx);
}

static nb_status plot(const char *folder, const char *only, int m, bool draw, nb_ctx *ctx)
{
    nb_summary summary;
    nb_drawing drawing = {.summary = &summary, .m = m, .draw = draw};
    NB_TRY(ctx, load(folder, &summary, ctx));
    NB_TRY(ctx, nb_run_path(folder, NB_PLOTS_FOLDER, &drawing.folder, ctx));
    NB_TRY(ctx, nb_run_baseline(folder, &drawing.baseline, ctx));
    drawing.experiment = summary.rows[0].experiment;
    for (int i = 0; nb_plot_kinds[i]; i++) {
        int figures;
        if (strcmp(nb_plot_kinds[i], nb_spectrum_kind) == 0 || (only && strcmp(only, nb_plot_kinds[i]) != 0)) continue;
        NB_TRY(ctx, nb_plot(&drawing, nb_plot_kinds[i], &figures, ctx));
        if (only || figures > 0) count_figures(nb_plot_kinds[i], figures, drawing.folder, draw);
    }
    return NB_OK;
}

static nb_status plot_spectrum(const char *folder, int m, bool draw, nb_ctx *ctx)
{
    nb_config config;
    nb_plan plan;
    nb_summary summary;
    const char *target;
    int figures;
    NB_TRY(ctx, nb_experiment_again(folder, &config, &plan, ctx));
    NB_TRY(ctx, load(folder, &summary, ctx));
    NB_TRY(ctx, nb_run_path(folder, NB_PLOTS_FOLDER, &target, ctx));
    NB_TRY(ctx, nb_plot_spectrum(&plan, &summary, target, m, draw, &figures, ctx));
    count_figures(nb_spectrum_kind, figures, target, draw);
    return NB_OK;
}

static nb_status plot_landmarks(const char *folder, const nb_landmark_view *view, bool draw, nb_ctx *ctx)
{
    const char *target;
    int figures;
    NB_TRY(ctx, nb_run_path(folder, NB_PLOTS_FOLDER, &target, ctx));
    NB_TRY(ctx, nb_plot_landmarks(folder, view, draw, &figures, ctx));
    count_figures("landmarks", figures, target, draw);
    return NB_OK;
}

typedef struct { /* the command line's; NULL: not given */
    int landmarks;
    char *m, *trial, *head, *side;
} choices;

/* `kind`: NULL where none is given. */
static int read_view(const nb_command *command, const choices *c, const char *kind, nb_landmark_view *view)
{
    *view = (nb_landmark_view){.head = -1, .queries = c->side && strcmp(c->side, "queries") == 0};
    if (!c->landmarks && (c->trial || c->head || c->side)) {
        nb_print_error("plot: --trial, --head and --side are for --landmarks");
        return NB_EXIT_USAGE;
    }
    if (!c->landmarks && c->m && !(kind && nb_plot_of_one_m(kind))) {
        nb_print_error("plot: --m is for --landmarks and the kinds cutoff, steps and spectrum");
        return NB_EXIT_USAGE;
    }
    if (c->side && !view->queries && strcmp(c->side, "keys") != 0) {
        nb_print_error("plot: --side %s is unknown; allowed: keys, queries", c->side);
        return NB_EXIT_USAGE;
    }
    int code = nb_command_number(command, "--m", c->m, 1, INT_MAX, &view->m);
    if (code == NB_GO_ON) code = nb_command_number(command, "--trial", c->trial, 0, INT_MAX, &view->trial);
    return code == NB_GO_ON ? nb_command_number(command, "--head", c->head, 0, INT_MAX, &view->head) : code;
}

static nb_status keep_texts(const choices *c, nb_ctx *ctx)
{
    char *const texts[] = {c->m, c->trial, c->head, c->side};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]) NB_TRY(ctx, nb_defer(ctx, free, texts[i]));
    return NB_OK;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    choices chosen = {.m = NULL};
    nb_landmark_view view;
    struct poptOption options[] = {
        NB_HELP_OPTION,
        {"landmarks", 'l', POPT_ARG_NONE, &chosen.landmarks, 0,
         "Pick the run's landmarks again and draw where they lie", NULL},
        {"m", 'm', POPT_ARG_STRING, &chosen.m, 0,
         "How many landmarks, for --landmarks, cutoff, steps and spectrum (default: the middle one of the run's)", "M"},
        {"trial", 't', POPT_ARG_STRING, &chosen.trial, 0, "Of which trial (default: 0)", "T"},
        {"head", '\0', POPT_ARG_STRING, &chosen.head, 0, "Of which head (default: the first of each problem)", "H"},
        {"side", '\0', POPT_ARG_STRING, &chosen.side, 0, "The plane shows keys (default) or queries", "SIDE"},
        POPT_TABLEEND};
    const char **arguments;
    int code = nb_command_parse(command, argc, argv, options, 1, 2, &arguments, ctx);
    if (keep_texts(&chosen, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    if (code == NB_GO_ON) code = read_view(command, &chosen, arguments[1], &view);
    if (code != NB_GO_ON) return code;
    if (chosen.landmarks && arguments[1]) {
        nb_print_error("plot: --landmarks takes no kind");
        return NB_EXIT_USAGE;
    }
    bool known = !arguments[1];
    for (int i = 0; nb_plot_kinds[i] && !known; i++) known = strcmp(nb_plot_kinds[i], arguments[1]) == 0;
    if (!known) {
        const char *hint = nb_hint(arguments[1], nb_plot_kinds, ctx);
        nb_print_error("plot: no kind '%s'%s", arguments[1], hint ? hint : "");
        return NB_EXIT_USAGE;
    }
    code = nb_command_check_run(arguments[0], ctx);
    if (code != NB_GO_ON) return code;
    const char *version;
    bool draw = nb_gnuplot_version(&version, ctx);
    if (!draw)
        fprintf(
            stderr,
            "nysbench: warning: gnuplot is not installed, or does not answer; data and scripts are written, figures are not\n");
    nb_status status;
    if (chosen.landmarks)
        status = plot_landmarks(arguments[0], &view, draw, ctx);
    else if (arguments[1] && strcmp(arguments[1], nb_spectrum_kind) == 0)
        status = plot_spectrum(arguments[0], view.m, draw, ctx);
    else
        status = plot(arguments[0], arguments[1], view.m, draw, ctx);
    return status == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, NB_EXIT_FAILED);
}

const nb_command nb_command_plot = {
    "plot",
    "RUN [KIND]",
    "Draw the figures of a run.\n\nKIND is error, svd_vs_iterative, cutoff, steps, cores, rows, precision or forest (default:\neach that the rows allow), or spectrum, which picks the landmarks again, as --landmarks does",
    run,
    true,
    60};
