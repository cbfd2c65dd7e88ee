/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slots.h - causal attention with a state that does not grow as the sequence does: a query sees the last tokens
 * exactly and, for those before them, slots, which are keys and values with a number that is added to the logit.
 *
 * Tokens come in chunks of NB_SLOT_CHUNK, counted from the first token of all.
 * 1. Before a chunk, tokens that are further back than the window leave it. The first `sinks` of all become slots as
 *    they are and stay; of the others an attention's rule makes slots, or none.
 * 2. Each query of the chunk has one softmax over all slots and over the tokens in the window, up to its own. So it
 *    sees between `window` and window + NB_SLOT_CHUNK - 1 tokens before it, and up to `group` more.
 * 3. Where a rule asks for it, what a chunk's queries have given to each slot and each token is summed.
 * Nothing depends on how many tokens are handed over at a time: one by one gives the bits of all at once. Logits that
 * are not finite give outputs that are not. */
#ifndef NB_SLOTS_H
#define NB_SLOTS_H

#include "layers/pass.h"

enum { NB_SLOT_CHUNK = 32 };

/* The state of one head. Columns of `recent_k` are the tokens from tokens - recent on. */
typedef struct {
    int tokens;                     /* taken so far */
    int count, sinks;               /* slots in use; those that stay, which are the first */
    int first, recent;              /* where the tokens in the window begin, how many there are */
    nb_scalar *k, *v, *bias;        /* d x slots, dv x slots, slots: of logits, natural logarithms */
    nb_scalar *recent_k, *recent_v; /* d and dv x room for tokens */
    nb_scalar *received;            /* by token in the window: the weights that queries have given it so far */
    nb_scalar *weights;             /* NB_SLOT_CHUNK x keys: of the chunk at hand; NULL: the rule does not ask */
    void *own;                      /* the rule's */
} nb_slots;

/* The work of a pass over many tokens, found chunk by chunk, for nb_slots_work. */
typedef struct {
    int at;      /* the chunk's first token */
    int count;   /* its tokens */
    int leaving; /* tokens that leave before it, without sinks */
    int slots;   /* in use, without sinks; the rule adds */
    int memory;  /* the rule's own, at first 0 */
    double work; /* multiplications; the rule adds */
} nb_slots_step;

/* How slots are made. */
typedef struct nb_slot_rule nb_slot_rule;
struct nb_slot_rule {
    int d, dv, guide;  /* as of the layer; the last is never 0 */
    int sinks, window; /* tokens */
    int group;         /* tokens leave the window by so many */
    int most, extra;   /* slots, without sinks; more that `admit` may need meanwhile */
    bool weighs;       /* weights are summed: `received`, and the call of `note_weights` */
    const void *options;
    size_t own_bytes;
    void (*reset)(const nb_slot_rule *rule, nb_slots *slots); /* optional: `own`, which is all 0, of no tokens */
    /* The oldest `count` tokens of the window leave it: a multiple of `group`. */
    void (*admit)(const nb_slot_rule *rule, nb_slots *slots, int count);
    void (*step)(const nb_slot_rule *rule,
                 nb_slots_step *step); /* what `admit` and `note_tokens` will do before a chunk */
    /* Optional: the next tokens, after their outputs are known. */
    void (*note_tokens)(const nb_slot_rule *rule, nb_slots *slots, int count, const nb_scalar *q, const nb_scalar *k,
                        const nb_scalar *v);
    /* Optional: what the slots have received from a chunk's queries, together; called before tokens leave. */
    void (*note_weights)(const nb_slot_rule *rule, nb_slots *slots, const nb_scalar *sums);
};

/* The state of all heads, and the workspace of threads. */
typedef struct nb_slot_heads nb_slot_heads;
double nb_slots_bytes(const nb_slot_rule *rule, const nb_layer_shape *shape, int threads);
nb_status nb_slots_new(const nb_slot_rule *rule, const nb_layer_shape *shape, int threads, nb_slot_heads **heads,
                       nb_ctx *ctx);
void nb_slots_reset(const nb_slot_rule *rule, const nb_layer_shape *shape, nb_slot_heads *heads);

/* The pass's tokens come after those before; all together at most shape.n of nb_slots_new. */
void nb_slots_extend(const nb_slot_rule *rule, nb_pass *pass);

/* Multiplications of a pass over all tokens. */
double nb_slots_work(const nb_slot_rule *rule, const nb_layer_shape *shape);

/* Slot `to` <- token number `from` of the window, as it is; where `to` is the number of slots, it is one more. */
void nb_slots_fill(const nb_slot_rule *rule, nb_slots *slots, int from, int to);

/* sum and square (d) <- with the first d rows of x (rows x count) and their squares added. d count multiplications. */
void nb_slots_moments(int d, int rows, int count, const nb_scalar *x, double *sum, double *square);

/* The functions of an attention whose rule is rule_of(options, shape). */
#define NB_SLOTS_FUNCTIONS(rule_of) \
    static nb_status open(const void *opts, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx) \
    { \
        nb_slot_rule rule = rule_of(opts, shape); \
        nb_slot_heads *heads; \
        NB_TRY(ctx, nb_slots_new(&rule, shape, threads, &heads, ctx)); \
        *state = heads; \
        return NB_OK; \
    } \
    static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx) \
    { \
        nb_slot_rule rule = rule_of(opts, pass->shape); \
        (void)ctx; \
        if (pass->first == 0) nb_slots_reset(&rule, pass->shape, pass->state); \
        nb_slots_extend(&rule, pass); \
        return NB_OK; \
    } \
    static nb_attention_cost cost(const void *opts, const nb_layer_shape *shape, int threads) \
    { \
        nb_slot_rule rule = rule_of(opts, shape); \
        return (nb_attention_cost){.multiplications = nb_slots_work(&rule, shape), \
                                   .bytes = nb_slots_bytes(&rule, shape, threads)}; \
    }

#endif
