/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scene.c - tiles of the kernel, and the points of both sides together. */
#include "nystrom/scene.h"

#include "nystrom/scene_record.h"

#include <string.h>

const nb_head *nb_scene_head(const nb_scene *scene)
{
    return scene->head;
}

int nb_scene_number(const nb_scene *scene)
{
    return scene->number;
}

const nb_choice *nb_scene_kernel_choice(const nb_scene *scene)
{
    return scene->kernel;
}

const nb_kernel *nb_scene_kernel_record(const nb_scene *scene)
{
    return (const nb_kernel *)scene->kernel->component;
}

void nb_scene_leave_out(nb_scene *scene, double time_s)
{
    for (; scene; scene = scene->whole) scene->reused_s -= time_s;
}

nb_status nb_scene_fill(const nb_scene *scene, const nb_tile *tile, double *out, nb_ctx *ctx)
{
    *scene->entries += (double)tile->queries * tile->keys;
    return nb_scene_kernel_record(scene)->fill(tile, scene->options, out, ctx);
}

nb_status nb_scene_kernel(const nb_scene *scene, int queries, const double *q, int keys, const double *k, double *out,
                          nb_ctx *ctx)
{
    for (int i = 0; i < queries; i += NB_STRIPE) {
        nb_tile tile = {.d = scene->head->d,
                        .queries = queries - i < NB_STRIPE ? queries - i : NB_STRIPE,
                        .keys = keys,
                        .q = q + (size_t)i * (size_t)scene->head->d,
                        .k = k,
                        .ld = keys};
        NB_TRY(ctx, nb_scene_fill(scene, &tile, out + (size_t)i * (size_t)keys, ctx));
    }
    return NB_OK;
}

void nb_scene_note_read(const nb_scene *scene, int count, const int *tokens)
{
    for (; scene->whole; scene = scene->whole) {
        if (scene->head->n == scene->whole->head->n) continue;
        tokens = scene->of_whole;
        count = scene->head->n;
    }
    for (int i = 0; scene->read && tokens && i < count; i++) scene->read[tokens[i]] = true;
}

nb_status nb_scene_some_rows(const nb_scene *scene, int count, const int *tokens, double *out, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t d = (size_t)h->d;
    nb_mark mark = nb_ctx_mark(ctx);
    double *q;
    nb_scene_note_read(scene, count, tokens);
    NB_NEED(q, nb_alloc_reals(ctx, d, (size_t)count));
    for (size_t i = 0; i < (size_t)count; i++) memcpy(q + i * d, h->q + (size_t)tokens[i] * d, d * sizeof *q);
    nb_tile tile = {.d = h->d,
                    .queries = count,
                    .keys = h->n,
                    .q = q,
                    .k = h->k,
                    .causal = h->causal,
                    .positions = tokens,
                    .ld = h->n};
    nb_status status = nb_scene_fill(scene, &tile, out, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

nb_status nb_scene_form(const nb_scene *scene, int first, int count, int keys, double *values, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    nb_tile tile = {.d = h->d,
                    .queries = count,
                    .keys = keys,
                    .q = h->q + (size_t)first * (size_t)h->d,
                    .k = h->k,
                    .causal = h->causal,
                    .positions = scene->positions + first,
                    .ld = h->n};
    return nb_scene_fill(scene, &tile, values, ctx);
}

double nb_scene_entries(const nb_scene *scene)
{
    return *scene->entries;
}

nb_status nb_scene_stacked(nb_scene *scene, const double **stacked, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t d = (size_t)h->d, n = (size_t)h->n;
    (void)ctx;
    if (!scene->stacked) {
        double *x;
        NB_NEED(x, nb_alloc_raw(scene->ctx, 2 * d * n));
        for (size_t i = 0; i < n; i++) {
            memcpy(x + 2 * d * i, h->q + d * i, d * sizeof *x);
            memcpy(x + 2 * d * i + d, h->k + d * i, d * sizeof *x);
        }
        scene->stacked = x;
    }
    *stacked = scene->stacked;
    return NB_OK;
}

nb_status nb_scene_united(nb_scene *scene, const double **united, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t size = (size_t)h->d * (size_t)h->n;
    (void)ctx;
    if (!scene->united) {
        double *x;
        NB_NEED(x, nb_alloc_raw(scene->ctx, 2 * size));
        memcpy(x, h->q, size * sizeof *x);
        memcpy(x + size, h->k, size * sizeof *x);
        scene->united = x;
    }
    *united = scene->united;
    return NB_OK;
}
