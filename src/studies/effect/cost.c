/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.c - seconds and bytes of a unit: passes of the model, as its program tells what one takes, and what is measured
 * of the heads. */
#include "run/prediction.h"
#include "studies/effect/study.h"

#include <math.h>

/* Seconds on the reference machine: of a multiplication in the measurement, and in a pass; of a pass of a model that
 * does not say. */
#define SECONDS_PER_MULTIPLICATION 2e-10
#define SECONDS_PER_PASS_MULTIPLICATION 5e-11
#define SECONDS_PER_MODEL 0.5
#define MODEL_BYTES 500e6 /* of a program: an encoder of some 1e8 weights */

/* All heads of the layers with one attention: a pass, and F X B against S, as far as they are wanted. */
static double measure_s(const nb_model_part *part, const nb_choice *attention, unsigned wanted)
{
    nb_layer_shape shape = nb_effect_shape(&part->model);
    nb_attention_cost cost = nb_attention_cost_of(attention, &shape, 1);
    double n = shape.n, m = wanted & NB_EFFECT_WANT_ERROR ? nb_attention_size(attention, &shape) : 0;
    double pass = isnan(cost.multiplications) || !(wanted & NB_EFFECT_WANT_OUTPUT) ? 0 : cost.multiplications;
    return part->layer_count *
           (pass * SECONDS_PER_PASS_MULTIPLICATION + shape.heads * n * n * m * SECONDS_PER_MULTIPLICATION);
}

/* S and the exact outputs of all heads, once. */
static double exact_s(const nb_model_part *part)
{
    const nb_model *m = &part->model;
    return 4.0 * part->layer_count * m->heads * m->n * m->n * (m->d + m->dv) * SECONDS_PER_MULTIPLICATION;
}

nb_cost nb_effect_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending)
{
    const nb_model_part *part = nb_effect_part(plan, plan->rows[unit->first].scene);
    const nb_model *m = &part->model;
    unsigned wanted = plan->config->wanted;
    double pass_s = isnan(m->pass_s) ? SECONDS_PER_MODEL : m->pass_s;
    double points = (double)part->layer_count * m->heads * m->n * (2 * m->d + m->dv);
    nb_cost cost = {.bytes = 64e6 + MODEL_BYTES + 20 * points + 24.0 * m->n * m->n};
    bool any = false;
    for (int i = unit->first; i < unit->end; i++) {
        if (pending && !pending[i]) continue;
        cost.fixed_s += pass_s;
        cost.seconds += pass_s + measure_s(part, nb_plan_choice(plan, i, NB_EFFECT_ATTENTION), wanted);
        any = true;
    }
    if (!any) return cost;
    cost.fixed_s += pass_s;
    cost.seconds += pass_s + (wanted & NB_EFFECT_WANT_OUTPUT ? exact_s(part) : 0);
    return cost;
}
