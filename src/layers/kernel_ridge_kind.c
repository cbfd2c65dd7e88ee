/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_ridge_kind.c - see kernel_ridge_kind.h. With every key a landmark, features of a query are its row of R. Of
 * the rows R without a kind's near keys, with r = w'R, the outputs N of the near keys and the mean u of V by weights r,
 * an exact output that is left out is then off by e_i:
 *
 *   G = R diag(1/r) R',  M = G + lambda t diag(1/w),  T = O - N - (sums of R's rows) u',  e_i = (M^-1 T)_i/(M^-1)_ii
 *
 * with lambda = 10^-3. With m landmarks the squared error is taken to be as |e|^2/m. A centre's strongest keys are its
 * own, and only in part those of the other queries of its cluster: |e|^2 with them is taken to be the geometric mean of
 * what it is with and without them. */
#include "layers/kernel_ridge_kind.h"

#include "linalg/kernel_ridge.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double penalty = 1e-3; /* lambda */

/* What is known of a head while its kind is chosen. */
typedef struct {
    const nb_kernel_ridge_plan *kinds;
    const nb_layer_head *points;
    nb_kernel_ridge_head *head;
    nb_scalar *rows, *scaled;  /* n x k: R, and diag(1/r) R' */
    nb_scalar *inverse;        /* n: 1/r, 0 where that overflows */
    nb_scalar *gram;           /* k x k: G */
    double *rest;              /* dv x k: O - N */
    double *weight;            /* k: w, of mean 1 */
    const double *near_weight; /* k: the same, of mean 1 over all rows that heads with near keys have */
    int *keys;                 /* near keys of a row */
} chooser;

/* Returns where what a kind's keys receive is kept until one is chosen. */
static nb_scalar *received(const chooser *c, int kind)
{
    return c->head->received + (size_t)kind * (size_t)c->kinds->shape->n;
}

/* r (n) <- w'R, not divided by the number of rows. */
static void sum_rows(const chooser *c, const double *weight, nb_scalar *r)
{
    size_t n = (size_t)c->kinds->shape->n;
    memset(r, 0, n * sizeof *r);
    for (int i = 0; i < c->kinds->first; i++) nb_scalar_add(n, (nb_scalar)weight[i], c->rows + (size_t)i * n, r);
}

/* Finds the strongest keys of each row. */
static nb_status find_strongest(const chooser *c, int top, nb_ctx *ctx)
{
    size_t n = (size_t)c->kinds->shape->n, *strongest;
    NB_NEED(strongest, nb_alloc(ctx, (size_t)top + 1, sizeof *strongest));
    for (int i = 0; i < c->kinds->first; i++) {
        nb_scalar_largest_indices((size_t)top, n, c->rows + (size_t)i * n, strongest);
        for (int j = 0; j < top; j++) c->head->strongest[i * top + j] = (int)strongest[j];
    }
    return NB_OK;
}

/* Takes a kind's near keys out of the rows, and their outputs out of O. */
static void take_near(const chooser *c, int kind)
{
    const nb_kernel_ridge_plan *p = &c->kinds[kind];
    size_t n = (size_t)p->shape->n, dv = (size_t)p->shape->dv;
    for (int i = 0; i < p->first; i++) {
        nb_scalar *row = c->rows + (size_t)i * n;
        double *rest = c->rest + (size_t)i * dv;
        /* The window's, or what the strongest add to it. */
        int count = p->top, *keys = c->head->strongest + (size_t)i * (size_t)p->top;
        if (kind == 1) {
            keys = c->keys;
            count = nb_near_keys(&p->near, nb_kernel_ridge_block(p, c->head, i), keys);
        }
        for (int j = 0; j < count; j++) {
            nb_scalar_add_to_double(dv, -(double)row[keys[j]], c->points->v + (size_t)keys[j] * dv, rest);
            row[keys[j]] = 0;
        }
        nb_count_multiplications((double)count * p->shape->dv);
    }
}

/* Multiplications of the loops of a kind, but for its near keys. */
static double loop_work(const nb_kernel_ridge_plan *p)
{
    double n = p->shape->n, k = p->first;
    return 2 * k * n + n + 4 * k * p->shape->dv;
}

