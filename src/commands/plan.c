/* plan.c - nysbench plan EXP.yaml */
#include "commands/command.h"

#include "base/files.h"
#include "commands/experiment.h"
#include "report/run_folder.h"

#include <stdio.h>

/* Rows of the plan that the store of the folder holds already. */
static nb_status count_done(const char *folder, const nb_plan *plan, int *done, nb_ctx *ctx)
{
    const char *path;
    *done = 0;
    NB_TRY(ctx, nb_run_path(folder, NB_STORE_FILE, &path, ctx));
    if (!nb_is_file(path)) return NB_OK;
    nb_store store;
    NB_TRY(ctx, nb_store_open(path, false, &store, ctx));
    return nb_store_count_done(&store, plan, done, ctx);
}

static void print_scenes(const nb_plan *plan)
{
    for (int i = 0; i < plan->scene_count; i++) {
        const nb_planned_scene *s = &plan->scenes[i];
        printf("  %s head %d, %s: n = %d, d = %d%s%s%s%s\n", s->problem->label, s->head, s->kernel->label, s->n, s->d,
               s->causal ? ", causal" : "", s->random ? ", new data in each trial" : "", s->refusal ? "; skipped: " : "",
               s->refusal ? s->refusal : "");
    }
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    nb_experiment e = {.out = NULL};
    struct poptOption options[] = {NB_HELP_OPTION, NB_EXPERIMENT_OPTIONS(e), NB_SHARD_OPTION(e), POPT_TABLEEND};
    int done, code = nb_experiment_parse(command, argc, argv, options, &e, ctx);
    if (code != NB_GO_ON) return code;
    if (count_done(e.folder, &e.plan, &done, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    printf("experiment %s, seed %lld, results in %s\n", e.config.name, e.config.seed, e.folder);
    if (e.shard.count) printf("shard %d of %d\n", e.shard.index, e.shard.count);
    printf("scenes: %d\n", e.plan.scene_count);
    print_scenes(&e.plan);
    printf("trials: %d\ncells: %d (strategies %d, landmarks %d, cores %d)\nrows: %d, of which %d are done and %d are to run\n",
           e.config.trials, e.plan.cell_count, e.config.strategies.count, e.config.landmark_count, e.config.cores.count,
           e.plan.row_count, done, e.plan.row_count - done);
    return NB_EXIT_OK;
}

const nb_command nb_command_plan = {"plan", "EXPERIMENT.yaml", "Check an experiment and count what it would run", run};
