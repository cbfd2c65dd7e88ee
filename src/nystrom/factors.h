/* SPDX-License-Identifier: GPL-3.0-or-later */
/* factors.h - what a core sees of the factors of S ~ F X B: A and its SVD, some
 * exact rows of S, and, for oracles, S through the ranges of F and B'. */
#ifndef NB_FACTORS_H
#define NB_FACTORS_H

#include "base/ctx.h"

typedef struct nb_factors nb_factors;

int nb_factors_m(const nb_factors *factors);
const double *nb_factors_a(const nb_factors *factors); /* A, m x m; I if there is no middle */
int nb_factors_n(const nb_factors *factors);           /* tokens; 0: there is A alone */

typedef struct {
    double *u, *values, *vt; /* A = u diag(values) vt, all m */
} nb_factors_spectrum;

/* The SVD of A, computed once for all cores. */
nb_status nb_factors_svd(nb_factors *factors, const nb_factors_spectrum **spectrum, nb_ctx *ctx);

/* |A|_1 and |A|_inf, computed once. */
void nb_factors_norms(nb_factors *factors, double *one, double *infinity);

/* x (m x m) <- sum of filter[j] v_j u_j' over the singular vectors of A: its
 * pseudo-inverse with 1/s_j replaced by filter[j]. */
nb_status nb_factors_filter(nb_factors *factors, const double *filter, double *x, nb_ctx *ctx);

/* The cut-off that keeping the largest `kept` of A's singular values is, none at or
 * below rcond times the first. */
double nb_factors_kept_cutoff(const nb_factors_spectrum *spectrum, int m, int kept, double rcond);

/* k rows I of S, and of F, in the basis of the rows of B: S_I - F_I X B has the
 * norm of (S_I Q_B - F_I X R_B') and of what no X changes. */
typedef struct {
    int k, rank_b;
    const double *target;  /* (S_I Q_B)', rank_b x k: a row of S is a column */
    const double *f;       /* F_I', m x k */
    const double *r_b;     /* rank_b x m */
    const double *squares; /* k: |s_i|^2 */
} nb_exact_rows;

/* The first k, at most n, rows of one random order of the trial, the same for all
 * cores, computed once; O(k n d). */
nb_status nb_factors_rows(nb_factors *factors, int k, nb_exact_rows *rows, nb_ctx *ctx);

/* How many of those this core has asked for, and whether they are to be returned exactly, with F X B elsewhere (at
 * first: no). */
int nb_factors_seen(const nb_factors *factors);
void nb_factors_keep_rows(nb_factors *factors, bool keep);
bool nb_factors_keeps_rows(const nb_factors *factors);

/* M = Q_F' S Q_B with F = Q_F R_F, B' = Q_B R_B. */
typedef struct {
    int rank_f, rank_b;
    const double *r_f; /* rank_f x m */
    const double *r_b; /* rank_b x m */
    const double *mid; /* rank_f x rank_b; NULL: only some rows of S are looked at */
} nb_ranges;

const nb_ranges *nb_factors_ranges(const nb_factors *factors); /* NULL: there is A alone */

/* How a core came to its X, which says what rounding did to that. */
typedef struct {
    double epsilon; /* of the arithmetic that X was computed in; 0: of double precision */
    int kept;       /* singular values of A that X takes, the others being cut off; 0: X has no cut */
    bool iterated;  /* X <- X p(A X): what rounding does to A X is no perturbation of A */
} nb_rounding;

/* X was computed in another arithmetic than double precision: FLT_EPSILON. The cut is noted by nb_factors_filter. */
void nb_factors_note_epsilon(nb_factors *factors, double epsilon);

/* What a core may report of its X: the singular value of A, relative to the largest, that X inverts by half (s times
 * that of X is 1/2), or the smallest that it inverts. */
void nb_factors_note_cutoff(nb_factors *factors, double cutoff);

/* Why X is not finite; the text is copied. */
nb_status nb_factors_note_diverged(nb_factors *factors, const char *reason, nb_ctx *ctx);

/* The bound above which |I - A X|_F has diverged by rounding. */
void nb_factors_note_residual_limit(nb_factors *factors, double limit);

#endif
