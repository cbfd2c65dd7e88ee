/* SPDX-License-Identifier: GPL-3.0-or-later */
/* psd_kernel.h - a positive semi-definite kernel K of one set of points, for strategies whose theory needs one:
 *
 *     exp    exp(x_i.x_j / sqrt d), d the dimension of the points
 *     gauss  exp(-|x_i - x_j|^2 / (2 h^2))
 *     gram   x_i.x_j
 *
 * exp overflows for long points, so K is divided by its largest entry, exp(max |x_i|^2 / sqrt d). A common factor
 * changes neither pivots nor probabilities; K_ij / sqrt(K_ii K_jj) would, since it is another kernel. Entries below
 * 1e-308 of the largest are 0. */
#ifndef NB_PSD_KERNEL_H
#define NB_PSD_KERNEL_H

#include "base/ctx.h"

typedef enum { NB_EXP, NB_GAUSS, NB_GRAM, NB_SIMILARITY_COUNT } nb_similarity_kind;
extern const char *const nb_similarity_names[]; /* by nb_similarity_kind; NULL-terminated */

typedef struct {
    nb_similarity_kind kind;
    int n, d;
    const double *x;  /* d x n, the caller's */
    double bandwidth; /* h */
    double shift;     /* exp: max |x_i|^2 / sqrt d */
} nb_similarity;

/* Prepares K; bandwidth is h, or NaN for the median distance of the points (nb_median_distance). */
nb_status nb_similarity_init(nb_similarity *k, nb_similarity_kind kind, double bandwidth, int n, int d, const double *x,
                             nb_ctx *ctx);

/* Computes K(tokens[i], j) for i < count; tokens NULL: 0 ... count-1. O(count d). */
void nb_similarity_some(const nb_similarity *k, int j, int count, const int *tokens, double *out);

void nb_similarity_column(const void *k, int j, double *out); /* K(:, j), for nb_cholesky */
void nb_similarity_diagonal(const nb_similarity *k, double *out);
void nb_similarity_matrix(const nb_similarity *k, double *out); /* n x n, O(n^2 d) */

#endif
