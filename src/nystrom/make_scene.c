/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_scene.c - the head as its kernel sees it. */
#include "nystrom/make_scene.h"

#include "nystrom/scene_private.h"

#include <string.h>

enum { KEPT = 4096 }; /* up to this n S is kept: 128 MiB */

bool nb_scene_is_kept(int n)
{
    return n <= KEPT;
}

/* The head as the kernel sees it, and the options for it. */
static nb_status apply_kernel(nb_scene *s, nb_ctx *ctx)
{
    const nb_kernel *kernel = nb_scene_kernel_record(s);
    s->options = s->kernel->options;
    NB_REQUIRE(ctx, !s->head->causal || !kernel->causal_refusal, NB_EINVAL, "%s", kernel->causal_refusal);
    if (kernel->points) {
        nb_head *own;
        NB_NEED(own, nb_alloc(s->ctx, 1, sizeof *own));
        *own = *s->head;
        own->q = own->k = kernel->points(s->head, s->options);
        s->head = own;
    }
    NB_REQUIRE(ctx, s->head->q && s->head->k, NB_EINVAL, "%s needs keys, and the head has none", s->kernel->label);
    if (kernel->resolve) {
        void *own;
        NB_NEED(own, nb_alloc(s->ctx, 1, kernel->component.options_size));
        memcpy(own, s->options, kernel->component.options_size);
        NB_TRY(ctx, kernel->resolve(s->head, own, ctx));
        s->options = own;
    }
    if (kernel->low_rank) s->factors = kernel->low_rank(s->head, s->options);
    if (s->factors.rank > s->head->n) s->factors.rank = 0;
    return NB_OK;
}

static nb_status make(const nb_head *head, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx)
{
    NB_NEED(*scene, nb_alloc(ctx, 1, sizeof **scene));
    **scene = (nb_scene){.head = head, .kernel = kernel, .problem = "", .keep = nb_scene_is_kept(head->n)};
    NB_NEED((*scene)->ctx, nb_ctx_child(ctx));
    return NB_OK;
}

nb_status nb_scene_new_blank(int n, int d, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx)
{
    nb_head *head;
    NB_NEED(head, nb_alloc(ctx, 1, sizeof *head));
    *head = (nb_head){.n = n, .d = d};
    return make(head, kernel, scene, ctx);
}

nb_status nb_scene_new(const nb_head *head, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx)
{
    nb_scene *s;
    NB_TRY(ctx, make(head, kernel, &s, ctx));
    NB_TRY(ctx, apply_kernel(s, ctx));
    NB_NEED(s->entries, nb_alloc_reals(s->ctx, 1, 1));
    NB_NEED(s->positions, nb_alloc(s->ctx, (size_t)head->n, sizeof *s->positions));
    for (int i = 0; i < head->n; i++) s->positions[i] = i;
    *scene = s;
    return NB_OK;
}

void nb_scene_name(nb_scene *scene, const char *problem, int head)
{
    scene->problem = problem;
    scene->number = head;
}

void nb_scene_form_whole(nb_scene *scene)
{
    scene->factors.rank = 0;
}

void nb_scene_take_along(nb_scene *scene, unsigned what)
{
    scene->along |= what;
}
