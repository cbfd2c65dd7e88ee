/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectral.h - computes the largest singular values of many differences S - Q_F C Q_B' at once. */
#ifndef NB_SPECTRAL_H
#define NB_SPECTRAL_H

#include "nystrom/passes.h"

typedef struct {
    int m;
    const double *q_f, *c, *q_b; /* m x n by rows, m x m, n x m */
    const int *zero;             /* `zeros` rows of the difference that count as 0 */
    int zeros;
    double scale;        /* internal: keeps D'D from overflow */
    const char *failure; /* why there is no norm; NULL: there is */
    double norm;         /* |S - Q_F C Q_B'|_2, a lower bound */
    double accuracy;     /* bound of its relative distance to a singular value */
} nb_difference;

enum { NB_LANCZOS_USUAL = 20 }; /* steps that a difference usually takes */

/* Runs Lanczos on D'D for all differences in step, so that a step is one pass over S, until each accuracy is below
 * 1e-6, or for 100 steps. A difference that fails does not stop the others. */
nb_status nb_spectral_norms(nb_scene *scene, int count, nb_difference *differences, nb_ctx *ctx);

#endif
