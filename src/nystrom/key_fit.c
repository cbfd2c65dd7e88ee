/* SPDX-License-Identifier: GPL-3.0-or-later */
/* key_fit.c - with A' = V s U' (m x k), the value and the slope
 *
 *     df/dA = -2 (G A C - A C A'G A C),  C = (A'A + lambda I)^-1,
 *
 * by H = C A'G; from there through the kernel to its points. */
#include "nystrom/key_fit.h"

#include "linalg/descent.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/scene_private.h"

#include <math.h>
#include <string.h>

static const double SMALL_ENOUGH = 1e-13; /* f / tr G, of which some 1e-15 k is rounding */

typedef struct {
    const nb_kernel *kernel;
    const void *options;
    nb_tile tile;
    int k, m;
    double *roots;         /* k: of the weights */
    double *gram, total;   /* G, k x k, and its trace */
    double *keys;          /* d x m: where it is */
    double *values;        /* m x k: the kernel */
    double *a;             /* m x k: A' */
    double *v, *s, *ut;    /* m x r, r, r x k: of A' */
    double *filtered, *ca; /* r x k; m x k: C A' */
    double *h;             /* m x k */
    double *small;         /* m x m */
    double lambda, ridge;  /* lambda is NaN before the first value */
} fit;

static nb_status form_gram(fit *f, const nb_row_sample *sample, int n, nb_ctx *ctx)
{
    size_t rows = (size_t)n, k = (size_t)f->k;
    double *weighted;
    NB_NEED(f->gram, nb_alloc_reals(ctx, k, k));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(weighted, nb_alloc_raw(ctx, rows * k));
    memcpy(weighted, sample->rows, rows * k * sizeof *weighted);
    for (size_t i = 0; i < k; i++) nb_scale(rows, f->roots[i], weighted + i * rows);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, f->k, f->k, n, 1, weighted, n, weighted, n, 0, f->gram, f->k);
    nb_ctx_release(ctx, mark);
    for (size_t i = 0; i < k; i++) f->total += f->gram[i + i * k];
    return NB_OK;
}

static nb_status fit_init(fit *f, const nb_scene *scene, const nb_row_sample *sample, int m, double ridge, nb_ctx *ctx)
{
    int r = m < sample->count ? m : sample->count;
    size_t k = (size_t)sample->count, mm = (size_t)m, d = (size_t)scene->head->d;
    *f = (fit){.kernel = nb_scene_kernel_record(scene),
               .options = scene->options,
               .k = sample->count,
               .m = m,
               .lambda = NAN,
               .ridge = ridge};
    NB_REQUIRE(ctx, f->kernel->pull_back, NB_EINVAL, "keys are moved along a gradient, which this kernel has not");
    double **const by_k[] = {&f->values, &f->a, &f->ca, &f->h};
    for (size_t i = 0; i < sizeof by_k / sizeof *by_k; i++) NB_NEED(*by_k[i], nb_alloc_reals(ctx, mm, k));
    NB_NEED(f->keys, nb_alloc_reals(ctx, d, mm));
    NB_NEED(f->v, nb_alloc_reals(ctx, mm, (size_t)r));
    NB_NEED(f->s, nb_alloc_reals(ctx, (size_t)r, 1));
    NB_NEED(f->ut, nb_alloc_reals(ctx, (size_t)r, k));
    NB_NEED(f->filtered, nb_alloc_reals(ctx, (size_t)r, k));
    NB_NEED(f->small, nb_alloc_reals(ctx, mm, mm));
    NB_NEED(f->roots, nb_alloc_reals(ctx, k, 1));
    for (size_t i = 0; i < k; i++) f->roots[i] = sqrt(sample->weights[i]);
    f->tile = (nb_tile){
        .d = scene->head->d, .queries = f->k, .keys = m, .q = sample->points, .k = f->keys, .ld = m};
    return form_gram(f, sample, scene->head->n, ctx);
}

/* values, A', its decomposition, C A' and H. */
static nb_status value(void *self, const double *x, double *out, nb_ctx *ctx)
{
    fit *f = self;
    size_t m = (size_t)f->m, size = m * (size_t)f->k;
    int r = f->m < f->k ? f->m : f->k;
    memcpy(f->keys, x, (size_t)f->tile.d * m * sizeof *x);
    NB_TRY(ctx, f->kernel->fill(&f->tile, f->options, f->values, ctx));
    memcpy(f->a, f->values, size * sizeof *f->a);
    for (size_t i = 0; i < (size_t)f->k; i++) nb_scale(m, f->roots[i], f->a + i * m);
    if (isnan(f->lambda)) f->lambda = f->ridge * nb_sum_of_squares(size, f->a);
    NB_TRY(ctx, nb_svd(f->m, f->k, f->a, f->v, f->s, f->ut, ctx));
    for (int i = 0; i < f->k; i++)
        for (int j = 0; j < r; j++)
            f->filtered[j + i * r] = f->s[j] > 0 ? f->s[j] / (f->s[j] * f->s[j] + f->lambda) * f->ut[j + i * r] : 0;
    nb_gemm(NB_PLAIN, NB_PLAIN, f->m, f->k, r, 1, f->v, f->m, f->filtered, r, 0, f->ca, f->m);
    nb_gemm(NB_PLAIN, NB_PLAIN, f->m, f->k, f->k, 1, f->ca, f->m, f->gram, f->k, 0, f->h, f->m);
    *out = 1 - nb_dot(size, f->a, f->h) / f->total;
    return NB_OK;
}

static nb_status gradient(void *self, double *out, nb_ctx *ctx)
{
    fit *f = self;
    size_t m = (size_t)f->m;
    double scale = -2 / f->total;
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, f->m, f->m, f->k, 1, f->h, f->m, f->a, f->m, 0, f->small, f->m);
    nb_gemm(NB_PLAIN, NB_PLAIN, f->m, f->k, f->m, -scale, f->small, f->m, f->ca, f->m, scale, f->h, f->m);
    for (size_t i = 0; i < (size_t)f->k; i++) nb_scale(m, f->roots[i], f->h + i * m);
    return f->kernel->pull_back(&f->tile, f->options, f->values, f->h, NULL, out, ctx);
}

nb_status nb_key_fit(const nb_scene *scene, const nb_row_sample *sample, int m, double ridge, int steps, double *keys,
                     nb_ctx *ctx)
{
    fit f;
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = fit_init(&f, scene, sample, m, ridge, ctx);
    nb_slope slope = {(size_t)scene->head->d * (size_t)m, value, gradient, &f, SMALL_ENOUGH};
    if (status == NB_OK && f.total > 0) status = nb_descend(&slope, steps, keys, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
