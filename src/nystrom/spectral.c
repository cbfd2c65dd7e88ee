/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectral.c - Lanczos without reorthogonalisation: copies of converged values
 * do no harm to the largest. With u = D v, D = S - Q_F C Q_B', a stripe gives its
 * part of u from v, and its part of S'u and of Q_F'u from that. */
#include "nystrom/spectral.h"

#include "base/random.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/blocks.h"
#include "nystrom/low_rank.h"
#include "nystrom/scene_record.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

enum { STEPS = 100, LOOK = 5, START = 20251105 };
static const double enough = 1e-6;

typedef struct {
    int n, count, widest;
    double least; /* of products with S: nb_width_together's */
    int width;    /* columns that these may reach */
    nb_difference *differences;
    size_t ld; /* of the vectors of length n: all begin alike in memory, on which some kernels' bits depend */
    double *v, *before, *w; /* ld x width: this vector, the one before, the next */
    double *y, *z;          /* widest x count: C Q_B' v, Q_F' u */
    size_t u_ld;            /* NB_STRIPE; n where S has factors */
    double *u;              /* u_ld x width */
    double *alpha, *beta;   /* STEPS x count: the tridiagonal matrices */
    bool *done;
    nb_ctx *failures; /* owns their texts */
} lanczos;

static nb_status lanczos_init(lanczos *l, const nb_scene *scene, int count, nb_difference *differences, nb_ctx *ctx)
{
    int n = scene->head->n;
    double least = nb_scene_least_stripe(scene);
    int width = scene->factors.rank ? count : nb_width_together(count, NB_RIGHT_GROUP, least);
    size_t length = (size_t)n, ld = (size_t)nb_block_width(n), columns = (size_t)count, wide = (size_t)width;
    gsl_rng *rng;
    *l = (lanczos){.n = n,
                   .count = count,
                   .least = least,
                   .width = width,
                   .differences = differences,
                   .ld = ld,
                   .u_ld = scene->factors.rank ? ld : NB_STRIPE};
    for (int i = 0; i < count; i++) {
        size_t m = (size_t)differences[i].m;
        l->widest = differences[i].m > l->widest ? differences[i].m : l->widest;
        differences[i].scale = 1 / fmax(1, nb_frobenius(m * m, differences[i].c));
    }
    l->widest = nb_block_width(l->widest); /* so that all lie alike in memory */
    NB_NEED(l->v, nb_alloc_reals(ctx, ld, wide));
    NB_NEED(l->before, nb_alloc_reals(ctx, ld, wide));
    NB_NEED(l->w, nb_alloc_reals(ctx, ld, wide));
    NB_NEED(l->y, nb_alloc_reals(ctx, (size_t)l->widest, 2 * columns));
    l->z = l->y + (size_t)l->widest * columns;
    NB_NEED(l->u, nb_alloc_reals(ctx, l->u_ld, wide));
    NB_NEED(l->alpha, nb_alloc_reals(ctx, 2 * STEPS, columns));
    l->beta = l->alpha + STEPS * columns;
    NB_NEED(l->done, nb_alloc(ctx, columns, sizeof *l->done));
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    gsl_rng_set(rng, START);
    for (size_t j = 0; j < length; j++) l->v[j] = gsl_ran_ugaussian(rng);
    nb_scale(length, 1 / nb_frobenius(length, l->v), l->v);
    for (size_t i = 1; i < columns; i++) memcpy(l->v + i * ld, l->v, length * sizeof *l->v);
    return NB_OK;
}

/* From `count` entries of S v, of the tokens from `first` on, those of u, and their part of Q_F'u. */
static void subtract(lanczos *l, int first, int count)
{
    for (int i = 0; i < l->count; i++) {
        const nb_difference *d = &l->differences[i];
        const double *q_f = d->q_f + (size_t)first * (size_t)d->m;
        double *u = l->u + (size_t)i * l->u_ld, *y = l->y + (size_t)i * (size_t)l->widest,
               *z = l->z + (size_t)i * (size_t)l->widest;
        nb_gemv(NB_TRANSPOSED, d->m, count, -1, q_f, d->m, y, 1, u);
        for (int k = 0; k < d->zeros; k++)
            if (d->zero[k] >= first && d->zero[k] < first + count) u[d->zero[k] - first] = 0;
        nb_scale((size_t)count, d->scale, u);
        nb_gemv(NB_PLAIN, d->m, count, 1, q_f, d->m, u, 1, z);
    }
}

/* The same for all tokens at once, from the factors of S. */
static nb_status step_factors(lanczos *l, const nb_low_rank *s, nb_ctx *ctx)
{
    for (size_t i = 0; i < (size_t)l->count; i++)
        NB_TRY(ctx, nb_low_rank_multiply(s, false, l->n, 1, l->v + i * l->ld, l->u + i * l->u_ld, ctx));
    subtract(l, 0, l->n);
    for (size_t i = 0; i < (size_t)l->count; i++)
        NB_TRY(ctx, nb_low_rank_multiply(s, true, l->n, 1, l->u + i * l->u_ld, l->w + i * l->ld, ctx));
    return NB_OK;
}

static nb_status stripe_step(void *self, const nb_stripe *s, nb_ctx *ctx)
{
    lanczos *l = self;
    (void)ctx;
    nb_gemm_right_together(NB_TRANSPOSED, s->count, l->count, s->keys, s->values, s->ld, l->v, (int)l->ld, 0, l->u,
                           NB_STRIPE, l->least);
    subtract(l, s->first, s->count);
    nb_gemm_right_together(NB_PLAIN, s->keys, l->count, s->count, s->values, s->ld, l->u, NB_STRIPE, 1, l->w,
                           (int)l->ld, l->least);
    return NB_OK;
}

