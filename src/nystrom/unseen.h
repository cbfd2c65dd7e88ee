/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unseen.h - what F X B misses on the rows U of S that its core has not looked at, and
 * what is measured where the rows that it has are returned exactly. */
#ifndef NB_UNSEEN_H
#define NB_UNSEEN_H

#include "nystrom/projection.h"

/* The first `seen` tokens of `order` are the rows that the core has looked at. With
 * U empty there is nothing to tell. */
typedef struct {
    const int *order; /* all n tokens, */
    bool own;         /* in another order than the trial's */
    int seen;         /* at least 1 */
    bool keep;        /* those rows are returned exactly */
} nb_seen;

/* Into `out`, where `error` and what comes with it are F X B's: error_unseen and its parts;
 * with `keep` also all but negative_*, entropy_difference and spectral_*, now of S on the
 * rows seen and F X B elsewhere. error_core is NaN then: kept rows have no part in what
 * F X B alone is split into. O(seen m^2 + m^3), with `keep` O(n m (m + dv)); where the
 * rows U hold less than 1e-3 of the difference, or less than 1e-6 of a direction of F,
 * O((n - seen) n (d + m)). */
nb_status nb_unseen_measure(const nb_projection *p, const nb_seen *seen, const double *x, nb_measures *out,
                            nb_ctx *ctx);

#endif
