/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tall.h - what Cholesky QR needs of many short rows: their Gram matrix, and their quotient by a triangle. BLAS spends
 * most of its time there on copies and on small blocks of the triangle. */
#ifndef NB_TALL_H
#define NB_TALL_H

#include "base/ctx.h"

/* Of A (n x m, the m numbers of a row side by side); g and r are m x m, column-major, `scratch` holds
 * nb_tall_scratch(m) numbers. */
typedef struct {
    /* The upper triangle of g <- that of A'A; below it anything. */
    void (*gram)(int n, int m, const double *a, double *g, double *scratch);
    /* A <- A R^-1 by substitution; R is the upper triangle of r. */
    void (*divide)(int n, int m, double *a, const double *r, double *scratch);
} nb_tall;

size_t nb_tall_scratch(int m);

/* The faster for so many columns on this CPU. */
const nb_tall *nb_tall_for(int m);

/* All that it can run, for tests: by index, BLAS the last; NULL behind it. */
const nb_tall *nb_tall_at(int index);

#endif
