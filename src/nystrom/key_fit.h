/* SPDX-License-Identifier: GPL-3.0-or-later */
/* key_fit.h - fits key landmarks, as free points, to a sample of rows of S.
 *
 * With k sampled rows R (k x n), the roots W of their weights and A = W k(points, K~), k x m, the least error on the
 * rows that any right-hand side leaves is, with a small ridge,
 *
 *     f(K~) = min over Y of |W R - A Y|^2 + lambda |Y|^2 = tr G - tr A'G A (A'A + lambda I)^-1,  G = W R R'W
 *
 * by variable projection (Golub & Pereyra, SIAM J. Numer. Anal. 10, 1973). It is the part of the error, on the sample,
 * that is due to the columns of F. G is formed once, k^2 n multiplications; the value and its gradient then cost k^2 m
 * + 5 k m^2 + 2 k m d + O(m^3), independent of n. The ridge keeps the columns of F apart. */
#ifndef NB_KEY_FIT_H
#define NB_KEY_FIT_H

#include "nystrom/row_sample.h"

/* Moves keys (d x m) by at most `steps` steps of descent; lambda is `ridge` |A|_F^2 at the start, with ridge at least
 * 1e-10. The kernel must have a gradient. */
nb_status nb_key_fit(const nb_scene *scene, const nb_row_sample *sample, int m, double ridge, int steps, double *keys,
                     nb_ctx *ctx);

#endif
