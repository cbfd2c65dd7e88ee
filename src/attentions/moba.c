/* SPDX-License-Identifier: GPL-3.0-or-later */
/* moba.c - causal softmax over the blocks of keys that suit a query: its own block up to itself, and of the whole
 * blocks before it the `top` whose mean keys have the largest products with it. layers/block_choice.h has the cost. */
#include "attentions/attention.h"

#include "layers/block_choice.h"
#include "layers/softmax.h"

typedef struct {
    int block, top, window, sinks;
} moba_options;

static const nb_option options[] = {
    NB_INT(moba_options, block, "64", 1, NB_BLOCK_QUERIES, "keys of a block"),
    NB_INT(moba_options, top, "3", 0, 1 << 20, "blocks that a query chooses"),
    NB_INT(moba_options, window, "0", 0, 1 << 30, "tokens before a query that it sees besides, whole blocks of them"),
    NB_INT(moba_options, sinks, "0", 0, 1 << 30, "first tokens, which all later ones see; blocks begin behind them"),
    NB_OPTION_END};

static nb_block_choice choice_of(const moba_options *o)
{
    return (nb_block_choice){NB_BLOCK_MEANS, o->block, o->top, o->window, o->sinks};
}

NB_BLOCK_CHOICE_FUNCTIONS(choice_of)

static const char *const references[] = {
    "Lu et al., MoBA: mixture of block attention for long-context LLMs, 2025, arXiv:2502.13189",
    "Roy, Saffar, Vaswani & Grangier, Efficient content-based sparse attention with routing transformers, TACL 9, "
    "2021, arXiv:2003.05997",
    NULL};

const nb_attention nb_attention_moba = {
    .component = {"moba", "causal softmax over a query's own block and those whose mean keys suit it (MoBA)",
                  references, options, sizeof(moba_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_UNTRAINED | NB_ATTENTION_STEPS,
    .size = "top",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "With window = sinks = 0 it is MoBA's, whose models are trained with it; here they are not. With more of them\n"
        "the blocks that may be chosen end before the window and begin behind the first tokens. With top of n/block\n"
        "it is exact.",
};
