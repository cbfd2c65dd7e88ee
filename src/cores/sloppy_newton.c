/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sloppy_newton.c - X <- X (3 I - A X) / 2 = X + X (I - A X) / 2, Newton's X (2 I - A X) with half
 * steps, as some published code has it: it converges, for y_0 = s^2 / c in (0, 3), but only linearly,
 * 1 - y halves a step near y = 1. 2 products of m x m a step. */
#include "cores/core.h"

#include "nystrom/iteration.h"

typedef struct {
    int steps, start;
    double scale;
} sloppy_newton_options;

static const nb_option options[] = {
    NB_INT(sloppy_newton_options, steps, "6", 0, 10000, "iterations"),
    NB_ENUM(sloppy_newton_options, start, "paper", nb_start_names, NB_START_HELP),
    NB_REAL_FOR(sloppy_newton_options, scale, "start", "given", "1", 1e-300, 1e300, "divisor of A' for start=given"),
    NB_OPTION_END};

static const nb_iteration iteration = {.name = "sloppy_newton", .terms = 2, .coefficients = {1.5, -0.5}, .region = 3};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const sloppy_newton_options *o = opts;
    nb_iterating how = {.start = o->start, .scale = o->scale, .steps = o->steps};
    return nb_iterate(factors, &iteration, &how, x, ctx);
}

static const char *const references[] = {"suenot/054-nystromformer-trading, iterative_pinv (its text says 2 I - A X)",
                                         "Schulz, Iterative Berechnung der reziproken Matrix, ZAMM 13, 1933", NULL};

const nb_core nb_core_sloppy_newton = {
    .component = {"sloppy_newton", "Newton-Schulz with half steps, X + X (I - A X) / 2: converges only linearly",
                  references, options, sizeof(sloppy_newton_options)},
    .traits = NB_CORE_FILTER,
    .compute = compute,
};
