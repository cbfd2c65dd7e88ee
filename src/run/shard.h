/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shard.h - shards: parts of a plan that different machines can run. They follow from the plan alone, are disjoint, and
 * together are the plan. */
#ifndef NB_SHARD_H
#define NB_SHARD_H

#include "run/plan.h"

enum { NB_MOST_SHARDS = 100000 };

typedef struct {
    int index, count; /* 1 <= index <= count <= NB_MOST_SHARDS; count 0: no shard, the whole plan */
} nb_shard;

/* Parses "I/N". NB_EINVAL with what is allowed, behind the source of the text. */
nb_status nb_shard_parse(const char *text, const char *source, nb_shard *shard, nb_ctx *ctx);

/* Assigns each row of the plan to a shard, 1 to `count`: *of has row_count numbers. Units of work are not split, and
 * are spread so that the predicted times are balanced. */
nb_status nb_shards_assign(const nb_plan *plan, int count, int **of, nb_ctx *ctx);

/* Predicts the seconds of one worker of that rate for each shard: count + 1 numbers, from index 1 on. */
nb_status nb_shards_seconds(const nb_plan *plan, const int *of, int count, double rate, double **seconds, nb_ctx *ctx);

/* Makes the plan of the rows of shard `index` by that assignment, in the plan's order. Everything else is shared with
 * `plan`; a scene or method may then have no row. */
nb_status nb_shard_plan(const nb_plan *plan, const int *of, int index, nb_plan *part, nb_ctx *ctx);

#endif
