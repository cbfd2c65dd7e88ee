/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure.c - see measure.h. The spectrum costs O(n d r), a clustering the same and O(n c d) for the nearest tokens. */
#include "studies/coherence/measure.h"

#include "linalg/kmeans.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

nb_status nb_point_spectrum_make(int d, int n, const double *x, nb_point_spectrum *p, nb_ctx *ctx)
{
    double *v;
    *p = (nb_point_spectrum){.n = n, .d = d, .r = least(n, d), .x = x};
    NB_NEED(p->s, nb_alloc_reals(ctx, (size_t)p->r, 1));
    NB_NEED(p->u, nb_alloc_reals(ctx, (size_t)p->r, (size_t)n));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(v, nb_alloc_reals(ctx, (size_t)d, (size_t)p->r));
    nb_status status = nb_svd(d, n, x, v, p->s, p->u, ctx);
    nb_ctx_release(ctx, mark);
    double smallest = DBL_EPSILON * (n > d ? n : d) * p->s[0];
    while (p->rank < p->r && p->s[p->rank] > smallest) p->rank++;
    for (int i = 0; i < p->r; i++) p->gram2 += pow(p->s[i], 4);
    return status;
}

nb_status nb_leverage_scores(const nb_point_spectrum *p, int k, const double **scores, nb_ctx *ctx)
{
    double *l;
    NB_NEED(l, nb_alloc_reals(ctx, (size_t)p->n, 1));
    for (size_t i = 0; i < (size_t)p->n; i++) l[i] = nb_sum_of_squares((size_t)k, p->u + i * (size_t)p->r);
    *scores = l;
    return NB_OK;
}

nb_status nb_gram_error2(const nb_point_spectrum *p, int m, const int *tokens, double *error2, nb_ctx *ctx)
{
    int r = p->r, rank;
    size_t side = (size_t)r;
    double *y, *w, *e, *we;
    NB_REQUIRE(ctx, m <= r, NB_EDIM, "%d tokens, at most %d are allowed", m, r);
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(y, nb_alloc_reals(ctx, side, (size_t)m)); /* their rows of Q, in the basis of V */
    NB_NEED(w, nb_alloc_reals(ctx, side, (size_t)m));
    NB_NEED(e, nb_alloc_reals(ctx, side, side)); /* (I - P) Q'Q (I - P) */
    NB_NEED(we, nb_alloc_reals(ctx, side, side));
    for (size_t j = 0; j < (size_t)m; j++)
        for (size_t i = 0; i < side; i++) y[j * side + i] = p->s[i] * p->u[(size_t)tokens[j] * side + i];
    nb_status status = nb_range_basis(r, m, y, w, &rank, ctx);
    for (size_t i = 0; i < side; i++) e[i * side + i] = p->s[i] * p->s[i];
    if (status == NB_OK && rank > 0) {
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, rank, r, r, 1, w, r, e, r, 0, we, rank);
        nb_gemm(NB_PLAIN, NB_PLAIN, r, r, rank, -1, w, r, we, rank, 1, e, r);
        nb_gemm(NB_PLAIN, NB_PLAIN, r, rank, r, 1, e, r, w, r, 0, we, r);
        nb_gemm(NB_PLAIN, NB_TRANSPOSED, r, r, rank, -1, we, r, w, r, 1, e, r);
    }
    *error2 = nb_sum_of_squares(side * side, e) / p->gram2;
    nb_ctx_release(ctx, mark);
    return status;
}

/* Q's rows of each cluster, and their singular values. */
static nb_status find_local(const nb_point_spectrum *p, nb_clustering *c, nb_ctx *ctx)
{
    const nb_division *v = c->division;
    size_t d = (size_t)p->d, count = 0;
    double *rows;
    for (int j = 0; j < v->count; j++) count += (size_t)least(v->size[j], p->d);
    NB_NEED(c->local, nb_alloc_reals(ctx, count, 1));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(rows, nb_alloc_reals(ctx, d, (size_t)p->n));
    nb_status status = NB_OK;
    double *s = c->local;
    for (int j = 0; j < v->count && status == NB_OK; j++) {
        double *row = rows;
        for (size_t i = 0; i < (size_t)p->n; i++)
            if (v->cluster[i] == j) row = (double *)memcpy(row, p->x + i * d, d * sizeof *row) + d;
        status = nb_svd(p->d, v->size[j], rows, NULL, s, NULL, ctx);
        s += least(v->size[j], p->d);
    }
    nb_ctx_release(ctx, mark);
    return status;
}

