/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interpolation.h - the factors kernel_ridge: exact rows at the query landmarks, interpolated to all other queries by
 * kernel ridge regression, as the attention of that name does. S ~ F B with F = softmax(Q K~'/sqrt d + b). */
#ifndef NB_INTERPOLATION_H
#define NB_INTERPOLATION_H

#include "nystrom/landmarks.h"
#include "nystrom/scene.h"

typedef struct {
    const double *bias; /* m: b, added to the key landmarks' logits in F */
    double noise;       /* bound of the rounding error of B in the Frobenius norm */
} nb_interpolation;

enum { NB_INTERPOLATION_PENALTIES = 4 }; /* 10^-1 ... 10^-4 */

/* Replaces b (n x m), the exact rows of the kernel at the query landmarks, by the rows of B. ctx owns the bias. */
nb_status nb_interpolate(const nb_scene *scene, const nb_landmarks *landmarks, double *b, nb_interpolation *own,
                         nb_ctx *ctx);

/* Returns the multiplications of a forward pass, except those with F and with the exact rows. */
double nb_interpolation_multiplications(double n, double d, double m);

#endif
