/* SPDX-License-Identifier: GPL-3.0-or-later */
/* synthetic.h - random draws that several generated problems share. */
#ifndef NB_SYNTHETIC_H
#define NB_SYNTHETIC_H

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>

void nb_draw_normals(gsl_rng *rng, size_t count, double deviation, double *x); /* N(0, deviation^2) each */

/* Values of an option `order`; NULL-terminated. */
enum { NB_CONTIGUOUS, NB_SHUFFLED };
extern const char *const nb_cluster_orders[];

/* Sets the cluster of each of n tokens: `count` clusters whose sizes differ by at most one, contiguous or shuffled. */
void nb_draw_clusters(gsl_rng *rng, int n, int count, bool shuffled, int *cluster);

/* Sets x (d x n): each token is its cluster's centre (centres d x count) plus N(0, spread^2) in each coordinate. */
void nb_draw_around(gsl_rng *rng, int d, int n, const double *centres, const int *cluster, double spread, double *x);

#endif
