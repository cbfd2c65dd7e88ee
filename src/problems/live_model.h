/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live_model.h - the options of the problem `live_model`, and the model that its program describes. */
#ifndef NB_PROBLEM_MODEL_H
#define NB_PROBLEM_MODEL_H

#include "components/component.h"
#include "data/model.h"

#define NB_PROBLEM_MODEL "live_model"

typedef struct {
    const char *run, *layers;
    int source, permute;
    double timeout;
} nb_model_options;

/* The model with the chosen layers. Head h of the i-th of these, of source s, has number (s * layer_count + i) *
 * model.heads + h. */
typedef struct {
    nb_model_program program;
    nb_model model;
    int layer_count;
    int *layers;
} nb_model_part;

nb_status nb_model_part_find(const nb_model_options *options, nb_model_part *part, nb_ctx *ctx);

#endif
