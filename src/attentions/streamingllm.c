/* SPDX-License-Identifier: GPL-3.0-or-later */
/* streamingllm.c - causal softmax over the last tokens and the first ones, which models use as sinks of attention.
 *
 * About n (sinks + window + 32) (d + dv) multiplications a head; the state is the keys and values of these tokens. */
#include "attentions/attention.h"

#include "layers/slots.h"

typedef struct {
    int window, sinks;
} streamingllm_options;

static const nb_option options[] = {
    NB_INT(streamingllm_options, window, "256", 0, 1 << 30, "tokens before a query that it sees, and up to 31 more"),
    NB_INT(streamingllm_options, sinks, "4", 0, 1 << 30, "first tokens, which all later ones see"), NB_OPTION_END};

static void admit(const nb_slot_rule *rule, nb_slots *slots, int count)
{
    (void)rule, (void)slots, (void)count; /* what leaves the window is forgotten */
}

static void step(const nb_slot_rule *rule, nb_slots_step *s)
{
    (void)rule, (void)s;
}

static nb_slot_rule rule_of(const void *opts, const nb_layer_shape *s)
{
    const streamingllm_options *o = opts;
    return (nb_slot_rule){.d = s->d,
                          .dv = s->dv,
                          .sinks = nb_lesser(o->sinks, s->n),
                          .window = nb_lesser(o->window, s->n),
                          .group = 1,
                          .admit = admit,
                          .step = step};
}

NB_SLOTS_FUNCTIONS(rule_of)

static const char *const references[] = {
    "Xiao, Tian, Chen, Han & Lewis, Efficient streaming language models with attention sinks, ICLR 2024, "
    "arXiv:2309.17453",
    NULL};

const nb_attention nb_attention_streamingllm = {
    .component = {"streamingllm", "causal softmax over a window and the first tokens (StreamingLLM)", references,
                  options, sizeof(streamingllm_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "window",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "Keys keep the positions that they were given; StreamingLLM counts positions anew within what it keeps. From\n"
        "window = n on it is exact.",
};
