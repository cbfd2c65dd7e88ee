/* SPDX-License-Identifier: GPL-3.0-or-later */
/* subspace.c - the bases of F and B at free points, and what moves them.
 *
 * With G = S Q_B and F = Q_F s V' its singular value decomposition, at fixed B
 *     d|Q_F'G|^2 / dF = 2 (G - Q_F Q_F'G) G'Q_F s^-1 V'
 * (Golub & Pereyra 1973), for B the same with S', and from there through the kernel to
 * its points (its pull_back). Of sampled rows F is W^(1/2) F_I: its values and slopes are the kernel's times the roots
 * of the weights. */
#include "nystrom/subspace.h"

#include "kernels/kernel.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "linalg/work.h"
#include "nystrom/passes.h"
#include "nystrom/scene_record.h"

#include <math.h>
#include <string.h>

enum { STRIPE = 128 };
static const double CUT = 1e-10; /* of singular values, to the largest */

typedef struct { /* a factor, its points, and what follows from them */
    nb_tile tile;
    int length;              /* k (F), n (B) */
    bool landmarks_are_keys; /* F; else B */
    double *points;          /* d x m: the tile's landmarks */
    double *values;          /* m x k (F), n x m (B): as the kernel has it */
    double *q;               /* length x m: the basis, zero columns after its rank */
    double *inverse; /* m x m: s^-1 V', zero rows after the rank; q times it is the pseudo-inverse's transpose */
    double *slope;   /* as values */
} factor;

struct nb_subspace {
    int n, d, m, k;
    const nb_kernel *kernel;
    const void *options;
    const double *rows; /* n x k: S, or some of it, by rows, times the roots of their weights */
    double *roots;      /* k; NULL: 1 */
    double norm2;       /* of `rows` */
    factor f, b;
    double *right, *left;           /* k x m, n x m: S Q_B, S'Q_F */
    double *core;                   /* m x m: Q_F'S Q_B */
    double *r, *u, *s, *vt, *small; /* m x m, s: m */
    double *tall;                   /* n x m */
    double *stripe, *product;       /* n x STRIPE, m x STRIPE */
};

/* x: the points of the side that is not the landmarks'. */
static nb_status factor_init(factor *f, const nb_subspace *w, const double *x, bool landmarks_are_keys, nb_ctx *ctx)
{
    int length = landmarks_are_keys ? w->k : w->n;
    size_t l = (size_t)length, d = (size_t)w->d, m = (size_t)w->m;
    *f = (factor){.length = length, .landmarks_are_keys = landmarks_are_keys};
    NB_NEED(f->points, nb_alloc_reals(ctx, d, m));
    NB_NEED(f->values, nb_alloc_reals(ctx, l, m));
    NB_NEED(f->q, nb_alloc_reals(ctx, l, m));
    NB_NEED(f->inverse, nb_alloc_reals(ctx, m, m));
    NB_NEED(f->slope, nb_alloc_reals(ctx, l, m));
    f->tile = landmarks_are_keys
                  ? (nb_tile){.d = w->d, .queries = length, .keys = w->m, .q = x, .k = f->points, .ld = w->m}
                  : (nb_tile){.d = w->d, .queries = w->m, .keys = length, .q = f->points, .k = x, .ld = length};
    return NB_OK;
}

static nb_status read_rows(nb_subspace *w, nb_scene *scene, const nb_row_sample *sample, nb_ctx *ctx)
{
    double norm;
    if (!sample) {
        NB_TRY(ctx, nb_scene_rows(scene, &w->rows, ctx));
        NB_TRY(ctx, nb_scene_norm(scene, &norm, ctx));
    } else {
        NB_TRY(ctx, nb_row_sample_weigh(sample, w->n, &w->rows, ctx));
        nb_count_multiplications((double)w->n * w->k);
        norm = nb_frobenius((size_t)w->n * (size_t)w->k, w->rows);
        NB_NEED(w->roots, nb_alloc_raw(ctx, (size_t)w->k));
        for (int i = 0; i < w->k; i++) w->roots[i] = sqrt(sample->weights[i]);
    }
    w->norm2 = norm * norm;
    return NB_OK;
}

