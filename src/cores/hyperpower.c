/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hyperpower.c - X <- X (I + R + ... + R^(p-1)), R = I - A X: 1 - y <- (1 - y)^p on
 * each y = s x, of order p, for y_0 in (0, 2). p products of m x m a step, by
 * Horner's rule. */
#include "cores/core.h"

#include "nystrom/iteration.h"

typedef struct {
    int order, steps, start;
    double scale;
} hyperpower_options;

static const nb_option options[] = {
    NB_INT(hyperpower_options, order, "3", 2, 9, "p, the order of convergence"),
    NB_INT(hyperpower_options, steps, "6", 0, 10000, "iterations"),
    NB_ENUM(hyperpower_options, start, "paper", nb_start_names, NB_START_HELP),
    NB_REAL_FOR(hyperpower_options, scale, "start", "given", "1", 1e-300, 1e300, "divisor of A' for start=given"),
    NB_OPTION_END};

#define ORDER(p) \
    [p] = {.name = "hyperpower", \
           .terms = p, \
           .coefficients = {1, 1, 1, 1, 1, 1, 1, 1, 1}, \
           .of_residual = true, \
           .region = 2}
static const nb_iteration iterations[] = {ORDER(2), ORDER(3), ORDER(4), ORDER(5),
                                          ORDER(6), ORDER(7), ORDER(8), ORDER(9)};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const hyperpower_options *o = opts;
    nb_iterating how = {.start = o->start, .scale = o->scale, .steps = o->steps};
    return nb_iterate(factors, &iterations[o->order], &how, x, ctx);
}

static const char *const references[] = {
    "Altman, An optimum cubically convergent iterative method of inverting a linear bounded operator, Pacific J. Math. "
    "10, 1960",
    "Petryshyn, On generalized inverses and on the uniform convergence of (I - bK)^n, J. Math. Anal. Appl. 18, 1967",
    NULL};

const nb_core nb_core_hyperpower = {
    .component = {"hyperpower", "the hyperpower iteration of order p towards the pseudo-inverse of A", references,
                  options, sizeof(hyperpower_options)},
    .traits = NB_CORE_FILTER,
    .compute = compute,
};
