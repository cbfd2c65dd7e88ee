/* SPDX-License-Identifier: GPL-3.0-or-later */
/* panel_products.h - products of points with a few other points in single precision, for bounds of distances
 * (bounds.h). Their last bits depend on the CPU. */
#ifndef NB_PANEL_PRODUCTS_H
#define NB_PANEL_PRODUCTS_H

#include <stddef.h>

/* Points per panel; x[l][i] is coordinate l of point i. Sums are taken in the order of l. */
enum { NB_PANEL = 32 };

/* out[j][i] <- sum over l of x[l][i] z[j][l], for the `count` rows j of z in `listed`. Rows of z have d numbers, rows
 * of out NB_PANEL. */
typedef void nb_products_of_panel(size_t d, const float *x, size_t count, const int *listed, const float *z,
                                  float *out);

/* The fastest version that this CPU can run. */
nb_products_of_panel nb_panel_products;

/* All versions that this CPU can run, by index, for tests; NULL past the end. */
nb_products_of_panel *nb_panel_products_at(int index);

/* For each point i of the panel: finds the least of offset[j] + product[j][i] over j < m, its j (the first among
 * equals), and the least of the others (FLT_MAX if there are none). */
void nb_panel_least(size_t m, const float *offset, const float *product, float *least, float *second, int *at);

#endif
