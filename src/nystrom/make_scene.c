/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_scene.c - the head as its kernel sees it. */
#include "nystrom/make_scene.h"

#include "nystrom/scene_record.h"

#include <string.h>

enum { KEPT = 4096 }; /* up to this n S is kept: 128 MiB */

bool nb_scene_is_kept(int n)
{
    return n <= KEPT;
}

static void find_factors(nb_scene *s)
{
    const nb_kernel *kernel = nb_scene_kernel_record(s);
    if (kernel->low_rank) s->factors = kernel->low_rank(s->head, s->options);
    if (s->factors.rank > s->head->n) s->factors.rank = 0;
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
    find_factors(s);
    return NB_OK;
}

static nb_status make_empty(const nb_head *head, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_plugin_open(kernel, ctx));
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
    return make_empty(head, kernel, scene, ctx);
}

static nb_status number_tokens(nb_scene *s)
{
    NB_NEED(s->positions, nb_alloc(s->ctx, (size_t)s->head->n, sizeof *s->positions));
    for (int i = 0; i < s->head->n; i++) s->positions[i] = i;
    return NB_OK;
}

nb_status nb_scene_new(const nb_head *head, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx)
{
    nb_scene *s;
    NB_TRY(ctx, make_empty(head, kernel, &s, ctx));
    NB_TRY(ctx, apply_kernel(s, ctx));
    NB_NEED(s->entries, nb_alloc_reals(s->ctx, 1, 1));
    NB_TRY(ctx, number_tokens(s));
    *scene = s;
    return NB_OK;
}

/* Columns of x (d x n) with these numbers. */
static void gather(int d, const double *x, int count, const int *tokens, double *out)
{
    size_t rows = (size_t)d;
    for (size_t i = 0; i < (size_t)count; i++) memcpy(out + i * rows, x + (size_t)tokens[i] * rows, rows * sizeof *x);
}

/* nb_take_points of a scene's own head. */
static void take_own(const void *self, int count, const int *tokens, nb_head *head)
{
    const nb_head *whole = self;
    gather(whole->d, whole->q, count, tokens, head->q);
    if (head->k != head->q) gather(whole->d, whole->k, count, tokens, head->k);
    if (head->v) gather(whole->dv, whole->v, count, tokens, head->v);
}

static nb_status cut_head(const nb_scene *scene, int count, const int *tokens, const nb_head **cut, nb_ctx *ctx)
{
    const nb_head *whole = scene->head;
    nb_head *h;
    bool one_set = whole->q && whole->q == whole->k, values = scene->take ? whole->dv > 0 : whole->v != NULL;
    NB_NEED(h, nb_alloc(ctx, 1, sizeof *h));
    *h = *whole;
    h->n = count;
    NB_NEED(h->q, nb_alloc_raw(ctx, (size_t)h->d * (size_t)count));
    h->k = h->q;
    if (!one_set) NB_NEED(h->k, nb_alloc_raw(ctx, (size_t)h->d * (size_t)count));
    if (values) NB_NEED(h->v, nb_alloc_raw(ctx, (size_t)h->dv * (size_t)count));
    if (scene->take)
        scene->take(scene->take_self, count, tokens, h);
    else
        take_own(whole, count, tokens, h);
    *cut = h;
    return NB_OK;
}

nb_status nb_scene_new_far(const nb_head *head, const nb_choice *kernel, nb_take_points *take, const void *self,
                           nb_scene **scene, nb_ctx *ctx)
{
    const nb_kernel *k = (const nb_kernel *)kernel->component;
    NB_REQUIRE(ctx, !k->points && !k->resolve, NB_EBUG, "%s has to see the points", kernel->label);
    NB_REQUIRE(ctx, !head->causal || !k->causal_refusal, NB_EINVAL, "%s", k->causal_refusal);
    NB_TRY(ctx, make_empty(head, kernel, scene, ctx));
    NB_NEED((*scene)->entries, nb_alloc_reals((*scene)->ctx, 1, 1));
    (*scene)->options = kernel->options;
    (*scene)->take = take;
    (*scene)->take_self = self;
    return NB_OK;
}

nb_status nb_scene_cut(nb_scene *scene, int count, const int *tokens, nb_scene **cut, nb_ctx *ctx)
{
    nb_scene *s;
    const nb_head *head;
    NB_TRY(ctx, cut_head(scene, count, tokens, &head, ctx));
    NB_TRY(ctx, make_empty(head, scene->kernel, &s, ctx));
    s->options = scene->options;
    find_factors(s);
    s->whole = scene;
    s->of_whole = tokens;
    s->entries = scene->entries;
    s->number = scene->number;
    s->problem = scene->problem;
    if (count < scene->head->n) NB_NEED(s->problem, nb_format(ctx, "%d tokens of %s", count, scene->problem));
    NB_TRY(ctx, number_tokens(s));
    *cut = s;
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
