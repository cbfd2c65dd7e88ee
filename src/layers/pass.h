/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pass.h - one pass of an attention over a layer: what it is given, what it says of itself, what it takes. */
#ifndef NB_PASS_H
#define NB_PASS_H

#include "base/random.h"
#include "layers/layer.h"
#include "layers/team.h"
#include "linalg/work.h"

enum {
    NB_ATTENTION_EXACT = 1 << 0,     /* its output is exact attention's, up to rounding */
    NB_ATTENTION_CAUSAL = 1 << 1,    /* it has a causal form */
    NB_ATTENTION_RANDOM = 1 << 2,    /* draws random numbers */
    NB_ATTENTION_UNTRAINED = 1 << 3, /* made for weights that are trained with it: here they are not */
    NB_ATTENTION_ORACLE = 1 << 4,    /* looks at the exact outputs or at all of S */
    NB_ATTENTION_STEPS = 1 << 5,     /* takes tokens piece by piece, see nb_pass's `first` */
    NB_ATTENTION_FORESEES = 1 << 6,  /* its causal form is masked, but chooses or fits by later tokens too */
    NB_ATTENTION_ELSEWHERE = 1 << 7, /* another process computes it: what it takes is not this process's */

    NB_ATTENTION_TRAITS = NB_ATTENTION_EXACT | NB_ATTENTION_CAUSAL | NB_ATTENTION_RANDOM | NB_ATTENTION_UNTRAINED |
                          NB_ATTENTION_ORACLE | NB_ATTENTION_STEPS | NB_ATTENTION_FORESEES | NB_ATTENTION_ELSEWHERE,
};

/* The parts of a pass, in seconds of this thread's clock: */
typedef enum {
    NB_PART_LANDMARKS, /* choosing what stands for the rest: landmarks, clusters, random features */
    NB_PART_CORE,      /* A and X */
    NB_PART_B,         /* what is made of all keys and values: B V, feature sums, projected keys */
    NB_PART_F,         /* what is made of all queries, with the output that comes of it */
    NB_PART_OUTPUT,    /* what is done to the output after that */
    NB_PART_COUNT
} nb_part;

/* Whose clock times a pass. */
typedef enum {
    NB_CLOCK_PASS, /* this process's, around the pass */
    NB_CLOCK_CALL, /* this process's, around the call of a program, without files and waiting */
    NB_CLOCK_OWN,  /* the program's own */
    NB_CLOCK_NONE  /* nobody's: what the pass takes says nothing */
} nb_pass_clock;
extern const char *const nb_pass_clock_names[]; /* as rows have them */

/* One pass, as the attention sees it. */
typedef struct {
    const nb_layer *layer;
    nb_scalar *out;              /* dv x n, batch * heads of them */
    const nb_layer_shape *shape; /* of all tokens, what `open` was given */
    int first; /* tokens that were taken before, 0 but where it takes them piece by piece: then the layer has some of
                  the next ones */
    int index; /* 0: choose what is kept; up to the next multiple of `passes_per_choice`, use what was chosen */
    nb_team *team;
    void *state;      /* what `open` made */
    nb_stream stream; /* seed and trial; role and m are the attention's to set, component is its canonical text */
    double part_s[NB_PART_COUNT], last_s; /* for nb_pass_part */
    const char *refusal; /* NULL, or a sentence that says why there is no output; it lives as long as the state */
    const char
        *diverged; /* NULL, or a sentence that says why the output is not finite; it lives as long as the state */
    /* Of an attention that works elsewhere, or whose time says nothing (NONE); `seconds` is what CALL or OWN has
     * measured. */
    nb_pass_clock clock;
    double seconds;
    const char *device; /* NULL, or the text by which a program names its device; it lives as long as the state */
} nb_pass;

/* Seconds since the last call, or since the pass began, go to a part. */
void nb_pass_part(nb_pass *pass, nb_part part);
/* The same to parts that ran side by side, in proportion to what the tasks of each took. */
void nb_pass_parts(nb_pass *pass, const double busy_s[NB_PART_COUNT]);

/* Copies the keys and values of a key head that came with the pass behind those of the tokens before: k (d x n) and
 * v (dv x n) have all of the shape's tokens. */
void nb_pass_append(const nb_pass *pass, int key_head, nb_scalar *k, nb_scalar *v);

/* The refusal of attentions that look at earlier tokens alone. */
nb_status nb_causal_refusal(const void *options, const nb_layer_shape *shape, const char **why, nb_ctx *ctx);
/* Refuses more keys than there are tokens. */
nb_status nb_keys_refusal(int keys, const nb_layer_shape *shape, const char **why, nb_ctx *ctx);

/* The cost of a pass: nb_multiplications' count, of a pass that keeps nothing of earlier ones; and the bytes that
 * `open` allocates. NaN: there is no formula. The work and memory of a strategy, a core or a clustering are counted
 * where they are done, and are in it only as far as a core's record tells them. */
typedef struct {
    double multiplications, bytes;
} nb_attention_cost;

#endif
