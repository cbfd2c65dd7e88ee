/* SPDX-License-Identifier: GPL-3.0-or-later */
/* distances.h - the median distance of points. */
#ifndef NB_DISTANCES_H
#define NB_DISTANCES_H

#include "base/ctx.h"

/* Computes the median of |x_i - y_j| over 512 evenly spaced points of each set (all if there are fewer), x (d x n), y
 * (d x m), without i = j if x == y. 1 if that is 0 or there is no pair, since callers divide by it. */
nb_status nb_median_distance(int d, int n, const double *x, int m, const double *y, double *median, nb_ctx *ctx);

#endif
