/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds.h - lower bounds of squared distances between points and centres, from products in single precision: what they
 * leave open is computed in double, so that what is found nearest is as if all distances had been computed.
 *
 * With y = s (x - mean) and z = s (c - mean), s a power of 2, and u = 2^-24,
 *     s^2 |x - c|^2 >= |y|^2 - 2 y'z + |z|^2 - e (|y|^2 + |z|^2),    e = (d + 16) u,
 * for the error of y'z, summed in single precision, is at most (d + 3) u |y| |z| (Higham, Accuracy and Stability of
 * Numerical Algorithms, 2nd ed. 2002, section 3.1); the rest covers the roundings around it. That
 * holds for fused products too: the bounds of one CPU may differ from another's, what is found by them does not.
 *
 * A bound counts d multiplications (linalg/work.h), and a distance that is computed after it none. */
#ifndef NB_BOUNDS_H
#define NB_BOUNDS_H

#include "base/ctx.h"

/* The points whose distances are bounded. */
typedef struct {
    int d, n;
    const double *x; /* d x n, the caller's */
    double *mean;    /* d */
    double scale;    /* s; 0 if the points leave the range of single precision: no bound is known then */
    double error;    /* e */
    float *panels;   /* y, NB_PANEL points at a time: NB_PANEL x d each (linalg/vector.h), the last filled with zeros */
    float *panel;    /* d x NB_PANEL: scratch */
    double *squares; /* n: |x - mean|^2 */
} nb_bounded;

nb_status nb_bounded_init(nb_bounded *points, int d, int n, const double *x, nb_ctx *ctx);
/* Other points stand in x, at most as many: mean and scale stay those of the first. */
void nb_bounded_renew(nb_bounded *points, int n);

/* Centres, which are set one by one. */
typedef struct {
    const nb_bounded *points;
    /* the points are unit vectors or 0, and 2 - 2 x'c = |x - c|^2 + (1 - |x|^2) + (1 - |c|^2) is bounded */
    bool cosine;
    float *z;                          /* d x m: -2 z */
    float *offset;                     /* m: the centre's part of a bound is offset + these z times y */
    double *rest;                      /* n: the point's part of a bound, added to the centre's */
    float *point_error, *centre_error; /* n, m: a bound is too low by less than the sum of both */
} nb_bounding;

nb_status nb_bounding_init(nb_bounding *centres, const nb_bounded *points, int m, bool cosine, nb_ctx *ctx);
void nb_bounding_renew(nb_bounding *centres); /* after nb_bounded_renew; the centres stay */
void nb_bounding_set(nb_bounding *centres, int j, const double *c);

/* lower (n, rounded up to whole panels) <- the centre's part of the bound of each point for centre j. */
void nb_bounding_column(const nb_bounding *centres, int j, float *lower);

#endif
