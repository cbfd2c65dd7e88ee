/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectral.h - largest singular values of differences S - Q_F C Q_B', many at once. */
#ifndef NB_SPECTRAL_H
#define NB_SPECTRAL_H

#include "nystrom/passes.h"

typedef struct {
    int m;
    const double *q_f, *c, *q_b; /* m x n by rows, m x m, n x m */
    const int *zero;             /* `zeros` rows of the difference that are 0 instead */
    int zeros;
    double scale;        /* internal: keeps D'D from overflow */
    const char *failure; /* why there is no norm; NULL: there is */
    double norm;         /* |S - Q_F C Q_B'|_2, a lower bound */
    double accuracy;     /* the relative distance to a singular value is at most that */
} nb_difference;

enum { NB_LANCZOS_USUAL = 20 }; /* steps that a difference takes as a rule */

/* Lanczos on D'D for all differences in step, so that a step is one pass over S:
 * until each accuracy is below 1e-6, or 100 steps. A difference that fails does not
 * stop the others. */
nb_status nb_spectral_norms(nb_scene *scene, int count, nb_difference *differences, nb_ctx *ctx);

#endif
