/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interpolation.c - B of the factors kernel_ridge, from m exact rows R = k(Q~, K):
 *
 * 1. Each query belongs to its nearest query landmark, each key to its nearest key landmark. Weights w of the former by
 *    their numbers of queries, of mean 1; attention received r = w'R/m; b = ln of the numbers of keys.
 * 2. Prior. Row c of P is the mean over the keys of landmark c with weights r.
 * 3. Features. F_c, m x m, are those of the query landmarks. Once, b += ln(r's share in c / (F_c w)_c).
 * 4. Ridge. With D = diag(1/(F_c w)), M = F_c'DF_c + lambda t diag(1/w) and T = R - F_c'P, B = P + D F_c M^-1 T, with
 *    the lambda of least leave-one-out error of T V, or of T where the head has no V (linalg/kernel_ridge.h). */
#include "nystrom/interpolation.h"

#include "linalg/kernel_ridge.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/scene_record.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PANEL = 256 };
static const double least_size = 0.5; /* of a query landmark to which no query is nearest */
static const double least_received = 1e-9, feature_floor = 1e-4;

typedef struct {
    int n, m;
    double *q, *k;            /* d x m: the landmarks */
    int *group;               /* n: the landmark of each key */
    double *share;            /* n: the key's part in its landmark's row of P */
    double *w, *mass, *bias;  /* m */
    double *features, *scale; /* m x m, F_c times sqrt(D); m, sqrt(D) */
    double *gram, *inverse;   /* m x m */
} middle;

/* group (n) <- the nearest of m points, the first among equals. */
static nb_status find_nearest(int d, int m, const double *to, int n, const double *x, int *group, nb_ctx *ctx)
{
    size_t dd = (size_t)d, mm = (size_t)m;
    double *products, *half;
    NB_NEED(products, nb_alloc_raw(ctx, mm * PANEL));
    NB_NEED(half, nb_alloc_raw(ctx, mm));
    for (size_t c = 0; c < mm; c++) half[c] = nb_sum_of_squares(dd, to + c * dd) / 2;
    /* The least |x - c|^2 has the largest x'c - |c|^2/2 */
    for (int i = 0; i < n; i += PANEL) {
        int count = n - i < PANEL ? n - i : PANEL;
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, count, d, 1, to, d, x + (size_t)i * dd, d, 0, products, m);
        for (size_t j = 0; j < (size_t)count; j++) {
            for (size_t c = 0; c < mm; c++) products[j * mm + c] -= half[c];
            group[(size_t)i + j] = (int)nb_largest_index(mm, products + j * mm);
        }
    }
    return NB_OK;
}

static nb_status middle_init(const nb_scene *scene, const nb_landmarks *l, middle *x, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t n = (size_t)h->n, m = (size_t)l->keys.m, square = m * m;
    *x = (middle){.n = h->n, .m = l->keys.m};
    NB_NEED(x->q, nb_alloc_reals(ctx, 2 * (size_t)h->d, m));
    x->k = x->q + (size_t)h->d * m;
    NB_TRY(ctx, nb_picks_landmarks(&l->queries, h->d, h->n, h->q, x->q, ctx));
    NB_TRY(ctx, nb_picks_landmarks(&l->keys, h->d, h->n, h->k, x->k, ctx));
    NB_NEED(x->group, nb_alloc(ctx, n, sizeof *x->group));
    NB_NEED(x->share, nb_alloc_reals(ctx, n, 1));
    NB_NEED(x->w, nb_alloc_reals(ctx, m, 3));
    x->mass = x->w + m;
    x->scale = x->mass + m;
    NB_NEED(x->bias, nb_alloc_reals(ctx, m, 1));
    NB_NEED(x->features, nb_alloc_reals(ctx, square, 3));
    x->gram = x->features + square;
    x->inverse = x->gram + square;
    return NB_OK;
}

static nb_status weigh_queries(const nb_head *h, middle *x, nb_ctx *ctx)
{
    double total = 0;
    NB_TRY(ctx, find_nearest(h->d, x->m, x->q, h->n, h->q, x->group, ctx));
    for (int i = 0; i < h->n; i++) x->w[x->group[i]]++;
    for (int i = 0; i < x->m; i++) total += x->w[i] = fmax(x->w[i], least_size);
    nb_scale((size_t)x->m, x->m / total, x->w);
    return NB_OK;
}

/* The keys' landmarks, and what they receive from the rows. */
static nb_status weigh_keys(const nb_head *h, const double *rows, middle *x, nb_ctx *ctx)
{
    size_t n = (size_t)h->n;
    double *received = x->share, *weight;
    NB_NEED(weight, nb_alloc_reals(ctx, (size_t)x->m, 1));
    NB_TRY(ctx, find_nearest(h->d, x->m, x->k, h->n, h->k, x->group, ctx));
    /* r = w'R/m */
    for (size_t i = 0; i < (size_t)x->m; i++) nb_add_scaled(n, x->w[i] / x->m, rows + i * n, received);
    /* Each landmark has a number of keys, a sum of r and one of P's weights, which are n r but never 0 */
    for (size_t j = 0; j < n; j++) {
        int c = x->group[j];
        x->bias[c]++;
        x->mass[c] += received[j];
        received[j] = fmax(received[j] * (double)n, least_received);
        weight[c] += received[j];
    }
    for (size_t j = 0; j < n; j++) x->share[j] /= weight[x->group[j]];
    for (int c = 0; c < x->m; c++) x->bias[c] = log(x->bias[c]);
    return NB_OK;
}

