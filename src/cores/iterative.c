/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iterative.c - Nystromformer's iterative pseudo-inverse.
 *
 *     X <- X (13 I - A X (15 I - A X (7 I - A X))) / 4
 *
 * On each singular value s of A it is the scalar map y <- y (13 - y (15 - y (7 - y))) / 4
 * of y = s x, from y_0 = s^2 / c with the start's divisor c. Small y grows 13/4 a
 * step, so k steps are a soft cut-off near s = sqrt(c) 3.25^(-k/2) rather than an
 * inverse. Third order close to y = 1; it converges for y_0 in (0, 3), since
 * y - map(y) = y (y - 1) (y - 3)^2 / 4. 4 products of m x m a step. */
#include "cores/core.h"

#include "nystrom/iteration.h"

typedef struct {
    int steps, start, precision;
    double scale, tolerance;
} iterative_options;

enum { DOUBLE, SINGLE };
static const char *const precisions[] = {"double", "float", NULL};

static const nb_option options[] = {
    NB_INT(iterative_options, steps, "6", 0, 10000,
           "iterations; k of them invert the singular values of A above sqrt(c) 3.25^(-k/2), with c the start's "
           "divisor, and damp those below in proportion to their square: a soft cut-off, not an inverse"),
    NB_ENUM(iterative_options, start, "paper", nb_start_names, NB_START_HELP),
    NB_REAL_FOR(
        iterative_options, scale, "start", "given", "1", 1e-300, 1e300,
        "divisor of A' for start=given; the official code takes the largest column sum over all heads of a batch"),
    NB_REAL(iterative_options, tolerance, "0", 0, 1,
            "stop when X changes by no more than this fraction; 0: only after `steps`"),
    NB_ENUM(iterative_options, precision, "double", precisions, "precision of all its arithmetic"),
    NB_OPTION_END};

static const nb_iteration iteration = {.name = "iterative", NB_NYSTROMFORMER};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const iterative_options *o = opts;
    nb_iterating how = {.start = o->start,
                        .scale = o->scale,
                        .steps = o->steps,
                        .tolerance = o->tolerance,
                        .single = o->precision == SINGLE};
    return nb_iterate(factors, &iteration, &how, x, ctx);
}

static nb_core_cost cost(const void *opts, int n, int m)
{
    const iterative_options *o = opts;
    (void)n;
    return (nb_core_cost){.multiplications = 4.0 * o->steps * m * m * m};
}

static const char *const references[] = {
    "Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902, eq. 11",
    "Razavi, Kerayechian, Gachpazan & Shateyi, A new iterative method for finding approximate inverses of complex "
    "matrices, Abstr. Appl. Anal. 2014",
    NULL};

const nb_core nb_core_iterative = {
    .component = {"iterative", "Nystromformer's iteration towards the pseudo-inverse of A", references, options,
                  sizeof(iterative_options)},
    .traits = NB_CORE_FILTER,
    .compute = compute,
    .cost = cost,
    .explanation =
        "The iteration acts on each singular value s of A alone: y = s x begins at s^2 / c, c the start's divisor,\n"
        "and a step makes it y (13 - y (15 - y (7 - y))) / 4.\n"
        "Small y grows 13/4-fold a step, so k steps are a filter that inverts s above sqrt(c) 3.25^(-k/2) and\n"
        "leaves (s / that)^2 of those below: six steps cut softly near 0.03 sqrt(c), svd by default hard at 0.03 of\n"
        "the largest, and svd(rcond=machine) inverts all, rounding included.\n"
        "Each further step lowers the cut-off by a factor of 1.8, so compare it with svd(rcond) and tikhonov(lambda)\n"
        "at the same cut-off, which the column core_cutoff gives, rather than at their defaults.",
};
