/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_scene.h - makes a scene, with hints on the questions to come. */
#ifndef NB_MAKE_SCENE_H
#define NB_MAKE_SCENE_H

#include "nystrom/scene.h"

/* Makes a scene, freed with ctx's memory; `head` and `kernel` must outlive it. NB_EINVAL for a causal head under a
 * kernel that has no mask. */
nb_status nb_scene_new(const nb_head *head, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx);

/* Makes a scene of n tokens without points, for a strategy that is NB_BLIND. */
nb_status nb_scene_new_blank(int n, int d, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx);

/* Makes a scene that fetches points through `take` when it is cut, for strategies that read only some tokens
 * (nb_strategy_tokens). `take` and `self` must outlive it; the points of `head` are not read. NB_EBUG for a kernel that
 * needs all points. */
nb_status nb_scene_new_far(const nb_head *head, const nb_choice *kernel, nb_take_points *take, const void *self,
                           nb_scene **scene, nb_ctx *ctx);

/* Makes the scene of `count` of its tokens, in ascending order: their points under the same kernel, options and mask.
 * `tokens` must outlive it. It caches its own answers; entries of the kernel count for both scenes. Its order of tokens
 * (nb_scene_order) is unrelated to the whole's, except that a cut of all tokens has the same order. */
nb_status nb_scene_cut(nb_scene *scene, int count, const int *tokens, nb_scene **cut, nb_ctx *ctx);

/* Names the head, by the problem's canonical text, which must outlive the scene, and its number. The name seeds the
 * order of its tokens (nb_scene_order). */
void nb_scene_name(nb_scene *scene, const char *problem, int head);

/* True if an S of n tokens is kept once it is formed, even if nobody asks for it whole. */
bool nb_scene_is_kept(int n);

/* Call before the first question: S will be formed even if the kernel gives factors of it. */
void nb_scene_form_whole(nb_scene *scene);

/* Call before the first question: what to compute in the first pass over S; anything else costs a pass of its own. */
enum { NB_SCENE_OUTPUT = 1 << 0, NB_SCENE_ENTROPY = 1 << 1 };
void nb_scene_take_along(nb_scene *scene, unsigned what);

#endif
