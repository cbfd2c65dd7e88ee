/* SPDX-License-Identifier: GPL-3.0-or-later */
/* h2o.c - causal softmax over the last tokens, the first ones, and those of the others that have received most
 * attention since they came: heavy hitters. A token that leaves the window takes the place of the one of these that
 * has received least, if it has received more.
 *
 * About n (sinks + heavy + window + 32) (d + dv + 1) multiplications a head; the state is the keys and values of these
 * tokens, and a number for each. */
#include "attentions/attention.h"

#include "layers/slots.h"

#include <string.h>

typedef struct {
    int window, heavy, sinks;
} h2o_options;

static const nb_option options[] = {
    NB_INT(h2o_options, window, "128", 0, 1 << 30, "tokens before a query that it sees, and up to 31 more"),
    NB_INT(h2o_options, heavy, "128", 0, 1 << 30, "earlier tokens that are kept: those with most attention so far"),
    NB_INT(h2o_options, sinks, "4", 0, 1 << 30, "first tokens, which all later ones see"), NB_OPTION_END};

/* `own`: by slot, without sinks: the attention that it has received. */
static int find_lightest(int count, const nb_scalar *received)
{
    int least = 0;
    for (int j = 1; j < count; j++)
        if (received[j] < received[least]) least = j;
    return least;
}

static void admit(const nb_slot_rule *rule, nb_slots *slots, int count)
{
    nb_scalar *received = slots->own;
    for (int i = 0; i < count; i++) {
        nb_scalar own = slots->received[slots->first + i];
        int heavy = slots->count - slots->sinks, place = heavy;
        if (heavy == rule->most) {
            place = find_lightest(heavy, received);
            if (heavy == 0 || !(own > received[place])) continue;
        }
        nb_slots_fill(rule, slots, i, slots->sinks + place);
        received[place] = own;
    }
}

static void note_weights(const nb_slot_rule *rule, nb_slots *slots, const nb_scalar *sums)
{
    (void)rule;
    nb_scalar_add((size_t)(slots->count - slots->sinks), 1, sums + slots->sinks, slots->own);
}

static void step(const nb_slot_rule *rule, nb_slots_step *s)
{
    s->slots = nb_lesser(s->slots + s->leaving, rule->most);
}

static nb_slot_rule rule_of(const void *opts, const nb_layer_shape *s)
{
    const h2o_options *o = opts;
    int heavy = nb_lesser(o->heavy, s->n);
    return (nb_slot_rule){.d = s->d,
                          .dv = s->dv,
                          .sinks = nb_lesser(o->sinks, s->n),
                          .window = nb_lesser(o->window, s->n),
                          .group = 1,
                          .most = heavy,
                          .weighs = true,
                          .own_bytes = (size_t)heavy * sizeof(nb_scalar),
                          .admit = admit,
                          .step = step,
                          .note_weights = note_weights};
}

NB_SLOTS_FUNCTIONS(rule_of)

static const char *const references[] = {
    "Zhang et al., H2O: heavy-hitter oracle for efficient generative inference of large language models, NeurIPS 2023, "
    "arXiv:2306.14048",
    NULL};

const nb_attention nb_attention_h2o = {
    .component = {"h2o", "causal softmax over a window and the earlier tokens with most attention (heavy hitters)",
                  references, options, sizeof(h2o_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "heavy",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "Attention is summed over all queries since the token came, as in the paper, from the weights that are\n"
        "computed anyway; every 32 tokens it is decided what is kept. The paper gives window and heavy hitters the\n"
        "same number and has no sinks, which are heavy hitters as a rule. No oracle in spite of its name. From\n"
        "window = n on it is exact.",
};
