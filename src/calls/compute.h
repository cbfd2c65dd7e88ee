/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compute.h - computes a core's X, isolated (isolated.h) and timed. */
#ifndef NB_COMPUTE_H
#define NB_COMPUTE_H

#include "base/random.h"
#include "cores/core.h"
#include "nystrom/scene.h"

typedef struct {
    const char *refusal; /* why the core computes nothing here; NULL: it has computed */
    double seconds;      /* that it took, with what it found cached as if it had computed that itself */
} nb_computed;

/* Asks the core for its refusal, and else computes x (m x m); `scene` may be NULL. A core that draws does so for the
 * seed and the trial of `stream`. The factors have its notes, and own the refusal; ctx may be released. */
nb_status nb_core_compute(const nb_choice *core, nb_factors *factors, nb_scene *scene, nb_stream stream, double *x,
                          nb_computed *computed, nb_ctx *ctx);

#endif
