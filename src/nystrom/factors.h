/* SPDX-License-Identifier: GPL-3.0-or-later */
/* factors.h - what a core sees of the factors of S ~ F X B: A and its SVD, some
 * exact rows of S, and, for oracles, S through the ranges of F and B'. */
#ifndef NB_FACTORS_H
#define NB_FACTORS_H

#include "base/ctx.h"
#include "nystrom/watch.h"

typedef struct {
    double *u, *values, *vt; /* A = u diag(values) vt, all m */
} nb_factors_spectrum;

/* k rows I of S, and of F, in the basis of the rows of B: S_I - F_I X B has the
 * norm of (S_I Q_B - F_I X R_B') and of what no X changes. */
typedef struct {
    int k, rank_b;
    const double *target;  /* (S_I Q_B)', rank_b x k: a row of S is a column */
    const double *f;       /* F_I', m x k */
    const double *r_b;     /* rank_b x m */
    const double *squares; /* k: |s_i|^2 */
} nb_exact_rows;

/* M = Q_F' S Q_B with F = Q_F R_F, B' = Q_B R_B. */
typedef struct {
    int rank_f, rank_b;
    const double *r_f; /* rank_f x m */
    const double *r_b; /* rank_b x m */
    const double *mid; /* rank_f x rank_b; NULL: only some rows of S are looked at */
} nb_ranges;

typedef struct {           /* what a core may say of the X that it computed; texts are the factors' ctx's */
    double cutoff;         /* singular value of A, relative to the largest, of which X inverts half (s times
                            * that of X is 1/2), or the smallest that it inverts; NaN: it acts on none alone */
    const char *diverged;  /* why X is not finite; NULL: nothing is known */
    double residual_limit; /* of |I - A X|_F: what is above has diverged by rounding; infinity: none */
} nb_notes;

typedef struct nb_factors nb_factors;
struct nb_factors {
    int m;
    double *a;      /* A, m x m */
    bool no_middle; /* A and X are I, in place of none: there is nothing to tell of them */

    nb_ctx *ctx; /* owns what is cached */
    double
        reused_s; /* what a core's time is longer than it took: what was there already; less what only `notes` needed */
    nb_notes notes;
    int seen;       /* rows of S that were asked for since nb_factors_begin */
    bool keep_rows; /* a core may set it: those rows are returned exactly, and F X B elsewhere */

    /* Set by the engine, see exact_rows.h; without it there is A alone. */
    int n; /* tokens */
    const nb_ranges *ranges;
    nb_status (*make_rows)(const nb_factors *factors, int k, nb_exact_rows *rows, nb_ctx *ctx);
    const void *offer;

    /* Private. */
    nb_factors_spectrum spectrum;
    double svd_s;
    double norm_one, norm_infinity;
    nb_exact_rows rows;
    double rows_s;
    struct nb_iterate *iterates;
    nb_watch *watch; /* who is told what is kept from now on, or NULL */
};

/* Why a row has diverged whose |I - A X|_F is above its residual_limit. */
extern const char nb_diverged_by_rounding[];

/* Before a core is asked: nothing noted, nothing reused, nothing seen. */
void nb_factors_begin(nb_factors *factors);

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

/* The first k, at most n, rows of one random order of the trial, the same for all
 * cores, computed once; O(k n d). */
nb_status nb_factors_rows(nb_factors *factors, int k, nb_exact_rows *rows, nb_ctx *ctx);

#endif
