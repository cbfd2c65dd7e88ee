/* plot.c - nysbench plot RUN [KIND] */
#include "commands/command.h"

#include "report/plots.h"
#include "report/run_folder.h"

#include <stdio.h>
#include <string.h>

static nb_status plot(const char *folder, const char *only, bool draw, nb_ctx *ctx)
{
    nb_store store;
    nb_row *rows;
    nb_summary summary;
    int count;
    const char *target;
    NB_TRY(ctx, nb_run_load(folder, &store, &count, &rows, ctx));
    NB_REQUIRE(ctx, count > 0, NB_EIO, "%s: the run has no rows", folder);
    NB_TRY(ctx, nb_summary_make(count, rows, &summary, ctx));
    NB_TRY(ctx, nb_run_path(folder, NB_PLOTS_FOLDER, &target, ctx));
    for (int i = 0; nb_plot_kinds[i]; i++) {
        int figures;
        if (only && strcmp(only, nb_plot_kinds[i]) != 0) continue;
        NB_TRY(ctx, nb_plot(target, nb_plot_kinds[i], rows[0].experiment, &summary, draw, &figures, ctx));
        printf("%s: %d figure%s in %s%s\n", nb_plot_kinds[i], figures, figures == 1 ? "" : "s", target,
               figures && !draw ? ", data and scripts only: gnuplot is missing" : "");
    }
    return NB_OK;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    struct poptOption options[] = {NB_HELP_OPTION, POPT_TABLEEND};
    const char **arguments;
    int code = nb_command_parse(command, argc, argv, options, 1, 2, &arguments, ctx);
    if (code != NB_GO_ON) return code;
    bool known = !arguments[1];
    for (int i = 0; nb_plot_kinds[i] && !known; i++) known = strcmp(nb_plot_kinds[i], arguments[1]) == 0;
    if (!known) {
        const char *hint = nb_hint(arguments[1], nb_plot_kinds, ctx);
        nb_print_error("plot: no kind '%s'%s", arguments[1], hint ? hint : "");
        return NB_EXIT_USAGE;
    }
    code = nb_command_check_run(arguments[0], ctx);
    if (code != NB_GO_ON) return code;
    bool draw = nb_gnuplot_found();
    if (!draw) fprintf(stderr, "nysbench: warning: gnuplot is not installed; data and scripts are written, figures are not\n");
    return plot(arguments[0], arguments[1], draw, ctx) == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, NB_EXIT_FAILED);
}

const nb_command nb_command_plot = {"plot", "RUN [KIND]", "Draw the figures of a run: error, svd_vs_iterative", run};
