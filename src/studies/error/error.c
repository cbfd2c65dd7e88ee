/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error.c - the record of the error study: its keys, and which strategies, pairings, factors and cores go together. */
#include "base/builder.h"
#include "calls/early.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "config/keys.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "nystrom/form_factors.h"
#include "show/full_study.h"
#include "studies/error/runner.h"
#include "studies/error/study.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const nb_option options[] = {
    NB_TEXT(nb_error_settings, rows, "all", "rows of S that are measured: all, or sample(k), k random ones"),
    NB_ENUM(nb_error_settings, engine, "streamed", nb_engine_names,
            "streamed (one pass over S for all methods) or direct (S and F X B formed)"),
    NB_ENUM(nb_error_settings, precision, "double", nb_precision_names,
            "double, or mixed (single where the result is large enough)"),
    NB_OPTION_END};

static const nb_axis axes[] = {
    [NB_ERROR_PROBLEM] = NB_AXIS_PROBLEMS,
    [NB_ERROR_KERNEL] = NB_AXIS_OF("kernels", "kernel", NB_AXIS_COMPONENT, .scene = true, .registry = &nb_kernels,
                                   .standard = nb_standard_kernel),
    [NB_ERROR_STRATEGY] = NB_AXIS_OF("strategies", "strategy", NB_AXIS_COMPONENT, .registry = &nb_strategies,
                                     .check = nb_strategy_check, .ready = nb_strategy_ready),
    [NB_ERROR_PAIRING] = NB_AXIS_OF("pairing", "pairing", NB_AXIS_WORD, .resolved = true, .words = nb_pairing_names,
                                    .extra = "default", .initial = "default"),
    [NB_ERROR_LANDMARKS] =
        NB_AXIS_OF("landmarks", "landmarks", NB_AXIS_INTEGER, .lo = 1, .hi = 1000000, .initial = "8..64 step 8"),
    [NB_ERROR_FACTORS] =
        NB_AXIS_OF("factors", "factors", NB_AXIS_WORD, .words = nb_factors_names, .initial = "nystromformer"),
    [NB_ERROR_CORE] = NB_AXIS_OF("cores", "core", NB_AXIS_COMPONENT, .registry = &nb_cores, .check = nb_core_check,
                                 .ready = nb_core_ready),
    {.key = NULL}};

/* The phases, by nb_error_phase. */
static const nb_phase phases[] = {{"the problem's data", -1, 0, false},
                                  {"the strategy's pick", NB_ERROR_STRATEGY, 2, false},
                                  {"the core", NB_ERROR_CORE, 3, false},
                                  {"the measurement", -1, 3, true},
                                  {NULL, 0, 0, false}};

/* The axes that agree where rows share the picks of a nested strategy, and where they share picks. */
static const unsigned levels[] = {1u << NB_ERROR_STRATEGY | 1u << NB_ERROR_PAIRING,
                                  1u << NB_ERROR_STRATEGY | 1u << NB_ERROR_PAIRING | 1u << NB_ERROR_LANDMARKS, 0};

typedef struct { /* what the study keeps for a plan */
    bool oracle;
    nb_error_method *methods;
} known;

const nb_error_settings *nb_error_settings_of(const nb_config *config)
{
    return config->settings;
}

const nb_error_method *nb_error_methods(const nb_plan *plan)
{
    return ((const known *)plan->own)->methods;
}

const nb_error_method *nb_error_method_of(const nb_plan *plan, int row)
{
    return &nb_error_methods(plan)[plan->rows[row].method];
}

bool nb_error_same_strategy(const nb_error_method *a, const nb_error_method *b)
{
    return a->strategy == b->strategy && a->pairing == b->pairing;
}

bool nb_error_same_picks(const nb_error_method *a, const nb_error_method *b)
{
    return nb_error_same_strategy(a, b) && a->m == b->m;
}

bool nb_error_has_oracle(const nb_plan *plan)
{
    return ((const known *)plan->own)->oracle;
}

const nb_choice *nb_error_kernel(const nb_plan *plan, const nb_planned_scene *scene)
{
    return nb_config_choice(plan->config, NB_ERROR_KERNEL, scene->value[NB_ERROR_KERNEL]);
}

static const char no_core[] = "identity is for the factors nocore and kernel_ridge alone, which have no other core";

