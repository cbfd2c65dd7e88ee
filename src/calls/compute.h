/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compute.h - computes a core's X, guarded and timed. */
#ifndef NB_COMPUTE_H
#define NB_COMPUTE_H

#include "base/random.h"
#include "cores/core.h"
#include "nystrom/scene.h"

/* Computes x (m x m) and the seconds that it took; `scene` may be NULL. A core that draws does so for the seed and the
 * trial of `stream`. */
nb_status nb_core_compute(const nb_choice *core, nb_factors *factors, nb_scene *scene, nb_stream stream, double *x,
                          double *core_s, nb_ctx *ctx);

#endif
