/* SPDX-License-Identifier: GPL-3.0-or-later */
/* experiment.c - from the command line to a plan. */
#include "commands/experiment.h"

#include "base/builder.h"
#include "base/digest.h"
#include "base/fields.h"
#include "base/machine.h"
#include "base/numbers.h"
#include "base/text.h"
#include "config/code.h"
#include "run/run_folder.h"
#include "run/run_study.h"

#include <stdlib.h>
#include <string.h>

/* KEY=VALUE texts; NB_EINVAL if there is no '='. */
static nb_status overrides(const char **set, int *count, nb_override **out, nb_ctx *ctx)
{
    *count = nb_text_count(set);
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
    NB_TRY(ctx, nb_shard_parse(e->shard_text, "--shard", &e->shard, ctx));
    NB_TRY(ctx, nb_shards_assign(&whole, e->shard.count, &of, ctx));
    NB_TRY(ctx, nb_shard_plan(&whole, of, e->shard.index, &e->plan, ctx));
    return nb_run_shard_folder(e->folder, e->shard, &e->folder, ctx);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const nb_override *)a)->key, ((const nb_override *)b)->key);
}

/* The overrides that make other rows, each key's last, sorted: "key=value" a line; "" if there are none, and where
 * the name is among them, which says what the folder is. */
static nb_status row_makers(int count, const nb_override *set, const char **text, nb_ctx *ctx)
{
    nb_override *kept;
    int kept_count = 0;
    nb_string all = NB_NO_TEXT;
    *text = "";
    NB_NEED(kept, nb_alloc(ctx, (size_t)count + 1, sizeof *kept));
    for (int i = 0; i < count; i++) {
        bool last = nb_config_makes_rows(set[i].key);
        if (strcmp(set[i].key, "name") == 0) return NB_OK;
        for (int j = i + 1; j < count; j++) last = last && strcmp(set[i].key, set[j].key) != 0;
        if (last) kept[kept_count++] = set[i];
    }
    qsort(kept, (size_t)kept_count, sizeof *kept, by_key);
    for (int i = 0; i < kept_count; i++) NB_TRY(ctx, nb_append(&all, ctx, "%s=%s\n", kept[i].key, kept[i].value));
    *text = all.text;
    return NB_OK;
}

/* Otherwise rows of another experiment would stand under the figures of the file's. */
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
    const char *const *code;
    int count;
    NB_TRY(ctx, overrides(e->set, &count, &replaced, ctx));
    if (e->only_plan) {
        NB_TRY(ctx, nb_config_code(path, count, replaced, &code, ctx));
        NB_TRY(ctx, nb_announce_code(code, ctx));
    }
    NB_TRY(ctx, nb_config_load(path, count, replaced, &e->config, mistakes, ctx));
    if (mistakes->count == 0) NB_TRY(ctx, nb_config_check_ready(&e->config, path, mistakes));
    if (mistakes->count > 0) return NB_OK;
    NB_TRY(ctx, choose_folder(e, count, replaced, ctx));
    NB_TRY(ctx, nb_plan_make(&e->config, &e->plan, ctx));
    NB_TRY(ctx, nb_plan_check(&e->plan, ctx));
    if (e->shard_text) NB_TRY(ctx, take_shard(e, ctx));
    return nb_run_check_folder(e->folder, ctx);
}

/* Warns once of each thing that may be a mistake: what lists repeat, which blocks may share; what files do not say, of
 * which several problems may read one; what the study finds suspicious; rules that remove nothing, which with --set may
 * be intended. */
static nb_status warn(const nb_plan *plan, nb_ctx *ctx)
{
    const nb_config *c = plan->config;
    const nb_place nowhere = {.source = NULL};
    nb_mistakes all = {.ctx = ctx};
    for (int i = 0; i < c->warnings.count; i++) NB_TRY(ctx, nb_mistakes_add(&all, nowhere, "%s", c->warnings.texts[i]));
    for (int i = 0; i < c->lists[NB_AXIS_PROBLEM].count; i++)
        if (c->shapes[i].warning) NB_TRY(ctx, nb_mistakes_add(&all, nowhere, "%s", c->shapes[i].warning));
    if (nb_run_study_of(c->study)->warn) NB_TRY(ctx, nb_run_study_of(c->study)->warn(plan, &all));
    for (int r = 0; r < c->rule_count; r++)
        if (plan->excluded_by[r] == 0)
            NB_TRY(ctx, nb_mistakes_add(&all, c->rules[r].place, "exclude: the rule removes no row"));
    for (int i = 0; i < all.count; i++) {
        bool before = false;
        for (int j = 0; j < i; j++) before = before || strcmp(all.texts[j], all.texts[i]) == 0;
        if (!before) nb_print_warning("%s", all.texts[i]);
    }
    return NB_OK;
}

nb_status nb_experiment_parse(nb_command_line *line, const struct poptOption *options, nb_experiment *e, nb_ctx *ctx)
{
    nb_mistakes mistakes = {.ctx = ctx};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    e->path = line->arguments[0];
    e->plugins = line->plugins;
    NB_TRY(ctx, load(e->path, e, &mistakes, ctx));
    for (int i = 0; i < mistakes.count - 1; i++) nb_print_error("%s", mistakes.texts[i]);
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EINVAL, "%s", mistakes.texts[mistakes.count - 1]);
    return warn(&e->plan, ctx);
}

/* Bytes: a number and K, M, G or T, which are powers of 1024. */
static nb_status read_memory(const nb_command *command, const char *text, double *bytes, nb_ctx *ctx)
{
    static const char suffixes[] = "KMGT";
    char digits[32] = "";
    double number = 0;
    if (!text) return NB_OK;
    size_t length = strspn(text, "0123456789.");
    const char *suffix = text[length] && !text[length + 1] ? strchr(suffixes, text[length]) : NULL;
    if (length < sizeof digits) memcpy(digits, text, length);
    NB_REQUIRE(ctx, suffix && nb_parse_real(digits, 0, 1e6, &number) && number > 0, NB_EINVAL,
               "%s: --memory '%s': expected a number and K, M, G or T, such as 8G", command->name, text);
    *bytes = number * pow(1024, (double)(suffix - suffixes + 1));
    return NB_OK;
}

nb_status nb_worker_read(const nb_command *command, const nb_worker_choices *chosen, nb_workers *workers, nb_ctx *ctx)
{
    double most = INFINITY;
    int cpus = nb_usable_cpus();
    const char *limit = chosen->timeout.text ? "timeout" : chosen->memory ? "memory" : NULL;
    *workers = (nb_workers){.blas_threads = (int)chosen->blas_threads.value, .timeout_s = chosen->timeout.value};
    workers->jobs = chosen->jobs.text           ? (int)chosen->jobs.value
                    : workers->blas_threads > 1 ? 1
                    : cpus < NB_MOST_JOBS       ? cpus
                                                : NB_MOST_JOBS;
    NB_TRY(ctx, read_memory(command, chosen->memory, &most, ctx));
    NB_REQUIRE(ctx, workers->jobs > 0 || !limit, NB_EINVAL, "%s: %s: needs a worker, and with %s there is none",
               command->name, nb_spell_option(ctx, limit, NULL), nb_spell_option(ctx, "jobs", "0"));
    if (workers->jobs > 0) workers->memory = fmin(most, nb_available_memory());
    if (isinf(workers->memory)) workers->memory = 0;
    return NB_OK;
}
