/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pivoting.h - column-pivoted QR as far as it is wanted: which columns of a matrix stand for the others.
 *
 * The pivot is the column of largest residual a - Q Q'a, the lowest among equals (Businger & Golub, Numer. Math. 7,
 * 1965; LAPACK's dgeqp3, which goes on to the end). Q grows by Gram-Schmidt done twice; a new q takes (q'a)^2 from
 * the squared residual of every other column, and where sqrt(eps) is left of it since it was last computed, it is
 * computed anew (Drmac & Bujanovic, ACM TOMS 35, 2008). A residual of at most 10 eps max(rows, columns) |a| is
 * rounding, and 0. */
#ifndef NB_PIVOTING_H
#define NB_PIVOTING_H

#include "base/ctx.h"

typedef struct {
    int rows, columns, rank;
    const double *a;                   /* rows x columns, or its transpose */
    bool by_rows;                      /* `a` is the transpose, columns x rows */
    double *basis;                     /* Q, rows x m */
    double *residual;                  /* columns: squared norms of what Q leaves of them; 0: rounding, or a pivot */
    double *computed;                  /* the same, when last computed from the column itself */
    double *rounding;                  /* columns: of the residuals */
    double *column, *products, *taken; /* rows, m, columns: scratch */
} nb_pivoting;

/* For at most m pivots; `a` is the caller's. */
nb_status nb_pivoting_init(nb_pivoting *p, int rows, int columns, const double *a, bool by_rows, int m, nb_ctx *ctx);

/* Makes a column a pivot: 2 rows (columns + 4 rank) flops, and 8 rows rank for each column that is computed anew; where
 * Q becomes square, nothing is left of any. A column without a residual changes nothing. */
void nb_pivoting_eliminate(nb_pivoting *p, int column);

/* Up to m pivots, one after the other, of which the last changes no residuals; returns how many there are: fewer at the
 * numerical rank. */
int nb_pivoting_run(nb_pivoting *p, int m, int *pivots);

#endif
