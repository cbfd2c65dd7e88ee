/* SPDX-License-Identifier: GPL-3.0-or-later */
/* experiment.c - from the command line to a plan. */
#include "run/experiment.h"

#include "base/digest.h"
#include "base/files.h"
#include "calls/early.h"
#include "studies/error/plan_check.h"
#include "run/provenance.h"
#include "report/run_folder.h"

#include <limits.h>
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

static int by_key(const void *a, const void *b)
{
    return strcmp(((const nb_override *)a)->key, ((const nb_override *)b)->key);
}

/* The overrides that make other rows, each key's last, sorted: "key=value" a line; "" where there are
 * none, and where the name is among them, which says what the folder is. */
static nb_status row_makers(int count, const nb_override *set, const char **text, nb_ctx *ctx)
{
    nb_override *kept;
    int kept_count = 0;
    *text = "";
    NB_NEED(kept, nb_alloc(ctx, (size_t)count + 1, sizeof *kept));
    for (int i = 0; i < count; i++) {
        bool last = nb_config_makes_rows(set[i].key);
        if (strcmp(set[i].key, "name") == 0) return NB_OK;
        for (int j = i + 1; j < count; j++) last = last && strcmp(set[i].key, set[j].key) != 0;
        if (last) kept[kept_count++] = set[i];
    }
    qsort(kept, (size_t)kept_count, sizeof *kept, by_key);
    for (int i = 0; i < kept_count; i++) NB_NEED(*text, nb_format(ctx, "%s%s=%s\n", *text, kept[i].key, kept[i].value));
    return NB_OK;
}

/* Rows of another experiment would stand under the figures of the file's. */
static nb_status choose_folder(nb_experiment *e, int count, const nb_override *set, nb_ctx *ctx)
{
    enum { LETTERS = 8 };
    const char *text, *digest;
    NB_TRY(ctx, row_makers(count, set, &text, ctx));
    NB_TRY(ctx, nb_digest_text(text, &digest, ctx));
    e->apart = !e->out && *text;
    NB_NEED(e->folder, e->out     ? nb_strdup(ctx, e->out)
                       : e->apart ? nb_format(ctx, "results/%s-%.*s", e->config.name, LETTERS, digest)
                                  : nb_format(ctx, "results/%s", e->config.name));
    return NB_OK;
}

static nb_status load(const char *path, nb_experiment *e, nb_mistakes *mistakes, nb_ctx *ctx)
{
    nb_override *replaced;
    int count;
    NB_TRY(ctx, overrides(e->set, &count, &replaced, ctx));
    NB_TRY(ctx, nb_config_load(path, count, replaced, &e->config, mistakes, ctx));
    int known = mistakes->count == 0 ? e->config.strategies.count : 0;
    for (int i = 0; i < known; i++)
        NB_TRY(ctx, nb_mistakes_take(mistakes, (nb_place){.source = path},
                                     nb_strategy_ready(&e->config.strategies.items[i], ctx)));
    if (mistakes->count > 0) return NB_OK;
    NB_TRY(ctx, choose_folder(e, count, replaced, ctx));
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
            nb_print_warning("%s:%d:%d: exclude: the rule takes no row out", at.source, at.line, at.column);
        else
            nb_print_warning("%s: exclude: a rule takes no row out", at.source);
    }
}

/* What the config's lists repeat; blocks may share a list. Several problems may be of one file. */
static void warn_of_config(const nb_config *c)
{
    for (int i = 0; i < c->warnings.count; i++) {
        bool before = false;
        for (int j = 0; j < i; j++) before = before || strcmp(c->warnings.texts[j], c->warnings.texts[i]) == 0;
        if (!before) nb_print_warning("%s", c->warnings.texts[i]);
    }
    for (int i = 0; i < c->problems.count; i++) {
        const char *warning = c->shapes[i].warning;
        bool before = false;
        for (int j = 0; warning && j < i; j++)
            before = before || (c->shapes[j].warning && strcmp(c->shapes[j].warning, warning) == 0);
        if (warning && !before) nb_print_warning("%s", warning);
    }
}

/* The least m of the rows of a problem, where it has any, and whether it is above the tokens of all its heads. */
static bool too_small(const nb_plan *plan, const nb_choice *problem, int *least, int *tokens)
{
    *least = INT_MAX;
    *tokens = 0;
    for (int i = 0; i < plan->row_count; i++) {
        const nb_planned_scene *scene = &plan->scenes[plan->rows[i].scene];
        int m = plan->cells[plan->rows[i].cell].m;
        if (problem && scene->problem != problem) continue;
        if (m < *least) *least = m;
        if (scene->n > *tokens) *tokens = scene->n;
    }
    return *tokens > 0 && *least > *tokens; /* a shard may have none of its rows */
}

/* Rows of more landmarks than tokens are skipped, which for all of them is a slip. */
static void warn_of_small_heads(const nb_plan *plan)
{
    int least, tokens;
    if (too_small(plan, NULL, &least, &tokens)) {
        nb_print_warning("all %d rows will be skipped: the least m is %d, and no head has more than %d tokens",
                         plan->row_count, least, tokens);
        return;
    }
    for (int i = 0; i < plan->scene_count; i++) {
        const nb_choice *problem = plan->scenes[i].problem;
        bool before = false;
        for (int j = 0; j < i; j++) before = before || plan->scenes[j].problem == problem;
        if (!before && too_small(plan, problem, &least, &tokens))
            nb_print_warning("%s: all its rows will be skipped: the least m is %d, n is %d", problem->label, least,
                             tokens);
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
    if (experiment->out && nb_defer(ctx, free, experiment->out) != NB_OK) status = NB_ENOMEM;
    if (experiment->shard_text && nb_defer(ctx, free, experiment->shard_text) != NB_OK) status = NB_ENOMEM;
    if (status == NB_OK) status = nb_command_plugins(experiment->plugins, ctx);
    if (code != NB_GO_ON) return code;
    experiment->path = arguments[0];
    if (status == NB_OK) status = load(arguments[0], experiment, &mistakes, ctx);
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    if (mistakes.count) return nb_print_mistakes(&mistakes);
    warn_of_config(&experiment->config);
    warn_of_small_heads(&experiment->plan);
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

nb_status nb_experiment_again(const char *run_folder, nb_config *config, nb_plan *plan, nb_ctx *ctx)
{
    const char *path, *manifest, **lines;
    NB_TRY(ctx, nb_experiment_of_run(run_folder, config, plan, ctx));
    NB_TRY(ctx, nb_run_path(run_folder, NB_MANIFEST_FILE, &path, ctx));
    if (!nb_is_file(path)) return NB_OK; /* nothing has been measured */
    NB_TRY(ctx, nb_read_file(path, &manifest, ctx));
    NB_TRY(ctx, nb_manifest_changes(manifest, plan->inputs, &lines, ctx));
    NB_REQUIRE(ctx, !lines[0], NB_EINVAL, "%s", lines[0]);
    return NB_OK;
}
