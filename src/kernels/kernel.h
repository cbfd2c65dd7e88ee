/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel.h - the one header that a kernel file includes.
 *
 * A kernel is one file, src/kernels/NAME.c, that defines
 *     const nb_kernel nb_kernel_NAME;
 * It fills tiles of the matrix k(X, Y), one query a column. */
#ifndef NB_KERNEL_H
#define NB_KERNEL_H

#include "base/ctx.h"
#include "components/component.h"
#include "components/plugin.h"
#include "data/head.h"

typedef struct {
    int d, queries, keys;
    const double *q, *k;  /* d x queries, d x keys */
    bool causal;          /* query i of the tile sees the keys 0 ... positions[i] */
    const int *positions; /* of the tile's queries among the tokens of its keys; NULL: they have none, and no mask */
    int ld;               /* of the output, at least keys */
} nb_tile;

typedef struct {         /* S = X'Y */
    int rank;            /* of the factors, at most; 0: there are none */
    const double *x, *y; /* rank x n, a token a column */
} nb_low_rank;

typedef struct {
    nb_component component;
    bool standard;   /* the kernel of an experiment that names none; exactly one kernel has it, never a plug-in's */
    bool stochastic; /* rows of S are >= 0 and sum to 1 */
    const char *causal_refusal; /* why not under a causal mask, in one sentence; NULL: it is possible */

    /* Optional, for a kernel of one set of points: which of the head's. They serve as queries and keys, and the
     * pairing is `queries`. */
    double *(*points)(const nb_head *head, const void *options);

    /* Optional: replaces options that are `auto` by numbers that follow from the whole head. */
    nb_status (*resolve)(const nb_head *head, void *options, nb_ctx *ctx);

    /* Optional: factors of S without a mask, which then need not be formed. */
    nb_low_rank (*low_rank)(const nb_head *head, const void *options);

    /* With options that are resolved. out (ld x queries): the first `keys` entries of column i are the kernel's
     * row of query i; what is below them stays. */
    nb_status (*fill)(const nb_tile *tile, const void *options, double *out, nb_ctx *ctx);

    /* Optional: the gradient of a number f that depends on a tile without a mask.
     * `out` is the tile, `slope` holds df/d(out) in the same places and is overwritten;
     * sets dq (d x queries) and dk (d x keys) to df/dq and df/dk; NULL: not wanted. */
    nb_status (*pull_back)(const nb_tile *tile, const void *options, const double *out, double *slope, double *dq,
                           double *dk, nb_ctx *ctx);

    const char *explanation; /* optional: a few sentences that `describe` prints, broken into lines */
} nb_kernel;

/* What a plug-in's record lacks, apart from what all components need, in a few words; NULL: nothing. */
const char *nb_kernel_lacks(const nb_component *component);

const char *nb_standard_kernel(void); /* the name of the kernel of an experiment that names none */

#endif
