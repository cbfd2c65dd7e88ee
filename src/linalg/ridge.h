/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ridge.h - linear regression with an intercept and a ridge penalty (Hoerl &
 * Kennard, Technometrics 12, 1970), over parts that may be left out.
 *
 *     minimise  sum (y_i - w.x_i - b)^2 / N  +  ridge |w|^2
 *
 * over the N rows of the parts; b is not penalised and nothing is centred or
 * scaled. All that a fit needs of a part is the triangle R of the QR of its
 * [1 X y]: |y - X w - b| = |R [b; w; -1]|. */
#ifndef NB_RIDGE_H
#define NB_RIDGE_H

#include "base/ctx.h"

typedef struct {
    int p, rows; /* regressors, rows of the part */
    double *r;   /* (p + 2) x (p + 2), upper triangular: columns 1, X, y */
} nb_ridge_part;

/* Makes a part from x (p x rows, a row's regressors as a column) and y (`rows` values). 2 rows p^2 flops. */
nb_status nb_ridge_part_new(int p, int rows, const double *x, const double *y, nb_ridge_part *part, nb_ctx *ctx);

/* Joins all parts but number `without` (-1: all). There must be one. */
nb_status nb_ridge_part_join(int count, const nb_ridge_part *parts, int without, nb_ridge_part *joined, nb_ctx *ctx);

/* Fits w, p + 1 values with the intercept last, by QR of the augmented matrix, which loses half as many digits as the
 * normal equations. If ridge = 0 and X is rank-deficient to rounding, w has least norm. dgelsy. */
nb_status nb_ridge_fit(const nb_ridge_part *part, double ridge, double *w, nb_ctx *ctx);

/* Returns 1 - sum (y - w.x - b)^2 / sum (y - mean of y)^2 over the part; NaN if y is constant to rounding. */
double nb_r_squared(const nb_ridge_part *part, const double *w);

#endif
