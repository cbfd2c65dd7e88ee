/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forward.c - the record of the forward study. */
#include "base/machine.h"
#include "components/registry.h"
#include "rows/functions.h"
#include "show/full_study.h"
#include "studies/exact_output.h"
#include "studies/forward/study.h"
#include "studies/forward/rounds.h"

#include <string.h>

static const nb_option options[] = {
    NB_BOOL(nb_forward_settings, timed, "true",
            "false: outputs alone are measured, once, by all workers; no pass is timed"),
    NB_REAL(nb_forward_settings, seconds, "1", 0, 1e5,
            "seconds for each method's share of the rounds, unless all times are known well before; a few rounds are "
            "run whatever they take"),
    NB_INT_OR(nb_forward_settings, rounds, "auto", "auto", 1, NB_MOST_ROUNDS,
              "rounds of each method; auto: until the 95 % intervals of all medians are within 2 %, or the seconds are "
              "over, but at least 6, or 3 where a pass takes more than a second"),
    NB_BOOL(nb_forward_settings, cold, "false", "empty the caches before each pass"),
    NB_BOOL(nb_forward_settings, quality, "true", "compare the outputs with exact ones in double precision"),
    NB_INT_OR(nb_forward_settings, quality_rows, "all", "2048", 1, 1 << 30,
              "query tokens of each head that are compared, drawn at random where there are more; all: each of them"),
    NB_OPTION_END};

const nb_forward_settings *nb_forward_settings_of(const nb_config *config)
{
    return config->settings;
}

static const nb_axis axes[] = {
    [NB_FORWARD_PROBLEM] = NB_AXIS_PROBLEMS,
    [NB_FORWARD_HEADS] = NB_AXIS_OF("heads", "heads", NB_AXIS_INTEGER, .scene = true, .resolved = true, .lo = 0,
                                    .hi = 65536, .initial = "0"),
    [NB_FORWARD_ATTENTION] = NB_AXIS_OF("attentions", "attention", NB_AXIS_COMPONENT, .registry = &nb_attentions,
                                        .check = nb_attention_check, .ready = nb_attention_ready),
    [NB_FORWARD_THREADS] =
        NB_AXIS_OF("threads", "threads", NB_AXIS_INTEGER, .lo = 1, .hi = NB_MOST_THREADS, .initial = "1"),
    {.key = NULL}};

static bool is_untimed(const nb_config *config)
{
    return !nb_forward_settings_of(config)->timed;
}

/* The times are wanted, whatever `metrics` names: rows that were measured without them are measured again. The sums of
 * rows are measured whatever it names, but of attentions elsewhere, where they cost a call, only if it names them. */
static nb_status complete(nb_config *config, nb_ctx *ctx)
{
    (void)ctx;
    config->wanted &= ~(unsigned)(NB_FORWARD_WANT_TIMES | NB_FORWARD_WANT_ROW_SUMS);
    if (!is_untimed(config)) config->wanted |= NB_FORWARD_WANT_TIMES;
    for (int i = 0; i < config->metric_count; i++)
        if (strcmp(config->metrics[i], "rowsum_deviation") == 0) config->wanted |= NB_FORWARD_WANT_ROW_SUMS;
    return NB_OK;
}

/* The phases, by nb_forward_phase. */
static const nb_phase phases[] = {{"the problem's data", NB_FORWARD_PROBLEM, 0, false},
                                  {"the pass in a process of its own", NB_FORWARD_ATTENTION, 1, false},
                                  {"the exact outputs", -1, 0, true},
                                  {"the pass whose outputs are compared", NB_FORWARD_ATTENTION, 1, false},
                                  {"the product of matrices", -1, 0, false},
                                  {"the timed pass", NB_FORWARD_ATTENTION, 1, false},
                                  {NULL, 0, 0, false}};

static const unsigned levels[] = {0};

/* heads: 0 is as many as the input has; of a generated problem one. */
static void prepare_scene(const nb_config *config, nb_planned_scene *s)
{
    int *heads = &s->value[NB_FORWARD_HEADS];
    (void)config;
    if (*heads <= 0) *heads = s->shape->each > 0 ? s->shape->each : 1;
    if (s->shape->each > 0 && *heads > s->shape->each) s->refusal = "the input has fewer heads than that";
}

/* Times differ from trial to trial, and speed-ups are of methods that were timed together. */
static bool is_random(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method)
{
    const nb_choice *attention =
        nb_config_choice(plan->config, NB_FORWARD_ATTENTION, method->value[NB_FORWARD_ATTENTION]);
    return !is_untimed(plan->config) || scene->random || nb_attention_traits(attention) & NB_ATTENTION_RANDOM;
}

