/* SPDX-License-Identifier: GPL-3.0-or-later */
/* newton_schulz.c - X <- X (2 I - A X): 1 - y <- (1 - y)^2 on each y = s x, second
 * order, for y_0 in (0, 2). 2 products of m x m a step. */
#include "cores/core.h"

#include "nystrom/iteration.h"

typedef struct {
    int steps, start;
    double scale;
} newton_schulz_options;

static const nb_option options[] = {
    NB_INT(newton_schulz_options, steps, "10", 0, 10000, "iterations"),
    NB_ENUM(newton_schulz_options, start, "paper", nb_start_names, NB_START_HELP),
    NB_REAL_FOR(newton_schulz_options, scale, "start", "given", "1", 1e-300, 1e300, "divisor of A' for start=given"),
    NB_OPTION_END};

static const nb_iteration iteration = {.name = "newton_schulz", .terms = 2, .coefficients = {2, -1}, .region = 2};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const newton_schulz_options *o = opts;
    nb_iterating how = {.start = o->start, .scale = o->scale, .steps = o->steps};
    return nb_iterate(factors, &iteration, &how, x, ctx);
}

static const char *const references[] = {
    "Schulz, Iterative Berechnung der reziproken Matrix, ZAMM 13, 1933",
    "Ben-Israel & Cohen, On iterative computation of generalized inverses and associated projections, SIAM J. Numer. "
    "Anal. 3, 1966",
    NULL};

const nb_core nb_core_newton_schulz = {
    .component = {"newton_schulz", "the Newton-Schulz iteration towards the pseudo-inverse of A", references, options,
                  sizeof(newton_schulz_options)},
    .traits = NB_CORE_FILTER,
    .compute = compute,
};
