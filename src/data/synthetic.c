/* SPDX-License-Identifier: GPL-3.0-or-later */
/* synthetic.c - normal numbers and clusters. */
#include "data/synthetic.h"

#include <gsl/gsl_randist.h>

const char *const nb_cluster_orders[] = {[NB_CONTIGUOUS] = "contiguous", [NB_SHUFFLED] = "shuffled", NULL};

void nb_draw_normals(gsl_rng *rng, size_t count, double deviation, double *x)
{
    for (size_t i = 0; i < count; i++) x[i] = gsl_ran_gaussian_ziggurat(rng, deviation);
}

void nb_draw_clusters(gsl_rng *rng, int n, int count, bool shuffled, int *cluster)
{
    for (int i = 0; i < n; i++) cluster[i] = (int)((long)i * count / n);
    if (shuffled) gsl_ran_shuffle(rng, cluster, (size_t)n, sizeof *cluster);
}

void nb_draw_around(gsl_rng *rng, int d, int n, const double *centres, const int *cluster, double spread, double *x)
{
    for (int i = 0; i < n; i++) {
        const double *centre = centres + (size_t)cluster[i] * (size_t)d;
        double *point = x + (size_t)i * (size_t)d;
        for (int l = 0; l < d; l++) point[l] = centre[l] + gsl_ran_gaussian_ziggurat(rng, spread);
    }
}
