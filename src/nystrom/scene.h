/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scene.h - one head under one kernel: what costs n^2 is computed when first asked for and kept for all methods.
 * passes.h has the passes over S and their results, spectrum.h singular values and vectors. */
#ifndef NB_SCENE_H
#define NB_SCENE_H

#include "base/ctx.h"
#include "components/component.h"
#include "data/head.h"

typedef struct nb_scene nb_scene;

/* The most rows of S that are handled together; fixed, since sums depend on it in the last bits. */
enum { NB_STRIPE = 512 };

/* Sets q and k (d x count) and v (dv x count, if the head has values) to those of some tokens, ascending, for a scene
 * that does not hold them (nb_scene_new_far). */
typedef void nb_take_points(const void *self, int count, const int *tokens, nb_head *head);

/* Returns the head as the kernel sees it: with q = k under a kernel of one point set. */
const nb_head *nb_scene_head(const nb_scene *scene);
const nb_choice *nb_scene_kernel_choice(const nb_scene *scene);
int nb_scene_number(const nb_scene *scene); /* number of the head among those of its problem */

/* Computes k(q, k) for any points of the head's dimension, without a mask; out is keys x queries. */
nb_status nb_scene_kernel(const nb_scene *scene, int queries, const double *q, int keys, const double *k, double *out,
                          nb_ctx *ctx);

/* Computes rows tokens[0] ... tokens[count-1] of S, with its mask; out is n x count. */
nb_status nb_scene_some_rows(const nb_scene *scene, int count, const int *tokens, double *out, nb_ctx *ctx);

/* Excludes time_s seconds of the current strategy call from select_s. */
void nb_scene_leave_out(nb_scene *scene, double time_s);

/* Returns how many entries of the kernel were formed for the scene so far by calls whose results are not cached. */
double nb_scene_entries(const nb_scene *scene);

nb_status nb_scene_stacked(nb_scene *scene, const double **stacked, nb_ctx *ctx); /* the tokens' [q; k], 2d x n */
nb_status nb_scene_united(nb_scene *scene, const double **united, nb_ctx *ctx); /* the queries, then the keys, d x 2n */

#endif
