/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unseen.h - the error of F X B on the rows U of S that its core has not read, and the measures of a method that
 * returns the rows read exactly. */
#ifndef NB_UNSEEN_H
#define NB_UNSEEN_H

#include "nystrom/projection.h"

/* The rows that the core has read: the first `seen` tokens of `order`. If U is empty there are no measures. */
typedef struct {
    const int *order; /* all n tokens, */
    bool own;         /* `order` is not the trial's */
    int seen;         /* at least 1 */
    bool keep;        /* the method returns those rows exactly */
} nb_seen;

/* Fills error_unseen and its parts in `out`, which holds `error` and the measures with it for F X B; with `keep` also
 * all but negative_*, entropy_difference and spectral_*, for the matrix of S on the rows seen and F X B elsewhere.
 * error_core is NaN then, since kept rows have no part in the split of F X B. O(seen m^2 + m^3), with `keep` O(n m (m +
 * dv)); if the rows U hold less than 1e-3 of the difference, or less than 1e-6 of a direction of F, O((n - seen) n (d +
 * m)). */
nb_status nb_unseen_measure(const nb_projection *p, const nb_seen *seen, const double *x, nb_measures *out,
                            nb_ctx *ctx);

#endif
