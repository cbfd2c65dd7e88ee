/* SPDX-License-Identifier: GPL-3.0-or-later */
/* problem.h - the one header that a problem file includes.
 *
 * A problem is one file, src/problems/NAME.c, that defines
 *     const nb_problem nb_problem_NAME;
 * It says how many heads it has and makes one at a time, with the tokens in their natural order; calls/heads.h permutes
 * them if `permute` is true. */
#ifndef NB_PROBLEM_H
#define NB_PROBLEM_H

#include "base/ctx.h"
#include "components/component.h"
#include "components/plugin.h"
#include "data/head.h"
#include "data/synthetic.h"

/* The option `permute`, a row of every problem's table. */
#define NB_PERMUTE(T) \
    { \
        .key = "permute", .type = NB_OPTION_BOOL, .offset = NB_FIELD_(T, permute, int), .initial = "false", \
        .reorders = true, \
        .help = \
            "destroy the order of the tokens: one random permutation of q, k and v, drawn anew in each trial if the " \
            "data are" \
    }

typedef struct {
    int first, count; /* the heads: first ... first + count - 1 */
    int n, d;
    int each;   /* consecutive heads of one input, which make a layer; 0: heads are drawn, any number of them */
    int shared; /* consecutive heads of an input that share keys and values; 0: each has its own */
    bool causal;
    const char *warning;     /* a warning about the data; NULL: none */
    const char *keyless;     /* "FILE has no keys (it has q)"; NULL: the heads have keys */
    const char *valueless;   /* "FILE has no values (it has q, k)"; NULL: the heads have values */
    nb_head_origins origins; /* for data that are not generated, head by head */
} nb_problem_shape;

typedef struct {
    nb_component component;
    bool random; /* data are drawn anew in each trial, from nb_ctx_rng(ctx) */

    /* Finds the shape of the heads without making them. Called before anything runs, so it must find every mistake that
     * can be found early (a missing file). */
    nb_status (*shape)(const void *options, nb_problem_shape *shape, nb_ctx *ctx);

    /* Makes one head; ctx owns its memory. */
    nb_status (*make)(const void *options, int head, nb_head *out, nb_ctx *ctx);

    bool checked_later; /* heads are slow to make, and `make` checks them: none is made before the run */
} nb_problem;

/* Returns the name of a missing kind-specific member of a plug-in's record, or NULL. */
const char *nb_problem_lacks(const nb_component *component);
extern const size_t nb_problem_texts[]; /* of its registry */

#endif
