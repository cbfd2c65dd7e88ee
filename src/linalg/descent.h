/* SPDX-License-Identifier: GPL-3.0-or-later */
/* descent.h - minimises a function of many numbers by some steps of BFGS with a line search (GSL's vector_bfgs2;
 * Fletcher, Practical methods of optimization, 1987, sections 2.6 and 3.2). */
#ifndef NB_DESCENT_H
#define NB_DESCENT_H

#include "base/ctx.h"

typedef struct {
    size_t count; /* number of variables */
    /* Compute the value at x, and the gradient (count numbers) where the value was last computed. */
    nb_status (*value)(void *self, const double *x, double *value, nb_ctx *ctx);
    nb_status (*gradient)(void *self, double *gradient, nb_ctx *ctx);
    void *self;
    double enough; /* the descent ends at a value no larger than this */
} nb_slope;

/* Makes at most `steps` steps from x, which is replaced by the end; each computes one to three values and gradients.
 * Ends early if ten steps lower the value by less than a thousandth, or a step cannot lower it. */
nb_status nb_descend(const nb_slope *slope, int steps, double *x, nb_ctx *ctx);

#endif
