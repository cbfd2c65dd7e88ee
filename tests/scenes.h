/* scenes.h - a head under a kernel, on which tests pick and measure. */
#ifndef NB_SCENES_H
#define NB_SCENES_H

#include "testing.h"

#include "measure/scene.h"

typedef struct {
    nb_head head;
    nb_choice kernel;
    nb_scene *scene;
    gsl_rng *rng;
} fixture;

/* `oracle`: whether something will ask for singular vectors of S. */
static inline void open_scene(nb_ctx *ctx, fixture *f, nb_head head, const char *kernel, bool oracle)
{
    f->head = head;
    f->kernel = choose(&nb_kernels, kernel, ctx);
    assert_ok(ctx, nb_scene_new(&f->head, &f->kernel, oracle, &f->scene, ctx));
    assert_ok(ctx, nb_random_new(&f->rng, ctx));
}

#endif
