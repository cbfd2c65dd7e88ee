/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pivoting.h - column-pivoted QR, stopped after the wanted number of pivots: chooses columns that represent the others.
 *
 * The pivot is the column of largest residual a - Q Q'a, the lowest index among equals (Businger & Golub, Numer. Math.
 * 7, 1965; LAPACK's dgeqp3, which does not stop early). Q grows by Gram-Schmidt done twice; each new q subtracts
 * (q'a)^2 from the squared residual of every other column. A residual that has fallen below sqrt(eps) of its last
 * computed value is computed anew (Drmac & Bujanovic, ACM TOMS 35, 2008). A residual of at most 10 eps max(rows,
 * columns) |a| is rounding, and set to 0. */
#ifndef NB_PIVOTING_H
#define NB_PIVOTING_H

#include "base/ctx.h"

typedef struct {
    int rows, columns, rank;
    const double *a;                   /* rows x columns, or its transpose */
    bool by_rows;                      /* `a` is the transpose, columns x rows */
    double *basis;                     /* Q, rows x m */
    double *residual;                  /* columns: squared residuals; 0: rounding, or a pivot */
    double *computed;                  /* columns: squared residuals when last computed from the column itself */
    double *rounding;                  /* columns: rounding of the residuals */
    double *column, *products, *taken; /* rows, m, columns: scratch */
} nb_pivoting;

/* Prepares for at most m pivots; the caller keeps `a`. */
nb_status nb_pivoting_init(nb_pivoting *p, int rows, int columns, const double *a, bool by_rows, int m, nb_ctx *ctx);

/* Makes a column a pivot. Costs 2 rows (columns + 4 rank) flops, and 8 rows rank for each column computed anew. Once Q
 * is square, all residuals are 0. A column without a residual changes nothing. */
void nb_pivoting_eliminate(nb_pivoting *p, int column);

/* Chooses up to m pivots, one after the other; the last one does not update the residuals. Returns how many there are,
 * fewer than m at the numerical rank. */
int nb_pivoting_run(nb_pivoting *p, int m, int *pivots);

#endif
