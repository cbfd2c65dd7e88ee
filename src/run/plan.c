/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.c - questions about a plan. */
#include "run/plan.h"

#include "base/builder.h"
#include "calls/heads.h"
#include "components/plugin.h"
#include "run/run_study.h"

#include <math.h>
#include <string.h>

int nb_value_under(const nb_config *config, int axis, const nb_planned_scene *scene, const nb_method *method)
{
    const nb_axis *a = &config->study->axes[axis];
    const nb_run_study *study = nb_run_study_of(config->study);
    if (a->resolved && study->value_under) {
        nb_plugin_call(&config->study->component, "value_under");
        int value = study->value_under(config, axis, scene, method);
        nb_plugin_return(&config->study->component);
        return value;
    }
    return a->scene ? scene->value[axis] : method->value[axis];
}

/* Sets the row's value of one axis. */
static void put_value(const nb_plan *plan, int axis, int value, char *row)
{
    const nb_axis *a = &plan->config->study->axes[axis];
    void *field = row + plan->axis_columns[axis]->offset;
    if (a->type == NB_AXIS_INTEGER)
        *(int *)field = value;
    else if (a->type == NB_AXIS_REAL)
        *(double *)field = plan->config->lists[axis].reals[value];
    else
        *(const char **)field =
            a->type == NB_AXIS_WORD ? a->words[value] : nb_config_choice(plan->config, axis, value)->canonical;
}

void nb_plan_row(const nb_plan *plan, int index, void *row_)
{
    const nb_config *c = plan->config;
    const nb_planned_scene *s = &plan->scenes[plan->rows[index].scene];
    const nb_method *method = &plan->methods[plan->rows[index].method];
    char *row = row_;
    memset(row, 0, c->study->row_size);
    for (const nb_column *column = c->study->columns; column->name; column++)
        if (column->type == NB_COLUMN_REAL) *(double *)(row + column->offset) = NAN;
    *(nb_row *)row_ = (nb_row){.experiment = c->name,
                               .problem = s->problem->canonical,
                               .model = s->shape->origins.model,
                               .layer = s->shape->origins.layer,
                               .source = s->source,
                               .status = "planned",
                               .seed = c->seed,
                               .head = s->head,
                               .trial = plan->rows[index].trial,
                               .n = s->n,
                               .d = s->d};
    for (int axis = NB_AXIS_PROBLEM + 1; c->study->axes[axis].key; axis++)
        put_value(plan, axis, nb_value_under(c, axis, s, method), row);
    for (int i = 0; i < plan->setting_count; i++)
        *(const char **)(row + plan->setting_columns[i]->offset) = plan->setting_texts[i];
    nb_plugin_call(&c->study->component, "fill_row");
    if (nb_run_study_of(c->study)->fill_row) nb_run_study_of(c->study)->fill_row(plan, s, method, row);
    nb_plugin_return(&c->study->component);
}

int nb_plan_first_row(const nb_plan *plan, int scene)
{
    int low = 0, high = plan->row_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (plan->rows[middle].scene < scene)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int nb_plan_value(const nb_plan *plan, int row, int axis)
{
    const nb_planned_row *r = &plan->rows[row];
    return plan->config->study->axes[axis].scene ? plan->scenes[r->scene].value[axis]
                                                 : plan->methods[r->method].value[axis];
}

const nb_choice *nb_plan_choice(const nb_plan *plan, int row, int axis)
{
    if (axis == NB_AXIS_PROBLEM) return plan->scenes[plan->rows[row].scene].problem;
    return nb_config_choice(plan->config, axis, nb_plan_value(plan, row, axis));
}

/* The values of those axes, each behind ", "; a number has its column's name. */
static nb_status add_values(const nb_study *study, bool scene, const void *row, nb_string *text, nb_ctx *ctx)
{
    for (const nb_axis *axis = study->axes + 1; axis->key; axis++) {
        const char *field = (const char *)row + nb_column_find(study->columns, axis->column)->offset;
        if (axis->scene != scene) continue;
        if (axis->type == NB_AXIS_INTEGER)
            NB_TRY(ctx, nb_append(text, ctx, ", %s %d", axis->column, *(const int *)field));
        else if (axis->type == NB_AXIS_REAL)
            NB_TRY(ctx, nb_append(text, ctx, ", %s %g", axis->column, *(const double *)field));
        else
            NB_TRY(ctx, nb_append(text, ctx, ", %s", *(const char *const *)field));
    }
    return NB_OK;
}

static nb_status add_scene(const nb_study *study, const nb_row *row, nb_string *text, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_append(text, ctx, "%s head %d", row->problem, row->head));
    return add_values(study, true, row, text, ctx);
}

