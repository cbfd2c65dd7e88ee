/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer.h - the points of an attention layer: all heads of one input, or of a batch of them. */
#ifndef NB_LAYER_H
#define NB_LAYER_H

#include "base/ctx.h"
#include "data/head.h"
#include "linalg/scalar.h"

#include <stdint.h>

/* Query head h of batch mate b is number b * heads + h; it uses key head b * key_heads + h / (heads / key_heads). */
typedef struct {
    int batch, heads, key_heads; /* inputs; heads of each; key_heads divides heads */
    int n, d, dv;                /* tokens, dimension of q and k, dimension of v */
    bool causal;                 /* a query sees the keys up to its own position */
    /* The first coordinates of v, by which alone an attention may choose what stands for what: the others only go
     * along. 0: all. */
    int guide;
} nb_layer_shape;

/* Heads one after the other, a point a column. */
typedef struct {
    nb_layer_shape shape;
    const nb_scalar *q;  /* d x n, batch * heads of them */
    const nb_scalar *k;  /* d x n, batch * key_heads */
    const nb_scalar *v;  /* dv x n, batch * key_heads */
    const char *problem; /* whose heads they are, by the problem's canonical text, from number `first` on: names the */
    int first;           /* order in which exact rows are looked at, as in an error study; or "" */
} nb_layer;

static inline int nb_lesser(int a, int b)
{
    return a < b ? a : b;
}

static inline int nb_greater(int a, int b)
{
    return a > b ? a : b;
}

/* Returns how many blocks of so many n are; the last may be shorter. */
static inline int nb_blocks(int n, int block)
{
    return (n + block - 1) / block;
}

bool nb_layer_same(const nb_layer_shape *a, const nb_layer_shape *b);
int nb_layer_heads(const nb_layer_shape *shape);              /* batch * heads */
int nb_layer_key_heads(const nb_layer_shape *shape);          /* batch * key_heads */
int nb_layer_guide(const nb_layer_shape *shape);              /* `guide`, or dv where it is 0 */
int nb_layer_key_head(const nb_layer_shape *shape, int head); /* the number of a query head's key head */

/* The points of one query head, and where its output belongs in `out` (dv x n, batch * heads of them). */
typedef struct {
    const nb_scalar *q, *k, *v; /* d x n, d x n, dv x n */
    nb_scalar *out;             /* dv x n */
} nb_layer_head;
nb_layer_head nb_layer_head_of(const nb_layer *layer, nb_scalar *out, int head);

/* A head in double precision, new. */
nb_status nb_layer_head_double(const nb_layer *layer, int head, nb_head *out, nb_ctx *ctx);

/* q, k and v of `out` (d x count, dv x count) <- those of some of its tokens. */
void nb_layer_tokens_double(const nb_layer *layer, int head, int count, const int *tokens, nb_head *out);

/* *where <- "head 0, token 2, coordinate 1 is nan", the first entry of outputs (as nb_layer_head has them) that is not
 * finite; NULL: all are. */
nb_status nb_layer_find_odd(const nb_layer_shape *shape, const nb_scalar *out, const char **where, nb_ctx *ctx);

/* NB_EINVAL, with the field and what is allowed, if it is no shape of a layer. */
nb_status nb_layer_check(const nb_layer_shape *shape, nb_ctx *ctx);

/* The arrays of a layer whose shape is set; q, k, v are the same, to be written to. */
nb_status nb_layer_allocate(nb_layer *layer, nb_scalar **q, nb_scalar **k, nb_scalar **v, nb_ctx *ctx);

/* The heads first ... first + count - 1 of a head file with its keys and values, rounded to scalars: of a file of
 * inputs, whole inputs. A file without v is refused (NB_EINVAL), NaN and Inf too (NB_ENUMERIC). `problem` is "". Memory
 * is ctx's. */
nb_status nb_layer_load(const char *path, int first, int count, nb_layer *layer, nb_ctx *ctx);

/* Makes a layer of heads that were made one by one (no grouped queries), whose v is taken from k where there is
 * none. */
nb_status nb_layer_of_heads(int count, const nb_head *heads, nb_layer *layer, nb_ctx *ctx);

#endif
