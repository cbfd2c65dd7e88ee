/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chebyshev.c - Chebyshev's (of Halley's family): X <- X (3 I - A X (3 I - A X)),
 * 1 - y <- (1 - y)^3 on each y = s x, third order, for y_0 in (0, 2). 3 products a
 * step. In exact arithmetic it is hyperpower(order=3). */
#include "cores/core.h"

#include "nystrom/iteration.h"

typedef struct {
    int steps, start;
    double scale;
} chebyshev_options;

static const nb_option options[] = {
    NB_INT(chebyshev_options, steps, "6", 0, 10000, "iterations"),
    NB_ENUM(chebyshev_options, start, "paper", nb_start_names, NB_START_HELP),
    NB_REAL_FOR(chebyshev_options, scale, "start", "given", "1", 1e-300, 1e300, "divisor of A' for start=given"),
    NB_OPTION_END};

static const nb_iteration iteration = {.name = "chebyshev", .terms = 3, .coefficients = {3, -3, 1}, .region = 2};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const chebyshev_options *o = opts;
    nb_iterating how = {.start = o->start, .scale = o->scale, .steps = o->steps};
    return nb_iterate(factors, &iteration, &how, x, ctx);
}

static const char *const references[] = {
    "Li, Huang, Zhang & Wang, Chebyshev-type methods and preconditioning techniques, Appl. Math. Comput. 218, 2011",
    "Amat, Busquier & Gutierrez, Geometric constructions of iterative functions, J. Comput. Appl. Math. 157, 2003",
    NULL};

const nb_core nb_core_chebyshev = {
    .component = {"chebyshev", "Chebyshev's iteration of third order towards the pseudo-inverse of A", references,
                  options, sizeof(chebyshev_options)},
    .traits = NB_CORE_FILTER,
    .compute = compute,
};