nb_status nb_plan_scene_text(const nb_plan *plan, int row, const char **text, nb_ctx *ctx)
{
    nb_any_row any;
    nb_string all = NB_NO_TEXT;
    nb_plan_row(plan, row, &any);
    for (int axis = 0; plan->config->study->axes[axis].key; axis++)
        if (plan->config->study->axes[axis].scene && plan->config->study->axes[axis].type == NB_AXIS_COMPONENT)
            *(const char **)(void *)(any.bytes + plan->axis_columns[axis]->offset) =
                nb_plan_choice(plan, row, axis)->label;
    NB_TRY(ctx, add_scene(plan->config->study, &any.row, &all, ctx));
    *text = all.text;
    return NB_OK;
}

nb_status nb_row_text(const nb_study *study, const void *row_, const char **text, nb_ctx *ctx)
{
    const nb_row *row = row_;
    nb_string all = NB_NO_TEXT;
    NB_TRY(ctx, add_scene(study, row, &all, ctx));
    NB_TRY(ctx, nb_append(&all, ctx, ", trial %d", row->trial));
    NB_TRY(ctx, add_values(study, false, row_, &all, ctx));
    *text = all.text;
    return NB_OK;
}

uint64_t nb_plan_seed(const nb_plan *plan, int scene)
{
    const nb_planned_scene *s = &plan->scenes[scene];
    uint64_t seed = (uint64_t)plan->config->seed;
    if (s->random || plan->config->draws == NB_DRAWS_SHARED) return seed;
    return nb_source_seed(seed, s->shape->origins.model, s->source ? s->source : s->drawn);
}

nb_stream nb_plan_stream(const nb_plan *plan, int scene, int trial, const nb_choice *component)
{
    return (nb_stream){.seed = nb_plan_seed(plan, scene), .trial = trial, .component = component->canonical};
}

nb_status nb_plan_layer_head(const nb_plan *plan, int scene, int trial, int of_layer, gsl_rng *rng, nb_head *head,
                             nb_ctx *ctx)
{
    const nb_planned_scene *s = &plan->scenes[scene];
    nb_stream stream = nb_plan_stream(plan, scene, trial, s->problem);
    bool drawn = s->shape->each == 0; /* then all are the same head of the problem, drawn again */
    if (drawn) stream.m = of_layer;
    return nb_heads_make(s->problem, s->head + (drawn ? 0 : of_layer), stream, rng, head, ctx);
}

nb_status nb_plan_head(const nb_plan *plan, int scene, int trial, gsl_rng *rng, nb_head *head, nb_ctx *ctx)
{
    return nb_plan_layer_head(plan, scene, trial, 0, rng, head, ctx);
}

/* A unit of work is a scene with all its trials if they share its data, else a single trial. */
static bool same_unit(const nb_plan *plan, int a, int b)
{
    const nb_planned_row *x = &plan->rows[a], *y = &plan->rows[b];
    return x->scene == y->scene && (x->trial == y->trial || !plan->scenes[x->scene].random);
}

nb_status nb_units_find(const nb_plan *plan, const bool *pending, nb_unit **units, int *count, nb_ctx *ctx)
{
    *count = 0;
    NB_NEED(*units, nb_alloc(ctx, (size_t)plan->row_count, sizeof **units));
    for (int i = 0, next; i < plan->row_count; i = next) {
        bool any = false;
        for (next = i; next < plan->row_count && same_unit(plan, i, next); next++)
            any = any || !pending || pending[next];
        if (any) (*units)[(*count)++] = (nb_unit){i, next};
    }
    return NB_OK;
}
