/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine.h - measures the methods of one instance together, as they share a scene.
 *
 * streamed: one pass over S for all factor pairs (streamed.c); with `sample`, k
 *           rows of S instead of all (sampled.c).
 * direct:   S, F X B and their difference are formed (direct.c): slow, and
 *           independent of the algebra that makes the other fast. */
#ifndef NB_ENGINE_H
#define NB_ENGINE_H

#include "nystrom/request.h"

extern const char *const nb_engine_names[], *const nb_precision_names[]; /* NULL-terminated */

/* If the kernel's rows are not distributions, entropy_difference and rowsum_deviation stay NaN. */

/* Computes the factors and everything that their cores share. ctx owns the memory. A pair that fails does not stop the
 * others. */
nb_status nb_engine_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                            nb_ctx *ctx);

/* Return the bytes of a prepared pair of m landmarks; and of the pairs to prepare together, which are few if S is kept,
 * many if each batch forms it anew. */
size_t nb_engine_pair_bytes(int n, int m);
size_t nb_engine_batch_bytes(int n);

/* Returns how many pairs, from the first on, to prepare together, at least one; `m`: their landmarks. */
int nb_engine_batch(int n, int count, const int *m);

/* Returns the bytes of a request of m landmarks: its X, and C if that is kept. */
size_t nb_engine_request_bytes(const nb_how *how, int m);

/* Returns the bytes of the requests that are worth measuring together: many if they need another pass over S, else
 * none. */
size_t nb_engine_together(const nb_how *how);

nb_status nb_engine_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx);

#endif
