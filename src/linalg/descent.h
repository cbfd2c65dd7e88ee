/* SPDX-License-Identifier: GPL-3.0-or-later */
/* descent.h - some steps down the gradient of a function of many numbers: BFGS with a line search (GSL's vector_bfgs2;
 * Fletcher, Practical methods of optimization, 1987, sections 2.6 and 3.2). */
#ifndef NB_DESCENT_H
#define NB_DESCENT_H

#include "base/ctx.h"

typedef struct {
    size_t count; /* numbers that it depends on */
    /* Its value at x; and its gradient (count numbers) where the value was asked for last. */
    nb_status (*value)(void *self, const double *x, double *value, nb_ctx *ctx);
    nb_status (*gradient)(void *self, double *gradient, nb_ctx *ctx);
    void *self;
    double enough; /* the descent ends at a value that is no larger */
} nb_slope;

/* At most `steps` steps from x, which becomes the end; each asks for one to three values and gradients. It ends early
 * where ten steps lower the value by less than a thousandth, or none does. */
nb_status nb_descend(const nb_slope *slope, int steps, double *x, nb_ctx *ctx);

#endif
