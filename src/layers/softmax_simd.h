/* SPDX-License-Identifier: GPL-3.0-or-later */
/* softmax_simd.h - what the online softmax does with a few queries and a few keys: products that are small enough
 * to stay in the first cache, where BLAS would copy its operands for each. A query is a lane of SIMD, so its bits
 * depend on no other, and nothing has to be summed across lanes.
 *
 * A stripe of `lanes` queries is stored with entry l of all of them side by side: x[l * lanes + i]. */
#ifndef NB_SOFTMAX_SIMD_H
#define NB_SOFTMAX_SIMD_H

#include "linalg/scalar.h"

typedef struct {
    const char *name;
    int lanes;
    /* to (d x lanes) <- the first `count` <= lanes columns of `from` (d x count); further lanes are 0. And back: `to`
     * (d x count) <- lanes of `from`, times their factors. */
    void (*pack)(int d, int count, const nb_scalar *from, nb_scalar *to);
    void (*unpack)(int d, int count, const nb_scalar *from, const nb_scalar *factor, nb_scalar *to);
    /* t (keys x lanes) <- q'k, q d x lanes, k d x keys with a key a column. */
    void (*dots)(int d, int keys, const nb_scalar *q, const nb_scalar *k, nb_scalar *t);
    /* t (keys x lanes) <- t + factor times the bias, of key j from bias[j * stride] on. */
    void (*add)(int keys, nb_scalar factor, const nb_scalar *bias, int stride, nb_scalar *t);
    /* largest (lanes) <- the largest of it and of c t; no NaN, c > 0. */
    void (*raise)(int keys, nb_scalar c, const nb_scalar *t, nb_scalar *largest);
    /* t <- 2^(c t - shift), 0 below 2^-126; sum (lanes) <- sum + those. */
    void (*powers)(int keys, nb_scalar c, const nb_scalar *shift, nb_scalar *t, nb_scalar *sum);
    /* out (dv x lanes) <- sum over the keys of t v, v dv x keys; with `add`, that is added to it. */
    void (*values)(int dv, int keys, const nb_scalar *t, const nb_scalar *v, bool add, nb_scalar *out);
    void (*scale)(int dv, const nb_scalar *factor, nb_scalar *out); /* out <- factor out */
} nb_softmax_simd;

/* The widest of SIMD that this CPU can run; NULL: none, BLAS is faster then. */
const nb_softmax_simd *nb_softmax_simd_best(void);
/* All that it can run, the widest first: by index; NULL behind the last. Index 0 is there on every CPU. */
const nb_softmax_simd *nb_softmax_simd_at(int index);

#endif
