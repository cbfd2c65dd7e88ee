/* SPDX-License-Identifier: GPL-3.0-or-later */
/* effect.c - the record of the effect study. */
#include "components/registry.h"
#include "layers/landmark_pass.h"
#include "rows/functions.h"
#include "show/full_study.h"
#include "studies/exact_output.h"
#include "studies/effect/study.h"

#include <string.h>

static const nb_option options[] = {NB_OPTION_END};

static const nb_axis axes[] = {[NB_EFFECT_PROBLEM] = NB_AXIS_PROBLEMS,
                               [NB_EFFECT_ATTENTION] =
                                   NB_AXIS_OF("attentions", "attention", NB_AXIS_COMPONENT, .registry = &nb_attentions,
                                              .check = nb_attention_check, .ready = nb_attention_ready),
                               {.key = NULL}};

/* The phases, by nb_effect_phase. */
static const nb_phase phases[] = {{"the model's heads", NB_EFFECT_PROBLEM, 0, false},
                                  {"the strategy's pick", NB_EFFECT_ATTENTION, 1, false},
                                  {"the core", NB_EFFECT_ATTENTION, 1, false},
                                  {"the measurement", -1, 0, true},
                                  {"the pass over the model's heads", NB_EFFECT_ATTENTION, 1, false},
                                  {"the pass of the model", NB_EFFECT_ATTENTION, 1, false},
                                  {NULL, 0, 0, false}};

static const unsigned levels[] = {0};

static bool is_model(const nb_choice *problem)
{
    return problem->component->options_size == sizeof(nb_model_options) &&
           strcmp(problem->component->name, NB_PROBLEM_MODEL) == 0;
}

static nb_status check(const nb_config *config, nb_place place, nb_mistakes *mistakes)
{
    const nb_choices *problems = &config->lists[NB_EFFECT_PROBLEM].choices;
    for (int i = 0; i < problems->count; i++) {
        const nb_choice *problem = &problems->items[i];
        if (!is_model(problem))
            NB_TRY(mistakes->ctx,
                   nb_mistakes_add(mistakes, place,
                                   "problems: %s: this study asks a model itself, so its problems are %s(run=...)",
                                   problem->label, NB_PROBLEM_MODEL));
        else if (((const nb_model_options *)problem->options)->permute)
            NB_TRY(mistakes->ctx, nb_mistakes_add(mistakes, place,
                                                  "problems: %s: the model has its tokens in their order, so permute "
                                                  "must be false in this study",
                                                  problem->label));
    }
    return NB_OK;
}

static nb_status prepare(nb_plan *plan, nb_ctx *ctx)
{
    const nb_choices *problems = &plan->config->lists[NB_EFFECT_PROBLEM].choices;
    nb_model_part *parts; /* what the programs of the problems report, in the order of the config's list */
    NB_NEED(parts, nb_alloc(ctx, (size_t)problems->count + 1, sizeof *parts));
    for (int i = 0; i < problems->count; i++)
        NB_TRY(ctx, nb_model_part_find(problems->items[i].options, &parts[i], ctx));
    plan->own = parts;
    return NB_OK;
}

const nb_model_part *nb_effect_part(const nb_plan *plan, int scene)
{
    return (const nb_model_part *)plan->own + plan->scenes[scene].value[NB_EFFECT_PROBLEM];
}

int nb_effect_source(const nb_plan *plan, int scene)
{
    const nb_model_part *part = nb_effect_part(plan, scene);
    return plan->scenes[scene].head / (part->layer_count * part->model.heads);
}

nb_layer_shape nb_effect_shape(const nb_model *m)
{
    return (nb_layer_shape){.batch = 1,
                            .heads = m->heads,
                            .key_heads = m->key_heads,
                            .n = m->n,
                            .d = m->d,
                            .dv = m->dv,
                            .causal = m->causal};
}

static const nb_choice *attention_of(const nb_plan *plan, const nb_method *method)
{
    return nb_config_choice(plan->config, NB_EFFECT_ATTENTION, method->value[NB_EFFECT_ATTENTION]);
}

static bool is_random(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method)
{
    (void)scene;
    return nb_attention_traits(attention_of(plan, method)) & NB_ATTENTION_RANDOM;
}