/* w <- D'D v for all, by the square of their scale. */
static nb_status multiply(lanczos *l, nb_scene *scene, double *scratch, nb_ctx *ctx)
{
    size_t n = (size_t)l->n, widest = (size_t)l->widest;
    memset(l->w, 0, l->ld * (size_t)l->width * sizeof *l->w);
    memset(l->z, 0, widest * (size_t)l->count * sizeof *l->z);
    /* y = C Q_B'v */
    for (size_t i = 0; i < (size_t)l->count; i++) {
        const nb_difference *d = &l->differences[i];
        nb_gemv(NB_TRANSPOSED, l->n, d->m, 1, d->q_b, l->n, l->v + i * l->ld, 0, scratch);
        nb_gemv(NB_PLAIN, d->m, d->m, 1, d->c, d->m, scratch, 0, l->y + i * widest);
    }
    /* u = S v - Q_F y, times its scale; w = S'u and z = Q_F'u */
    if (scene->factors.rank)
        NB_TRY(ctx, step_factors(l, &scene->factors, ctx));
    else
        NB_TRY(ctx, nb_scene_pass(scene, stripe_step, l, ctx));
    /* w <- w - Q_B C'z */
    for (size_t i = 0; i < (size_t)l->count; i++) {
        const nb_difference *d = &l->differences[i];
        nb_gemv(NB_TRANSPOSED, d->m, d->m, 1, d->c, d->m, l->z + i * widest, 0, scratch);
        nb_gemv(NB_PLAIN, l->n, d->m, -1, d->q_b, l->n, scratch, 1, l->w + i * l->ld);
        nb_scale(n, d->scale, l->w + i * l->ld);
    }
    return NB_OK;
}

/* One step of the three-term recurrence of difference i. */
static void recur(lanczos *l, int i, int step)
{
    size_t n = (size_t)l->n, at = (size_t)i * l->ld;
    double *alpha = l->alpha + (size_t)i * STEPS, *beta = l->beta + (size_t)i * STEPS;
    double *v = l->v + at, *w = l->w + at, *before = l->before + at;
    alpha[step] = nb_dot(n, v, w);
    for (size_t j = 0; j < n; j++) w[j] -= alpha[step] * v[j] + (step > 0 ? beta[step - 1] * before[j] : 0);
    beta[step] = nb_frobenius(n, w);
    memcpy(before, v, n * sizeof *v);
    memcpy(v, w, n * sizeof *v);
    if (beta[step] > 0) nb_scale(n, 1 / beta[step], v);
}

/* The largest Ritz value t of difference i, and its residual beta |s_last|. */
static nb_status estimate_norm(lanczos *l, int i, int steps, nb_ctx *ctx)
{
    double *t, *values;
    size_t k = (size_t)steps;
    const double *alpha = l->alpha + (size_t)i * STEPS, *beta = l->beta + (size_t)i * STEPS;
    nb_difference *d = &l->differences[i];
    NB_NEED(values, nb_alloc_reals(ctx, k, 1));
    NB_NEED(t, nb_alloc_reals(ctx, k, k));
    for (size_t j = 0; j < k; j++) {
        t[j + j * k] = alpha[j];
        if (j > 0) t[(j - 1) + j * k] = t[j + (j - 1) * k] = beta[j - 1];
    }
    NB_TRY(ctx, nb_symmetric_eigen(steps, t, values, ctx));
    double value = fmax(0, values[0]), next = beta[k - 1];
    d->norm = sqrt(value) / d->scale;
    d->accuracy = value > 0 ? next * fabs(t[k - 1]) / (2 * value) : 0;
    l->done[i] = d->accuracy <= enough || next == 0;
    return NB_OK;
}

/* One step of all that are not done; a failure is the end of its difference alone. */
static nb_status step_all(lanczos *l, nb_scene *scene, int step, double *scratch, nb_ctx *ctx)
{
    NB_TRY(ctx, multiply(l, scene, scratch, ctx));
    for (int i = 0; i < l->count; i++) {
        if (l->done[i]) continue;
        recur(l, i, step);
        bool exact = l->beta[(size_t)i * STEPS + (size_t)step] == 0;
        if ((step + 1) % LOOK != 0 && !exact) continue;
        if (estimate_norm(l, i, step + 1, ctx) == NB_OK) continue;
        NB_TRY(ctx, nb_record_failure(&l->differences[i].failure, l->failures));
        l->done[i] = true;
    }
    return NB_OK;
}

static nb_status run(lanczos *l, nb_scene *scene, nb_ctx *ctx)
{
    double *scratch;
    bool all = false;
    NB_NEED(scratch, nb_alloc_reals(ctx, (size_t)l->widest, 1));
    for (int step = 0; step < STEPS && !all; step++) {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = step_all(l, scene, step, scratch, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
        all = true;
        for (int i = 0; i < l->count; i++) all = all && l->done[i];
    }
    return NB_OK;
}

nb_status nb_spectral_norms(nb_scene *scene, int count, nb_difference *differences, nb_ctx *ctx)
{
    lanczos l;
    nb_ctx *failures;
    NB_NEED(failures, nb_ctx_child(ctx));
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = lanczos_init(&l, scene, count, differences, ctx);
    l.failures = failures;
    if (status == NB_OK) status = run(&l, scene, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