static nb_status check_scene(const nb_plan *plan, const nb_planned_scene *s, nb_ctx *ctx)
{
    (void)plan;
    const char *lack = s->shape->keyless ? s->shape->keyless : s->shape->valueless;
    NB_REQUIRE(ctx, !lack, NB_EINVAL, "%s; attention needs q, k and v", lack);
    return NB_OK;
}

/* Mistakes that one key alone does not show. */
static nb_status check(const nb_config *config, nb_place place, nb_mistakes *mistakes)
{
    const nb_forward_settings *s = nb_forward_settings_of(config);
    if (!s->quality && !s->timed)
        NB_TRY(mistakes->ctx,
               nb_mistakes_add(mistakes, place, "timed: false and quality: false: nothing is left to measure"));
    if (s->quality || !(config->wanted & NB_FORWARD_WANT_ERROR)) return NB_OK;
    return nb_mistakes_add(mistakes, place, "metrics: error needs quality: true; without it nothing is compared");
}

static nb_status warn_of_threads(const nb_plan *plan, nb_mistakes *warnings)
{
    int most = 0, cpus = nb_usable_cpus();
    for (int m = 0; m < plan->method_count; m++)
        if (plan->methods[m].value[NB_FORWARD_THREADS] > most) most = plan->methods[m].value[NB_FORWARD_THREADS];
    if (most <= cpus) return NB_OK;
    return nb_mistakes_add(warnings, (nb_place){.source = NULL},
                           "threads: %d, and %d CPUs may be used here: threads will wait for each other", most, cpus);
}

static nb_status warn(const nb_plan *plan, nb_mistakes *warnings)
{
    nb_ctx *ctx = warnings->ctx;
    NB_TRY(ctx, warn_of_threads(plan, warnings));
    for (int i = 0; i < plan->row_count; i++) {
        const nb_planned_scene *s = &plan->scenes[plan->rows[i].scene];
        nb_layer_shape shape = nb_forward_shape(s);
        const char *why = s->refusal;
        if (!why) NB_TRY(ctx, nb_attention_refusal(nb_plan_choice(plan, i, NB_FORWARD_ATTENTION), &shape, &why, ctx));
        if (!why) return NB_OK;
    }
    if (plan->row_count == 0) return NB_OK;
    return nb_mistakes_add(warnings, (nb_place){.source = NULL},
                           "all %d rows will be skipped: no attention has a form for these layers", plan->row_count);
}

static const nb_choice *default_baseline(const nb_config *config)
{
    const nb_choices *list = &config->lists[NB_FORWARD_ATTENTION].choices;
    for (int i = 0; i < list->count; i++)
        if (nb_attention_traits(&list->items[i]) & NB_ATTENTION_EXACT) return &list->items[i];
    return list->count > 0 ? &list->items[0] : NULL;
}

static nb_status add_functions(sqlite3 *db, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_function_add_constant(db, "much_load", &nb_forward_much_load, ctx));
    return nb_function_add_constant(db, NB_EXACT_OUTPUT_FUNCTION, &nb_exact_output_error, ctx);
}

static const char *const references[] = {
    "Xiong et al., Nystromformer: A Nystrom-based algorithm for approximating self-attention, AAAI 2021 (Table 2, "
    "Figure 4: memory and time against n)",
    NULL};

const nb_full_study nb_study_forward = {
    .run.config.study =
        {
            .component = {"forward", "how long attention layers take, their memory, and how good their outputs are",
                          references, options, sizeof(nb_forward_settings)},
            .axes = axes,
            .baseline = NB_FORWARD_ATTENTION,
            .error_metric = "output_error",
            .columns = nb_forward_columns,
            .row_size = sizeof(nb_forward_row),
            .result_offset = offsetof(nb_forward_row, measures),
            .result_size = sizeof(nb_forward),
            .layers = true,
            .exclusive = true,
            .phases = phases,
            .levels = levels,
            .add_functions = add_functions,
        },
    .run.config.untimed = is_untimed,
    .run.config.complete = complete,
    .run.config.check = check,
    .run.config.default_baseline = default_baseline,
    .run.prepare_scene = prepare_scene,
    .run.random = is_random,
    .run.check_scene = check_scene,
    .run.warn = warn,
    .run.run = nb_forward_run,
    .run.cost = nb_forward_cost,
};