bool nb_effect_has_landmarks(const nb_choice *attention)
{
    return ((const nb_attention *)attention->component)->forward == nb_landmark_forward;
}

static void fill_row(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method, void *row)
{
    nb_effect_row *out = row;
    const nb_choice *attention = attention_of(plan, method);
    const nb_landmark_options *o = nb_effect_has_landmarks(attention) ? attention->options : NULL;
    out->strategy = o ? o->strategy->label : NULL;
    out->core = o ? o->core->label : NULL;
    out->heads = scene->shape->each;
    out->landmarks = nb_attention_size(attention, &(nb_layer_shape){.n = scene->n, .d = scene->d});
}

static nb_status find_refusal(const nb_plan *plan, int row, const char **why, nb_ctx *ctx)
{
    const nb_layer_shape shape = nb_effect_shape(&nb_effect_part(plan, plan->rows[row].scene)->model);
    return nb_attention_refusal(nb_plan_choice(plan, row, NB_EFFECT_ATTENTION), &shape, why, ctx);
}

/* Whether a model of the plan can have the attention of that row. */
static nb_status find_taker(const nb_plan *plan, int row, bool *found, nb_ctx *ctx)
{
    const nb_choice *attention = nb_plan_choice(plan, row, NB_EFFECT_ATTENTION);
    const char *why;
    *found = false;
    for (int i = 0; i < plan->row_count && !*found; i++) {
        if (nb_plan_choice(plan, i, NB_EFFECT_ATTENTION) != attention) continue;
        NB_TRY(ctx, find_refusal(plan, i, &why, ctx));
        *found = !why;
    }
    return NB_OK;
}

/* Refuses attentions that no model of the plan can have. One that another model has is skipped where it cannot be. */
static nb_status check_scene(const nb_plan *plan, const nb_planned_scene *scene, nb_ctx *ctx)
{
    const int index = (int)(scene - plan->scenes), first = nb_plan_first_row(plan, index);
    const nb_model *model = &nb_effect_part(plan, index)->model;
    for (int i = first; i < plan->row_count && plan->rows[i].scene == index; i++) {
        const char *why;
        bool taken;
        NB_TRY(ctx, find_refusal(plan, i, &why, ctx));
        if (!why) continue;
        NB_TRY(ctx, find_taker(plan, i, &taken, ctx));
        NB_REQUIRE(ctx, taken, NB_EINVAL, "attentions: %s cannot be had on %s: %s",
                   nb_plan_choice(plan, i, NB_EFFECT_ATTENTION)->label, model->name, why);
    }
    return NB_OK;
}

/* Exact attention has no effect to compare with. */
static const nb_choice *default_baseline(const nb_config *config)
{
    const nb_choices *list = &config->lists[NB_EFFECT_ATTENTION].choices;
    for (int i = 0; i < list->count; i++)
        if (!(nb_attention_traits(&list->items[i]) & NB_ATTENTION_EXACT)) return &list->items[i];
    return list->count > 0 ? &list->items[0] : NULL;
}

static const char *const references[] = {
    "Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902 (which replaces the attention of whole models)", NULL};

static nb_status add_functions(sqlite3 *db, nb_ctx *ctx)
{
    return nb_function_add_constant(db, NB_EXACT_OUTPUT_FUNCTION, &nb_exact_output_error, ctx);
}

const nb_full_study nb_study_effect = {
    .run.config.study =
        {
            .component = {"effect", "what a model's output becomes when the attention of some layers is replaced",
                          references, options, 0},
            .axes = axes,
            .baseline = NB_EFFECT_ATTENTION,
            .columns = nb_effect_columns,
            .row_size = sizeof(nb_effect_row),
            .result_offset = offsetof(nb_effect_row, result),
            .result_size = sizeof(nb_effect),
            .layers = true,
            .phases = phases,
            .levels = levels,
            .add_functions = add_functions,
        },
    .run.config.check = check,
    .run.config.default_baseline = default_baseline,
    .run.random = is_random,
    .run.fill_row = fill_row,
    .run.prepare = prepare,
    .run.check_scene = check_scene,
    .run.run = nb_effect_run,
    .run.cost = nb_effect_cost,
};
