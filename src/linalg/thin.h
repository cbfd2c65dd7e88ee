/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thin.h - a large matrix and its transpose times a few columns. BLAS copies the matrix for each product, which for so
 * few columns takes as long as the product; here it is read where it stands. */
#ifndef NB_THIN_H
#define NB_THIN_H

#include "base/ctx.h"

enum { NB_THIN = 8 }; /* the number of columns is a multiple of it */

/* z (rows x b) <- S v and w (columns x b) <- w + S' z for S (rows x columns, row i at s + i * ld) and v (columns x b).
 * A row of v, z and w is b numbers side by side. */
typedef void nb_thin_products(int rows, int columns, const double *s, int ld, int b, const double *v, double *z,
                              double *w);

/* The fastest that this CPU can run. */
nb_thin_products nb_multiply_thin;

/* All that it can run, for tests: by index, BLAS the last; NULL behind it. */
nb_thin_products *nb_thin_at(int index);

#endif
