/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stripe.h - what the online softmax does with a few queries and a few keys: products that are small enough to stay in
 * the first cache, where BLAS would copy its operands for each. A query is a lane of SIMD, so its bits depend on no
 * other, and nothing has to be summed across lanes.
 *
 * A stripe of `lanes` queries is stored with entry l of all of them side by side: x[l * lanes + i]. */
#ifndef NB_STRIPE_H
#define NB_STRIPE_H

#include "linalg/scalar.h"

#ifndef NB_DOUBLE_SCALAR

typedef struct {
    const char *name;
    int lanes;
    /* to (d x lanes) <- the first `count` <= lanes columns of `from` (d x count); further lanes are 0. And back: `to`
     * (d x count) <- lanes of `from`, times their factors. */
    void (*pack)(int d, int count, const float *from, float *to);
    void (*unpack)(int d, int count, const float *from, const float *factor, float *to);
    /* t (keys x lanes) <- q'k, q d x lanes, k d x keys with a key a column. */
    void (*dots)(int d, int keys, const float *q, const float *k, float *t);
    /* largest (lanes) <- the largest of it and of c t; no NaN, c > 0. */
    void (*raise)(int keys, float c, const float *t, float *largest);
    /* t <- 2^(c t - shift), 0 below 2^-126; sum (lanes) <- sum + those. */
    void (*powers)(int keys, float c, const float *shift, float *t, float *sum);
    /* out (dv x lanes) <- sum over the keys of t v, v dv x keys; with `add`, that is added to it. */
    void (*values)(int dv, int keys, const float *t, const float *v, bool add, float *out);
    void (*scale)(int dv, const float *factor, float *out); /* out <- factor out */
} nb_stripe;

/* The widest that this CPU can run; NULL: none. */
const nb_stripe *nb_stripe_best(void);
/* All that it can run, for tests: by index; NULL behind the last. */
const nb_stripe *nb_stripe_at(int index);

#endif
#endif
