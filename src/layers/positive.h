/* SPDX-License-Identifier: GPL-3.0-or-later */
/* positive.h - positive random features of the softmax kernel (FAVOR+; Choromanski et al. 2021, arXiv:2009.14794):
 *
 *     phi_l(x) = exp(w_l'x d^(-1/4) - |x|^2 / (2 sqrt d)) / sqrt r,      w_l ~ N(0, I), l = 1 ... r,
 *
 * so that the mean of phi(q)'phi(k) over draws of w is exp(q'k/sqrt d). */
#ifndef NB_POSITIVE_H
#define NB_POSITIVE_H

#include "linalg/scalar.h"

#include <gsl/gsl_rng.h>

/* w (d x r), a vector a column, each N(0, I): independent; or orthogonal within every d of them (room: d x d), which
 * has less variance: an orthogonal matrix, uniform among these, by Gram and Schmidt from Gaussian vectors, each column
 * then multiplied by the norm of another Gaussian vector. */
void nb_draw_features(gsl_rng *rng, int d, int r, bool orthogonal, double *room, nb_scalar *w);
double nb_draw_features_work(int d, int r, bool orthogonal); /* its multiplications */

/* out (r x count) <- ln phi of x (d x count), but for ln(1/sqrt r). count d (r + 1) multiplications. */
void nb_positive_features(int d, int r, const nb_scalar *w, int count, const nb_scalar *x, nb_scalar *out);

#endif
