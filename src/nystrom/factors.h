/* SPDX-License-Identifier: GPL-3.0-or-later */
/* factors.h - what a core may use of S ~ F X B: A and its SVD, some exact rows of S, and, for oracles, S through the
 * ranges of F and B'. */
#ifndef NB_FACTORS_H
#define NB_FACTORS_H

#include "base/ctx.h"

typedef struct nb_factors nb_factors;

int nb_factors_m(const nb_factors *factors);
const double *nb_factors_a(const nb_factors *factors); /* A, m x m; I if there is no middle */
int nb_factors_n(const nb_factors *factors);           /* tokens; 0: there is only A */

typedef struct {
    double *u, *values, *vt; /* A = u diag(values) vt, all m */
} nb_factors_spectrum;

/* Returns the SVD of A, computed once for all cores. */
nb_status nb_factors_svd(nb_factors *factors, const nb_factors_spectrum **spectrum, nb_ctx *ctx);

/* Returns |A|_1 and |A|_inf, computed once. */
void nb_factors_norms(nb_factors *factors, double *one, double *infinity);

/* x (m x m) <- sum of filter[j] v_j u_j' over the singular vectors of A: its
 * pseudo-inverse with 1/s_j replaced by filter[j]. */
nb_status nb_factors_filter(nb_factors *factors, const double *filter, double *x, nb_ctx *ctx);

/* Returns the cut-off of a core that keeps the largest `kept` of A's singular values, but none at or below rcond times
 * the first. */
double nb_factors_kept_cutoff(const nb_factors_spectrum *spectrum, int m, int kept, double rcond);

/* k rows I of S and of F, in the basis of the rows of B: |S_I - F_I X B|^2 is |S_I Q_B - F_I X R_B'|^2 plus a part that
 * no X changes. */
typedef struct {
    int k, rank_b;
    const double *target;  /* (S_I Q_B)', rank_b x k: a row of S is a column */
    const double *f;       /* F_I', m x k */
    const double *r_b;     /* rank_b x m */
    const double *squares; /* k: |s_i|^2 */
} nb_exact_rows;

/* Returns the first k, at most n, rows of the trial's random order, which is the same for all cores; computed once, O(k
 * n d). */
nb_status nb_factors_rows(nb_factors *factors, int k, nb_exact_rows *rows, nb_ctx *ctx);

/* Number of those rows that this core has read; and whether they are returned exactly, with F X B elsewhere (default:
 * no). */
int nb_factors_seen(const nb_factors *factors);
void nb_factors_keep_rows(nb_factors *factors, bool keep);
bool nb_factors_keeps_rows(const nb_factors *factors);

/* All factors themselves, by rows. */
typedef struct {
    int n;
    bool causal;             /* whether the head is */
    const double *f, *a, *b; /* m x n, m x m and n x m: a row is a column */
} nb_outer_factors;

/* Forms F and B, O(n m d), which ctx owns, for a core that works outside: their time is no part of core_s. The second
 * tells why there are none, in one sentence, or NULL. */
nb_status nb_factors_form(nb_factors *factors, nb_outer_factors *outer, nb_ctx *ctx);
const char *nb_factors_form_refusal(const nb_factors *factors);

/* *seed <- 32 random bits for the core in this trial, drawn for the component of that canonical text; NULL: for the
 * core itself. */
nb_status nb_factors_seed(const nb_factors *factors, const char *component, unsigned long *seed, nb_ctx *ctx);

/* Excludes time_s seconds of the core from core_s. */
void nb_factors_leave_out(nb_factors *factors, double time_s);

/* M = Q_F' S Q_B with F = Q_F R_F, B' = Q_B R_B. */
typedef struct {
    int rank_f, rank_b;
    const double *r_f; /* rank_f x m */
    const double *r_b; /* rank_b x m */
    const double *mid; /* rank_f x rank_b; NULL: only some rows of S may be read */
} nb_ranges;

const nb_ranges *nb_factors_ranges(const nb_factors *factors); /* NULL: there is only A */

/* How a core computed X, which determines its rounding error. */
typedef struct {
    double epsilon; /* epsilon of the arithmetic used for X; 0: double precision */
    int kept;       /* singular values of A that X keeps, the others being cut off; 0: no cut-off */
    bool iterated;  /* X <- X p(A X): the rounding of A X is not a perturbation of A */
} nb_rounding;

/* Notes that X was computed in other than double precision: FLT_EPSILON. nb_factors_filter notes the cut-off. */
void nb_factors_note_epsilon(nb_factors *factors, double epsilon);

/* Notes the cut-off of X: the singular value of A, relative to the largest, that X inverts by half (s times that of X
 * is 1/2), or the smallest that it inverts. */
void nb_factors_note_cutoff(nb_factors *factors, double cutoff);

/* Notes why X is not finite; the text is copied. */
nb_status nb_factors_note_diverged(nb_factors *factors, const char *reason, nb_ctx *ctx);

/* Notes the bound above which |I - A X|_F means that rounding has made the iteration diverge. */
void nb_factors_note_residual_limit(nb_factors *factors, double limit);

#endif
