/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layers.h - the layer of a scene: its shape, known from the plan, and its points. */
#ifndef NB_FORWARD_LAYERS_H
#define NB_FORWARD_LAYERS_H

#include "studies/forward/study.h"

/* V is taken to have the dimension of Q and K: what it has is known when it is read. */
nb_layer_shape nb_forward_shape(const nb_planned_scene *scene);

/* The points in a trial, rounded to scalars; heads that share keys share them here too. Memory is ctx's. */
nb_status nb_forward_layer(const nb_plan *plan, int scene, int trial, gsl_rng *rng, nb_layer *layer, nb_ctx *ctx);

#endif
