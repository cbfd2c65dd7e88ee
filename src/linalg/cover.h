/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cover.h - points chosen one after the other by how far they lie from those
 * chosen before: farthest first (Gonzalez, Theor. Comput. Sci. 38, 1985) or drawn in
 * proportion to the squared distance (Arthur & Vassilvitskii, SODA 2007). */
#ifndef NB_COVER_H
#define NB_COVER_H

#include "linalg/bounds.h"

typedef struct {
    int n, d, count;       /* points, their dimension, how many are chosen */
    const double *x;       /* d x n, the caller's */
    double *nearest;       /* n: squared distance to the nearest chosen point; 0 while there is none */
    int *owner;            /* n: which of the chosen points that is, from 0, the earliest among equals */
    bool *chosen;          /* n */
    const double *weights; /* n, > 0: draws are in proportion to weighted squared distances; NULL: all equal */
    double *weighted;      /* n: scratch for these */
    nb_bounded points;     /* x, whose distances are bounded before they are computed */
    nb_bounding newest;    /* from the point chosen last */
    float *lower;          /* n: scratch for bounds */
} nb_cover;

nb_status nb_cover_init(nb_cover *cover, int d, int n, const double *x, nb_ctx *ctx); /* none chosen */
void nb_cover_clear(nb_cover *cover);                                                 /* none again */
void nb_cover_add(nb_cover *cover, int point);                                        /* O(nd) */

/* Of the points not chosen, of which there must be one: the farthest from those chosen, the lowest index among
 * equals; or one drawn in proportion to the squared distance, times the weight,
 * uniformly, or by weight, if all are 0. O(n) */
int nb_cover_farthest(const nb_cover *cover);
int nb_cover_draw(const nb_cover *cover, gsl_rng *rng);

#endif
