/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scene.h - one head under one kernel: what costs n^2, computed when first asked for
 * and kept for all methods. The passes over S and what follows from them are asked for
 * in passes.h, singular values and vectors in spectrum.h. */
#ifndef NB_SCENE_H
#define NB_SCENE_H

#include "base/ctx.h"
#include "components/component.h"
#include "data/head.h"

typedef struct nb_scene nb_scene;

enum {
    NB_STRIPE = 512
}; /* rows of S that are handled together, at most: fixed, since sums depend on it in the last bits */

/* q and k (d x count) and v (dv x count, where the head has values) <- those of some tokens, ascending: for a scene
 * that does not hold them (nb_scene_new_far). */
typedef void nb_take_points(const void *self, int count, const int *tokens, nb_head *head);

/* The head as the kernel sees it: under one of one point set, with q = k. */
const nb_head *nb_scene_head(const nb_scene *scene);
const nb_choice *nb_scene_kernel_choice(const nb_scene *scene);
int nb_scene_number(const nb_scene *scene); /* of the head among those of its problem */

/* k(q, k) for any points of the head's dimension, without a mask; out is
 * keys x queries. */
nb_status nb_scene_kernel(const nb_scene *scene, int queries, const double *q, int keys, const double *k, double *out,
                          nb_ctx *ctx);

/* Rows tokens[0] ... tokens[count-1] of S, with its mask; out is n x count. */
nb_status nb_scene_some_rows(const nb_scene *scene, int count, const int *tokens, double *out, nb_ctx *ctx);

/* So much of what the call of a strategy takes is no part of its time, select_s. */
void nb_scene_leave_out(nb_scene *scene, double time_s);

/* How many entries of the kernel have been formed for the scene so far: what was asked of it and not kept. */
double nb_scene_entries(const nb_scene *scene);

nb_status nb_scene_stacked(nb_scene *scene, const double **stacked, nb_ctx *ctx); /* the tokens' [q; k], 2d x n */
nb_status nb_scene_united(nb_scene *scene, const double **united, nb_ctx *ctx); /* the queries, then the keys, d x 2n */

#endif
