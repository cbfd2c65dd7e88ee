/* SPDX-License-Identifier: GPL-3.0-or-later */
/* projection.h - S seen through the ranges of F and B', once for all cores.
 *
 * With F = Q_F R_F, B' = Q_B R_B, M = Q_F' S Q_B and C = R_F X R_B',
 *     |S - F X B|^2 = |S - Q_F M Q_B'|^2 + |C - M|^2:
 * the subspace part, which no core can better, and the core's part. All of m
 * columns; where the rank is less, the last ones are zero. */
#ifndef NB_PROJECTION_H
#define NB_PROJECTION_H

#include "linalg/linalg.h"
#include "nystrom/factors.h"
#include "nystrom/measures.h"
#include "nystrom/passes.h"

typedef struct {
    nb_scene *scene;
    nb_factors *factors;
    int n, m;
    const double *q_f; /* Q_F by rows, m x n; NULL if rows are sampled */
    const double *q_b; /* Q_B, n x m */
    double *r_f, *r_b; /* m x m */
    double *mid;       /* M, m x m */
    double subspace;   /* |S - Q_F M Q_B'|_F / |S|_F */
    double *ones;      /* Q_B' 1, m */
    double f, b;       /* |R_F|_F, |R_B|_F */
    bool upper;        /* R_F and R_B are upper triangular, as they are where their rank is m */

    double *exact_output, *output_b;    /* Q_F' S V and Q_B' V, m x dv; NULL: not asked for */
    double output_norm, output_outside; /* |S V|_F, |S V - Q_F Q_F' S V|_F */

    double landmark_rank, landmark_condition;
} nb_projection;

typedef struct {    /* Frobenius norms */
    double f, b, x; /* of F, B, X */
    double fx, xb;  /* of F X, X B */
} nb_sizes;

typedef struct { /* matrices of the norms that F and B have: |F v| = scale |op(f) v|, |u'B| = |r_b u| */
    nb_op op;
    int rows_f, rows_b;
    const double *f; /* rows_f x m, or its transpose */
    const double *r_b;
    double scale;
} nb_sides;

/* C = R_F X R_B', m x m, and how large all is. */
void nb_projection_core(const nb_projection *p, const double *x, double *scratch, double *c, nb_sizes *sizes);

/* What rounding does to the error, relative to |S|_F = norm:
 *
 *     eps (|F| |X| |B| + |F X| |A| |X B|) / |S|
 *
 * of the product F X B, and of X: a pseudo-inverse of A + dA differs by X dA X from that of A, so F X B
 * by F X dA X B, and the entries of A are rounded as well as what was done to it. (|F X| is often far below
 * |F| |X|: where F interpolates from A it is of the order of its number of rows.) A core that is no function of A alone
 * rounds in F and B instead, which are no better conditioned. */
double nb_rounding_noise(const nb_factors *factors, const nb_sizes *sizes, double norm);

/* The same of an X with this rounding: eps is that of its arithmetic. Where X is cut off between singular values s_i
 * > s_j of A that are less than s_i / 2 apart, eps |A| turns their vectors into each other by eps |A| / (s_i - s_j),
 * and the noise is at least
 *
 *     eps |A| / |S| sqrt(sum over i kept, j not: (|F v_i|^2 |u_j'B|^2 + |F v_j|^2 |u_i'B|^2) / (s_i (s_i - s_j))^2).
 *
 * An iteration rounds A X by eps |A| |X|, of which its m columns have each a share, and multiplies that by X from the
 * left alone: the noise is at least eps |F X| |A| |X| |B| / m |S|. B of kernel_ridge has its own, times |F|. */
nb_status nb_x_noise(const nb_factors *factors, const nb_rounding *rounding, const nb_sizes *sizes,
                     const nb_sides *sides, double norm, double *noise, nb_ctx *ctx);

/* |I - A X|_F; NaN if there is no middle. */
nb_status nb_core_residual(const nb_factors *factors, const double *x, double *norm, nb_ctx *ctx);

/* landmark_rank and landmark_condition, from the SVD of A; NaN if there is no middle. */
nb_status nb_landmarks_of_a(nb_factors *factors, double *rank, double *condition, nb_ctx *ctx);

#endif