/* Makes T (k x dv) of a kind, and G. */
static void make_system(const chooser *c, int kind, double *residuals, double *gram)
{
    const nb_kernel_ridge_plan *p = c->kinds;
    size_t n = (size_t)p->shape->n, dv = (size_t)p->shape->dv, k = (size_t)p->first;
    nb_scalar *r = received(c, kind), *mean = c->gram;
    /* r = w'R, u = V r/(sum of r) */
    sum_rows(c, c->near_weight, r);
    double all = fmax((double)nb_scalar_sum(n, r), DBL_MIN);
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, (int)dv, 1, (int)n, 1 / all, c->points->v, (int)dv, r, (int)n, 0, mean, (int)dv);
    for (size_t i = 0; i < k; i++) {
        double sum = (double)nb_scalar_sum(n, c->rows + i * n);
        for (size_t l = 0; l < dv; l++) residuals[i + k * l] = c->rest[i * dv + l] - sum * (double)mean[l];
    }
    /* G = R diag(1/r) R' */
    for (size_t j = 0; j < n; j++) c->inverse[j] = r[j] >= NB_SCALAR_MIN ? 1 / r[j] : 0;
    for (size_t i = 0; i < k; i++) nb_scalar_multiply(n, c->rows + i * n, c->inverse, c->scaled + i * n);
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, (int)k, (int)k, (int)n, 1, c->scaled, (int)n, c->rows, (int)n, 0, c->gram,
                   (int)k);
    nb_scalar_to_double(k * k, c->gram, gram);
    nb_count_multiplications(loop_work(p));
}

/* errors[kind] <- |e|^2. */
static nb_status leave_out(const chooser *c, int count, double *errors, nb_ctx *ctx)
{
    size_t k = (size_t)c->kinds->first, dv = (size_t)c->kinds->shape->dv;
    double *residuals, *dual, *gram, *inverse;
    NB_NEED(residuals, nb_alloc_raw(ctx, 2 * k * dv));
    dual = residuals + k * dv;
    NB_NEED(gram, nb_alloc_raw(ctx, 2 * k * k));
    inverse = gram + k * k;
    for (int kind = 0; kind < count; kind++) {
        if (kind > 0) take_near(c, kind);
        make_system(c, kind, residuals, gram);
        /* Without near keys there are more rows, and so other weights */
        if (kind == 0) sum_rows(c, c->head->weight, received(c, kind));
        NB_TRY(ctx, nb_kernel_ridge((int)k, gram, c->weight, (int)dv, residuals, 1, &penalty, inverse, dual,
                                    &errors[kind], ctx));
    }
    return NB_OK;
}

/* Returns the kind with the least |e|^2/m, the first among equals. */
static int least(int count, const nb_kernel_ridge_plan *kinds, const double *errors)
{
    int best = 0;
    double least = INFINITY;
    for (int kind = 0; kind < count; kind++) {
        double error = kind == 2 ? sqrt(errors[1] * errors[2]) : errors[kind];
        if (error / kinds[kind].m < least) {
            least = error / kinds[kind].m;
            best = kind;
        }
    }
    return best;
}

double nb_kernel_ridge_kind_work(int count, const nb_kernel_ridge_plan *p)
{
    double n = p->shape->n, dv = p->shape->dv, k = p->first;
    return k * n + count * (loop_work(p) + n * dv + k * k * n + k * k * dv + floor(0.5 * k * k * k + 0.5));
}

nb_status nb_kernel_ridge_choose_kind(int count, const nb_kernel_ridge_plan *kinds, const nb_layer_head *points,
                                      nb_scalar *rows, nb_scalar *scaled, nb_kernel_ridge_head *h, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = kinds;
    size_t n = (size_t)p->shape->n, dv = (size_t)p->shape->dv, k = (size_t)p->first;
    double errors[NB_KERNEL_RIDGE_KINDS] = {0};
    chooser c = {
        .kinds = kinds, .points = points, .head = h, .rows = rows, .scaled = scaled, .near_weight = h->weight + p->k};
    h->kind = 0;
    if (!nb_scalars_finite(k * dv, h->outputs)) return NB_OK; /* which the fit tells of */
    NB_NEED(c.gram, nb_alloc_scalars(ctx, k * k + dv));
    NB_NEED(c.inverse, nb_alloc_scalars(ctx, n));
    NB_NEED(c.rest, nb_alloc_raw(ctx, k * (dv + 1)));
    c.weight = c.rest + k * dv;
    NB_NEED(c.keys, nb_alloc(ctx, n, sizeof *c.keys));
    nb_scalar_to_double(k * dv, h->outputs, c.rest);
    memcpy(c.weight, c.near_weight, k * sizeof *c.weight);
    nb_scale(k, (double)k / nb_sum(k, c.weight), c.weight);
    nb_count_multiplications((double)k * (double)n);
    if (kinds[count - 1].top > 0) NB_TRY(ctx, find_strongest(&c, kinds[count - 1].top, ctx));
    NB_TRY(ctx, leave_out(&c, count, errors, ctx));
    h->kind = least(count, kinds, errors);
    if (h->kind == 0) return NB_OK;
    const nb_kernel_ridge_plan *chosen = &kinds[h->kind];
    memmove(nb_kernel_ridge_received(chosen, h, true, 0), received(&c, h->kind), n * sizeof *h->received);
    memcpy(h->weight, c.near_weight, (size_t)chosen->k * sizeof *h->weight);
    return NB_OK;
}