/* F_c and sqrt(D), with b corrected. */
static nb_status find_features(const nb_scene *scene, middle *x, nb_ctx *ctx)
{
    int m = x->m;
    size_t square = (size_t)m * (size_t)m;
    double *softmax, *mean = x->scale;
    NB_NEED(softmax, nb_alloc_reals(ctx, (size_t)m, (size_t)m));
    NB_TRY(ctx, nb_scene_kernel(scene, m, x->q, m, x->k, softmax, ctx));
    nb_scale((size_t)m, 1 / nb_sum((size_t)m, x->mass), x->mass);
    for (bool corrected = false;; corrected = true) {
        memcpy(x->features, softmax, square * sizeof *softmax);
        nb_reweigh(m, m, x->bias, x->features, NULL);
        nb_gemv(NB_PLAIN, m, m, 1.0 / m, x->features, m, x->w, 0, mean);
        if (corrected) break;
        nb_correct_bias(m, x->mass, mean, x->bias);
    }
    for (int c = 0; c < m; c++) x->scale[c] = 1 / sqrt(fmax(mean[c], feature_floor / m));
    return NB_OK;
}

/* M^-1; `rest` is T by rows, n x m. */
static nb_status choose_ridge(const nb_head *h, const double *rest, middle *x, nb_ctx *ctx)
{
    int m = x->m, columns = h->v ? h->dv : h->n;
    double penalties[NB_INTERPOLATION_PENALTIES], *targets, *dual;
    NB_NEED(targets, nb_alloc_raw(ctx, 2 * (size_t)m * (size_t)columns));
    dual = targets + (size_t)m * (size_t)columns;
    for (int i = 0; i < NB_INTERPOLATION_PENALTIES; i++) penalties[i] = pow(10, -i - 1);
    if (h->v)
        nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, m, h->dv, h->n, 1, rest, h->n, h->v, h->dv, 0, targets, m);
    else
        nb_transpose(h->n, m, rest, targets);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, m, 1, x->features, m, x->features, m, 0, x->gram, m);
    return nb_kernel_ridge(m, x->gram, x->w, columns, targets, NB_INTERPOLATION_PENALTIES, penalties, x->inverse, dual,
                           NULL, ctx);
}

/* b <- P' + (T'M^-1)(F_c'D), from T', and what rounding may have done to it: eps of R goes through E = M^-1 F_c'D,
 * that of the kernel through M^-1 on both sides. */
static nb_status make_rows(const middle *x, double of_rows, double *b, double *noise, nb_ctx *ctx)
{
    int n = x->n, m = x->m;
    size_t all = (size_t)n * (size_t)m, square = (size_t)m * (size_t)m;
    double *dual, *values;
    NB_NEED(dual, nb_alloc_raw(ctx, all));
    NB_NEED(values, nb_alloc_raw(ctx, 2 * square));
    /* F_c'D and T'M^-1, whose product is (D F_c M^-1 T)' */
    for (size_t i = 0; i < (size_t)m; i++)
        for (size_t c = 0; c < (size_t)m; c++) values[i + c * (size_t)m] = x->features[c + i * (size_t)m] * x->scale[c];
    nb_gemm(NB_PLAIN, NB_PLAIN, n, m, m, 1, b, n, x->inverse, m, 0, dual, n);
    nb_gemm(NB_PLAIN, NB_PLAIN, n, m, m, 1, dual, n, values, m, 0, b, n);
    /* P'; then E */
    for (size_t j = 0; j < (size_t)n; j++) b[(size_t)x->group[j] * (size_t)n + j] += x->share[j];
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, x->inverse, m, values, m, 0, values + square, m);
    double of_e = nb_frobenius(square, values + square), of_dual = nb_frobenius(all, dual);
    *noise = DBL_EPSILON *
             (of_rows * of_e + of_dual * (nb_frobenius(square, values) + nb_frobenius(square, x->gram) * of_e));
    return NB_OK;
}

static nb_status interpolate(const nb_scene *scene, double *b, middle *x, double *noise, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t n = (size_t)h->n, m = (size_t)x->m;
    double of_rows = nb_frobenius(n * m, b);
    NB_TRY(ctx, weigh_queries(h, x, ctx));
    NB_TRY(ctx, weigh_keys(h, b, x, ctx));
    NB_TRY(ctx, find_features(scene, x, ctx));
    /* T = R - F_c'P, and sqrt(D) F_c */
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) b[i * n + j] -= x->features[i * m + (size_t)x->group[j]] * x->share[j];
        for (size_t c = 0; c < m; c++) x->features[i * m + c] *= x->scale[c];
    }
    NB_TRY(ctx, choose_ridge(h, b, x, ctx));
    return make_rows(x, of_rows, b, noise, ctx);
}

nb_status nb_interpolate(const nb_scene *scene, const nb_landmarks *landmarks, double *b, nb_interpolation *own,
                         nb_ctx *ctx)
{
    middle x;
    double *bias;
    NB_NEED(bias, nb_alloc_reals(ctx, (size_t)landmarks->keys.m, 1));
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = middle_init(scene, landmarks, &x, ctx);
    if (status == NB_OK) status = interpolate(scene, b, &x, &own->noise, ctx);
    if (status == NB_OK) memcpy(bias, x.bias, (size_t)x.m * sizeof *bias);
    nb_ctx_release(ctx, mark);
    own->bias = bias;
    return status;
}

double nb_interpolation_multiplications(double n, double d, double m)
{
    double penalties = NB_INTERPOLATION_PENALTIES;
    return 2 * n * m * d + 2 * n * m + m * m * (m + 3 * d) + penalties * m * m * (m / 2 + d);
}
