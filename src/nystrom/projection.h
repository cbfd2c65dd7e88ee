/* SPDX-License-Identifier: GPL-3.0-or-later */
/* projection.h - the projection of S on the ranges of F and B', computed once for all cores.
 *
 * With F = Q_F R_F, B' = Q_B R_B, M = Q_F' S Q_B and C = R_F X R_B',
 *     |S - F X B|^2 = |S - Q_F M Q_B'|^2 + |C - M|^2:
 * the subspace part, which no core can improve, and the core's part. All matrices have m columns; if the rank is less,
 * the last ones are zero. */
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
    double turned;     /* what rounding in F and B does to it (nb_subspace_noise) */
    double *ones;      /* Q_B' 1, m */
    double f, b;       /* |R_F|_F, |R_B|_F */
    bool upper;        /* R_F and R_B are upper triangular, as they are if their rank is m */

    double *exact_output, *output_b;    /* Q_F' S V and Q_B' V, m x dv; NULL: not asked for */
    double output_norm, output_outside; /* |S V|_F, |S V - Q_F Q_F' S V|_F */

    double landmark_rank, landmark_condition;
} nb_projection;

typedef struct {    /* Frobenius norms */
    double f, b, x; /* of F, B, X */
    double fx, xb;  /* of F X, X B */
} nb_sizes;

typedef struct { /* stand-ins with the same norms as F and B: |F v| = scale |op(f) v|, |u'B| = |r_b u| */
    nb_op op;
    int rows_f, rows_b;
    const double *f; /* rows_f x m, or its transpose */
    const double *r_b;
    double scale;
} nb_sides;

/* Computes C = R_F X R_B', m x m, and the norms that go with it. */
void nb_projection_core(const nb_projection *p, const double *x, double *scratch, double *c, nb_sizes *sizes);

/* Returns the effect of rounding on the error, relative to |S|_F = norm:
 *
 *     eps (|F| |X| |B| + |F X| |A| |X B|) / |S|
 *
 * The first term is of the product F X B, the second of X: a pseudo-inverse of A + dA differs by X dA X from that of A,
 * so F X B by F X dA X B, and the entries of A are rounded as well as what was done to it. (|F X| is often far below
 * |F| |X|: where F interpolates from A it is of the order of its number of rows.) A core that is no function of A alone
 * rounds in F and B instead, which are no better conditioned. */
double nb_rounding_noise(const nb_factors *factors, const nb_sizes *sizes, double norm);

/* The same for an X with this rounding, whose eps is that of its arithmetic. If X is cut off between singular values
 * s_i > s_j of A that are less than s_i / 2 apart, a perturbation eps |A| rotates their vectors into each other by eps
 * |A| / (s_i - s_j), and the noise is at least
 *
 *     eps |A| / |S| sqrt(sum over i kept, j not: (|F v_i|^2 |u_j'B|^2 + |F v_j|^2 |u_i'B|^2) / (s_i (s_i - s_j))^2).
 *
 * An iteration rounds A X by eps |A| |X|, spread over its m columns, and multiplies that by X from the left only: the
 * noise is at least eps |F X| |A| |X| |B| / m |S|. For kernel_ridge the noise of B, times |F|, is added. */
nb_status nb_x_noise(const nb_factors *factors, const nb_rounding *rounding, const nb_sizes *sizes,
                     const nb_sides *sides, double norm, double *noise, nb_ctx *ctx);

/* Computes the effect that rounding F and B has on the subspace part, relative to |S|_F = norm:
 *
 *     eps (|F| |F^+ S Q_B| + |Q_F' S B^+| |B|) / |S|.
 *
 * F + dF has the projector P + (I - P) dF F^+ + its transpose, to first order in dF. The first term moves the rest
 * S - P S Q_B Q_B' by (I - P) dF F^+ S Q_B Q_B'. The second stays in range(F), where nothing of S Q_B is left, and
 * counts by its square. B is alike. Small singular values of F make it large, where S needs their directions. Those
 * below n eps of the largest count as 0 (linalg/basis.h), so where there are any, eps is n eps: as much of S may be
 * missed. For kernel_ridge the noise of B stands in the place of eps |B|, where it is larger. */
nb_status nb_subspace_noise(const nb_factors *factors, int n, const nb_ranges *ranges, double norm, double *noise,
                            nb_ctx *ctx);

/* Computes |I - A X|_F; NaN if there is no middle. */
nb_status nb_core_residual(const nb_factors *factors, const double *x, double *norm, nb_ctx *ctx);

/* Computes landmark_rank and landmark_condition from the SVD of A; NaN if there is no middle. */
nb_status nb_landmarks_of_a(nb_factors *factors, double *rank, double *condition, nb_ctx *ctx);

#endif
