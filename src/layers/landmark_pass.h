/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_pass.h - attention from landmarks, F (X (B V)), for all heads of a layer.
 *
 *     B V = softmax(Q~ K') V           in tiles, keys divided among tasks
 *     W = X (B V)                      m x dv
 *     out = softmax(Q K~') W           in blocks of queries
 *
 * so nothing of size n x m is stored. Landmarks are those of any strategy, X that of any core; both are computed in
 * double precision, head by head. 4 n m d multiplications a head, and what they take.
 *
 * A core that is fitted to exact outputs gives W without X: from B V, outputs at some more queries, and the rows of F
 * at all of these. Where landmarks are kept for later passes, whose values are others, and with cur's factors it
 * computes X as others do. */
#ifndef NB_LANDMARK_PASS_H
#define NB_LANDMARK_PASS_H

#include "components/registry.h"
#include "layers/pass.h"
#include "nystrom/form_factors.h"
#include "strategies/strategy.h"

typedef struct {
    const nb_choice *strategy, *core;
    int landmarks, factors, pairing, chunk, refresh, keep;
} nb_landmark_options;

enum { NB_OWN_PAIRING = NB_PAIRING_COUNT };
extern const char *const nb_landmark_pairings[]; /* and `own`; NULL-terminated */
enum { NB_KEEP_POINTS, NB_KEEP_TOKENS };
extern const char *const nb_landmark_keeps[], *const nb_landmark_factors[];

/* The table of these options, by their defaults. */
#define NB_LANDMARK_OPTIONS(strategy_, landmarks_, core_, pairing_, refresh_) \
    NB_COMPONENT(nb_landmark_options, strategy, strategy_, &nb_strategies, "how the landmarks are picked"), \
        NB_INT_OR(nb_landmark_options, landmarks, "log2", landmarks_, 1, 1 << 20, \
                  "how many there are, at most n; log2: as many as log2(n), rounded down"), \
        NB_COMPONENT(nb_landmark_options, core, core_, &nb_cores, "how X is computed"), \
        NB_ENUM( \
            nb_landmark_options, factors, "nystromformer", nb_landmark_factors, \
            "what F, A, B are: the softmax of landmarks (nystromformer), columns and rows of S itself (cur, which " \
            "takes the sums of all rows of S, n^2 d multiplications), or no middle (nocore, with core=identity)"), \
        NB_ENUM(nb_landmark_options, pairing, pairing_, nb_landmark_pairings, \
                "whose points the strategy looks at; own: its own default, see `describe pairing`"), \
        NB_INT(nb_landmark_options, chunk, "256", 1, 1 << 30, \
               "queries that a task takes, rounded up to a multiple of 256; the output's bits do not depend on it"), \
        NB_INT(nb_landmark_options, refresh, refresh_, 1, 1 << 20, \
               "passes with the same landmarks: they are chosen in the first and kept for the others; 1: chosen in " \
               "each"), \
        NB_ENUM(nb_landmark_options, keep, "points", nb_landmark_keeps, \
                "what is kept: where the landmarks are, and so X too (points), or which tokens they are (tokens)")

/* The options' meaning for n tokens. */
typedef struct {
    const nb_choice *strategy, *core;
    int m;
    nb_pairing pairing;
    nb_factors_kind kind;
    int chunk;       /* blocks of queries that a task takes */
    int refresh;     /* passes with the same landmarks; 1: each has its own */
    bool keep_place; /* what is kept is which tokens they are; else where they are, and so X too */
    int drawn;       /* queries beside the landmarks', to whose exact outputs the core is fitted; 0: it computes X */
} nb_landmark_how;
nb_landmark_how nb_landmark_how_of(const nb_landmark_options *options, int n);

/* Members of nb_attention; their options are nb_landmark_options. */
int nb_landmark_size(const void *options, const nb_layer_shape *shape);
int nb_landmark_passes_per_choice(const void *options);
unsigned nb_landmark_traits(const void *options);
nb_status nb_landmark_check(const void *options, nb_ctx *ctx);
nb_status nb_landmark_refusal(const void *options, const nb_layer_shape *shape, const char **why, nb_ctx *ctx);
nb_attention_cost nb_landmark_cost(const void *options, const nb_layer_shape *shape, int threads);
nb_status nb_landmark_open(const void *options, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx);
nb_status nb_landmark_forward(nb_pass *pass, const void *options, nb_ctx *ctx);

#endif
