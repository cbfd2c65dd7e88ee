/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_ridge.h - kernel ridge regression on softmax features (Saunders, Gammerman & Vovk, ICML 1998). */
#ifndef NB_KERNEL_RIDGE_H
#define NB_KERNEL_RIDGE_H

#include "base/ctx.h"

/* f (m x k, columns that sum to 1) <- each column's entries times e^bias (m; -infinity: 0), divided by their sum. near
 * (k; NULL: none): a weight beside each column, which the bias does not change, is in the sum and is divided too. */
void nb_reweigh(int m, int k, const double *bias, double *f, double *near);

/* Adds ln((share + 1e-6/m) / (mean + 1e-6/m)) to bias (m), by 2 at most either way, so that features with these means
 * come nearer to the shares. */
void nb_correct_bias(int m, const double *share, const double *mean, double *bias);

/* Inverts M = G + lambda t diag(1/w) for a positive semidefinite kernel G (k x k) and weights w (k, > 0, of mean 1); t
 * is the weighted mean of G's diagonal, or 1e-8 if that is more. Leave-one-out chooses lambda from the `count`
 * penalties (Allen, Technometrics 16, 1974): without row i of T (k x columns) the prediction of it is off by
 * (M^-1 T)_i/(M^-1)_ii; the penalty with the least weighted sum of these squares wins, and among penalties that are
 * equal to rounding the first. Sets inverse (k x k) to M^-1, dual (k x columns) to M^-1 T and *error (NULL: it is not
 * asked for) to that sum. NB_ENUMERIC if M is not positive definite to rounding. */
nb_status nb_kernel_ridge(int k, const double *gram, const double *w, int columns, const double *t, int count,
                          const double *penalties, double *inverse, double *dual, double *error, nb_ctx *ctx);

#endif
