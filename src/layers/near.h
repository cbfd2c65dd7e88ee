/* SPDX-License-Identifier: GPL-3.0-or-later */
/* near.h - attention to near keys one by one, and to landmarks in the place of all others.
 *
 * Queries come in blocks: tokens in a row, or patches of an image in a square. A query's near keys are those around its
 * block and the strongest keys of its cluster. The others' cluster c of keys has the logit q'L_c/sqrt d + b_c +
 * ln(number of its keys that are not near) and the value y_c; the near keys have their own. One softmax goes over
 * all of them. */
#ifndef NB_NEAR_H
#define NB_NEAR_H

#include "layers/layer.h"
#include "layers/softmax.h"

/* Tokens of a block, at most. */
enum { NB_NEAR_QUERIES = 64 };

/* Blocks and the keys around them. */
typedef struct {
    int n;
    bool window; /* else no keys are near for their place */
    int reach;   /* tokens, or patches, around a block on each side */
    /* Of an image: the tokens before its patches, which have blocks of their own and see each other, and its sides in
     * patches. columns = 0: the tokens are a row. */
    int before, columns, rows;
} nb_neighbourhood;

/* The side of the largest square of which n tokens are the patches, with at most NB_MOST_BEFORE tokens before them; 0:
 * there is none. */
enum { NB_MOST_BEFORE = 8 };
int nb_square_side(int n);

int nb_near_blocks(const nb_neighbourhood *near);
int nb_near_block_of(const nb_neighbourhood *near, int token);
/* The tokens of a block, ascending, and the keys around it; they return how many. */
int nb_near_queries(const nb_neighbourhood *near, int block, int *tokens);
int nb_near_keys(const nb_neighbourhood *near, int block, int *tokens);
int nb_near_most_keys(const nb_neighbourhood *near); /* of any block */
double nb_near_pairs(const nb_neighbourhood *near);  /* of a query and a key around its block */

/* A head's clusters of keys and of queries. */
typedef struct {
    int m;
    const nb_scalar *landmarks, *values, *bias; /* d x m, dv x m, m: L, y, b */
    const int *group, *counts;                  /* n, m: each key's cluster, and how many keys each has */
    int top, k;                                 /* strongest keys of a cluster of queries; 0: none */
    const int *owner, *strongest;               /* n, top x k: each query's cluster, and its strongest keys */
    const int *order;                           /* n: the queries, cluster by cluster */
} nb_far;

/* A row of the bias of logits, and what it is for some queries. */
typedef struct {
    int row;
    nb_scalar bias;
} nb_bias_edit;

/* A thread's. */
typedef struct {
    int *keys;           /* of the query or block at hand */
    int *place;          /* n: 1 + the place of a near key in `keys`, 0 of others */
    int *left;           /* m: keys of each cluster that are not near */
    int *taken;          /* m: of these, strongest keys that are at hand; 0 between */
    nb_bias_edit *edits; /* top */
    nb_scalar *logs;     /* n + 1: ln 0, ln 1 ... ln n */
    nb_scalar *bias;     /* of the logits: (m + keys) x a block's queries, a key a row */
    nb_scalar *k, *v;    /* d x keys, dv x keys */
    nb_scalar *q, *out;  /* d and dv x NB_BLOCK_QUERIES */
    nb_softmax softmax;
} nb_near_room;

nb_status nb_near_room_new(const nb_neighbourhood *near, const nb_layer_shape *shape, int m, int top,
                           nb_near_room *room, nb_ctx *ctx);
double nb_near_room_bytes(const nb_neighbourhood *near, const nb_layer_shape *shape, int m, int top);

/* Lists in room->keys the near keys of a query, of the cluster `owner` of queries, in a block, and sets room->left; it
 * returns how many. nb_near_forget comes before the next. */
int nb_near_list(const nb_neighbourhood *near, const nb_far *far, int block, int owner, nb_near_room *room);
void nb_near_forget(const nb_near_room *room, int count);

/* Outputs of a block's queries (head->out). Where there are strongest keys these are sums before division, which
 * nb_near_add_strongest completes, and largest and sum (n) belong to them. */
void nb_near_answer(const nb_neighbourhood *near, const nb_far *far, const nb_layer_head *head, int block,
                    nb_scalar *largest, nb_scalar *sum, nb_near_room *room);
/* Adds the strongest keys to the sums of queries far->order[first] ... and divides; count <= NB_BLOCK_QUERIES. */
void nb_near_add_strongest(const nb_far *far, const nb_layer_head *head, int first, int count, nb_scalar *largest,
                           nb_scalar *sum, nb_near_room *room);

/* Multiplications of the outputs of a head. */
double nb_near_work(const nb_neighbourhood *near, const nb_layer_shape *shape, int m, int top);

#endif
