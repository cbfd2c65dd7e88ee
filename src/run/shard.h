/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shard.h - a part of a plan that one machine can run without a word to the others:
 * it follows from the plan alone. The shards of a plan are disjoint and their union
 * is the plan. */
#ifndef NB_SHARD_H
#define NB_SHARD_H

#include "run/plan.h"

enum { NB_MOST_SHARDS = 100000 };

typedef struct {
    int index, count; /* 1 <= index <= count <= NB_MOST_SHARDS; count 0: no shard, the whole plan */
} nb_shard;

/* "I/N". NB_EINVAL with what is allowed. */
nb_status nb_shard_parse(const char *text, nb_shard *shard, nb_ctx *ctx);

/* The shard, 1 to `count`, of each row of the plan: *of has row_count numbers. Units
 * of work are never split; they are spread so that the predicted times are balanced. */
nb_status nb_shards_assign(const nb_plan *plan, int count, int **of, nb_ctx *ctx);

/* What is predicted of each shard: count + 1 seconds of one worker, from 1 on. */
nb_status nb_shards_seconds(const nb_plan *plan, const int *of, int count, double **seconds, nb_ctx *ctx);

/* The rows of `plan` that belong to shard `index` by that assignment, in the plan's
 * order. All else is the plan's, whose scenes and cells may then have no row. */
nb_status nb_shard_plan(const nb_plan *plan, const int *of, int index, nb_plan *part, nb_ctx *ctx);

#endif
