/* SPDX-License-Identifier: GPL-3.0-or-later */
/* key_fit.c - the value and its slope by H = C A'G, C = (A'A + lambda I)^-1:
 *
 *     f = tr G - tr A H,    df/dA' = -2 (H - H A C A'),
 *
 * and from there through the kernel to its points. */
#include "nystrom/key_fit.h"

#include "linalg/descent.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "linalg/work.h"
#include "nystrom/scene_record.h"

#include <math.h>
#include <string.h>

static const double SMALL_ENOUGH = 1e-13; /* f / tr G, of which some 1e-15 k is rounding */

typedef struct {
    const nb_kernel *kernel;
    const void *options;
    nb_tile tile;
    int k, m;
    double *roots;        /* k: of the weights */
    double *gram, total;  /* G, k x k, and its trace */
    double *keys;         /* d x m: where it is */
    double *values;       /* m x k: the kernel */
    double *a;            /* m x k: A' */
    double *both;         /* m x 2k: C A', then H */
    double *square;       /* m x m */
    double lambda, ridge; /* lambda is NaN before the first value */
} fit;

static nb_status form_gram(fit *f, const nb_row_sample *sample, int n, nb_ctx *ctx)
{
    size_t k = (size_t)f->k;
    const double *weighted;
    NB_NEED(f->gram, nb_alloc_reals(ctx, k, k));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_row_sample_weigh(sample, n, &weighted, ctx));
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, f->k, f->k, n, 1, weighted, n, weighted, n, 0, f->gram, f->k);
    nb_ctx_release(ctx, mark);
    for (size_t i = 0; i < k; i++) f->total += f->gram[i + i * k];
    return NB_OK;
}

static nb_status fit_init(fit *f, const nb_scene *scene, const nb_row_sample *sample, int m, double ridge, nb_ctx *ctx)
{
    size_t k = (size_t)sample->count, mm = (size_t)m, d = (size_t)scene->head->d;
    *f = (fit){.kernel = nb_scene_kernel_record(scene),
               .options = scene->options,
               .k = sample->count,
               .m = m,
               .lambda = NAN,
               .ridge = ridge};
    NB_REQUIRE(ctx, f->kernel->pull_back, NB_EINVAL,
               "keys are moved along a gradient, which this kernel does not have");
    NB_NEED(f->values, nb_alloc_reals(ctx, mm, k));
    NB_NEED(f->a, nb_alloc_reals(ctx, mm, k));
    NB_NEED(f->both, nb_alloc_reals(ctx, mm, 2 * k));
    NB_NEED(f->square, nb_alloc_reals(ctx, mm, mm));
    NB_NEED(f->keys, nb_alloc_reals(ctx, d, mm));
    NB_NEED(f->roots, nb_alloc_reals(ctx, k, 1));
    for (size_t i = 0; i < k; i++) f->roots[i] = sqrt(sample->weights[i]);
    f->tile = (nb_tile){.d = scene->head->d, .queries = f->k, .keys = m, .q = sample->points, .k = f->keys, .ld = m};
    return form_gram(f, sample, scene->head->n, ctx);
}

/* values, A', C A' and H. */
static nb_status value(void *self, const double *x, double *out, nb_ctx *ctx)
{
    fit *f = self;
    int m = f->m, k = f->k;
    size_t size = (size_t)m * (size_t)k;
    nb_count_multiplications(2 * (double)size); /* of the roots below, and of nb_dot */
    memcpy(f->keys, x, (size_t)f->tile.d * (size_t)m * sizeof *x);
    NB_TRY(ctx, f->kernel->fill(&f->tile, f->options, f->values, ctx));
    /* A', the kernel's columns times roots, and A'A + lambda I */
    for (size_t i = 0; i < size; i++) f->a[i] = f->roots[i / (size_t)m] * f->values[i];
    if (isnan(f->lambda)) f->lambda = f->ridge * nb_sum_of_squares(size, f->a);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, k, 1, f->a, m, f->a, m, 0, f->square, m);
    for (int j = 0; j < m; j++) f->square[j + j * m] += f->lambda;
    /* C A' and H from A' and A'G; out = f / tr G */
    memcpy(f->both, f->a, size * sizeof *f->both);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, k, k, 1, f->a, m, f->gram, k, 0, f->both + size, m);
    NB_TRY(ctx, nb_solve_positive(m, f->square, 2 * k, f->both, ctx));
    *out = 1 - nb_dot(size, f->a, f->both + size) / f->total;
    return NB_OK;
}

static nb_status gradient(void *self, double *out, nb_ctx *ctx)
{
    fit *f = self;
    int m = f->m, k = f->k;
    size_t size = (size_t)m * (size_t)k;
    double scale = -2 / f->total, *h = f->both + size;
    nb_count_multiplications((double)size);
    /* -2 (H - (H A) C A') / tr G, in the place of H, and times roots for the kernel */
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, k, 1, h, m, f->a, m, 0, f->square, m);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, k, m, -scale, f->square, m, f->both, m, scale, h, m);
    for (size_t i = 0; i < size; i++) h[i] *= f->roots[i / (size_t)m];
    return f->kernel->pull_back(&f->tile, f->options, f->values, h, NULL, out, ctx);
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
