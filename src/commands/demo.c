/* SPDX-License-Identifier: GPL-3.0-or-later */
/* demo.c - nysbench demo: a small experiment on the heads that come with the program, in a folder of its own. */
#include "commands/command.h"

#include "base/files.h"
#include "base/words.h"
#include "commands/experiment.h"
#include "run/run_folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The folder with its experiment, on heads of eight texts that come with the program; unless they are there from the
 * last time. */
static nb_status prepare(const char *folder, const char *experiment, nb_ctx *ctx)
{
    const char *experiments, *heads[] = {NULL, NULL};
    const nb_override values[] = {{"plots", "ratio"}, {NULL, NULL}};
    const nb_new_answers answers = {values, heads};
    struct stat info;
    if (nb_is_file(experiment)) return NB_OK;
    NB_REQUIRE(ctx, lstat(folder, &info) != 0, NB_EINVAL,
               "%s: exists already, and is not a demo's; --out names another folder", folder);
    NB_TRY(ctx, nb_shipped_folder(&experiments, ctx));
    NB_NEED(heads[0], nb_format(ctx, "%s/data/panel/minilm_*.safetensors", experiments));
    NB_TRY(ctx, nb_make_folder(folder, ctx));
    return nb_new_experiment(experiment, &answers, ctx);
}

static nb_status print_next(const char *experiment, const char *results, nb_ctx *ctx)
{
    const char *program, *folder, *figure;
    NB_TRY(ctx, nb_shell_program(&program, ctx));
    NB_TRY(ctx, nb_shell_word(results, &folder, ctx));
    NB_NEED(figure, nb_format(ctx, "%s/" NB_PLOTS_FOLDER "/ratio_iterative.png", results));
    putchar('\n');
    if (nb_is_file(figure)) printf("the figure of these ratios: %s\n", figure);
    printf("the experiment, with each key explained: %s\n"
           "all numbers of landmarks together: %s compare %s --pool landmarks\n"
           "next, heads of your own: %s new experiment --heads FILE.safetensors\n",
           experiment, program, folder, program);
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    const char *folder = "nysbench-demo", *experiment, *results, *argv[] = {"run", NULL, "--out", NULL, NULL};
    char *out = NULL;
    const struct poptOption options[] = {
        NB_TEXT_OPTION("out", 'o', out, "Folder to make (default: nysbench-demo)", "DIR"), POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    if (out) folder = out;
    NB_REQUIRE(ctx, *folder, NB_EINVAL, "demo: --out is empty: expected the name of a folder");
    NB_NEED(experiment, nb_format(ctx, "%s/demo.yaml", folder));
    NB_NEED(results, nb_format(ctx, "%s/results", folder));
    NB_TRY(ctx, nb_run_check_folder(results, ctx));
    NB_TRY(ctx, prepare(folder, experiment, ctx));
    line->stage = NB_WORKS;
    argv[1] = experiment;
    argv[3] = results;
    line->exit = nb_run_command(nb_command_named("run"), 4, argv, ctx);
    return line->exit == NB_EXIT_OK ? print_next(experiment, results, ctx) : NB_OK;
}

NB_COMMAND(demo, "", "Run a small experiment, in a few seconds", true, NB_BEGIN_HERE + 10);
