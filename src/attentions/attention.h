/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.h - the one header that an attention file includes.
 *
 * An attention is one file, src/attentions/NAME.c, that defines
 *     const nb_attention nb_attention_NAME;
 * It computes the outputs of all heads of a layer, in single precision and with the threads of a team. Exact ones
 * compute softmax(Q K'/sqrt d) V; the others something in its place. */
#ifndef NB_ATTENTION_H
#define NB_ATTENTION_H

#include "components/component.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "layers/pass.h"

typedef struct {
    nb_component component;
    unsigned traits;                            /* NB_ATTENTION_* */
    unsigned (*traits_of)(const void *options); /* optional: if they depend on the options */

    /* The option that says how many representatives there are (landmarks, features, clusters ...): what a curve of
     * error against time runs over. NULL: there is none. */
    const char *size;
    /* How many that is for a layer; 0: none. Optional: else the option's value. */
    int (*size_of)(const void *options, const nb_layer_shape *shape);

    /* Optional: how many passes in a row use what the first of them has chosen (landmarks, features). NULL: each pass
     * chooses. */
    int (*passes_per_choice)(const void *options);

    /* Optional: finds what is wrong with the options that their table cannot tell, before anything runs. */
    nb_status (*check)(const void *options, nb_ctx *ctx);
    /* Optional: reports what it needs and is not there, such as a program; may be slow. */
    nb_status (*ready)(const void *options, nb_ctx *ctx);
    /* Optional: why there is no such pass, in one sentence (the row is `skipped`), or NULL. That it has no causal form
     * is known from its traits. */
    nb_status (*refusal)(const void *options, const nb_layer_shape *shape, const char **why, nb_ctx *ctx);

    nb_attention_cost (*cost)(const void *options, const nb_layer_shape *shape, int threads);

    /* Allocates all that passes on layers of this shape with so many threads need, and what is kept between them. */
    nb_status (*open)(const void *options, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx);
    nb_status (*forward)(nb_pass *pass, const void *options, nb_ctx *ctx);

    const char *explanation; /* optional: a few sentences that `describe` prints, broken into lines */
} nb_attention;

unsigned nb_attention_traits(const nb_choice *attention);                       /* with its options */
int nb_attention_size(const nb_choice *attention, const nb_layer_shape *shape); /* 0: none */
int nb_attention_passes_per_choice(const nb_choice *attention);                 /* 1: it keeps nothing */
nb_status nb_attention_check(const nb_choice *attention, nb_ctx *ctx);
/* Calls `ready` of the attention and of the strategies, cores and attentions that its options name. */
nb_status nb_attention_ready(const nb_choice *attention, nb_ctx *ctx);
/* Why it is impossible for such layers; NULL: it is possible. */
nb_status nb_attention_refusal(const nb_choice *attention, const nb_layer_shape *shape, const char **why, nb_ctx *ctx);
/* The seed of a program, of a pass's stream. */
unsigned long nb_attention_seed(gsl_rng *rng, nb_stream stream);
nb_attention_cost nb_attention_cost_of(const nb_choice *attention, const nb_layer_shape *shape, int threads);

/* An attention that is ready for passes over layers of one shape. Memory is ctx's. */
typedef struct {
    const nb_choice *attention;
    nb_layer_shape shape;
    nb_team *team;
    nb_stream stream;
    void *state;
    int passes;   /* that were made */
    int tokens;   /* taken piece by piece */
    double bytes; /* that `open` allocated */
} nb_attending;

/* NB_EINVAL where nb_attention_refusal has a reason; NB_ENOMEM, with the bytes needed, where they are not to be had. */
nb_status nb_attention_open(const nb_choice *attention, const nb_layer_shape *shape, nb_team *team, nb_stream stream,
                            nb_attending *attending, nb_ctx *ctx);

typedef struct {
    double seconds, part_s[NB_PART_COUNT]; /* seconds: by `clock`; with NB_CLOCK_NONE, around the pass */
    nb_pass_clock clock;
    const char *device;     /* the pass's */
    double multiplications; /* of all threads, counted */
    double bytes;           /* most that was held at a time, with what `open` allocated, without points and output */
    const char *refusal, *diverged; /* the pass's */
} nb_passed;

/* One pass: out (dv x n, batch * heads of them). */
nb_status nb_attention_forward(nb_attending *attending, const nb_layer *layer, nb_scalar *out, nb_passed *passed,
                               nb_ctx *ctx);

/* The tokens that come after those of the extensions before it, a prompt or one token at a time: the layer has some of
 * the shape's tokens, out (dv x n for each head) has as many. All together give the bits of one pass. NB_EINVAL where
 * the attention does not take tokens piece by piece (NB_ATTENTION_STEPS), NB_EDIM behind the shape's last one. */
nb_status nb_attention_extend(nb_attending *attending, const nb_layer *layer, nb_scalar *out, nb_passed *passed,
                              nb_ctx *ctx);
/* The next extension begins with the first token, and the next pass is the first. */
void nb_attention_restart(nb_attending *attending);

/* Returns in a few words what a plug-in's record lacks, apart from what all components need; NULL: nothing. */
const char *nb_attention_lacks(const nb_component *component);
extern const size_t nb_attention_texts[]; /* of its registry */

#endif
