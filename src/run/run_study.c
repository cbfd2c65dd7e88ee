/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_study.c - see run_study.h */
#include "run/run_study.h"

const char *nb_run_study_lacks(const nb_component *component)
{
    const nb_study *study = (const nb_study *)component;
    const nb_run_study *s = nb_run_study_of(study);
    const char *lacks = nb_study_lacks(study);
    if (lacks) return lacks;
    if (!s->run) return "the function run";
    if (!s->cost) return "the function cost";
    for (const nb_axis *axis = study->axes; axis->key; axis++) {
        if (axis->resolved && !axis->scene && !s->value_under) return "the function value_under for its resolved axis";
        if (axis->resolved && axis->scene && !s->prepare_scene)
            return "the function prepare_scene for its resolved axis";
    }
    return NULL;
}
