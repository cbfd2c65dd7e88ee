/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine.h - measures the methods of one instance, all that share a scene together.
 *
 * streamed: one pass over S for all factor pairs (streamed.c); with `sample`, k
 *           rows of S instead of all (sampled.c).
 * direct:   S, F X B and their difference are formed (direct.c): slow, and
 *           independent of the algebra that makes the other fast. */
#ifndef NB_ENGINE_H
#define NB_ENGINE_H

#include "nystrom/request.h"

extern const char *const nb_engine_names[], *const nb_precision_names[]; /* NULL-terminated */

/* Under a kernel whose rows are not distributions, entropy_difference and
 * rowsum_deviation stay NaN. */

/* Factors and all that their cores share. Memory is ctx's. A pair that fails
 * does not stop the others. */
nb_status nb_engine_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                            nb_ctx *ctx);

/* Bytes of a pair of m landmarks that is prepared; and of those that are prepared together: few where S is kept, many
 * where each batch forms it anew. */
size_t nb_engine_pair_bytes(int n, int m);
size_t nb_engine_batch_bytes(int n);

/* How many pairs from the first one on are prepared together, one at least. `m` are their landmarks. */
int nb_engine_batch(int n, int count, const int *m);

/* Bytes of a request of m landmarks: its X, and C if that is kept. */
size_t nb_engine_request_bytes(const nb_how *how, int m);

/* Bytes of the requests that are worth measuring together: many where S is looked at
 * again for all of them, none where not. */
size_t nb_engine_together(const nb_how *how);

nb_status nb_engine_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx);

#endif
