/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layers.h - makes the layer of a scene: its shape, known from the plan, and its points. */
#ifndef NB_FORWARD_LAYERS_H
#define NB_FORWARD_LAYERS_H

#include "studies/forward/study.h"

/* Returns the shape. V is assumed to have the dimension of Q and K, since its own is known only when it is read. */
nb_layer_shape nb_forward_shape(const nb_planned_scene *scene);

/* Makes the points in a trial, rounded to scalars; heads that share keys share them here too. ctx owns the memory. */
nb_status nb_forward_layer(const nb_plan *plan, int scene, int trial, gsl_rng *rng, nb_layer *layer, nb_ctx *ctx);

#endif
