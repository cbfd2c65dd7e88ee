/* SPDX-License-Identifier: GPL-3.0-or-later */
/* softmax.h - a block of queries against keys that come in tiles: the online softmax (Milakov & Gimelshein 2018,
 * arXiv:1805.02867; Rabe & Staats 2021, arXiv:2112.05682; FlashAttention, arXiv:2205.14135).
 *
 * For each query the largest logit so far, the sum of exp(logit - largest) and the sum of those times v are kept, and
 * rescaled where a larger logit comes. Products are those of stripes (softmax_simd.h), or, on a CPU without AVX2 and in
 * double precision, of BLAS. A query's bits depend on the tiles of keys and, with BLAS, on its place in a block alone,
 * so blocks begin at multiples of NB_BLOCK_QUERIES. Logits that are not finite give outputs that are not. */
#ifndef NB_SOFTMAX_H
#define NB_SOFTMAX_H

#include "linalg/scalar.h"

/* Queries of a block, at most; keys of a tile, unless told otherwise. */
enum { NB_BLOCK_QUERIES = 256, NB_TILE_KEYS = 128 };

/* The keys of a tile where there are so many altogether. */
static inline int nb_tile_of(int keys)
{
    return keys < NB_TILE_KEYS ? keys : NB_TILE_KEYS;
}

/* The keys that a query sees: at positions p - before ... p + after, p its own position. Position of query i is
 * query_at + i, or queries[i] where that is not NULL; of keys likewise. Positions of keys ascend by one where `keys` is
 * NULL. */
typedef struct {
    bool on; /* else it sees all */
    int before, after;
    int query_at, key_at;
    const int *queries, *keys;
    /* Added to the logits, whatever `on` says: of query i and key j, entry j * bias_stride + i; -infinity hides it.
     * NULL: nothing. */
    const nb_scalar *bias;
    int bias_stride;
} nb_mask;

enum { NB_UNLIMITED = 1 << 30 }; /* for before and after */

typedef struct {
    int d, dv, tile_keys;
    double scale; /* of the products q'k */
    int lanes;    /* queries of a stripe; 0: BLAS */
    /* The block at hand. */
    int count;          /* queries */
    bool given;         /* `largest` was given and stays */
    const nb_scalar *q; /* d x count */
    nb_scalar *out;     /* dv x count */
    bool *seen;         /* by stripe (BLAS: [0]): whether there were keys */
    nb_scalar *tile;    /* of logits: tile_keys x NB_BLOCK_QUERIES, or x lanes */
    nb_scalar *largest; /* NB_BLOCK_QUERIES, in units of nb_softmax_unit */
    nb_scalar *sum;     /* NB_BLOCK_QUERIES */
    nb_scalar *stripes; /* q, then out, a stripe after the other: (d + dv) x NB_BLOCK_QUERIES; NULL: BLAS */
} nb_softmax;

/* Bytes of a softmax with its arrays. */
double nb_softmax_bytes(int d, int dv, int tile_keys);

/* One for blocks of queries of dimension d and values of dimension dv (0: none are asked for), one after another. */
nb_status nb_softmax_new(int d, int dv, int tile_keys, nb_softmax *softmax, nb_ctx *ctx);

/* A block of at most NB_BLOCK_QUERIES queries; out is dv x count and is set at the end. */
void nb_softmax_begin(nb_softmax *softmax, int count, const nb_scalar *q, nb_scalar *out);

/* The same with sums of exp(logit - lse of the query): columns of S itself. It ends with nb_softmax_store. */
void nb_softmax_begin_columns(nb_softmax *softmax, int count, const nb_scalar *q, const nb_scalar *lse, nb_scalar *out);

/* More keys, k (d x count) and v (dv x count); mask NULL: all are seen. */
void nb_softmax_add(nb_softmax *softmax, int count, const nb_scalar *k, const nb_scalar *v, const nb_mask *mask);

/* out <- the sums divided by those of exp. lse (count), if it is not NULL: ln of the sum of exp(logit); a query that
 * has seen no key has -infinity and the output 0. */
void nb_softmax_end(nb_softmax *softmax, nb_scalar *lse);

/* Or: out <- the sums as they are, to be merged with those over other keys; softmax->largest and ->sum belong to
 * them. */
void nb_softmax_store(nb_softmax *softmax);
void nb_softmax_merge(int count, int dv, nb_scalar *out, nb_scalar *largest, nb_scalar *sum, const nb_scalar *other_out,
                      const nb_scalar *other_largest, const nb_scalar *other_sum);
void nb_softmax_divide(int count, int dv, nb_scalar *out, const nb_scalar *sum);

/* Returns the unit of `largest` in natural logarithms: 1, or ln 2 where stripes compute powers of 2. */
double nb_softmax_unit(void);

/* Multiplications of a block against so many keys; tiles that a mask hides altogether count too. */
double nb_softmax_work(double queries, double keys, double d, double dv);

#endif
