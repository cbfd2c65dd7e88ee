/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_scene.h - making a scene, with hints on the questions to come. */
#ifndef NB_MAKE_SCENE_H
#define NB_MAKE_SCENE_H

#include "nystrom/scene.h"

/* `head` and `kernel` must outlive the scene, which is freed with ctx's memory.
 * NB_EINVAL for a causal head under a kernel that has no mask. */
nb_status nb_scene_new(const nb_head *head, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx);

/* The scene of n tokens of which nothing is known, for a strategy that is NB_BLIND: its head has no points. */
nb_status nb_scene_new_blank(int n, int d, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx);

/* The scene of a head that holds no points, for a strategy that looks at some tokens alone (nb_strategy_tokens): `take`
 * gives those of a cut, and outlives it. Of `head` the points are not looked at. NB_EBUG for a kernel that has to see
 * them all. */
nb_status nb_scene_new_far(const nb_head *head, const nb_choice *kernel, nb_take_points *take, const void *self,
                           nb_scene **scene, nb_ctx *ctx);

/* The scene of `count` of its tokens, in ascending order, which must outlive it: their points, under the same kernel
 * with the same options, and the same mask. It keeps for itself what it is asked; entries of the kernel count for
 * both. The order of its tokens (nb_scene_order) has nothing to do with that of the whole, but for a cut of all,
 * whose order is the same. */
nb_status nb_scene_cut(nb_scene *scene, int count, const int *tokens, nb_scene **cut, nb_ctx *ctx);

/* Whose head it is, by the problem's canonical text, which must outlive the scene: this names the order of its tokens,
 * see nb_scene_order. */
void nb_scene_name(nb_scene *scene, const char *problem, int head);

/* Whether an S of n tokens is kept once it is formed, also where nobody asks for it. */
bool nb_scene_is_kept(int n);

/* Before the first question: S is formed, also where the kernel gives factors of it. */
void nb_scene_form_whole(nb_scene *scene);

/* Before the first question: what to take along in the first pass over S; anything else costs a pass of its own. */
enum { NB_SCENE_OUTPUT = 1 << 0, NB_SCENE_ENTROPY = 1 << 1 };
void nb_scene_take_along(nb_scene *scene, unsigned what);

#endif