/* Factors without a middle have the one core that is the identity, all others the others. */
static bool core_fits(nb_factors_kind factors, const nb_choice *core)
{
    bool identity = ((const nb_core *)core->component)->traits & NB_CORE_IDENTITY;
    return identity != nb_factors_have_middle(factors);
}

/* A strategy that picks for both sides at once has no other pairing. */
nb_pairing nb_pairing_meant(int word, const nb_choice *strategy)
{
    bool one_side = nb_strategy_has(strategy, NB_QUERIES);
    return !one_side ? NB_BOTH : word < 0 ? nb_strategy_pairing(strategy) : (nb_pairing)word;
}

static nb_error_method method_of(const nb_config *c, const nb_method *method)
{
    return (nb_error_method){.strategy = nb_config_choice(c, NB_ERROR_STRATEGY, method->value[NB_ERROR_STRATEGY]),
                             .core = nb_config_choice(c, NB_ERROR_CORE, method->value[NB_ERROR_CORE]),
                             .m = method->value[NB_ERROR_LANDMARKS],
                             .pairing = (nb_pairing)method->value[NB_ERROR_PAIRING],
                             .factors = (nb_factors_kind)method->value[NB_ERROR_FACTORS]};
}

/* A strategy that cannot pick for both sides together, if it is asked to. */
static nb_status check_pairings(const nb_key_values *const *keys, nb_mistakes *mistakes)
{
    const nb_key_values *pairing = keys[NB_ERROR_PAIRING], *strategies = keys[NB_ERROR_STRATEGY];
    const int *group = keys[NB_ERROR_AXES + 1]->numbers;
    bool together = group[NB_ERROR_PAIRING] == group[NB_ERROR_STRATEGY];
    for (int p = 0; p < pairing->count; p++)
        for (int s = 0; s < strategies->count; s++) {
            const nb_choice *strategy = &strategies->choices.items[s];
            if ((together && s != p) || pairing->numbers[p] != NB_BOTH || nb_strategy_has(strategy, NB_BOTH)) continue;
            NB_TRY(mistakes->ctx, nb_mistakes_add(mistakes, pairing->place,
                                                  "pairing: %s cannot pick for both sides together", strategy->label));
        }
    return NB_OK;
}

/* The identity, where all factors have a middle. */
static nb_status check_cores(const nb_key_values *const *keys, nb_mistakes *mistakes)
{
    const nb_key_values *factors = keys[NB_ERROR_FACTORS], *cores = keys[NB_ERROR_CORE];
    const int *group = keys[NB_ERROR_AXES + 1]->numbers;
    bool together = group[NB_ERROR_FACTORS] == group[NB_ERROR_CORE];
    for (int x = 0; x < cores->count; x++) {
        const nb_choice *core = &cores->choices.items[x];
        bool fits = core_fits(NB_NYSTROMFORMER, core);
        for (int f = 0; f < factors->count && !fits; f++)
            fits = (!together || f == x) && !nb_factors_have_middle((nb_factors_kind)factors->numbers[f]);
        if (fits) continue;
        NB_TRY(mistakes->ctx, nb_mistakes_add(mistakes, cores->place, "cores: %s", no_core));
    }
    return NB_OK;
}

static nb_status check_block(const nb_key_values *const *keys, nb_mistakes *mistakes)
{
    if (keys[NB_ERROR_FACTORS]->right && keys[NB_ERROR_CORE]->right) NB_TRY(mistakes->ctx, check_cores(keys, mistakes));
    return keys[NB_ERROR_PAIRING]->right && keys[NB_ERROR_STRATEGY]->right ? check_pairings(keys, mistakes) : NB_OK;
}

/* Adds the identity to the config's cores, where some of its factors have no middle. */
static nb_status complete(nb_config *config, nb_ctx *ctx)
{
    const nb_entry *e = nb_cores.entries;
    const nb_axis_list *factors = &config->lists[NB_ERROR_FACTORS];
    nb_axis_list *cores = &config->lists[NB_ERROR_CORE];
    nb_choice identity;
    bool wanted = false;
    for (int i = 0; i < factors->count; i++) wanted |= !nb_factors_have_middle((nb_factors_kind)factors->numbers[i]);
    if (!wanted) return NB_OK;
    while (!(((const nb_core *)e->component)->traits & NB_CORE_IDENTITY))
        e++; /* there is one, see the conformance test */
    NB_TRY(ctx, nb_choice_parse(&nb_cores, e->component->name, &identity, ctx));
    if (nb_choices_find(&cores->choices, &identity) < 0) NB_TRY(ctx, nb_choices_append(&cores->choices, identity, ctx));
    cores->count = cores->choices.count;
    return NB_OK;
}

