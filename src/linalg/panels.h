/* SPDX-License-Identifier: GPL-3.0-or-later */
/* panels.h - products of points with a few others in single precision, for bounds of their distances (bounds.h). Their
 * last bits depend on the CPU. */
#ifndef NB_PANELS_H
#define NB_PANELS_H

#include <stddef.h>

/* Points in panels of that many, x[l][i] coordinate l of point i. Sums are taken in the order of l. */
enum { NB_PANEL = 32 };

/* out[j][i] <- sum of x[l][i] z[j][l] for the `count` rows j of z that are listed; z has d to a row, out NB_PANEL. */
typedef void nb_products_of_panel(size_t d, const float *x, size_t count, const int *listed, const float *z,
                                  float *out);

/* The fastest that this CPU can run. */
nb_products_of_panel nb_panel_products;

/* All that it can run, for tests: by index; NULL behind the last. */
nb_products_of_panel *nb_panel_products_at(int index);

/* Of offset[j] + product[j][i] for j < m: the least, where it is (the first among equals), and the least of the
 * others (FLT_MAX for none). */
void nb_panel_least(size_t m, const float *offset, const float *product, float *least, float *second, int *at);

#endif
