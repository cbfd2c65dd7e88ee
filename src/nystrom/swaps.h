/* SPDX-License-Identifier: GPL-3.0-or-later */
/* swaps.h - swaps chosen columns of a matrix one at a time while the part of it that they and given rows do not span
 * falls; evaluates all candidates of a position at once.
 *
 * For the columns J of S (the rows I fixed): C = S[:,J] = Q R, G = S Q_R, and |P_C S P_R|^2 = |Q'G|^2. Position j owns
 * the direction Q z in range(C), z the normalised row j of R^-1, that is orthogonal to the other columns. With W = Q'S,
 * H = Q'G, E = G'S - H'W and r_c = |S_c|^2 - |W_c|^2, token c in place of j gives
 *     |E_c + (W_c'z) H'z|^2 / (r_c + (W_c'z)^2)
 * against |H'z|^2 of the present one: O(n m) for all c. A swap replaces the direction Q z by the new one, u, changes
 * all of these by terms of rank one, and takes one product S'u. For the rows, the same with S'. */
#ifndef NB_SWAPS_H
#define NB_SWAPS_H

#include "base/ctx.h"

enum { NB_SWAP_STRIPE = 128 };

typedef struct {     /* a side; its landmarks are columns of `a` */
    const double *a; /* n x n: S for the keys, S' for the queries */
    double *norms;   /* n: |a_c|^2 */
    int *tokens;     /* m: chosen */
    bool *chosen;    /* n */
    double *q;       /* n x m: orthonormal basis of range(a[:,tokens]), or zero columns if it has fewer */
} nb_swap_side;

typedef struct { /* workspace of one side's turn, `a` its matrix */
    int n, m;
    double norm2;                  /* |S|^2 */
    double *g;                     /* n x m: a Q of the other side */
    double *w;                     /* m x n: Q'a */
    double *h;                     /* m x m: Q'G */
    double *e;                     /* m x n: G'a - H'W */
    double *rest;                  /* n: |a_c|^2 - |w_c|^2, at least 0 */
    double *inverse;               /* m x m: column j is row j of R^-1 */
    double *u, *change;            /* n */
    double *z, *zh, *coefficients; /* m */
    double *zw, *ezh;              /* n */
    double *energy;                /* n: |e_c|^2 */
    double *stripe;                /* n x NB_SWAP_STRIPE */
    double *middle, *product;      /* m x m, m x NB_SWAP_STRIPE */
} nb_swaps;

nb_status nb_swaps_init(nb_swaps *w, int n, int m, nb_ctx *ctx);
/* Prepares a side; the caller keeps `a` and the tokens. */
nb_status nb_swap_side_init(nb_swap_side *s, int n, int m, const double *a, int *tokens, nb_ctx *ctx);

/* q <- a basis of the chosen columns, one after the other, with zeros for one that adds nothing; w->inverse <- R^-1 by
 * rows, with e_j in place of such a column of R. */
void nb_swap_factor(nb_swap_side *s, nb_swaps *w);

/* Tries a swap at all positions of one side; *swaps counts them. The side's basis is out of date afterwards. w->norm2
 * is |S|^2. O(n^2 m), and 2 n^2 flops for each swap. */
void nb_swap_turn(nb_swap_side *s, const nb_swap_side *other, nb_swaps *w, int *swaps);

/* Computes |S - P_C S P_R|^2 from the entries; both bases must be up to date. */
double nb_swap_error2(const nb_swap_side *keys, const nb_swap_side *queries, nb_swaps *w);

#endif