/* Returns the first strategy that is no oracle, or the first of all. */
static const nb_choice *default_baseline(const nb_config *config)
{
    const nb_choices *strategies = &config->lists[NB_ERROR_STRATEGY].choices;
    for (int i = 0; i < strategies->count; i++)
        if (!(nb_strategy_traits(&strategies->items[i]) & NB_ORACLE)) return &strategies->items[i];
    return strategies->count ? strategies->items : NULL;
}

/* Returns the first of the list's words that say the same for a strategy; the identity where there is no middle.
 * Factors without one come last, so that output by core begins with the list's cores. */
static const char *settle(const nb_config *config, int *places, nb_method *method)
{
    const nb_axis_list *lists = config->lists, *cores = &lists[NB_ERROR_CORE];
    const nb_choice *strategy = nb_config_choice(config, NB_ERROR_STRATEGY, places[NB_ERROR_STRATEGY]);
    const int *pairings = lists[NB_ERROR_PAIRING].numbers;
    nb_pairing pairing = nb_pairing_meant(pairings[places[NB_ERROR_PAIRING]], strategy);
    int factor_count = lists[NB_ERROR_FACTORS].count, place = places[NB_ERROR_FACTORS] % factor_count, core = 0;
    nb_factors_kind factors = (nb_factors_kind)lists[NB_ERROR_FACTORS].numbers[place];
    for (places[NB_ERROR_PAIRING] = 0; nb_pairing_meant(pairings[places[NB_ERROR_PAIRING]], strategy) != pairing;)
        places[NB_ERROR_PAIRING]++;
    if (!nb_factors_have_middle(factors)) {
        while (!core_fits(factors, &cores->choices.items[core])) core++; /* complete has added it */
        places[NB_ERROR_CORE] = core;
        places[NB_ERROR_FACTORS] = place + factor_count;
    }
    *method =
        (nb_method){.value = {[NB_ERROR_STRATEGY] = places[NB_ERROR_STRATEGY],
                              [NB_ERROR_PAIRING] = (int)pairing,
                              [NB_ERROR_LANDMARKS] = lists[NB_ERROR_LANDMARKS].numbers[places[NB_ERROR_LANDMARKS]],
                              [NB_ERROR_FACTORS] = (int)factors,
                              [NB_ERROR_CORE] = places[NB_ERROR_CORE]}};
    return core_fits(factors, &cores->choices.items[places[NB_ERROR_CORE]]) ? NULL : no_core;
}

static void prepare_scene(const nb_config *config, nb_planned_scene *scene)
{
    const nb_choice *kernel = nb_config_choice(config, NB_ERROR_KERNEL, scene->value[NB_ERROR_KERNEL]);
    scene->refusal = scene->causal ? ((const nb_kernel *)kernel->component)->causal_refusal : NULL;
}

/* Under a kernel of one point set all pairings of a strategy are one. */
static int value_under(const nb_config *config, int axis, const nb_planned_scene *scene, const nb_method *method)
{
    nb_error_method m = method_of(config, method);
    (void)axis;
    return (int)nb_pairing_under(nb_config_choice(config, NB_ERROR_KERNEL, scene->value[NB_ERROR_KERNEL]), m.strategy,
                                 m.pairing);
}

static bool is_random(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method)
{
    nb_error_method m = method_of(plan->config, method);
    int sample = nb_error_settings_of(plan->config)->sample;
    bool sampled = sample > 0 && sample < scene->n; /* other rows in each trial */
    return sampled || (nb_strategy_traits(m.strategy) & NB_RANDOM) || (nb_core_traits(m.core) & NB_CORE_RANDOM);
}

static nb_status prepare(nb_plan *plan, nb_ctx *ctx)
{
    known *k;
    NB_NEED(k, nb_alloc(ctx, 1, sizeof *k));
    NB_NEED(k->methods, nb_alloc(ctx, (size_t)plan->method_count + 1, sizeof *k->methods));
    for (int i = 0; i < plan->method_count; i++) {
        k->methods[i] = method_of(plan->config, &plan->methods[i]);
        k->oracle = k->oracle || (nb_strategy_traits(k->methods[i].strategy) & NB_ORACLE);
    }
    plan->own = k;
    return NB_OK;
}

