/* experiment.c - from the command line to a plan. */
#include "commands/experiment.h"

#include "experiment/plan_check.h"
#include "report/run_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* KEY=VALUE texts; NB_EINVAL where there is no '='. */
static nb_status overrides(const char **set, int *count, nb_override **out, nb_ctx *ctx)
{
    *count = 0;
    while (set && set[*count]) ++*count;
    NB_NEED(*out, nb_alloc(ctx, (size_t)*count + 1, sizeof **out));
    for (int i = 0; i < *count; i++) {
        const char *equals = strchr(set[i], '=');
        NB_REQUIRE(ctx, equals && equals > set[i], NB_EINVAL, "--set %s: expected KEY=VALUE", set[i]);
        NB_NEED((*out)[i].key, nb_format(ctx, "%.*s", (int)(equals - set[i]), set[i]));
        (*out)[i].value = equals + 1;
    }
    return NB_OK;
}

/* The experiment becomes its shard: that part of the plan, and a folder within the run's. */
static nb_status take_shard(nb_experiment *e, nb_ctx *ctx)
{
    nb_plan whole = e->plan;
    int *of;
    NB_TRY(ctx, nb_shard_parse(e->shard_text, &e->shard, ctx));
    NB_TRY(ctx, nb_shards_assign(&whole, e->shard.count, &of, ctx));
    NB_TRY(ctx, nb_shard_plan(&whole, of, e->shard.index, &e->plan, ctx));
    return nb_run_shard_folder(e->folder, e->shard, &e->folder, ctx);
}

static nb_status load(const char *path, nb_experiment *e, nb_mistakes *mistakes, nb_ctx *ctx)
{
    nb_override *replaced;
    int count;
    NB_TRY(ctx, overrides(e->set, &count, &replaced, ctx));
    NB_TRY(ctx, nb_config_load(path, count, replaced, &e->config, mistakes, ctx));
    int known = mistakes->count == 0 ? e->config.strategies.count : 0;
    for (int i = 0; i < known; i++)
        NB_TRY(ctx, nb_mistakes_take(mistakes, (nb_place){.source = path}, nb_strategy_ready(&e->config.strategies.items[i], ctx)));
    if (mistakes->count > 0) return NB_OK;
    NB_NEED(e->folder, e->out ? nb_strdup(ctx, e->out) : nb_format(ctx, "results/%s", e->config.name));
    NB_TRY(ctx, nb_plan_make(&e->config, &e->plan, ctx));
    NB_TRY(ctx, nb_plan_check(&e->plan, ctx));
    return e->shard_text ? take_shard(e, ctx) : NB_OK;
}

/* A rule that does nothing may be a slip; with --set it may be meant. */
static void warn_of_idle_rules(const nb_plan *plan)
{
    for (int r = 0; r < plan->config->rule_count; r++) {
        nb_place at = plan->config->rules[r].place;
        if (plan->excluded_by[r] > 0) continue;
        if (at.line > 0)
            fprintf(stderr, "nysbench: warning: %s:%d:%d: exclude: the rule takes no row out\n", at.source, at.line, at.column);
        else
            fprintf(stderr, "nysbench: warning: %s: exclude: a rule takes no row out\n", at.source);
    }
}

int nb_experiment_parse(const nb_command *command, int argc, const char **argv, struct poptOption *options,
                        nb_experiment *experiment, nb_ctx *ctx)
{
    nb_mistakes mistakes;
    const char **arguments;
    nb_mistakes_init(&mistakes, ctx);
    int code = nb_command_parse(command, argc, argv, options, 1, 1, &arguments, ctx);
    nb_status status = nb_command_own(experiment->set, ctx);
    if (status == NB_OK) status = nb_command_plugins(experiment->plugins, ctx);
    if (status == NB_OK && experiment->out) status = nb_defer(ctx, free, experiment->out);
    if (status == NB_OK && experiment->shard_text) status = nb_defer(ctx, free, experiment->shard_text);
    if (code != NB_GO_ON) return code;
    experiment->path = arguments[0];
    if (status == NB_OK) status = load(arguments[0], experiment, &mistakes, ctx);
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    if (mistakes.count) return nb_print_mistakes(&mistakes);
    warn_of_idle_rules(&experiment->plan);
    return NB_GO_ON;
}

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
