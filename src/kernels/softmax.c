/* SPDX-License-Identifier: GPL-3.0-or-later */
/* softmax.c - k(X, Y) = softmax(scale X'Y), each query's row sums to 1.
 *
 * The attention matrix. The row's largest score is subtracted before exp, so
 * nothing overflows. Under a causal mask the scores of later keys are -inf,
 * their entries exactly 0. */
#include "kernels/kernel.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <math.h>

typedef struct {
    double scale;
} softmax_options;

static const nb_option options[] = {
    NB_REAL_OR(softmax_options, scale, "auto", "auto", 1e-9, 1e9, "factor of the scores q.k; auto: 1/sqrt(d)"),
    NB_OPTION_END};

static double scale_of(const void *opts, int d)
{
    const softmax_options *o = opts;
    return isnan(o->scale) ? 1 / sqrt(d) : o->scale;
}

static nb_status fill(const nb_tile *t, const void *opts, double *out, nb_ctx *ctx)
{
    double scale = scale_of(opts, t->d);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, t->keys, t->queries, t->d, scale, t->k, t->d, t->q, t->d, 0, out, t->ld);
    for (int i = 0; i < t->queries; i++) {
        double *row = out + (size_t)i * (size_t)t->ld;
        int seen = t->causal && t->positions[i] + 1 < t->keys ? t->positions[i] + 1 : t->keys;
        double sum = nb_exp_sum((size_t)seen, row, nb_largest((size_t)seen, row));
        nb_scale((size_t)seen, 1 / sum, row);
        NB_REQUIRE(ctx, isfinite(sum), NB_ENUMERIC, "softmax: the scores of query %d are not finite",
                   t->positions ? t->positions[i] : i);
        for (int j = seen; j < t->keys; j++) row[j] = 0;
    }
    return NB_OK;
}

/* For row p of the tile and slope g, the slope of score j is p_j (g_j - p'g). */
static nb_status pull_back(const nb_tile *t, const void *opts, const double *out, double *slope, double *dq, double *dk,
                           nb_ctx *ctx)
{
    double scale = scale_of(opts, t->d);
    (void)ctx;
    nb_count_multiplications(2.0 * t->queries * t->keys);
    for (int i = 0; i < t->queries; i++) {
        const double *p = out + (size_t)i * (size_t)t->ld;
        double *g = slope + (size_t)i * (size_t)t->ld, mean = nb_dot((size_t)t->keys, p, g);
        for (int j = 0; j < t->keys; j++) g[j] = p[j] * (g[j] - mean);
    }
    if (dq) nb_gemm(NB_PLAIN, NB_PLAIN, t->d, t->queries, t->keys, scale, t->k, t->d, slope, t->ld, 0, dq, t->d);
    if (dk) nb_gemm(NB_PLAIN, NB_TRANSPOSED, t->d, t->keys, t->queries, scale, t->q, t->d, slope, t->ld, 0, dk, t->d);
    return NB_OK;
}

static const char *const references[] = {"Vaswani et al., Attention is all you need, NIPS 2017", NULL};

const nb_kernel nb_kernel_softmax = {
    .component = {"softmax", "softmax of the scaled scores, row by row", references, options, sizeof(softmax_options)},
    .standard = true,
    .stochastic = true,
    .fill = fill,
    .pull_back = pull_back,
};