nb_status nb_subspace_new(nb_scene *scene, const nb_row_sample *sample, int m, nb_subspace **out, nb_ctx *ctx)
{
    size_t n = (size_t)scene->head->n, mm = (size_t)m;
    nb_subspace *w;
    NB_NEED(w, nb_alloc(ctx, 1, sizeof *w));
    *w = (nb_subspace){.n = scene->head->n,
                       .d = scene->head->d,
                       .m = m,
                       .k = sample ? sample->count : scene->head->n,
                       .kernel = nb_scene_kernel_record(scene),
                       .options = scene->options};
    NB_REQUIRE(ctx, w->kernel->pull_back && !scene->head->causal, NB_EINVAL,
               "a gradient needs a kernel with one, and no mask");
    NB_REQUIRE(ctx, w->k >= m, NB_EINVAL, "%d rows of S for %d landmarks: any F has them in its range", w->k, m);
    NB_TRY(ctx, read_rows(w, scene, sample, ctx));
    NB_TRY(ctx, factor_init(&w->f, w, sample ? sample->points : scene->head->q, true, ctx));
    NB_TRY(ctx, factor_init(&w->b, w, scene->head->k, false, ctx));
    double **const tall[] = {&w->right, &w->left, &w->tall},
                   **const square[] = {&w->core, &w->r, &w->u, &w->vt, &w->small};
    for (size_t i = 0; i < sizeof tall / sizeof *tall; i++) NB_NEED(*tall[i], nb_alloc_reals(ctx, n, mm));
    for (size_t i = 0; i < sizeof square / sizeof *square; i++) NB_NEED(*square[i], nb_alloc_reals(ctx, mm, mm));
    NB_NEED(w->s, nb_alloc_reals(ctx, mm, 1));
    NB_NEED(w->stripe, nb_alloc_raw(ctx, n * STRIPE));
    NB_NEED(w->product, nb_alloc_raw(ctx, mm * STRIPE));
    *out = w;
    return NB_OK;
}

/* x (k x m), values of F or their slopes, times the roots of the weights. */
static void weigh_rows(const nb_subspace *w, const factor *f, double *x)
{
    size_t k = (size_t)w->k;
    if (!w->roots || !f->landmarks_are_keys) return;
    nb_count_multiplications((double)w->k * w->m);
    for (size_t j = 0; j < (size_t)w->m; j++)
        for (size_t i = 0; i < k; i++) x[j * k + i] *= w->roots[i];
}

/* values of the kernel and their basis; without the cut, what nb_orthonormalise finds. */
static nb_status form_basis(nb_subspace *w, factor *f, bool cut, nb_ctx *ctx)
{
    int n = f->length, m = w->m, rank, kept = 0;
    double *whole = cut ? w->tall : f->q;
    NB_TRY(ctx, w->kernel->fill(&f->tile, w->options, f->values, ctx));
    if (f->landmarks_are_keys)
        nb_transpose(m, n, f->values, whole);
    else
        memcpy(whole, f->values, (size_t)n * (size_t)m * sizeof *whole);
    weigh_rows(w, f, whole);
    /* F = Q R */
    NB_TRY(ctx, nb_orthonormalise(NB_COLUMNS, n, m, whole, w->r, &rank, ctx));
    if (!cut) return NB_OK;
    /* R = U s V', cut where s_i <= CUT s_1 */
    NB_TRY(ctx, nb_svd(m, m, w->r, w->u, w->s, w->vt, ctx));
    while (kept < m && w->s[kept] > CUT * w->s[0]) kept++;
    memset(w->u + (size_t)kept * (size_t)m, 0, (size_t)(m - kept) * (size_t)m * sizeof *w->u);
    /* Q_F = Q U */
    nb_gemm(NB_PLAIN, NB_PLAIN, n, m, m, 1, whole, n, w->u, m, 0, f->q, n);
    nb_count_multiplications((double)kept * m);
    /* s^-1 V' */
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) f->inverse[j * m + i] = i < kept ? w->vt[j * m + i] / w->s[i] : 0;
    return NB_OK;
}

