/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gauss.c - k(x, y) = exp(-|x - y|^2 / (2 h^2)).
 *
 * |x - y|^2 = |x|^2 + |y|^2 - 2 x.y by one matrix product, and from the
 * difference itself where more than 4 bits cancel; so the exponent E is right to
 * about 16 eps E. Under a causal mask the entries of later keys are 0. */
#include "kernels/kernel.h"

#include "linalg/distances.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <math.h>

typedef struct {
    double bandwidth;
} gauss_options;

static const nb_option options[] = {NB_REAL_OR(gauss_options, bandwidth, "median", "median", 1e-9, 1e9,
                                               "h; median: the median distance between queries and keys (512 of each)"),
                                    NB_OPTION_END};

static const double cancelled = 0.0625;

static nb_status resolve(const nb_head *head, void *opts, nb_ctx *ctx)
{
    gauss_options *o = opts;
    if (!isnan(o->bandwidth)) return NB_OK;
    return nb_median_distance(head->d, head->n, head->q, head->n, head->k, &o->bandwidth, ctx);
}

/* row <- |q - k_j|^2 from the products -2 q.k_j that it holds. */
static void distances(const nb_tile *t, const double *q, int seen, const double *key_squares, double *row)
{
    size_t d = (size_t)t->d;
    double square = nb_sum_of_squares(d, q);
    for (int j = 0; j < seen; j++) {
        double whole = square + key_squares[j];
        row[j] += whole;
        if (row[j] < cancelled * whole) row[j] = nb_squared_distance(d, q, t->k + (size_t)j * d);
    }
}

static nb_status fill(const nb_tile *t, const void *opts, double *out, nb_ctx *ctx)
{
    const gauss_options *o = opts;
    size_t d = (size_t)t->d;
    double *key_squares;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(key_squares, nb_alloc_raw(ctx, (size_t)t->keys));
    for (int j = 0; j < t->keys; j++) key_squares[j] = nb_sum_of_squares(d, t->k + (size_t)j * d);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, t->keys, t->queries, t->d, -2, t->k, t->d, t->q, t->d, 0, out, t->ld);
    bool finite = true;
    for (int i = 0; i < t->queries && finite; i++) {
        double *row = out + (size_t)i * (size_t)t->ld;
        int seen = t->causal && t->positions[i] + 1 < t->keys ? t->positions[i] + 1 : t->keys;
        distances(t, t->q + (size_t)i * d, seen, key_squares, row);
        nb_scale((size_t)seen, -1 / (2 * o->bandwidth * o->bandwidth), row);
        finite = isfinite(nb_exp_sum((size_t)seen, row, 0));
        for (int j = seen; j < t->keys; j++) row[j] = 0;
    }
    nb_ctx_release(ctx, mark);
    NB_REQUIRE(ctx, finite, NB_ENUMERIC, "gauss: the distances of a query are not finite");
    return NB_OK;
}

static const char *const references[] = {
    "Rahimi & Recht, Random features for large-scale kernel machines, NIPS 2007",
    "Chen et al., Skyformer: remodel self-attention with Gaussian kernel and Nystrom method, NeurIPS 2021", NULL};

const nb_kernel nb_kernel_gauss = {
    .component = {"gauss", "Gaussian of the distance between query and key", references, options,
                  sizeof(gauss_options)},
    .resolve = resolve,
    .fill = fill,
};
