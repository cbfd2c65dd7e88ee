/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.h - the one header that an attention file includes.
 *
 * An attention is one file, src/attentions/NAME.c, that defines
 *     const nb_attention nb_attention_NAME;
 * It computes the outputs of all heads of a layer, in single precision and with the threads of a team. Exact ones
 * compute softmax(Q K'/sqrt d) V; the others something in its place. */
#ifndef NB_ATTENTION_H
#define NB_ATTENTION_H

#include "base/random.h"
#include "layers/team.h"
#include "components/component.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "layers/layer.h"
#include "linalg/work.h"

enum {
    NB_ATTENTION_EXACT = 1 << 0,     /* its output is exact attention's, up to rounding */
    NB_ATTENTION_CAUSAL = 1 << 1,    /* it has a causal form */
    NB_ATTENTION_RANDOM = 1 << 2,    /* draws random numbers */
    NB_ATTENTION_UNTRAINED = 1 << 3, /* made for weights that are trained with it: here they are not */
    NB_ATTENTION_ORACLE = 1 << 4,    /* looks at the exact outputs or at all of S */

    NB_ATTENTION_TRAITS =
        NB_ATTENTION_EXACT | NB_ATTENTION_CAUSAL | NB_ATTENTION_RANDOM | NB_ATTENTION_UNTRAINED | NB_ATTENTION_ORACLE,
};

/* What a pass is made of, in seconds of this thread's clock: */
typedef enum {
    NB_PART_LANDMARKS, /* choosing what stands for the rest: landmarks, clusters, random features */
    NB_PART_CORE,      /* A and X */
    NB_PART_B,         /* what is made of all keys and values: B V, feature sums, projected keys */
    NB_PART_F,         /* what is made of all queries, with the output that comes of it */
    NB_PART_OUTPUT,    /* what is done to the output after that */
    NB_PART_COUNT
} nb_part;
extern const char *const nb_part_names[]; /* by nb_part; NULL-terminated */

/* One pass, as the attention sees it. */
typedef struct {
    const nb_layer *layer;
    nb_scalar *out; /* dv x n, batch * heads of them */
    int index;      /* 0, 1, ...: how many passes were made with this state before, on this layer or on others */
    nb_team *team;
    void *state;      /* what `open` made */
    nb_stream stream; /* seed and trial; role and m are the attention's to set, component is its canonical text */
    double part_s[NB_PART_COUNT], last_s; /* for nb_pass_part */
    const char *refusal;                  /* why there is no output after all, in one sentence; NULL: there is */
    const char *diverged;                 /* why the output is not finite; NULL: nothing is known */
} nb_pass;

/* Seconds since the last call, or since the pass began, go to a part. */
void nb_pass_part(nb_pass *pass, nb_part part);
/* The same to two parts that ran side by side, in proportion to what their tasks took. */
void nb_pass_parts(nb_pass *pass, nb_part a, double a_s, nb_part b, double b_s);

/* What a pass takes: nb_multiplications' count, of a pass that keeps nothing of earlier ones; and the bytes that `open`
 * allocates. NaN: there is no formula. The work and memory of a strategy, a core or a clustering, which are counted
 * where they are done, are not in it, but for what a core's record tells. */
typedef struct {
    double multiplications, bytes;
} nb_attention_cost;

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
    int (*keep)(const void *options);

    /* Optional: finds what is wrong with the options that their table cannot tell, before anything runs. */
    nb_status (*check)(const void *options, nb_ctx *ctx);
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
int nb_attention_keep(const nb_choice *attention);                              /* passes; 1: it keeps nothing */
nb_status nb_attention_check(const nb_choice *attention, nb_ctx *ctx);
/* Why it is impossible for such layers; NULL: it is possible. */
nb_status nb_attention_refusal(const nb_choice *attention, const nb_layer_shape *shape, const char **why, nb_ctx *ctx);
nb_attention_cost nb_attention_cost_of(const nb_choice *attention, const nb_layer_shape *shape, int threads);

/* An attention that is ready for passes over layers of one shape. Memory is ctx's. */
typedef struct {
    const nb_choice *attention;
    nb_layer_shape shape;
    nb_team *team;
    nb_stream stream;
    void *state;
    int passes;   /* that were made */
    double bytes; /* that `open` allocated */
} nb_attending;

/* NB_EINVAL where nb_attention_refusal has a reason; NB_ENOMEM, with the bytes needed, where they are not to be had. */
nb_status nb_attention_open(const nb_choice *attention, const nb_layer_shape *shape, nb_team *team, nb_stream stream,
                            nb_attending *attending, nb_ctx *ctx);

typedef struct {
    double seconds, part_s[NB_PART_COUNT];
    double multiplications; /* of all threads, counted */
    double bytes;           /* most that was held at a time, with what `open` allocated, without points and output */
    const char *refusal, *diverged; /* the pass's */
} nb_passed;

/* One pass: out (dv x n, batch * heads of them). */
nb_status nb_attention_forward(nb_attending *attending, const nb_layer *layer, nb_scalar *out, nb_passed *passed,
                               nb_ctx *ctx);

/* What a plug-in's record lacks, apart from what all components need, in a few words; NULL: nothing. */
const char *nb_attention_lacks(const nb_component *component);

#endif