/* The bases, S Q_B and Q_F'S Q_B. */
static nb_status form_bases(nb_subspace *w, const double *points, bool cut, nb_ctx *ctx)
{
    int n = w->n, m = w->m, k = w->k;
    size_t half = (size_t)w->d * (size_t)w->m;
    memcpy(w->f.points, points, half * sizeof *points);
    memcpy(w->b.points, points + half, half * sizeof *points);
    NB_TRY(ctx, form_basis(w, &w->f, cut, ctx));
    NB_TRY(ctx, form_basis(w, &w->b, cut, ctx));
    /* G = S Q_B, and Q_F'G */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, k, m, n, 1, w->rows, n, w->b.q, n, 0, w->right, k);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, k, 1, w->f.q, k, w->right, k, 0, w->core, m);
    return NB_OK;
}

nb_status nb_subspace_value(nb_subspace *w, const double *points, double *value, nb_ctx *ctx)
{
    NB_TRY(ctx, form_bases(w, points, true, ctx));
    nb_count_multiplications((double)w->m * w->m);
    *value = 1 - nb_sum_of_squares((size_t)w->m * (size_t)w->m, w->core) / w->norm2;
    return NB_OK;
}

/* From `product`, S or S' times the other side's basis, and op(core) = q'product: the
 * slope of the factor's values, -2 / |S|^2 (product - q q'product) op(core)' inverse,
 * then of its points. */
static nb_status pull_back(nb_subspace *w, factor *f, const double *product, nb_op op, double *gradient, nb_ctx *ctx)
{
    int n = f->length, m = w->m;
    double *landmarks[2] = {NULL, NULL};
    size_t size = (size_t)n * (size_t)m * sizeof *f->slope;
    /* G - Q_F Q_F'G */
    memcpy(f->slope, product, size);
    nb_gemm(NB_PLAIN, op, n, m, m, -1, f->q, n, w->core, m, 1, f->slope, n);
    /* -2 / |S|^2 G'Q_F s^-1 V' */
    nb_gemm(op == NB_PLAIN ? NB_TRANSPOSED : NB_PLAIN, NB_PLAIN, m, m, m, -2 / w->norm2, w->core, m, f->inverse, m, 0,
            w->small, m);
    /* their product: the slope of F, of B likewise */
    nb_gemm(NB_PLAIN, NB_PLAIN, n, m, m, 1, f->slope, n, w->small, m, 0, w->tall, n);
    weigh_rows(w, f, w->tall);
    if (f->landmarks_are_keys)
        nb_transpose(n, m, w->tall, f->slope);
    else
        memcpy(f->slope, w->tall, size);
    /* through the kernel to the landmarks */
    landmarks[f->landmarks_are_keys] = gradient;
    return w->kernel->pull_back(&f->tile, w->options, f->values, f->slope, landmarks[0], landmarks[1], ctx);
}

nb_status nb_subspace_gradient(nb_subspace *w, double *gradient, nb_ctx *ctx)
{
    size_t half = (size_t)w->d * (size_t)w->m;
    /* S'Q_F */
    nb_gemm(NB_PLAIN, NB_PLAIN, w->n, w->m, w->k, 1, w->rows, w->n, w->f.q, w->k, 0, w->left, w->n);
    NB_TRY(ctx, pull_back(w, &w->f, w->right, NB_PLAIN, gradient, ctx));
    return pull_back(w, &w->b, w->left, NB_TRANSPOSED, gradient + half, ctx);
}

nb_status nb_subspace_error(nb_subspace *w, const double *points, double *error, nb_ctx *ctx)
{
    int n = w->n, m = w->m;
    double sum = 0;
    NB_TRY(ctx, form_bases(w, points, false, ctx));
    for (int first = 0; first < w->k; first += STRIPE) {
        int count = w->k - first < STRIPE ? w->k - first : STRIPE;
        size_t size = (size_t)n * (size_t)count;
        memcpy(w->stripe, w->rows + (size_t)first * (size_t)n, size * sizeof *w->stripe);
        /* S' - Q_B (Q_F'S Q_B)' Q_F' of the stripe's rows */
        nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, m, count, m, 1, w->core, m, w->f.q + first, w->k, 0, w->product, m);
        nb_gemm(NB_PLAIN, NB_PLAIN, n, count, m, -1, w->b.q, n, w->product, m, 1, w->stripe, n);
        sum += nb_sum_of_squares(size, w->stripe);
    }
    nb_count_multiplications((double)n * w->k);
    *error = sqrt(sum / w->norm2);
    return NB_OK;
}
