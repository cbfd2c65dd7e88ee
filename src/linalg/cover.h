/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cover.h - chooses points one after the other by their distance from those chosen before: the farthest (Gonzalez,
 * Theor. Comput. Sci. 38, 1985), or drawn in proportion to the squared distance (Arthur & Vassilvitskii, SODA 2007). */
#ifndef NB_COVER_H
#define NB_COVER_H

#include "linalg/bounds.h"

typedef struct {
    int n, d, count;       /* points, their dimension, how many are chosen */
    const double *x;       /* d x n, the caller's */
    double *nearest;       /* n: squared distance to the nearest chosen point; 0 while there is none */
    int *owner;            /* n: number of that chosen point, from 0, the earliest among equals */
    bool *chosen;          /* n */
    const double *weights; /* n, > 0: draws are in proportion to weighted squared distances; NULL: all equal */
    double *weighted;      /* n: scratch for weighted distances */
    nb_bounded points;     /* x, prepared for bounds of distances */
    nb_bounding newest;    /* bounds of the distances from the point chosen last */
    float *lower;          /* n: scratch for bounds */
} nb_cover;

nb_status nb_cover_init(nb_cover *cover, int d, int n, const double *x, nb_ctx *ctx); /* none is chosen */
void nb_cover_clear(nb_cover *cover);                                                 /* none again */
void nb_cover_add(nb_cover *cover, int point);                                        /* O(nd) */

/* Choose among the points not chosen yet, at least one: the farthest, the lowest index among equals; or one drawn in
 * proportion to the squared distance times the weight (if all are 0, by weight, or uniformly without weights). O(n) */
int nb_cover_farthest(const nb_cover *cover);
int nb_cover_draw(const nb_cover *cover, gsl_rng *rng);

#endif
