/* kernel.h - the one header that a kernel file includes.
 *
 * A kernel is one file, src/kernels/NAME.c, that defines
 *     const nb_kernel nb_kernel_NAME;
 * It fills tiles of the matrix k(X, Y), one query a column. */
#ifndef NB_KERNEL_H
#define NB_KERNEL_H

#include "base/component.h"
#include "base/ctx.h"
#include "base/plugin.h"

typedef struct {
    int d, queries, keys;
    const double *q, *k; /* d x queries, d x keys */
    bool causal;          /* query i of the tile sees the keys 0 ... positions[i] */
    const int *positions; /* of the tile's queries among all tokens */
    int ld;               /* of the output, at least keys */
} nb_tile;

typedef struct {
    nb_component component;
    bool standard; /* the kernel of an experiment that names none; one of them all */

    /* out (ld x queries): the first `keys` entries of column i are the kernel's
     * row of query i; what is below them stays. */
    nb_status (*fill)(const nb_tile *tile, const void *options, double *out, nb_ctx *ctx);

    /* Optional: the gradient of a number f that depends on a tile without a mask.
     * `out` is the tile, `slope` holds df/d(out) in the same places and is overwritten;
     * sets dq (d x queries) and dk (d x keys) to df/dq and df/dk; NULL: not wanted. */
    nb_status (*pull_back)(const nb_tile *tile, const void *options, const double *out, double *slope, double *dq, double *dk,
                           nb_ctx *ctx);
} nb_kernel;

#endif
