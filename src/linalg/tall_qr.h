/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tall_qr.h - the two operations of Cholesky QR on many short rows: their Gram matrix, and their quotient by a
 * triangle. BLAS would spend most of its time there on copies and on small blocks of the triangle. */
#ifndef NB_TALL_QR_H
#define NB_TALL_QR_H

#include "base/ctx.h"

/* Both take A (n x m, the m numbers of a row side by side); g and r are m x m, column-major; `scratch` has
 * nb_tall_scratch(m) numbers. */
typedef struct {
    /* Sets the upper triangle of g to that of A'A; the rest of g is undefined. */
    void (*gram)(int n, int m, const double *a, double *g, double *scratch);
    /* A <- A R^-1 by substitution; R is the upper triangle of r. */
    void (*divide)(int n, int m, double *a, const double *r, double *scratch);
} nb_tall;

size_t nb_tall_scratch(int m);

/* Returns the fastest version for m columns on this CPU. */
const nb_tall *nb_tall_for(int m);

/* All versions that this CPU can run, by index, for tests, BLAS last; NULL past the end. */
const nb_tall *nb_tall_at(int index);

#endif
