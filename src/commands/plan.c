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

static void print_excluded(const nb_plan *plan)
{
    if (plan->config->rule_count == 0) return;
    printf("excluded: %d rows\n", plan->excluded_count);
    for (int r = 0; r < plan->config->rule_count; r++) {
        nb_place at = plan->config->rules[r].place;
        if (at.line > 0)
            printf("  %d by the rule at %s:%d\n", plan->excluded_by[r], at.source, at.line);
        else
            printf("  %d by a rule of %s\n", plan->excluded_by[r], at.source);
    }
}

static int print_origins(const nb_config *config, nb_ctx *ctx)
{
    const char *text;
    if (nb_config_text_with_origins(config, &text, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    fputs(text, stdout);
    return NB_EXIT_OK;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    nb_experiment e = {.out = NULL};
    int done, origins = 0;
    struct poptOption options[] = {
        NB_HELP_OPTION, NB_EXPERIMENT_OPTIONS(e),
        {"origins", '\0', POPT_ARG_NONE, &origins, 0, "Print every value of the experiment and where it comes from, and nothing else", NULL}, POPT_TABLEEND};
    int code = nb_experiment_parse(command, argc, argv, options, &e, ctx);
    if (code != NB_GO_ON) return code;
    if (origins) return print_origins(&e.config, ctx);
    if (count_done(e.folder, &e.plan, &done, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    printf("experiment %s, seed %lld, results in %s\n", e.config.name, e.config.seed, e.folder);
    printf("scenes: %d\n", e.plan.scene_count);
    print_scenes(&e.plan);
    printf("trials: %d\ncells: %d (strategies %d, landmarks %d, cores %d)\nrows: %d, of which %d are done and %d are to run\n",
           e.config.trials, e.plan.cell_count, e.config.strategies.count, e.config.landmark_count, e.config.cores.count,
           e.plan.row_count, done, e.plan.row_count - done);
    print_excluded(&e.plan);
    return NB_EXIT_OK;
}

const nb_command nb_command_plan = {"plan", "EXPERIMENT.yaml", "Check an experiment and count what it would run", run};
