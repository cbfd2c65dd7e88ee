/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heads.h - the heads of a problem, with what every problem can do: permute the tokens. */
#ifndef NB_HEADS_H
#define NB_HEADS_H

#include "base/random.h"
#include "problems/problem.h"

/* The shape of the heads; NB_EINVAL also for permuted tokens under a causal mask. */
nb_status nb_heads_shape(const nb_choice *problem, nb_problem_shape *shape, nb_ctx *ctx);

/* One head. `stream` gives seed and trial, and m: which of the heads that a problem draws for one layer. The points do
 * not depend on `permute`, only their order; it is the same for all of a layer, and in all trials where the points
 * are. Memory is ctx's. */
nb_status nb_heads_make(const nb_choice *problem, int index, nb_stream stream, gsl_rng *rng, nb_head *head,
                        nb_ctx *ctx);

#endif
