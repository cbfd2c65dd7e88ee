/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quest.c - causal softmax over the pages of keys that may suit a query: its own page up to itself, and of the whole
 * pages before it the `top` whose keys may have the largest product with it, by the least m and the largest M of each
 * of their coordinates:
 *
 *     sum over l of max(q_l m_l, q_l M_l)
 *
 * layers/block_choice.h has the cost. */
#include "attentions/attention.h"

#include "layers/block_choice.h"
#include "layers/softmax.h"

typedef struct {
    int page, top;
} quest_options;

static const nb_option options[] = {
    NB_INT(quest_options, page, "16", 1, NB_BLOCK_QUERIES, "keys of a page"),
    NB_INT(quest_options, top, "8", 0, 1 << 20, "pages that a query chooses beside its own"), NB_OPTION_END};

static nb_block_choice choice_of(const quest_options *o)
{
    return (nb_block_choice){.kind = NB_BLOCK_BOUNDS, .block = o->page, .top = o->top};
}

NB_BLOCK_CHOICE_FUNCTIONS(choice_of)

static const char *const references[] = {
    "Tang et al., Quest: query-aware sparsity for efficient long-context LLM inference, ICML 2024, arXiv:2406.10774",
    NULL};

const nb_attention nb_attention_quest = {
    .component = {"quest", "causal softmax over a query's own page and those whose keys may suit it most (Quest)",
                  references, options, sizeof(quest_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "top",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "Pages of 16 tokens are the paper's. Each query head chooses for itself. The paper leaves a model's first two\n"
        "layers exact; here all are approximated. With top of n/page it is exact.",
};