/* The tokens nearest to the means of the clusters. */
static nb_status find_nearest(const nb_point_spectrum *p, nb_clustering *c, nb_ctx *ctx)
{
    const nb_division *v = c->division;
    size_t d = (size_t)p->d;
    nb_clusters clusters = {.n = p->n, .d = p->d, .m = v->count, .x = p->x, .group = v->cluster, .size = v->size};
    NB_NEED(c->tokens, nb_alloc(ctx, (size_t)v->count, sizeof *c->tokens));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(clusters.centres, nb_alloc_reals(ctx, d, (size_t)v->count));
    for (size_t i = 0; i < (size_t)p->n; i++) nb_add(d, p->x + i * d, clusters.centres + (size_t)v->cluster[i] * d);
    for (int j = 0; j < v->count; j++) nb_scale(d, 1.0 / v->size[j], clusters.centres + (size_t)j * d);
    nb_status status = nb_clusters_nearest(&clusters, c->tokens, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

nb_status nb_clustering_make(const nb_point_spectrum *p, int k, const double *scores, const nb_division *division,
                             nb_clustering *c, nb_ctx *ctx)
{
    *c = (nb_clustering){.spectrum = p, .k = k, .l = scores, .division = division, .uniform2 = NAN};
    NB_TRY(ctx, find_local(p, c, ctx));
    NB_TRY(ctx, find_nearest(p, c, ctx));
    NB_NEED(c->most, nb_alloc_reals(ctx, (size_t)division->count, 1));
    for (int i = 0; i < p->n; i++) c->most[division->cluster[i]] = fmax(c->most[division->cluster[i]], scores[i]);
    return nb_gram_error2(p, division->count, c->tokens, &c->error2, ctx);
}

/* mu_block = max_j |C_j| / r_j max_{i in C_j} l_i, infinite where some r_j is 0. */
static void find_blocks(const nb_clustering *c, double tau, nb_coherence *out)
{
    const nb_division *v = c->division;
    const double *s = c->local;
    double above = tau * c->spectrum->s[0];
    out->local_rank_least = c->spectrum->d;
    out->rankless_clusters = out->local_rank_mean = out->largest_cluster = 0;
    for (int j = 0; j < v->count; j++) {
        int rank = 0, values = least(v->size[j], c->spectrum->d);
        while (rank < values && s[rank] > above) rank++;
        s += values;
        out->local_rank_mean += rank;
        out->local_rank_least = fmin(out->local_rank_least, rank);
        out->largest_cluster = fmax(out->largest_cluster, v->size[j]);
        if (rank == 0)
            out->rankless_clusters++;
        else /* fmax leaves out the NaN that it begins with */
            out->mu_block_finite = fmax(out->mu_block_finite, v->size[j] * c->most[j] / rank);
    }
    out->local_rank_mean /= v->count;
    out->mu_block = out->rankless_clusters > 0 ? INFINITY : out->mu_block_finite;
}

/* Lemma 1: its conditions, its inequality (4) for alpha = mu_block, and (9) of its proof. */
static void check_lemma(const nb_clustering *c, nb_coherence *out)
{
    double k = c->k;
    out->lemma1_sizes = out->largest_cluster <= 2.0 * c->spectrum->n / k;
    out->lemma1_mean_rank = out->local_rank_mean >= k / 2;
    out->lemma1_least_rank = out->local_rank_least >= k / 2;
    if (isfinite(out->mu_block)) out->lemma1 = out->mu >= k / 4;
    out->lemma1_proof = out->mu_block <= 4 * out->mu / k;
}

static void find_leverage(const nb_clustering *c, nb_coherence *out)
{
    const double *s = c->spectrum->s;
    out->leverage_at_centroids = out->leverage_of_maxima = 0;
    for (int j = 0; j < c->division->count; j++) {
        out->leverage_at_centroids += c->l[c->tokens[j]];
        out->leverage_of_maxima += c->most[j];
    }
    out->leverage_at_random = (double)c->division->count * c->k / c->spectrum->n;
    out->spectral_gap = s[c->k - 1] / s[0];
    out->bound_leverage = out->spectral_gap * out->spectral_gap / 2 * out->leverage_of_maxima;
}

/* Theorem 2 with gamma = 1, over |K|^2. */
static void find_bounds(const nb_clustering *c, nb_coherence *out)
{
    const nb_point_spectrum *p = c->spectrum;
    double rest2 = 0, rest4 = 0, gap2 = out->spectral_gap * out->spectral_gap;
    for (int i = c->k; i < p->r; i++) rest2 += p->s[i] * p->s[i];
    for (int i = c->k; i < p->r; i++) rest4 += pow(p->s[i], 4);
    out->best_rank2 = rest4 / p->gram2;
    out->bound_geometric = out->best_rank2 + (rest2 > 0 ? 32 * out->mu_block / gap2 * rest2 / p->gram2 : 0);
    out->bound_uniform = out->best_rank2 + 4 * out->mu / c->k * rest2 / p->gram2;
    out->error_geometric2 = c->error2;
    out->error_uniform2 = c->uniform2;
}

nb_coherence nb_coherence_of(const nb_clustering *c, double tau)
{
    const nb_point_spectrum *p = c->spectrum;
    nb_coherence out = {.mu_block_finite = NAN, .lemma1 = NAN, .divide_s = c->division->divide_s};
    out.mu = (double)p->n / c->k * nb_largest((size_t)p->n, c->l);
    find_blocks(c, tau, &out);
    out.alpha_over_mu = out.mu_block / out.mu;
    out.reduction = 1 - out.alpha_over_mu;
    check_lemma(c, &out);
    find_leverage(c, &out);
    find_bounds(c, &out);
    return out;
}
