/* SPDX-License-Identifier: GPL-3.0-or-later */
/* softmax.h - a block of queries against keys that come in tiles: the online softmax (Milakov & Gimelshein 2018,
 * arXiv:1805.02867; Rabe & Staats 2021, arXiv:2112.05682; FlashAttention, arXiv:2205.14135).
 *
 * For each query the largest logit so far, the sum of exp(logit - largest) and the sum of those times v are kept, and
 * rescaled where a larger logit comes. Products of a tile are those of BLAS. A query's bits depend on the tiles of keys
 * and on its place in a block of NB_BLOCK_QUERIES alone, so blocks begin at multiples of that. */
#ifndef NB_SOFTMAX_H
#define NB_SOFTMAX_H

#include "linalg/scalar.h"

enum {
    NB_BLOCK_QUERIES = 256,
    NB_TILE_KEYS = 256
}; /* queries of a block, at most; keys of a tile, unless told otherwise */

/* What a query sees: keys at positions p - before ... p + after, p its own position. Position of query i is
 * query_at + i, or queries[i] where that is not NULL; of keys likewise. Positions of keys ascend by one where `keys` is
 * NULL. */
typedef struct {
    bool on; /* else it sees all */
    int before, after;
    int query_at, key_at;
    const int *queries, *keys;
} nb_mask;

enum { NB_UNLIMITED = 1 << 30 }; /* for before and after */

typedef struct {
    int d, dv, tile_keys;
    double scale; /* of the products q'k */
    /* Of the block at hand. */
    int count;          /* queries */
    const nb_scalar *q; /* d x count */
    nb_scalar *out;     /* dv x count: sums of exp(...) v */
    int seen;           /* tiles of keys so far */
    nb_scalar *tile;    /* tile_keys x NB_BLOCK_QUERIES */
    nb_scalar *largest; /* NB_BLOCK_QUERIES */
    nb_scalar *sum;     /* NB_BLOCK_QUERIES */
} nb_softmax;

/* Bytes of a softmax with its arrays. */
double nb_softmax_bytes(int tile_keys);

/* One for blocks of queries of dimension d and values of dimension dv (0: none are asked for), one after another. */
nb_status nb_softmax_new(int d, int dv, int tile_keys, nb_softmax *softmax, nb_ctx *ctx);

/* A block of at most NB_BLOCK_QUERIES queries; out is dv x count and need not be set. */
void nb_softmax_begin(nb_softmax *softmax, int count, const nb_scalar *q, nb_scalar *out);

/* More keys, k (d x count) and v (dv x count); mask NULL: all are seen. */
void nb_softmax_add(nb_softmax *softmax, int count, const nb_scalar *k, const nb_scalar *v, const nb_mask *mask);

/* Another block's sums over other keys for the same queries, which nb_softmax_end has not divided yet. */
void nb_softmax_merge(int count, int dv, nb_scalar *out, nb_scalar *largest, nb_scalar *sum, const nb_scalar *other_out,
                      const nb_scalar *other_largest, const nb_scalar *other_sum);

/* Divides by the sums. lse (count), if it is not NULL: ln of the sum of exp(logit); a query that has seen no key has
 * -infinity and the output 0. */
void nb_softmax_end(nb_softmax *softmax, nb_scalar *lse);
void nb_softmax_divide(int count, int dv, nb_scalar *out, const nb_scalar *largest, const nb_scalar *sum,
                       nb_scalar *lse);

/* out (dv x count) <- sum over the keys of exp(logit - lse of the query) v: columns of S itself, at most tile_keys of
 * them; with `add` it is added to what is there. */
void nb_softmax_columns(nb_softmax *softmax, int count, const nb_scalar *q, const nb_scalar *lse, int keys,
                        const nb_scalar *k, const nb_scalar *v, const nb_mask *mask, bool add, nb_scalar *out);

/* Multiplications of a block against so many keys. */
double nb_softmax_work(double queries, double keys, double d, double dv);

#endif
