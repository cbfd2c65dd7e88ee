/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_time.c - rows in the middle of S, formed and multiplied. */
#include "nystrom/exact_time.h"

#include "base/clock.h"
#include "linalg/linalg.h"
#include "nystrom/scene_record.h"

#include <math.h>

enum {
    ENTRIES = 1 << 18, /* of S that are timed */
    FIRST = 8,         /* rows that are formed before, untimed: memory is new and far then */
};

double nb_exact_entries(double n)
{
    return fmin(n * n, fmax(ENTRIES, NB_NEAR * n));
}

/* Rows first ... first + count - 1 of S V, in tiles that stay near. */
static nb_status attend(const nb_scene *scene, int first, int count, double *tile, double *out, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    const double *v = h->v ? h->v : h->k;
    int dv = h->v ? h->dv : h->d;
    for (int i = 0; i < count; i += NB_NEAR) {
        int rows = count - i < NB_NEAR ? count - i : NB_NEAR, keys = h->causal ? first + i + rows : h->n;
        NB_TRY(ctx, nb_scene_form(scene, first + i, rows, keys, tile, ctx));
        nb_gemm(NB_PLAIN, NB_PLAIN, dv, rows, keys, 1, v, dv, tile, h->n, 0, out, dv);
    }
    return NB_OK;
}

nb_status nb_scene_exact_s(nb_scene *scene, double *seconds, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    int count = ENTRIES / h->n < NB_NEAR ? NB_NEAR : ENTRIES / h->n;
    double *tile, *out;
    nb_mark mark = nb_ctx_mark(ctx);
    if (count > h->n) count = h->n;
    if (scene->exact_s == 0) {
        NB_NEED(tile, nb_alloc_raw(ctx, (size_t)h->n * NB_NEAR));
        NB_NEED(out, nb_alloc_raw(ctx, (size_t)(h->v ? h->dv : h->d) * NB_NEAR));
        int first = (h->n - count) / 2; /* a mask takes half of these rows, as of S */
        nb_status status = attend(scene, first, count < FIRST ? count : FIRST, tile, out, ctx);
        double start_s = nb_work_s();
        if (status == NB_OK) status = attend(scene, first, count, tile, out, ctx);
        scene->exact_s = (nb_work_s() - start_s) * h->n / count;
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    *seconds = scene->exact_s;
    return NB_OK;
}
