/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forward_time.c - rows of B times V, A, and rows of F times X (B V), formed and multiplied in tiles that stay near. */
#include "nystrom/forward_time.h"

#include "base/clock.h"
#include "linalg/linalg.h"
#include "nystrom/scene_record.h"

#include <math.h>

enum {
    ENTRIES = 1 << 16, /* of F and of B that are timed */
    FIRST = 8,         /* rows that are formed before, untimed: memory is new and far then */
};

/* Returns how many of `rows` rows of that length are timed. */
static double timed(double rows, double length)
{
    return fmin(rows, fmax(NB_NEAR, ceil(ENTRIES / length)));
}

double nb_forward_entries(double n, double m)
{
    return timed(m, n) * n + timed(n, m) * m + m * m;
}

typedef struct {
    int m, d, dv;
    double *tile, *a; /* n x NB_NEAR; A, and in its place X, m x m */
    double *bv, *xbv; /* (B V)', (X B V)', dv x m */
    double *out;      /* dv x NB_NEAR */
} arrays;

/* The kernel of the first `rows` of the queries q against the keys k, times `values` (dv x keys), into `out`, or, if it
 * is NULL, away: seconds for `all` rows. */
static nb_status multiply(const nb_scene *scene, const arrays *w, int all, int rows, const double *q, int keys,
                          const double *k, const double *values, double *out, double *seconds, nb_ctx *ctx)
{
    double start_s = nb_work_s();
    for (int i = 0; i < rows; i += NB_NEAR) {
        int count = rows - i < NB_NEAR ? rows - i : NB_NEAR;
        double *to = out ? out + (size_t)i * (size_t)w->dv : w->out;
        NB_TRY(ctx, nb_scene_kernel(scene, count, q + (size_t)i * (size_t)w->d, keys, k, w->tile, ctx));
        nb_gemm(NB_PLAIN, NB_PLAIN, w->dv, count, keys, 1, values, w->dv, w->tile, keys, 0, to, w->dv);
    }
    *seconds += (nb_work_s() - start_s) * all / rows;
    return NB_OK;
}

/* Runs one pass with at most `most` rows of F and of B. */
static nb_status forward(const nb_scene *scene, const arrays *w, double most, double *seconds, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    int m = w->m, n = h->n, of_b = (int)fmin(timed(m, n), most), of_f = (int)fmin(timed(n, m), most);
    *seconds = 0;
    NB_TRY(ctx, multiply(scene, w, m, of_b, h->q, n, h->k, h->v ? h->v : h->k, w->bv, seconds, ctx));
    double start_s = nb_work_s();
    NB_TRY(ctx, nb_scene_kernel(scene, m, h->q, m, h->k, w->a, ctx));
    nb_gemm(NB_PLAIN, NB_PLAIN, w->dv, m, m, 1, w->bv, w->dv, w->a, m, 0, w->xbv, w->dv);
    *seconds += nb_work_s() - start_s;
    return multiply(scene, w, n, of_f, h->q, m, h->k, w->xbv, NULL, seconds, ctx);
}

static nb_status measure(const nb_scene *scene, int m, double *seconds, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    arrays w = {.m = m, .d = h->d, .dv = h->v ? h->dv : h->d};
    size_t dv = (size_t)w.dv;
    NB_NEED(w.tile, nb_alloc_raw(ctx, (size_t)h->n * NB_NEAR));
    NB_NEED(w.a, nb_alloc_raw(ctx, (size_t)m * (size_t)m));
    NB_NEED(w.bv, nb_alloc_reals(ctx, dv, (size_t)m));
    NB_NEED(w.xbv, nb_alloc_raw(ctx, dv * (size_t)m));
    NB_NEED(w.out, nb_alloc_raw(ctx, dv * NB_NEAR));
    NB_TRY(ctx, forward(scene, &w, FIRST, seconds, ctx));
    return forward(scene, &w, INFINITY, seconds, ctx);
}

nb_status nb_scene_forward_s(nb_scene *scene, int m, double *seconds, nb_ctx *ctx)
{
    nb_forward_time *known = scene->forward_times;
    while (known && known->m != m) known = known->next;
    if (!known) {
        NB_NEED(known, nb_alloc(scene->ctx, 1, sizeof *known));
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = measure(scene, m, &known->seconds, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
        known->m = m;
        known->next = scene->forward_times;
        scene->forward_times = known;
    }
    *seconds = known->seconds;
    return NB_OK;
}
