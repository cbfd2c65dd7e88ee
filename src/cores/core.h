/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.h - the one header that a core file includes.
 *
 * A core is one file, src/cores/NAME.c, that defines
 *     const nb_core nb_core_NAME;
 * It computes X, the m x m middle of F X B. A pseudo-inverse reads only A. */
#ifndef NB_CORE_H
#define NB_CORE_H

#include "base/ctx.h"
#include "components/component.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "nystrom/factors.h"

enum {
    NB_CORE_RANDOM = 1 << 0, /* reads random rows of S, or draws: other ones in each trial */
    NB_CORE_ORACLE = 1 << 1, /* reads all of S */
    /* Inverts or damps each singular value of A by itself, and reports how by nb_factors_note_cutoff. */
    NB_CORE_FILTER = 1 << 2,
    NB_CORE_IDENTITY = 1 << 3, /* X = I, for factors without a middle: exactly one core has it, never a plug-in's */

    NB_CORE_ELSEWHERE = 1 << 4, /* works outside, as NB_ELSEWHERE of strategies, from F, A and B */

    NB_CORE_TRAITS = NB_CORE_RANDOM | NB_CORE_ORACLE | NB_CORE_FILTER | NB_CORE_ELSEWHERE,
};

/* Help of an option whose value is passed to nb_factors_keep_rows. */
#define NB_KEEP_ROWS_HELP "return those rows exactly, and F X B elsewhere"

/* The option rcond of a hard cut-off: a number, or the word for a tolerance to rounding. nb_core_rcond returns its
 * value for m landmarks. */
#define NB_RCOND(T, initial, what) \
    NB_REAL_OR(T, rcond, "machine", initial, 0, 1, \
               what " up to this fraction of the largest count as 0; machine: m 2^-52, NumPy's and SciPy's " \
                    "tolerance, which keeps what a nearly singular A has of rounding")
double nb_core_rcond(double rcond, int m);

typedef struct {
    double multiplications; /* to compute X, given A and the rows of S that it reads */
    int rows, kept;         /* rows of S that it reads; rows that are returned exactly */
    int drawn;              /* queries beside the landmarks', at most n, whose exact outputs are passed to `fit` */
} nb_core_cost;

/* The data that a core is fitted to in a forward pass: exact outputs at the landmarks' queries and, behind them, at the
 * `drawn` queries. */
typedef struct {
    int m, dv, count, drawn; /* count: all these queries */
    const double *features;  /* m x count: a query's row of F is a column */
    const double *outputs;   /* dv x count */
    const double *weights;   /* count: how many queries each stands for */
} nb_core_outputs;

typedef struct {
    nb_component component;
    unsigned traits;                            /* NB_CORE_* */
    unsigned (*traits_of)(const void *options); /* optional, if they depend on the options */

    /* Computes x (m x m) from the factors: from A, or from what else nystrom/factors.h gives. Entries that are not
     * finite become the outcome `diverged`, so no check is needed here. Remarks on X go to nb_factors_note_*. */
    nb_status (*compute)(nb_factors *factors, const void *options, double *x, nb_ctx *ctx);

    /* Optional: returns why these factors have no X, in one sentence (the row is `skipped`), or NULL. */
    const char *(*refusal)(const nb_factors *factors, const void *options);

    const char *explanation; /* optional: a few sentences that `describe` prints, broken into lines */

    /* Optional: returns the cost of X for a head of n tokens with m landmarks. */
    nb_core_cost (*cost)(const void *options, int n, int m);

    /* Optional, with `cost`: computes only what a forward pass needs of X, w (dv x m) <- (X B V)', from exact outputs.
     * Called by several threads, but never for a plug-in, whose X is computed and multiplied. */
    nb_status (*fit)(const nb_core_outputs *outputs, const void *options, double *w, nb_ctx *ctx);

    /* Optional: finds what `compute` needs and lacks here (a program), before rows are measured. It is not called for
     * reading results. */
    nb_status (*ready)(const void *options, nb_ctx *ctx);
} nb_core;

unsigned nb_core_traits(const nb_choice *core); /* traits under its options */

/* Returns the cost under its options; without one, its multiplications are NaN and the rest is 0. */
nb_core_cost nb_core_cost_of(const nb_choice *core, int n, int m);

/* Returns the name of a missing kind-specific member of a plug-in's record, or NULL. */
const char *nb_core_lacks(const nb_component *component);
extern const size_t nb_core_texts[]; /* of its registry */

#endif
