/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strided.c - causal softmax over the last tokens, the first ones, and every stride-th of those between them.
 *
 * About n (window + 32 + n / (2 stride)) (d + dv) multiplications a head; the state grows with n / stride. */
#include "attentions/attention.h"

#include "layers/slots.h"

typedef struct {
    int window, stride, sinks;
} strided_options;

static const nb_option options[] = {
    NB_INT(strided_options, window, "128", 0, 1 << 30, "tokens before a query that it sees, and up to 31 more"),
    NB_INT(strided_options, stride, "16", 1, 1 << 30, "of earlier tokens those are seen whose number is a multiple"),
    NB_INT(strided_options, sinks, "4", 0, 1 << 30, "first tokens, which all later ones see"), NB_OPTION_END};

static int stride_of(const nb_slot_rule *rule)
{
    const strided_options *o = rule->options;
    return o->stride;
}

static void admit(const nb_slot_rule *rule, nb_slots *slots, int count)
{
    int token = slots->tokens - slots->recent;
    for (int i = 0; i < count; i++)
        if ((token + i) % stride_of(rule) == 0) nb_slots_fill(rule, slots, i, slots->count);
}

/* Multiples of the stride among tokens sinks ... end - 1. */
static int kept(const nb_slot_rule *rule, int end)
{
    int stride = stride_of(rule);
    return end > rule->sinks ? nb_blocks(end, stride) - nb_blocks(rule->sinks, stride) : 0;
}

static void step(const nb_slot_rule *rule, nb_slots_step *s)
{
    s->slots = kept(rule, s->at - rule->window);
}

static nb_slot_rule rule_of(const void *opts, const nb_layer_shape *s)
{
    const strided_options *o = opts;
    nb_slot_rule rule = {.d = s->d,
                         .dv = s->dv,
                         .sinks = nb_lesser(o->sinks, s->n),
                         .window = nb_lesser(o->window, s->n),
                         .group = 1,
                         .options = o,
                         .admit = admit,
                         .step = step};
    rule.most = kept(&rule, s->n);
    return rule;
}

NB_SLOTS_FUNCTIONS(rule_of)

static const char *const references[] = {
    "Child, Gray, Radford & Sutskever, Generating long sequences with sparse transformers, 2019, arXiv:1904.10509",
    NULL};

const nb_attention nb_attention_strided = {
    .component = {"strided", "causal softmax over a window and every so-manieth token before it", references, options,
                  sizeof(strided_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS | NB_ATTENTION_UNTRAINED,
    .size = "window",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation = "All heads see the same tokens; in the sparse transformer, which is trained with it, heads or\n"
                   "layers may take turns between window and stride. From window = n on, or with stride = 1, it is\n"
                   "exact.",
};
