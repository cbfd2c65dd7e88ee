/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heads.h - makes the heads of a problem, and permutes their tokens, which every problem allows. */
#ifndef NB_HEADS_H
#define NB_HEADS_H

#include "base/random.h"
#include "problems/problem.h"

/* Gets the shape of the heads; NB_EINVAL also for permuted tokens under a causal mask. */
nb_status nb_heads_shape(const nb_choice *problem, nb_problem_shape *shape, nb_ctx *ctx);

/* Makes one head. `stream` gives seed and trial, and as m the number of the head within a layer that the problem draws.
 * The option `permute` changes the order of the points, not the points; the order is the same for all heads of a layer,
 * and in all trials that share the points. ctx owns the memory. */
nb_status nb_heads_make(const nb_choice *problem, int index, nb_stream stream, gsl_rng *rng, nb_head *head,
                        nb_ctx *ctx);

#endif
