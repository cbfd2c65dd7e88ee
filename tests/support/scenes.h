/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scenes.h - a head under a kernel, on which tests pick and measure. */
#ifndef NB_SCENES_H
#define NB_SCENES_H

#include "testing.h"

#include "calls/picking.h"
#include "nystrom/exact_time.h"
#include "nystrom/factors_record.h"
#include "nystrom/make_scene.h"
#include "nystrom/scene_record.h"

typedef struct {
    nb_head head;
    nb_choice kernel;
    nb_scene *scene;
    gsl_rng *rng;
} fixture;

static inline void open_scene(nb_ctx *ctx, fixture *f, nb_head head, const char *kernel)
{
    f->head = head;
    f->kernel = choose(&nb_kernels, kernel, ctx);
    assert_ok(ctx, nb_scene_new(&f->head, &f->kernel, &f->scene, ctx));
    assert_ok(ctx, nb_random_new(&f->rng, ctx));
}

#endif
