/* SPDX-License-Identifier: GPL-3.0-or-later */
/* multiple.h - corrects for many tests at once: joint intervals (Bonferroni) for what compare, claims and the stars of
 * tables say, but for the stars of the table `wins`, which are by Holm's steps. */
#ifndef NB_MULTIPLE_H
#define NB_MULTIPLE_H

/* Returns the confidence of each of `family` intervals that hold together at `confidence` (Bonferroni): all of them
 * cover with that probability at least, however they depend on each other. */
double nb_joint_confidence(double confidence, int family);

/* Holm's step-down p (Scand. J. Stat. 6, 1979): of the M tests in ascending order of p, the i-th has
 * max over j <= i of min(1, (M - j + 1) p_j). Rejecting where it is at most alpha makes any error with a probability of
 * at most alpha, however the tests depend on each other. `left` begins as M, and each call takes the next p and returns
 * what it is adjusted to. */
typedef struct {
    int left;
    double largest;
} nb_holm_steps;
double nb_holm_next(nb_holm_steps *steps, double p);

#endif
