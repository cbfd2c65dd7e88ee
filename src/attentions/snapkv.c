/* SPDX-License-Identifier: GPL-3.0-or-later */
/* snapkv.c - SnapKV: exact causal attention within a prompt, of which the tokens behind it see only those that the
 * prompt's last queries have chosen.
 *
 * The last `window` queries of the prompt vote: what they give to each earlier token of it is summed, and pooled over
 * the tokens around it. The `tokens` with most votes stay, beside the window (layers/prompt.h). */
#include "attentions/attention.h"

#include "layers/prompt.h"

#include <math.h>
#include <string.h>

typedef struct {
    int prompt, tokens, window, kernel, pooling;
} snapkv_options;

enum { POOL_MEAN, POOL_LARGEST };
static const char *const poolings[] = {"mean", "largest", NULL};

static const nb_option options[] = {
    NB_PROMPT_OPTION(snapkv_options),
    NB_INT(snapkv_options, tokens, "128", 0, 1 << 30, "tokens of the prompt that stay beside the window"),
    NB_INT(snapkv_options, window, "32", 1, 1 << 20, "last tokens of the prompt, whose queries vote, and which stay"),
    NB_INT(snapkv_options, kernel, "5", 1, 1025,
           "tokens that votes are pooled over; even: one more before than behind"),
    NB_ENUM(snapkv_options, pooling, "mean", poolings, "of these votes; beyond the ends they are 0"),
    NB_OPTION_END};

/* scores (prompt - window) <- of each token the votes: what the window's queries give to it. */
static void count_votes(const nb_prompt_rule *rule, const nb_scalar *k, const nb_scalar *q, nb_scalar *weights,
                        nb_scalar *votes)
{
    int d = rule->shape->d, prompt = rule->prompt, window = rule->window;
    size_t far = (size_t)(prompt - window);
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, prompt, window, d, 1 / sqrt(d), k, d, q, d, 0, weights, prompt);
    memset(votes, 0, far * sizeof *votes);
    for (int i = 0; i < window; i++) {
        nb_scalar *row = weights + (size_t)i * (size_t)prompt;
        size_t seen = far + (size_t)i + 1;
        nb_scalar sum = nb_scalar_exp_sum(seen, row, nb_scalar_largest(seen, row));
        nb_scalar_add(far, 1 / sum, row, votes);
    }
    nb_count_multiplications((double)window * (double)far);
}

/* pooled (count) <- of each token the mean or the largest of the votes of kernel tokens around it. */
static void pool_votes(const snapkv_options *o, int count, const nb_scalar *votes, nb_scalar *pooled)
{
    int before = o->kernel / 2, after = o->kernel - 1 - before;
    for (int j = 0; j < count; j++) {
        nb_scalar sum = 0, largest = 0;
        for (int i = nb_greater(j - before, 0); i <= nb_lesser(j + after, count - 1); i++) {
            sum += votes[i];
            largest = votes[i] > largest ? votes[i] : largest;
        }
        pooled[j] = o->pooling == POOL_MEAN ? sum / (nb_scalar)o->kernel : largest;
    }
    nb_count_multiplications(count);
}

static nb_status score(const nb_prompt_rule *rule, const nb_scalar *k, const nb_scalar *v, const nb_scalar *q,
                       nb_scalar *scratch, nb_scalar *scores, nb_ctx *ctx)
{
    int far = rule->prompt - rule->window;
    (void)v, (void)ctx;
    count_votes(rule, k, q, scratch + far, scratch);
    pool_votes(rule->options, far, scratch, scores);
    return NB_OK;
}

static nb_prompt_rule rule_of(const snapkv_options *o, const nb_layer_shape *s)
{
    int prompt = nb_prompt_length(o->prompt, s), window = nb_lesser(o->window, prompt), far = prompt - window;
    return (nb_prompt_rule){.shape = s,
                            .options = o,
                            .prompt = prompt,
                            .window = window,
                            .tokens = nb_lesser(o->tokens, far),
                            .scratch = (size_t)far + (size_t)prompt * (size_t)window,
                            .work = (double)window * ((double)prompt * s->d + far) + far,
                            .score = score};
}

NB_PROMPT_FUNCTIONS(rule_of)

static const char *const references[] = {
    "Li et al., SnapKV: LLM knows what you are looking for before generation, NeurIPS 2024, arXiv:2404.14469", NULL};

const nb_attention nb_attention_snapkv = {
    .component = {"snapkv", "exact attention in a prompt, and then over what its last queries look at (SnapKV)",
                  references, options, sizeof(snapkv_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "tokens",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "Each query head keeps tokens of its own, as in the authors' code; window, kernel and pooling are options\n"
        "there too. The prompt's outputs are exact and count in the error: what the method loses is in the tokens\n"
        "behind it. With tokens = prompt, or prompt = n, it is exact.",
};