/* The kernels of the program that do without keys, as "gram(of=queries)". */
static nb_status keyless_kernels(const char **names, nb_ctx *ctx)
{
    nb_string list = NB_NO_TEXT;
    for (const nb_entry *e = nb_kernels.entries; e->component; e++) {
        nb_choice kernel;
        const char *name;
        bool needs;
        if (nb_plugin_of(e->component)) continue;
        NB_TRY(ctx, nb_choice_parse(&nb_kernels, e->component->name, &kernel, ctx));
        NB_TRY(ctx, nb_kernel_needs_keys(&kernel, &needs, ctx));
        if (needs) continue;
        NB_TRY(ctx, nb_choice_full(&kernel, &name, ctx));
        NB_TRY(ctx, nb_append_item(&list, ", ", ctx, "%s", name));
    }
    *names = list.text;
    return NB_OK;
}

nb_status nb_error_check_keys(const nb_choice *kernel, const char *keyless, nb_ctx *ctx)
{
    const char *others;
    bool needs;
    if (!keyless) return NB_OK;
    NB_TRY(ctx, nb_kernel_needs_keys(kernel, &needs, ctx));
    if (!needs) return NB_OK;
    NB_TRY(ctx, keyless_kernels(&others, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s; the kernel %s needs keys; what does without them is %s", keyless, kernel->label,
            others);
}

/* q, k and v, and F and B of the largest m that is not skipped: less than this is never needed. */
static nb_status check_scene(const nb_plan *plan, const nb_planned_scene *s, nb_ctx *ctx)
{
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    int m = 0, scene = (int)(s - plan->scenes);
    NB_TRY(ctx, nb_error_check_keys(nb_error_kernel(plan, s), s->shape->keyless, ctx));
    for (int i = nb_plan_first_row(plan, scene); i < plan->row_count && plan->rows[i].scene == scene; i++) {
        int landmarks = nb_error_method_of(plan, i)->m;
        if (landmarks <= s->n && landmarks > m) m = landmarks;
    }
    double bytes = 8.0 * s->n * (3.0 * s->d + 2.0 * m);
    NB_REQUIRE(ctx, bytes <= machine, NB_ENOMEM,
               "%s: n = %d tokens, d = %d and m = %d landmarks need at least %.1f GiB, this machine has %.1f GiB",
               s->problem->label, s->n, s->d, m, bytes / 0x1p30, machine / 0x1p30);
    return NB_OK;
}

/* The least m of rows first ... end - 1, and whether it is above the tokens of all their heads. */
static bool too_small(const nb_plan *plan, int first, int end, int *least, int *tokens)
{
    *least = INT_MAX;
    *tokens = 0;
    for (int i = first; i < end; i++) {
        int m = nb_error_method_of(plan, i)->m, n = plan->scenes[plan->rows[i].scene].n;
        if (m < *least) *least = m;
        if (n > *tokens) *tokens = n;
    }
    return first<end && * least> * tokens;
}

/* Rows that the mask or the kernel leaves no factors, whatever the strategy picks. */
static nb_status warn_of_masks(const nb_plan *plan, nb_mistakes *warnings)
{
    const char *why = NULL;
    int count = 0;
    for (int i = 0; i < plan->row_count; i++) {
        const nb_planned_scene *scene = &plan->scenes[plan->rows[i].scene];
        const char *refusal = nb_factors_refusal(nb_error_method_of(plan, i)->factors, NB_TOKENS, scene->causal,
                                                 nb_error_kernel(plan, scene));
        if (scene->refusal || !refusal) continue;
        why = refusal;
        count++;
    }
    if (count == 0) return NB_OK;
    return nb_mistakes_add(warnings, (nb_place){.source = NULL}, "%d of %d rows will be skipped: %s", count,
                           plan->row_count, why);
}

/* Rows with more landmarks than tokens are skipped; if that holds for all rows, it is likely a mistake. */
static nb_status warn(const nb_plan *plan, nb_mistakes *warnings)
{
    const nb_place nowhere = {.source = NULL};
    int least, tokens;
    NB_TRY(warnings->ctx, warn_of_masks(plan, warnings));
    if (too_small(plan, 0, plan->row_count, &least, &tokens))
        return nb_mistakes_add(warnings, nowhere,
                               "all %d rows will be skipped: the least m is %d, and no head has more than %d tokens",
                               plan->row_count, least, tokens);
    for (int i = 0, next; i < plan->row_count; i = next) {
        const nb_choice *problem = nb_plan_choice(plan, i, NB_AXIS_PROBLEM);
        for (next = i + 1; next < plan->row_count && nb_plan_choice(plan, next, NB_AXIS_PROBLEM) == problem;) next++;
        if (too_small(plan, i, next, &least, &tokens))
            NB_TRY(warnings->ctx,
                   nb_mistakes_add(warnings, nowhere, "%s: all its rows will be skipped: the least m is %d, n is %d",
                                   problem->label, least, tokens));
    }
    return NB_OK;
}

/* Returns the k of sample(k); 0: it is something else. */
static int read_sample(const char *text)
{
    int k = 0, end = 0;
    return sscanf(text, " sample ( %9d )%n", &k, &end) == 1 && end > 0 && !text[end] && k > 1 ? k : 0;
}

/* rows: all, or sample(k). */
static nb_status read_setting(const nb_option *option, void *settings, nb_place place, nb_mistakes *mistakes)
{
    nb_error_settings *s = settings;
    if (option->offset != offsetof(nb_error_settings, rows)) return NB_OK;
    const char *text = s->rows;
    s->sample = 0;
    s->rows = "all";
    if (strcmp(text, "all") == 0) return NB_OK;
    s->sample = read_sample(text);
    if (s->sample) {
        NB_NEED(s->rows, nb_format(mistakes->ctx, "sample(%d)", s->sample));
        return NB_OK;
    }
    return nb_mistakes_add(
        mistakes, place, "rows: '%s' is unknown; allowed: all, or sample(k) for k = 2 to 999999999 random rows", text);
}

/* Mistakes that one key alone does not show. */
static nb_status check(const nb_config *config, nb_place place, nb_mistakes *mistakes)
{
    const nb_error_settings *s = nb_error_settings_of(config);
    if (s->sample && s->engine == NB_DIRECT)
        NB_TRY(mistakes->ctx,
               nb_mistakes_add(mistakes, place, "rows: %s needs engine: streamed; direct measures all rows", s->rows));
    if (s->precision == NB_MIXED && s->engine == NB_DIRECT)
        NB_TRY(mistakes->ctx,
               nb_mistakes_add(mistakes, place, "precision: mixed needs engine: streamed; direct measures in double"));
    if (s->precision == NB_MIXED && s->sample)
        NB_TRY(mistakes->ctx, nb_mistakes_add(mistakes, place,
                                              "precision: mixed needs rows: all; sampled rows are measured in double"));
    for (int i = 0; i < config->metric_count && s->sample; i++) {
        const nb_column *column = nb_column_find(nb_error_columns, config->metrics[i]);
        if (column && column->whole)
            NB_TRY(mistakes->ctx, nb_mistakes_add(mistakes, place, "metrics: %s needs rows: all; %s does not give it",
                                                  config->metrics[i], s->rows));
    }
    return NB_OK;
}

static const char *const references[] = {
    "Xiong et al., Nystromformer: A Nystrom-based algorithm for approximating self-attention, AAAI 2021", NULL};

const nb_full_study nb_study_error = {
    .run.config.study =
        {
            .component = {"error", "how far attention from landmarks, F X B, is from the exact S", references, options,
                          sizeof(nb_error_settings)},
            .standard = true,
            .axes = axes,
            .baseline = NB_ERROR_STRATEGY,
            .columns = nb_error_columns,
            .row_size = sizeof(nb_error_row),
            .result_offset = offsetof(nb_error_row, measures),
            .result_size = sizeof(nb_measures),
            .phases = phases,
            .levels = levels,
            .add_functions = nb_flops_add_functions,
        },
    .run.config.read_setting = read_setting,
    .run.config.check_block = check_block,
    .run.config.complete = complete,
    .run.config.check = check,
    .run.config.default_baseline = default_baseline,
    .run.settle = settle,
    .run.prepare_scene = prepare_scene,
    .run.value_under = value_under,
    .run.random = is_random,
    .run.prepare = prepare,
    .run.check_scene = check_scene,
    .run.warn = warn,
    .run.run = nb_run_scene,
    .run.cost = nb_error_cost,
};
