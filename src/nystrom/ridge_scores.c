/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ridge_scores.c - ridge leverage scores, from all eigenpairs or by recursive halving.
 *
 * Halving is after Musco & Musco's algorithm 3 (NIPS 2017, arXiv:1605.07583), with
 * larger samples than theirs (strategies/ridge_leverage.c): tokens are halved at random
 * until c = 2 m (1 + log m) are left, which are a sample with weights 1. Level by level
 * upwards, with M the sampled rows and columns of K, weighted, and b_i those of token i,
 *
 *     l_i ~ (K_ii - b_i' (M + lambda I)^-1 b_i) / lambda, at most 1,
 *
 * and but for the last level token i stays in the sample with probability
 * p = min(1, (1 + log m) l_i) and weight p^-1/2. Without a lambda, it is the sum of M's
 * eigenvalues after the m-th over m, times the ratio of the two levels' sizes. */
#include "nystrom/ridge_scores.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <float.h>
#include <gsl/gsl_randist.h>
#include <math.h>

enum { TILE = 256 }; /* tokens whose b_i are formed at once */

/* Returns the sum of those after the first k, in descending order. */
static double tail(int count, const double *values, int k)
{
    return k < count ? nb_sum((size_t)(count - k), values + k) : 0;
}

nb_status nb_ridge_add_scores(const nb_eigenpairs *of, int m, double lambda, double weight, double *score, nb_ctx *ctx)
{
    size_t n = (size_t)of->n, count = (size_t)of->count;
    double *w, rounding = DBL_EPSILON * of->n * of->values[0];
    NB_NEED(w, nb_alloc_raw(ctx, count));
    for (size_t k = 0; k < count; k++) w[k] = of->values[k] > rounding ? pow(of->values[k], of->squared ? 2 : 1) : 0;
    lambda = isnan(lambda) ? tail(of->count, w, m) / m : lambda * nb_sum(count, w) / of->n;
    for (size_t k = 0; k < count && w[k] > 0; k++) {
        const double *v = of->vectors + k * n;
        nb_count_multiplications(2.0 * of->n);
        double factor = weight * w[k] / (w[k] + lambda);
        for (size_t i = 0; i < n; i++) score[i] += factor * v[i] * v[i];
    }
    return NB_OK;
}

nb_status nb_ridge_scores(const nb_similarity *kernel, int m, double lambda, double *score, nb_ctx *ctx)
{
    double *v, *w;
    size_t n = (size_t)kernel->n;
    NB_NEED(v, nb_alloc_raw(ctx, n * n));
    NB_NEED(w, nb_alloc_raw(ctx, n));
    nb_similarity_matrix(kernel, v);
    NB_TRY(ctx, nb_symmetric_eigen(kernel->n, v, w, ctx));
    return nb_ridge_add_scores(&(nb_eigenpairs){kernel->n, kernel->n, w, v, false}, m, lambda, 1, score, ctx);
}

typedef struct {
    const nb_similarity *kernel;
    int m;
    const double *diagonal; /* n: K_ii */
    double lambda, least;   /* NaN: from the sample; the least that is allowed */
    int *order;             /* n: a random permutation; a level of size s is its first s */
    int size;               /* of the level that the sample is from */
    int count, *sample;     /* sampled tokens */
    double *weight;         /* theirs */
    double *score;          /* n: in `order` */
} recursion;

static double level_lambda(const recursion *r, int size, const double *values)
{
    if (!isnan(r->lambda)) return fmax(r->lambda, r->least);
    return fmax(tail(r->count, values, r->m) / r->m * size / r->size, r->least);
}

/* out (count x tokens): column i is b_i, K(sample, tokens[i]) weighted. */
static void sampled_columns(const recursion *r, int tokens, const int *token, double *out)
{
    nb_count_multiplications((double)tokens * r->count);
    for (int i = 0; i < tokens; i++) {
        double *b = out + (size_t)i * (size_t)r->count;
        nb_similarity_some(r->kernel, token[i], r->count, r->sample, b);
        for (int a = 0; a < r->count; a++) b[a] *= r->weight[a];
    }
}

/* r->score of the first `size` tokens, from the sample of the level below. */
static nb_status score_level(recursion *r, int size, nb_ctx *ctx)
{
    int s = r->count;
    double *vectors, *values, *b, *c;
    NB_NEED(vectors, nb_alloc_raw(ctx, (size_t)s * (size_t)s));
    NB_NEED(values, nb_alloc_raw(ctx, (size_t)s));
    NB_NEED(b, nb_alloc_raw(ctx, (size_t)s * TILE));
    NB_NEED(c, nb_alloc_raw(ctx, (size_t)s * TILE));
    /* M = U diag(values) U', of the sampled rows and columns with their weights */
    sampled_columns(r, s, r->sample, vectors);
    nb_count_multiplications((double)s * s);
    for (int j = 0; j < s; j++) nb_scale((size_t)s, r->weight[j], vectors + (size_t)j * (size_t)s);
    if (s > 0) NB_TRY(ctx, nb_symmetric_eigen(s, vectors, values, ctx));
    double lambda = level_lambda(r, size, values);
    for (int first = 0; first < size; first += TILE) {
        int tokens = size - first < TILE ? size - first : TILE;
        /* U' b_i of a tile of tokens */
        sampled_columns(r, tokens, r->order + first, b);
        if (s > 0) nb_gemm(NB_TRANSPOSED, NB_PLAIN, s, tokens, s, 1, vectors, s, b, s, 0, c, s);
        nb_count_multiplications(2.0 * tokens * s);
        for (int i = 0; i < tokens; i++) {
            /* (K_ii - sum over a of (U' b_i)_a^2/(values_a + lambda))/lambda */
            double left = r->diagonal[r->order[first + i]];
            for (int a = 0; a < s; a++) {
                double y = c[(size_t)i * (size_t)s + (size_t)a];
                left -= y * y / (fmax(values[a], 0) + lambda);
            }
            r->score[first + i] = fmin(1, fmax(0, left / lambda));
        }
    }
    return NB_OK;
}

static void sample_level(recursion *r, int size, double oversampling, gsl_rng *rng)
{
    r->count = 0;
    r->size = size;
    for (int i = 0; i < size; i++) {
        double p = fmin(1, oversampling * r->score[i]);
        if (!(gsl_rng_uniform(rng) < p)) continue;
        r->sample[r->count] = r->order[i];
        r->weight[r->count++] = 1 / sqrt(p);
    }
}

static nb_status recursion_init(recursion *r, const nb_similarity *kernel, int m, double lambda, nb_ctx *ctx)
{
    size_t n = (size_t)kernel->n;
    double *diagonal;
    NB_NEED(diagonal, nb_alloc_raw(ctx, n));
    nb_similarity_diagonal(kernel, diagonal);
    double mean = nb_sum(n, diagonal) / kernel->n;
    NB_REQUIRE(ctx, isfinite(mean), NB_ENUMERIC, "the trace of a kernel is not finite");
    *r = (recursion){.kernel = kernel, .m = m, .diagonal = diagonal, .lambda = lambda * mean, .least = 1e-8 * mean};
    NB_NEED(r->order, nb_alloc(ctx, n, sizeof *r->order));
    NB_NEED(r->sample, nb_alloc(ctx, n, sizeof *r->sample));
    NB_NEED(r->weight, nb_alloc_raw(ctx, n));
    NB_NEED(r->score, nb_alloc_raw(ctx, n));
    for (int i = 0; i < kernel->n; i++) r->order[i] = i;
    gsl_ran_shuffle(nb_ctx_rng(ctx), r->order, n, sizeof *r->order);
    return NB_OK;
}

static int half(int size)
{
    return (size + 1) / 2;
}

nb_status nb_ridge_recursive(const nb_similarity *kernel, int m, double lambda, double *score, nb_ctx *ctx)
{
    int n = kernel->n, level = 0;
    double oversampling = 1 + log(m);
    recursion r;
    NB_TRY(ctx, recursion_init(&r, kernel, m, lambda, ctx));
    if (!(r.least > 0)) return NB_OK; /* K = 0 */
    for (r.size = n; r.size > 2 * m * oversampling; r.size = half(r.size)) level++;
    for (r.count = 0; r.count < r.size; r.count++) {
        r.sample[r.count] = r.order[r.count];
        r.weight[r.count] = 1;
    }
    do {
        int size = n;
        if (level > 0) level--;
        for (int l = 0; l < level; l++) size = half(size);
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, score_level(&r, size, ctx));
        nb_ctx_release(ctx, mark);
        if (level > 0) sample_level(&r, size, oversampling, nb_ctx_rng(ctx));
    } while (level > 0);
    for (int i = 0; i < n; i++) score[r.order[i]] = r.score[i];
    return NB_OK;
}
