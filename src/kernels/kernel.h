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
    const int *positions; /* positions of the queries among the keys' tokens; NULL: none, and no mask */
    int ld;               /* leading dimension of the output, at least keys */
} nb_tile;

typedef struct {         /* factors of S = X'Y */
    int rank;            /* at least the rank of the factors; 0: there are none */
    const double *x, *y; /* rank x n, a token a column */
} nb_low_rank;

typedef struct {
    nb_component component;
    bool standard;              /* default kernel of experiments; exactly one has it, never a plug-in's */
    bool stochastic;            /* rows of S are >= 0 and sum to 1 */
    const char *causal_refusal; /* why it cannot be used under a causal mask, in one sentence; NULL: it can */

    /* Optional, for a kernel of one set of points: returns which of the head's. They serve as queries and keys, and the
     * pairing is `queries`. */
    double *(*points)(const nb_head *head, const void *options);

    /* Optional: replaces options that are `auto` by numbers computed from the whole head. */
    nb_status (*resolve)(const nb_head *head, void *options, nb_ctx *ctx);

    /* Optional: returns factors of S without a mask, so that S need not be formed. */
    nb_low_rank (*low_rank)(const nb_head *head, const void *options);

    /* Fills a tile; its options are resolved. out (ld x queries): the first `keys` entries of column i become the
     * kernel's row of query i; entries below stay. */
    nb_status (*fill)(const nb_tile *tile, const void *options, double *out, nb_ctx *ctx);

    /* Optional: computes the gradient of a number f that depends on a tile without a mask. `out` is the tile; `slope`
     * holds df/d(out) in the same places and is overwritten. Sets dq (d x queries) and dk (d x keys) to df/dq and
     * df/dk; NULL: not wanted. */
    nb_status (*pull_back)(const nb_tile *tile, const void *options, const double *out, double *slope, double *dq,
                           double *dk, nb_ctx *ctx);

    const char *explanation; /* optional: a few sentences that `describe` prints, broken into lines */
} nb_kernel;

/* Returns the name of a missing kind-specific member of a plug-in's record, or NULL. */
const char *nb_kernel_lacks(const nb_component *component);
extern const size_t nb_kernel_texts[]; /* of its registry */

const char *nb_standard_kernel(void); /* name of the default kernel */

#endif
