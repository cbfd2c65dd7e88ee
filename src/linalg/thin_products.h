/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thin_products.h - multiplies a large matrix and its transpose by a few columns. BLAS copies the matrix for each
 * product, which with so few columns takes as long as the product; here it is read in place. */
#ifndef NB_THIN_PRODUCTS_H
#define NB_THIN_PRODUCTS_H

#include "base/ctx.h"

enum { NB_THIN = 8 }; /* the number of columns must be a multiple of it */

/* z (rows x b) <- S v and w (columns x b) <- w + S' z for S (rows x columns, row i at s + i * ld) and v (columns x b).
 * A row of v, z and w is b numbers side by side. */
typedef void nb_thin_products(int rows, int columns, const double *s, int ld, int b, const double *v, double *z,
                              double *w);

/* The fastest version that this CPU can run. */
nb_thin_products nb_multiply_thin;

/* All versions that this CPU can run, by index, for tests, BLAS last; NULL past the end. */
nb_thin_products *nb_thin_at(int index);

#endif
