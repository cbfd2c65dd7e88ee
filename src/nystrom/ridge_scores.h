/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ridge_scores.h - ridge leverage scores of the tokens in a positive semi-definite K,
 *
 *     l_i = (K (K + lambda I)^-1)_ii = sum_k w_k / (w_k + lambda) v_ik^2
 *
 * for its eigenpairs (w, v). lambda is in units of trace(K) / n, or NaN for the sum of
 * the eigenvalues after the m-th, over m: then the scores sum to at most 2 m. `score`
 * (n) must be 0 at first. */
#ifndef NB_RIDGE_SCORES_H
#define NB_RIDGE_SCORES_H

#include "nystrom/psd_kernel.h"

typedef struct {
    int n, count;
    const double *values;  /* count, descending; at most eps n times the first: 0 */
    const double *vectors; /* n x count */
    bool squared;          /* the eigenvalues are the values' squares: singular values */
} nb_eigenpairs;

/* Adds weight * l_i to the scores. */
nb_status nb_ridge_add_scores(const nb_eigenpairs *of, int m, double lambda, double weight, double *score, nb_ctx *ctx);

/* Computes the scores from the eigendecomposition of K, n x n. */
nb_status nb_ridge_scores(const nb_similarity *kernel, int m, double lambda, double *score, nb_ctx *ctx);

/* Estimates the scores by recursive halving with nb_ctx_rng(ctx): samples of about c = 2 m (1 + log m) tokens, O(n c d
 * + n c^2) and no n x n matrix. lambda is at least 1e-8 here, since the estimates are differences that lose eps K_ii.
 * If n is at most c, the scores are exact. */
nb_status nb_ridge_recursive(const nb_similarity *kernel, int m, double lambda, double *score, nb_ctx *ctx);

#endif
