/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure.h - coherence and block-coherence of a set of points, as "On the geometric selection of landmarks for
 * low-rank self-attention approximation" (2025, OpenReview OdKBFAmCYX) defines them in section 2.
 *
 * Q is n x d, a token a row, Q = U diag(s) V' with r = min(n, d) singular values; the leverage scores l_i, which add up
 * to k, are the squared lengths of the rows of U's first k columns. Clusters C_1 ... C_c part the tokens. */
#ifndef NB_COHERENCE_MEASURE_H
#define NB_COHERENCE_MEASURE_H

#include "calls/dividing.h"

typedef struct {     /* spectrum of one set of points */
    int n, d, r;     /* tokens, dimension, min(n, d) */
    const double *x; /* d x n: Q', a token a column */
    double *s;       /* r: singular values, descending */
    double *u;       /* r x n: U', a token a column */
    int rank;        /* singular values above eps max(n, d) times the largest */
    double gram2;    /* |QQ'|_F^2 = sum of s^4 */
} nb_point_spectrum;

typedef struct { /* columns.c describes each */
    double mu, mu_block, mu_block_finite, rankless_clusters, alpha_over_mu, reduction;
    double local_rank_mean, local_rank_least, largest_cluster;
    double lemma1_sizes, lemma1_mean_rank, lemma1_least_rank, lemma1, lemma1_proof;
    double leverage_at_centroids, leverage_of_maxima, leverage_at_random, spectral_gap, bound_leverage;
    double best_rank2, bound_geometric, bound_uniform, error_geometric2, error_uniform2;
    double divide_s;
} nb_coherence;

typedef struct { /* results that do not depend on tau */
    const nb_point_spectrum *spectrum;
    int k;           /* singular vectors, 1 <= k <= rank */
    const double *l; /* n: leverage scores */
    const nb_division *division;
    double *local;   /* singular values of each cluster's rows of Q, one cluster after the other */
    double *most;    /* by cluster: its largest leverage score */
    int *tokens;     /* by cluster: the token nearest to its mean that no earlier cluster took */
    double error2;   /* squared relative Nystrom error of QQ' from these tokens */
    double uniform2; /* the same from k random tokens: set by the caller, else NaN */
} nb_clustering;

/* Make the records; ctx owns all arrays. NB_ENUMERIC for NaN or Inf in x. */
nb_status nb_point_spectrum_make(int d, int n, const double *x, nb_point_spectrum *spectrum, nb_ctx *ctx);

nb_status nb_leverage_scores(const nb_point_spectrum *spectrum, int k, const double **scores, nb_ctx *ctx);

nb_status nb_clustering_make(const nb_point_spectrum *spectrum, int k, const double *scores,
                             const nb_division *division, nb_clustering *clustering, nb_ctx *ctx);

/* Computes the measures for this tau: local ranks count the singular values above tau s_1. */
nb_coherence nb_coherence_of(const nb_clustering *clustering, double tau);

/* Computes |K - K_S A+ K_S'|_F^2 / |K|_F^2 for K = QQ', K_S its columns of m <= r tokens, A their own block: with P the
 * projector onto the span of these rows of Q, K - K_S A+ K_S' = Q (I - P) Q'. O(r^2 m). */
nb_status nb_gram_error2(const nb_point_spectrum *spectrum, int m, const int *tokens, double *error2, nb_ctx *ctx);

#endif
