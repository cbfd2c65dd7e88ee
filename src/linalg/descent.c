/* SPDX-License-Identifier: GPL-3.0-or-later */
/* descent.c - GSL's minimiser, whose functions cannot fail, over ones that can. A step counts for some ten
 * multiplications a number beside those of value and gradient: five products of vectors, their norms and sums. */
#include "linalg/descent.h"

#include "linalg/linalg.h"
#include "linalg/work.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <string.h>

typedef struct {
    const nb_slope *slope;
    double *at;       /* where `value` was asked for last */
    double value;     /* NaN: nowhere yet */
    nb_status status; /* of the first call that failed */
    nb_ctx *ctx;
} work;

static double value_at(const gsl_vector *x, void *self)
{
    work *w = self;
    size_t size = w->slope->count * sizeof *w->at;
    if (w->status != NB_OK || (!isnan(w->value) && memcmp(w->at, x->data, size) == 0)) return w->value;
    memcpy(w->at, x->data, size);
    w->status = w->slope->value(w->slope->self, w->at, &w->value, w->ctx);
    if (w->status != NB_OK) w->value = NAN;
    return w->value;
}

static void gradient_at(const gsl_vector *x, void *self, gsl_vector *gradient)
{
    work *w = self;
    value_at(x, w);
    if (w->status == NB_OK) w->status = w->slope->gradient(w->slope->self, gradient->data, w->ctx);
    if (w->status != NB_OK) gsl_vector_set_all(gradient, NAN);
}

static void both_at(const gsl_vector *x, void *self, double *value, gsl_vector *gradient)
{
    *value = value_at(x, self);
    gradient_at(x, self, gradient);
}

static void free_minimizer(void *minimizer)
{
    gsl_multimin_fdfminimizer_free(minimizer);
}

nb_status nb_descend(const nb_slope *slope, int steps, double *x, nb_ctx *ctx)
{
    enum { LOOK = 10 };
    work w = {.slope = slope, .value = NAN, .ctx = ctx};
    gsl_vector_view at = gsl_vector_view_array(x, slope->count);
    gsl_multimin_function_fdf function = {value_at, gradient_at, both_at, slope->count, &w};
    double length = nb_frobenius(slope->count, x), before = INFINITY;
    gsl_multimin_fdfminimizer *s =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, slope->count);
    NB_REQUIRE(ctx, s, NB_ENOMEM, "out of memory: the minimiser of %zu numbers", slope->count);
    NB_TRY(ctx, nb_defer(ctx, free_minimizer, s));
    NB_NEED(w.at, nb_alloc_reals(ctx, slope->count, 1));
    gsl_multimin_fdfminimizer_set(s, &function, &at.vector, length > 0 ? 0.01 * length : 0.01, 0.1);
    for (int step = 0; step < steps && w.status == NB_OK && s->f > slope->enough; step++) {
        if (step % LOOK == 0 && !(s->f < 0.999 * before)) break;
        if (step % LOOK == 0) before = s->f;
        nb_count_multiplications(10 * (double)slope->count);
        if (gsl_multimin_fdfminimizer_iterate(s) != GSL_SUCCESS) break; /* no progress: a minimum, to rounding */
    }
    memcpy(x, s->x->data, slope->count * sizeof *x);
    return w.status;
}
