/* SPDX-License-Identifier: GPL-3.0-or-later */
/* multiple.h - corrects for many tests at once: joint intervals (Bonferroni) for what compare, claims and the stars of
 * tables say, Holm's steps for the table `wins`. */
#ifndef NB_MULTIPLE_H
#define NB_MULTIPLE_H

#include "base/ctx.h"

/* Returns the confidence of each of `family` intervals that hold together at `confidence` (Bonferroni): all of them
 * cover with that probability at least, however they depend on each other. */
double nb_joint_confidence(double confidence, int family);

/* adjusted (n) <- Holm's step-down p (Scand. J. Stat. 6, 1979): of the M tests in ascending order of p, the i-th has
 * max over j <= i of min(1, (M - j + 1) p_j). Rejecting where it is at most alpha makes any error with a probability of
 * at most alpha, however the tests depend on each other. A p of NaN is no test: it does not count, and stays NaN. */
nb_status nb_holm(int n, const double *p, double *adjusted, nb_ctx *ctx);

/* The same, step by step: `left` begins as M, and each call takes the next p in ascending order and returns what it is
 * adjusted to. */
typedef struct {
    int left;
    double largest;
} nb_holm_steps;
double nb_holm_next(nb_holm_steps *steps, double p);

#endif
