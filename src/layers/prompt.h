/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prompt.h - causal attention that is exact within a prompt, of which tokens behind it see only some.
 *
 * 1. Queries of the prompt have their exact outputs.
 * 2. Where the prompt ends, a rule scores its tokens but for the last `window` ones. The `tokens` of largest score
 *    stay, beside the window.
 * 3. Later queries have one softmax over these, the window and all tokens behind it, up to their own.
 *
 * About (p^2 / 2 + r (tokens + window + r / 2)) (d + dv) multiplications a head for a prompt of p tokens and r behind
 * it. The state is all keys and values, since it holds the prompt until it is compressed. */
#ifndef NB_PROMPT_H
#define NB_PROMPT_H

#include "layers/pass.h"

typedef struct nb_prompt_rule nb_prompt_rule;
struct nb_prompt_rule {
    const nb_layer_shape *shape; /* of all tokens */
    const void *options;
    int prompt, window, tokens; /* window <= prompt; tokens <= prompt - window */
    bool by_keys;               /* heads that share keys share tokens, and no queries are looked at */
    size_t scratch;             /* scalars that `score` needs */
    double work;                /* multiplications of `score` */
    /* scores (prompt - window) <- those of the first tokens of k (d x prompt) and v (dv x prompt). q (d x window): the
     * window's queries; NULL if by_keys. NB_ENUMERIC if there is none, since points are not finite. ctx is released
     * afterwards. */
    nb_status (*score)(const nb_prompt_rule *rule, const nb_scalar *k, const nb_scalar *v, const nb_scalar *q,
                       nb_scalar *scratch, nb_scalar *scores, nb_ctx *ctx);
};

/* Returns the number of tokens of a prompt: all at most; NB_AUTO: half of all, rounded up. */
int nb_prompt_length(int prompt, const nb_layer_shape *shape);

nb_status nb_prompt_open(const nb_prompt_rule *rule, int threads, void **state, nb_ctx *ctx);
nb_status nb_prompt_forward(const nb_prompt_rule *rule, nb_pass *pass, nb_ctx *ctx);
nb_attention_cost nb_prompt_cost(const nb_prompt_rule *rule, int threads);

/* The option `prompt`. */
#define NB_PROMPT_OPTION(T) \
    NB_INT_OR(T, prompt, "auto", "auto", 1, 1 << 30, "tokens of the prompt, at most all; auto: half of all, rounded up")

/* The functions of an attention whose rule is rule_of(options, shape). */
#define NB_PROMPT_FUNCTIONS(rule_of) \
    static nb_status open(const void *opts, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx) \
    { \
        nb_prompt_rule rule = rule_of(opts, shape); \
        return nb_prompt_open(&rule, threads, state, ctx); \
    } \
    static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx) \
    { \
        nb_prompt_rule rule = rule_of(opts, pass->shape); \
        return nb_prompt_forward(&rule, pass, ctx); \
    } \
    static nb_attention_cost cost(const void *opts, const nb_layer_shape *shape, int threads) \
    { \
        nb_prompt_rule rule = rule_of(opts, shape); \
        return nb_prompt_cost(&rule, threads); \
    }

#endif
