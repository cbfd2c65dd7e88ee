/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reload.c - loads an experiment without a command line: from a file, or from the folder of its run. */

#include "base/files.h"
#include "base/words.h"
#include "run/provenance.h"
#include "run/run_folder.h"
#include "config/config.h"
#include "run/plan.h"

nb_status nb_experiment_of_file(const char *path, nb_config *config, nb_plan *plan, nb_ctx *ctx)
{
    nb_mistakes mistakes;
    nb_mistakes_init(&mistakes, ctx);
    NB_TRY(ctx, nb_config_load(path, 0, NULL, config, &mistakes, ctx));
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EINVAL, "%s", mistakes.texts[0]);
    return nb_plan_make(config, plan, ctx);
}

nb_status nb_experiment_of_run(const char *run_folder, nb_config *config, nb_plan *plan, nb_ctx *ctx)
{
    const char *path;
    NB_TRY(ctx, nb_run_path(run_folder, NB_CONFIG_FILE, &path, ctx));
    return nb_experiment_of_file(path, config, plan, ctx);
}

/* Refuses a file that has changed since the run: says which, and what to do. */
static nb_status refuse(const char *change, const char *run_folder, nb_ctx *ctx)
{
    const char *path, *config, *folder, *program;
    NB_TRY(ctx, nb_run_path(run_folder, NB_CONFIG_FILE, &path, ctx));
    NB_TRY(ctx, nb_shell_word(path, &config, ctx));
    NB_TRY(ctx, nb_shell_word(run_folder, &folder, ctx));
    NB_TRY(ctx, nb_shell_program(&program, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s; its rows are measured anew by: %s run %s --out %s", change, program, config, folder);
}

nb_status nb_experiment_again(const char *run_folder, nb_config *config, nb_plan *plan, nb_ctx *ctx)
{
    const char *path, *manifest, **lines;
    NB_TRY(ctx, nb_experiment_of_run(run_folder, config, plan, ctx));
    NB_TRY(ctx, nb_run_path(run_folder, NB_MANIFEST_FILE, &path, ctx));
    if (!nb_is_file(path)) return NB_OK; /* nothing has been measured */
    NB_TRY(ctx, nb_read_file(path, &manifest, ctx));
    NB_TRY(ctx, nb_manifest_changes(manifest, plan->inputs, &lines, ctx));
    return lines[0] ? refuse(lines[0], run_folder, ctx) : NB_OK;
}
