/* SPDX-License-Identifier: GPL-3.0-or-later */
/* block_choice.h - causal softmax over the blocks of keys that each query chooses: its own block up to itself, and of
 * the whole blocks before it the `top` that suit it best.
 *
 * With a window or sinks, blocks begin behind the first `sinks` tokens, which all later queries see, and whole blocks
 * that hold the last `window` tokens before a query are seen besides. About n (block / 2 + window + top block + sinks)
 * (d + dv) multiplications a head, and n^2 d / (2 block) to choose. The state is all keys and values. */
#ifndef NB_BLOCK_CHOICE_H
#define NB_BLOCK_CHOICE_H

#include "layers/pass.h"

/* A block is judged by a query's product with its mean key; or, in each coordinate, with the least or the largest of
 * its keys, whichever gives more, so that no key's product is larger. */
typedef enum { NB_BLOCK_MEANS, NB_BLOCK_BOUNDS } nb_block_marking;

typedef struct {
    nb_block_marking kind;
    int block, top, window, sinks; /* keys of a block, at most NB_BLOCK_QUERIES; blocks chosen; tokens; tokens */
} nb_block_choice;

nb_status nb_block_choice_open(const nb_block_choice *o, const nb_layer_shape *s, int threads, void **state,
                               nb_ctx *ctx);
void nb_block_choice_forward(const nb_block_choice *o, nb_pass *pass);
nb_attention_cost nb_block_choice_cost(const nb_block_choice *o, const nb_layer_shape *s, int threads);

/* The functions of an attention whose choice is choice_of(options). */
#define NB_BLOCK_CHOICE_FUNCTIONS(choice_of) \
    static nb_status open(const void *opts, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx) \
    { \
        nb_block_choice o = choice_of(opts); \
        return nb_block_choice_open(&o, shape, threads, state, ctx); \
    } \
    static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx) \
    { \
        nb_block_choice o = choice_of(opts); \
        (void)ctx; \
        nb_block_choice_forward(&o, pass); \
        return NB_OK; \
    } \
    static nb_attention_cost cost(const void *opts, const nb_layer_shape *shape, int threads) \
    { \
        nb_block_choice o = choice_of(opts); \
        return nb_block_choice_cost(&o, shape, threads); \
    }

#endif
