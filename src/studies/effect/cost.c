/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.c - work and bytes of a unit: passes of the model, in the seconds that its program tells, and what is measured
 * of the heads. */
#include "run/prediction.h"
#include "studies/effect/study.h"

#include <math.h>

/* How many of a large product a multiplication counts: in the measurement, and in a pass, of single precision. */
static const double MEASURED = 2.5, SINGLE = 0.6;
static const double WEIGHTS = 1e8, MODEL_BYTES = 500e6; /* of a model that does not tell its time: an encoder */

/* All heads of the layers with one attention: a pass, and F X B against S, as far as they are wanted. */
static double measuring_work(const nb_model_part *part, const nb_choice *attention, unsigned wanted)
{
    nb_layer_shape shape = nb_effect_shape(&part->model);
    nb_attention_cost cost = nb_attention_cost_of(attention, &shape, 1);
    double n = shape.n, m = wanted & NB_EFFECT_WANT_ERROR ? nb_attention_size(attention, &shape) : 0;
    double pass = isnan(cost.multiplications) || !(wanted & NB_EFFECT_WANT_OUTPUT) ? 0 : cost.multiplications;
    return part->layer_count * (pass * SINGLE + shape.heads * n * n * m * MEASURED);
}

/* S and the exact outputs of all heads, once. */
static double exact_work(const nb_model_part *part)
{
    const nb_model *m = &part->model;
    return 4.0 * part->layer_count * m->heads * m->n * m->n * (m->d + m->dv) * MEASURED;
}

nb_cost nb_effect_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending)
{
    const nb_model_part *part = nb_effect_part(plan, plan->rows[unit->first].scene);
    const nb_model *m = &part->model;
    unsigned wanted = plan->config->wanted;
    const nb_cost pass = {.multiplications = isnan(m->pass_s) ? SINGLE * WEIGHTS * m->n : 0,
                          .given_s = isnan(m->pass_s) ? 0 : m->pass_s};
    double points = (double)part->layer_count * m->heads * m->n * (2 * m->d + m->dv);
    nb_cost cost = {.bytes = 64e6 + MODEL_BYTES + 20 * points + 24.0 * m->n * m->n};
    bool any = false;
    for (int i = unit->first; i < unit->end; i++) {
        if (pending && !pending[i]) continue;
        cost.given_s += pass.given_s;
        cost.multiplications +=
            pass.multiplications + measuring_work(part, nb_plan_choice(plan, i, NB_EFFECT_ATTENTION), wanted);
        any = true;
    }
    if (!any) return cost;
    cost.given_s += pass.given_s;
    cost.multiplications += pass.multiplications + (wanted & NB_EFFECT_WANT_OUTPUT ? exact_work(part) : 0);
    return cost;
}
